//! Token buckets (rate limit) for many names, in bounded memory: a rate, and a burst that can be saved up.
//!
//! For each name the table stores when its bucket will be full again; a name with a full bucket needs no entry. Only such names are
//! evicted, so a caller that floods the table with other names does not reset its own bucket. When the table is full of names with depleted
//! buckets, all further names share one bucket.
//!
//! Deliberately absent: clocks and locks. Time is a span since some start, passed in.

use std::collections::HashMap;
use std::hash::Hash;
use std::time::Duration;

/// A full table is looked through for names that have recovered, not more often than this.
const SWEEP_EVERY: Duration = Duration::from_millis(100);

/// So many in a span; saved up, at most `burst`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pace {
    /// How long it takes to earn one.
    each: f64,
    /// How long it takes to earn a full burst.
    full: Duration,
}

impl Pace {
    /// `count` in each `per`; a burst of none is one of `count`.
    pub fn new(count: u64, per: Duration, burst: Option<u64>) -> Pace {
        let each = per.as_secs_f64().max(0.001) / most(count.max(1));
        let full = Duration::try_from_secs_f64(each * most(burst.unwrap_or(count).max(1))).unwrap_or(Duration::MAX);
        Pace { each, full }
    }

    /// Takes `cost` of what was saved up. What costs more than a burst takes a whole one. Otherwise: when to come back.
    fn take(self, recovered: &mut Duration, cost: u64, now: Duration) -> Result<(), Duration> {
        let span = Duration::try_from_secs_f64(self.each * most(cost)).unwrap_or(self.full).min(self.full);
        let then = (*recovered).max(now).saturating_add(span);
        let latest = now.saturating_add(self.full);
        if then > latest {
            return Err(then - latest);
        }
        *recovered = then;
        Ok(())
    }
}

/// For wires that have nothing but text: whole seconds, and never too few.
pub fn again_in(wait: Duration) -> String {
    format!("try again in {} s", wait.as_millis().div_ceil(1_000).max(1))
}

/// As near as a float comes.
#[allow(clippy::cast_precision_loss, reason = "a limit beyond 2^53 is none")]
fn most(count: u64) -> f64 {
    count as f64
}

/// What is saved up, for each of many names.
#[derive(Debug, Clone)]
pub struct Buckets<K> {
    most: usize,
    /// When each will have recovered.
    recovered: HashMap<K, Duration>,
    /// Of all for whom there is no room.
    others: Duration,
    swept: Option<Duration>,
}

impl<K: Hash + Eq + Clone> Buckets<K> {
    /// For at most so many names at once.
    pub fn new(most: usize) -> Buckets<K> {
        Buckets { most, recovered: HashMap::new(), others: Duration::ZERO, swept: None }
    }

    /// Takes `cost` for this name, or says when to come back.
    pub fn take(&mut self, name: &K, cost: u64, pace: Pace, now: Duration) -> Result<(), Duration> {
        if let Some(recovered) = self.recovered.get_mut(name) {
            return pace.take(recovered, cost, now);
        }
        if self.recovered.len() >= self.most {
            self.sweep(now);
        }
        if self.recovered.len() >= self.most {
            return pace.take(&mut self.others, cost, now);
        }
        let mut recovered = now;
        pace.take(&mut recovered, cost, now)?;
        self.recovered.insert(name.clone(), recovered);
        Ok(())
    }

    fn sweep(&mut self, now: Duration) {
        if self.swept.is_none_or(|swept| now >= swept.saturating_add(SWEEP_EVERY)) {
            self.recovered.retain(|_, recovered| *recovered > now);
            self.swept = Some(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn millis(count: u64) -> Duration {
        Duration::from_millis(count)
    }

    #[test]
    fn a_burst_goes_at_once_and_then_one_at_a_time() {
        let (mut buckets, pace) = (Buckets::new(4), Pace::new(10, SECOND, Some(3)));
        for _ in 0..3 {
            buckets.take(&"ann", 1, pace, millis(5)).expect("saved up");
        }
        assert_eq!(buckets.take(&"ann", 1, pace, millis(5)), Err(millis(100)));
        assert_eq!(buckets.take(&"ann", 1, pace, millis(55)), Err(millis(50)));
        buckets.take(&"ann", 1, pace, millis(105)).expect("earned");
        buckets.take(&"bob", 1, pace, millis(105)).expect("each has their own");
    }

    #[test]
    fn the_time_in_words_is_enough_too() {
        for (wait, words) in [(0, "1 s"), (1, "1 s"), (1_000, "1 s"), (1_001, "2 s"), (90_000, "90 s")] {
            assert_eq!(again_in(millis(wait)), format!("try again in {words}"));
        }
    }

    #[test]
    fn what_costs_more_than_a_burst_takes_a_whole_one() {
        let (mut buckets, pace) = (Buckets::new(4), Pace::new(100, SECOND, None));
        buckets.take(&(), 1_000_000, pace, SECOND).expect("a full bucket");
        assert_eq!(buckets.take(&(), 1, pace, SECOND), Err(millis(10)));
    }

    #[test]
    fn whoever_floods_with_names_resets_nobody() {
        let (mut buckets, pace) = (Buckets::new(100), Pace::new(1, Duration::from_secs(3600), None));
        buckets.take(&0, 1, pace, SECOND).expect("the first");
        let mut let_in = 0;
        for name in 1..10_000 {
            let_in += u32::from(buckets.take(&name, 1, pace, SECOND + millis(name)).is_ok());
        }
        assert!(buckets.take(&0, 1, pace, SECOND * 20).is_err(), "it is remembered");
        assert_eq!(let_in, 99 + 1, "those with a place, and one for all others");
        assert_eq!(buckets.recovered.len(), 100);
        buckets.take(&20_000, 1, pace, SECOND * 8000).expect("all have recovered");
        assert_eq!(buckets.recovered.len(), 1);
    }

    proptest! {
        /// However calls come, no more pass in any time than the burst and what was earned meanwhile.
        #[test]
        fn no_more_pass_than_were_earned(count in 1..50_u64, burst in 1..50_u64, gaps in prop::collection::vec(0..200_u64, 1..200)) {
            let (mut buckets, pace) = (Buckets::new(1), Pace::new(count, SECOND, Some(burst)));
            let (mut now, mut passed) = (Duration::ZERO, 0);
            for gap in gaps {
                now += millis(gap);
                passed += u64::from(buckets.take(&(), 1, pace, now).is_ok());
                let earned = now.as_secs_f64() * most(count);
                prop_assert!(most(passed) <= most(burst) + earned + 0.01, "{} {}", passed, earned);
            }
        }

        /// Whoever comes back when told is let in.
        #[test]
        fn the_time_that_is_told_is_enough(count in 1..1000_u64, burst in 1..20_u64, cost in 1..30_u64) {
            let (mut buckets, pace) = (Buckets::new(1), Pace::new(count, SECOND, Some(burst)));
            let mut now = SECOND;
            for _ in 0..50 {
                if let Err(wait) = buckets.take(&(), cost, pace, now) {
                    prop_assert!(!wait.is_zero());
                    now += wait;
                    prop_assert!(buckets.take(&(), cost, pace, now).is_ok());
                }
            }
        }
    }
}
