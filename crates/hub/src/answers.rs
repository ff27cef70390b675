//! Memory budget and timeouts for responses of peers (backpressure): the length of one message (`limits.body`), the time from its first
//! byte to its last (`limits.message_time`), and the memory of all of them together (`limits.answers`).

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use super::byte_budget::ByteBudget;

/// Limits of peers' responses.
#[derive(Debug, Clone, Copy)]
pub struct AnswerLimits {
    /// One message.
    pub message: usize,
    /// From its first byte to its last, besides what it earns.
    pub message_time: Duration,
    /// All messages that are held at the same time.
    pub together: u64,
}

impl Default for AnswerLimits {
    fn default() -> Self {
        AnswerLimits { message: 64 << 20, message_time: Duration::from_secs(60), together: 512 << 20 }
    }
}

/// The current limits, and the memory in use. Cloning shares them.
#[derive(Debug, Clone)]
pub struct Answers(Arc<Bounds>);

#[derive(Debug)]
struct Bounds {
    message: AtomicUsize,
    millis: AtomicU64,
    room: Arc<ByteBudget>,
}

impl Default for Answers {
    fn default() -> Self {
        let limits = AnswerLimits::default();
        let answers = Answers(Arc::new(Bounds {
            message: AtomicUsize::default(),
            millis: AtomicU64::default(),
            room: ByteBudget::new(limits.together),
        }));
        answers.set(limits);
        answers
    }
}

impl Answers {
    /// Replaces the limits, from the next answer on.
    pub fn set(&self, limits: AnswerLimits) {
        let millis = u64::try_from(limits.message_time.as_millis()).unwrap_or(u64::MAX);
        self.0.message.store(limits.message, Ordering::Relaxed);
        self.0.millis.store(millis, Ordering::Relaxed);
        self.0.room.resize(limits.together);
    }

    /// How long one message may be.
    pub fn message(&self) -> usize {
        self.0.message.load(Ordering::Relaxed)
    }

    /// What all answers hold of memory, in bytes.
    pub(crate) fn held(&self) -> u64 {
        self.0.room.taken()
    }

    /// How long one message may take from its first byte to its last.
    pub fn message_time(&self) -> Duration {
        Duration::from_millis(self.0.millis.load(Ordering::Relaxed))
    }

    /// The budget that all of them share.
    pub fn room(&self) -> &Arc<ByteBudget> {
        &self.0.room
    }
}
