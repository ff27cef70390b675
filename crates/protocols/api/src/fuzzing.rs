//! Entry points of the fuzz targets into decoders that are private to this crate. Nothing else calls them.

use crate::page;

/// A cursor of the list of tasks, written again.
pub fn task_cursor(text: &str) -> Option<String> {
    page::read_task_cursor(text).ok().map(|(at, task)| page::task_cursor(at, task))
}
