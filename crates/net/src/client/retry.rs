//! Retry with backoff: when to retry, and how long to wait before.

use std::time::Duration;

use super::transport_error::{Begun, TransportError, Why};
use interlingua_hub::entropy;

const ATTEMPTS: u32 = 3;
const FIRST: Duration = Duration::from_millis(200);
const GROWTH: u32 = 4;

/// How long to wait before the next attempt; `None` when there is none. A message that the peer may have seen is sent again
/// only if seeing it twice does no harm.
pub fn after(lost: &TransportError, attempt: u32, repeatable: bool) -> Option<Duration> {
    let harmless = lost.begun == Begun::No || repeatable;
    let useful = match lost.why {
        Why::Connection => true,
        Why::Certificate | Why::Refused | Why::TooLarge | Why::Slow | Why::Busy => false,
    };
    (harmless && useful && attempt < ATTEMPTS).then(|| jittered(FIRST * GROWTH.pow(attempt.saturating_sub(1))))
}

/// Anything up to the whole of it: callers that failed together do not come back together.
pub fn jittered(span: Duration) -> Duration {
    let millis = span.as_millis().max(1);
    Duration::from_millis(u64::try_from(entropy::bits() % millis).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_peer_may_have_seen_is_repeated_only_when_that_is_harmless() {
        let lost = |begun, why| TransportError::new(begun, why, "gone");
        assert!(after(&lost(Begun::No, Why::Connection), 1, false).is_some());
        assert!(after(&lost(Begun::Perhaps, Why::Connection), 1, false).is_none());
        assert!(after(&lost(Begun::Perhaps, Why::Connection), 1, true).is_some());
        assert!(after(&lost(Begun::No, Why::Certificate), 1, true).is_none());
    }

    #[test]
    fn attempts_end_and_waits_stay_short() {
        let lost = TransportError::new(Begun::No, Why::Connection, "gone");
        let waits: Vec<Duration> = (1..10).map_while(|attempt| after(&lost, attempt, true)).collect();
        assert_eq!(waits.len(), 2);
        assert!(waits.iter().all(|wait| *wait < FIRST * GROWTH));
    }
}
