//! Monotonic wall clock: the wall clock is read once at start, then the monotonic clock. A jump of the wall clock neither expires anything
//! early nor retains anything late.

use std::time::{SystemTime, UNIX_EPOCH};

use interlingua_model::Time;
use tokio::time::Instant;

/// The hub's clock.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    wall: u64,
    started: Instant,
}

impl Clock {
    /// Reads the wall clock, once.
    pub fn start() -> Clock {
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Clock { wall: u64::try_from(wall.as_millis()).unwrap_or(u64::MAX), started: Instant::now() }
    }

    /// The time now: never earlier than it was.
    pub fn now(&self) -> Time {
        Time(self.wall).after(self.started.elapsed())
    }

    /// The monotonic moment of a time.
    pub fn instant(&self, at: Time) -> Instant {
        self.started + at.until(Time(self.wall))
    }
}
