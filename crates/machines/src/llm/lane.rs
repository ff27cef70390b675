//! Rate limit of a provider: concurrent requests, and requests in a minute. A request that must wait
//! is given the time at which it may proceed.

use std::time::Duration;

use interlingua_model::id::Time;

/// In thousandths of a question, so that a slow rate loses nothing to rounding.
const ONE: u64 = 1_000;

/// `None` is without limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pace {
    pub at_once: Option<u32>,
    pub per_minute: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lane {
    pace: Pace,
    running: u32,
    /// What may still be asked of this minute; fills up with time.
    left: u64,
    since: Time,
}

/// Why a question must wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wait {
    /// Until another one is done.
    ForOthers,
    Until(Time),
}

impl Lane {
    pub fn new(pace: Pace, now: Time) -> Lane {
        Lane { pace, running: 0, left: full(pace), since: now }
    }

    /// May one more be asked now? If so it counts until [`Lane::leave`].
    pub fn enter(&mut self, now: Time) -> Result<(), Wait> {
        if self.pace.at_once.is_some_and(|limit| self.running >= limit) {
            return Err(Wait::ForOthers);
        }
        if let Some(rate) = self.pace.per_minute {
            self.refill(rate, now);
            if self.left < ONE {
                let missing = (ONE - self.left) * 60 / u64::from(rate.max(1));
                return Err(Wait::Until(now.after(Duration::from_millis(missing.max(1)))));
            }
            self.left -= ONE;
        }
        self.running += 1;
        Ok(())
    }

    /// One is done.
    pub fn leave(&mut self) {
        self.running = self.running.saturating_sub(1);
    }

    fn refill(&mut self, rate: u32, now: Time) {
        let passed = u64::try_from(now.until(self.since).as_millis()).unwrap_or(u64::MAX);
        let gained = passed.saturating_mul(u64::from(rate)) / 60;
        // Time too short to gain anything is left to count.
        if gained > 0 {
            self.left = self.left.saturating_add(gained).min(full(self.pace));
            self.since = now;
        }
    }
}

fn full(pace: Pace) -> u64 {
    u64::from(pace.per_minute.unwrap_or(0).max(1)) * ONE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_at_once() {
        let mut lane = Lane::new(Pace { at_once: Some(2), per_minute: None }, Time(0));
        assert_eq!((lane.enter(Time(0)), lane.enter(Time(0))), (Ok(()), Ok(())));
        assert_eq!(lane.enter(Time(0)), Err(Wait::ForOthers));
        lane.leave();
        assert_eq!(lane.enter(Time(0)), Ok(()));
    }

    #[test]
    fn so_many_in_a_minute_and_the_wait_says_until_when() {
        let mut lane = Lane::new(Pace { at_once: None, per_minute: Some(6) }, Time(0));
        for _ in 0..6 {
            assert_eq!(lane.enter(Time(0)), Ok(()));
        }
        assert_eq!(lane.enter(Time(0)), Err(Wait::Until(Time(10_000))), "one every ten seconds");
        assert_eq!(lane.enter(Time(4_000)), Err(Wait::Until(Time(10_000))));
        assert_eq!(lane.enter(Time(10_000)), Ok(()));
        assert_eq!(lane.enter(Time(10_000)), Err(Wait::Until(Time(20_000))));
        assert_eq!(lane.enter(Time(1_000_000)), Ok(()), "and never more than a minute's worth is saved up");
        let saved = (0..10).filter(|_| lane.enter(Time(1_000_000)).is_ok()).count();
        assert_eq!(saved, 5);
    }

    #[test]
    fn asking_often_does_not_lose_time() {
        let mut lane = Lane::new(Pace { at_once: None, per_minute: Some(1) }, Time(0));
        assert_eq!(lane.enter(Time(0)), Ok(()));
        for millis in 1..60_000 {
            assert!(lane.enter(Time(millis)).is_err(), "{millis}");
        }
        assert_eq!(lane.enter(Time(60_000)), Ok(()));
    }

    #[test]
    fn without_limits_nobody_waits() {
        let mut lane = Lane::new(Pace::default(), Time(0));
        assert!((0..1_000).all(|_| lane.enter(Time(0)).is_ok()));
    }
}
