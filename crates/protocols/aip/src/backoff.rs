//! Reconnect with exponential backoff and jitter. Delays grow and may be randomised, so that a thousand devices do not reconnect in the
//! same moment; the random value is passed in.

use std::time::Duration;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Growth {
    /// Twice as long each time.
    Exponential,
    /// As much longer each time as the first wait.
    Linear,
    Immediate,
    /// Never again.
    Never,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    pub growth: Growth,
    pub first: Duration,
    pub longest: Duration,
    /// `None`: for ever.
    pub retries: Option<u32>,
    /// Up to how much of a wait is left to chance, in percent.
    pub jitter: u8,
}

impl Default for Backoff {
    /// As the Python library has it: five times, without chance.
    fn default() -> Self {
        Backoff {
            growth: Growth::Exponential,
            first: Duration::from_secs(1),
            longest: Duration::from_secs(60),
            retries: Some(5),
            jitter: 0,
        }
    }
}

impl Backoff {
    /// As the Python device does: two seconds after the first failure, then twice as long.
    pub const fn device() -> Backoff {
        Backoff {
            growth: Growth::Exponential,
            first: Duration::from_secs(2),
            longest: Duration::from_secs(60),
            retries: None,
            jitter: 0,
        }
    }

    /// The wait before try `n` after a failure (from 0); `None`: there is no further try. `chance` is 0 to 99.
    pub fn wait(&self, n: u32, chance: u8) -> Option<Duration> {
        if self.retries.is_some_and(|retries| n >= retries) {
            return None;
        }
        let wait = match self.growth {
            Growth::Never => return None,
            Growth::Immediate => Duration::ZERO,
            Growth::Linear => self.first.saturating_mul(n.saturating_add(1)),
            Growth::Exponential => self.first.saturating_mul(1_u32.checked_shl(n).unwrap_or(u32::MAX)),
        };
        let wait = wait.min(self.longest);
        Some(wait - wait * u32::from(self.jitter.min(100)) / 100 * u32::from(chance.min(99)) / 100)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(backoff: Backoff, count: u32) -> Vec<Option<u64>> {
        (0..count).map(|n| backoff.wait(n, 0).map(|wait| wait.as_secs())).collect()
    }

    #[test]
    fn p_48_waits_grow_as_the_policy_says() {
        let five = [Some(1), Some(2), Some(4), Some(8), Some(16), None];
        assert_eq!(seconds(Backoff::default(), 6), five);
        let long = Backoff { retries: None, ..Backoff::default() };
        assert_eq!(seconds(long, 9)[5..], [Some(32), Some(60), Some(60), Some(60)]);
        assert_eq!(long.wait(u32::MAX, 0), Some(Duration::from_secs(60)));
        let linear = Backoff { growth: Growth::Linear, ..Backoff::default() };
        assert_eq!(seconds(linear, 3), [Some(1), Some(2), Some(3)]);
        assert_eq!(seconds(Backoff { growth: Growth::Immediate, ..Backoff::default() }, 2), [Some(0), Some(0)]);
        assert_eq!(seconds(Backoff { growth: Growth::Never, ..Backoff::default() }, 1), [None]);
    }

    #[test]
    fn p_46_a_device_waits_two_four_eight_seconds() {
        assert_eq!(seconds(Backoff::device(), 3), [Some(2), Some(4), Some(8)]);
    }

    #[test]
    fn p_49_chance_only_shortens_and_is_off_unless_asked_for() {
        let plain = Backoff::default();
        assert_eq!(plain.wait(3, 0), plain.wait(3, 99));
        let spread = Backoff { jitter: 50, ..Backoff::default() };
        for chance in 0..100 {
            let wait = spread.wait(3, chance).expect("a try");
            assert!(wait <= Duration::from_secs(8) && wait > Duration::from_secs(4), "{wait:?}");
        }
        assert_ne!(spread.wait(3, 0), spread.wait(3, 99));
    }
}
