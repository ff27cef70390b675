//! Bounded count of waiters.

use std::sync::atomic::{AtomicUsize, Ordering};

/// A place among those who wait; given up when dropped.
#[derive(Debug)]
pub struct InLine<'a>(&'a AtomicUsize);

impl InLine<'_> {
    /// None where so many wait already.
    pub fn join(waiting: &AtomicUsize, most: usize) -> Option<InLine<'_>> {
        let place = InLine(waiting);
        (waiting.fetch_add(1, Ordering::Relaxed) < most).then_some(place)
    }
}

impl Drop for InLine<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::InLine;

    #[test]
    fn a_place_that_is_given_up_or_refused_is_free_again() {
        let waiting = AtomicUsize::new(0);
        let first = InLine::join(&waiting, 1);
        assert!(first.is_some() && InLine::join(&waiting, 1).is_none());
        drop(first);
        assert_eq!(waiting.load(Ordering::Relaxed), 0);
        assert!(InLine::join(&waiting, 1).is_some());
    }
}
