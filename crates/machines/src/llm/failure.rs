//! Failures of a model: the kind, whether to retry, and when.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use interlingua_model::content::Party;
use interlingua_model::fault::{Fault, FaultKind};
use interlingua_model::id::{PeerId, Text};

/// The text names what happened and never repeats what a provider wrote: bodies of errors may hold keys and prompts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    pub kind: FailureKind,
    pub text: Text,
    /// How long the provider asks to be left alone.
    pub after: Option<Duration>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum FailureKind {
    /// The stream ended without an end mark.
    Cut,
    /// What came cannot be read, or contradicts itself.
    Garbled,
    /// Too many requests.
    Busy,
    /// Not reachable, or failing by itself.
    Down,
    /// Nothing came for too long, or the whole took too long.
    Slow,
    /// The provider does not take this request; asking again changes nothing.
    Refused,
    /// It does not take the hub's key.
    Locked,
    /// The prompt is larger than the model reads.
    TooLong,
    /// The answer is larger than the hub reads.
    TooMuch,
}

impl Failure {
    pub fn new(kind: FailureKind, text: impl Into<Text>) -> Failure {
        Failure { kind, text: text.into(), after: None }
    }

    /// What a status of HTTP means, with the provider's `Retry-After` in seconds if it sent one.
    pub fn status(status: u16, retry_after: Option<&str>) -> Failure {
        let kind = match status {
            401 | 403 => FailureKind::Locked,
            408 => FailureKind::Slow,
            413 => FailureKind::TooLong,
            429 => FailureKind::Busy,
            400..=499 => FailureKind::Refused,
            500..=599 => FailureKind::Down,
            _ => FailureKind::Garbled,
        };
        let after = retry_after.and_then(|text| text.trim().parse().ok()).map(Duration::from_secs);
        Failure { kind, text: format!("the model's provider answered {status}").into(), after }
    }

    /// May the same request do better a little later?
    pub fn is_passing(&self) -> bool {
        match self.kind {
            FailureKind::Cut | FailureKind::Garbled | FailureKind::Busy | FailureKind::Down | FailureKind::Slow => true,
            FailureKind::Refused | FailureKind::Locked | FailureKind::TooLong | FailureKind::TooMuch => false,
        }
    }

    /// As a fault of the peer whose model it is.
    pub fn fault(&self, peer: PeerId) -> Fault {
        let kind = match self.kind {
            FailureKind::Cut | FailureKind::Garbled | FailureKind::TooMuch => FaultKind::BadReply,
            FailureKind::Busy => FaultKind::Busy,
            FailureKind::Down => FaultKind::Unreachable,
            FailureKind::Slow => FaultKind::Deadline,
            FailureKind::Refused | FailureKind::Locked => FaultKind::PeerFailed,
            FailureKind::TooLong => FaultKind::TooLarge,
        };
        Fault::new(kind, Party::Peer(peer), self.text.clone())
    }
}

/// When to ask again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    /// All in all, the first included.
    pub attempts: u32,
    pub base: Duration,
    /// No pause is longer; a provider that asks for more is given up.
    pub cap: Duration,
}

impl Default for Backoff {
    fn default() -> Backoff {
        Backoff { attempts: 4, base: Duration::from_millis(500), cap: Duration::from_secs(30) }
    }
}

impl Backoff {
    /// The pause before the next attempt, after `tried` of them; none when it is over. Once something was said, asking
    /// again would say it twice. `roll` is a random number: pauses are spread, so that callers do not come back together.
    pub fn next(&self, tried: u32, failure: &Failure, has_spoken: bool, roll: u32) -> Option<Duration> {
        if has_spoken || !failure.is_passing() || tried >= self.attempts {
            return None;
        }
        if let Some(after) = failure.after {
            return (after <= self.cap).then_some(after);
        }
        let doubled = self.base.saturating_mul(1_u32.checked_shl(tried.saturating_sub(1)).unwrap_or(u32::MAX));
        let most = doubled.min(self.cap);
        // Between half of it and all of it.
        Some(most / 2 + most.mul_f64(f64::from(roll) / f64::from(u32::MAX) / 2.0))
    }
}
