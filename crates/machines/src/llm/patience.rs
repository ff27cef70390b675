//! Timeouts of a model: until the first event, between two events, and in total. The total ends a stream that only drips.

use std::time::Duration;

use super::{Failure, FailureKind};
use interlingua_model::id::Time;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    pub first: Duration,
    pub gap: Duration,
    pub whole: Duration,
}

impl Default for Patience {
    fn default() -> Patience {
        Patience { first: Duration::from_secs(120), gap: Duration::from_secs(60), whole: Duration::from_secs(600) }
    }
}

/// One stream being listened to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Listening {
    patience: Patience,
    began: Time,
    last: Option<Time>,
}

impl Listening {
    pub fn new(patience: Patience, now: Time) -> Listening {
        Listening { patience, began: now, last: None }
    }

    /// Something came.
    pub fn heard(&mut self, now: Time) {
        self.last = Some(now);
    }

    /// When patience ends if nothing more comes.
    pub fn until(&self) -> Time {
        let next = match self.last {
            None => self.began.after(self.patience.first),
            Some(last) => last.after(self.patience.gap),
        };
        next.min(self.began.after(self.patience.whole))
    }

    pub fn overdue(&self, now: Time) -> Option<Failure> {
        if now < self.until() {
            return None;
        }
        let text = match self.last {
            _ if now >= self.began.after(self.patience.whole) => "the model took too long in all",
            None => "the model did not begin in time",
            Some(_) => "the model fell silent",
        };
        Some(Failure::new(FailureKind::Slow, text))
    }
}
