//! Entry points of the fuzz targets into decoders that are private to this crate. Nothing else calls them.

use crate::decode::List;
use crate::inbound::{listing, resume};

/// Where in a stream an event stands, written again.
pub fn event_place(text: &str) -> Option<String> {
    resume::ResumePoint::parse(text).map(|place| place.again())
}

/// What a cursor of a list follows, and the cursor of that.
pub fn list_cursor(list: List, cursor: &str) -> Option<(String, String)> {
    let after = listing::opened(list, cursor).ok()?;
    let again = listing::sealed(list, &after);
    Some((after, again))
}
