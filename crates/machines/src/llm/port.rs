//! Model port: a provider returns a stream of events for a prompt. Drivers implement it; the code above does not know which driver runs.

use std::sync::Arc;
use std::task::{Context, Poll};

use super::{Event, Prompt};

pub trait Model: Send + Sync {
    /// Opens a stream. Nothing is sent before it is polled; a failure to connect is its first event.
    fn speak(self: Arc<Self>, prompt: Prompt) -> Speech;
}

pub type Speech = Box<dyn Speaking>;

/// The running end of a request. Dropping it closes the connection. `None` means that the connection closed, which says
/// nothing about whether the answer was whole: only [`Event::End`] does.
pub trait Speaking: Send {
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Event>>;
}
