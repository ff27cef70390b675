//! Byte budget (backpressure): the memory that all messages together may hold at once. One message has its own limit; without this budget,
//! many of them at once could take all memory.
//!
//! Small messages take nothing from the budget, so plain calls proceed at no cost whatever the large ones do. A message with a declared
//! length reserves all of it as soon as it is not small any more, so that what was begun can end; one without reserves more as it grows. A
//! message without budget waits a moment and is then refused as busy. A sender that holds budget and hardly sends gives it up to those
//! that wait.
//!
//! Decoded values count too: many small values take many times their bytes, so they are counted while they arrive.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use interlingua_model::json::Count;
use interlingua_model::{Fault, FaultKind, Retry};
use tokio::sync::Notify;
use tokio::time::{Instant, Sleep};

/// A message up to this size takes nothing from the budget.
pub const SMALL: u64 = 64 * 1024;
/// The step by which the reservation of a message without a declared length grows.
pub const STEP: u64 = 1024 * 1024;
/// How long room is waited for.
const PATIENCE: Duration = Duration::from_secs(2);
/// When a refused caller may retry.
pub const AGAIN: Duration = Duration::from_secs(5);
/// How many bytes a second are fast enough while others wait, after a head start.
const SPEED: u64 = 256 * 1024;
const HEAD_START: Duration = Duration::from_secs(5);
/// How often a body that does not come is looked at.
const LOOK: Duration = Duration::from_secs(1);

/// A memory budget in bytes that many share. A message that needs more than is left waits a short time, and is then refused (backpressure).
#[derive(Debug)]
pub struct ByteBudget {
    most: AtomicU64,
    taken: AtomicU64,
    waiting: AtomicUsize,
    freed: Notify,
}

impl ByteBudget {
    /// A budget of so many bytes.
    pub fn new(most: u64) -> Arc<ByteBudget> {
        let (most, taken) = (AtomicU64::new(most), AtomicU64::new(0));
        Arc::new(ByteBudget { most, taken, waiting: AtomicUsize::new(0), freed: Notify::new() })
    }

    /// Replaces the size; bytes in use are released in their time.
    pub fn resize(&self, most: u64) {
        self.most.store(most, Ordering::Relaxed);
        self.freed.notify_waiters();
    }

    /// How many bytes are held.
    pub fn taken(&self) -> u64 {
        self.taken.load(Ordering::Relaxed)
    }

    fn most(&self) -> u64 {
        self.most.load(Ordering::Relaxed)
    }

    fn try_take(&self, bytes: u64) -> bool {
        let more = |taken: u64| taken.checked_add(bytes).filter(|sum| *sum <= self.most());
        self.taken.fetch_update(Ordering::AcqRel, Ordering::Relaxed, more).is_ok()
    }

    async fn take(&self, bytes: u64) -> Result<(), Fault> {
        let _waiting = WaitingGuard::begin(&self.waiting);
        let granted = async {
            loop {
                // Before it is tried: what is freed in between wakes this one.
                let freed = self.freed.notified();
                if self.try_take(bytes) {
                    return;
                }
                freed.await;
            }
        };
        tokio::time::timeout(PATIENCE, granted).await.map_err(|_| busy("the hub reads as much as it can at once"))
    }
}

struct WaitingGuard<'a>(&'a AtomicUsize);

impl WaitingGuard<'_> {
    fn begin(count: &AtomicUsize) -> WaitingGuard<'_> {
        count.fetch_add(1, Ordering::Relaxed);
        WaitingGuard(count)
    }
}

impl Drop for WaitingGuard<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What one body holds.
#[derive(Debug)]
pub struct HeldBytes {
    room: Arc<ByteBudget>,
    bytes: AtomicU64,
}

impl HeldBytes {
    fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    fn try_grow(&self, more: u64) -> bool {
        let grows = self.room.try_take(more);
        if grows {
            self.bytes.fetch_add(more, Ordering::Relaxed);
        }
        grows
    }

    /// Reserves memory for the decoded values of a complete message: false if the budget is used up.
    pub fn weigh(&self, message: &[u8]) -> bool {
        let more = (Count::of(message).tree_bytes() as u64).min(self.room.most().saturating_sub(self.bytes()));
        self.try_grow(more)
    }

    async fn grow(self: Arc<Self>, more: u64) -> Result<(), Fault> {
        self.room.take(more).await?;
        self.bytes.fetch_add(more, Ordering::Relaxed);
        Ok(())
    }
}

impl Drop for HeldBytes {
    fn drop(&mut self) {
        if self.bytes() > 0 {
            self.room.taken.fetch_sub(self.bytes(), Ordering::AcqRel);
            self.room.freed.notify_waiters();
        }
    }
}

/// These bytes, which hold their reservation until the last slice of them is dropped.
pub fn kept(bytes: Bytes, held: Arc<HeldBytes>) -> Bytes {
    Bytes::from_owner(CountedBytes { bytes, _held: held })
}

struct CountedBytes {
    bytes: Bytes,
    _held: Arc<HeldBytes>,
}

impl AsRef<[u8]> for CountedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

type PendingBytes = Pin<Box<dyn Future<Output = Result<(), Fault>> + Send + Sync>>;

impl std::fmt::Debug for Reservation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reservation").field("held", &self.held).field("so_far", &self.so_far).finish_non_exhaustive()
    }
}

/// The reservation of one message in the budget while it is received.
pub struct Reservation {
    held: Arc<HeldBytes>,
    /// How long it may be without holding any.
    small: u64,
    so_far: u64,
    /// What is made of it, besides.
    made: u64,
    begun: Instant,
    asking: Option<PendingBytes>,
    look: Option<Pin<Box<Sleep>>>,
}

impl Reservation {
    /// A reservation that holds nothing yet. Up to `small` bytes count for nothing.
    pub fn new(room: &Arc<ByteBudget>, small: u64) -> Reservation {
        let held = Arc::new(HeldBytes { room: room.clone(), bytes: AtomicU64::new(0) });
        Reservation { held, small, so_far: 0, made: 0, begun: Instant::now(), asking: None, look: None }
    }

    /// The bytes it holds so far.
    pub fn held(&self) -> &Arc<HeldBytes> {
        &self.held
    }

    /// The bytes it holds, for as long as the message is in memory.
    pub fn into_held(self) -> Arc<HeldBytes> {
        self.held
    }

    /// Sets the expected size of the decoded values.
    pub fn makes(&mut self, bytes: u64) {
        self.made = bytes;
    }

    /// Sets how much of it has arrived, and its total if that is declared.
    pub fn grew_to(&mut self, so_far: u64, declared: Option<u64>) {
        self.so_far = so_far;
        let more = self.wanted(declared).saturating_sub(self.held.bytes());
        if more > 0 && self.asking.is_none() && !self.held.try_grow(more) {
            self.asking = Some(Box::pin(self.held.clone().grow(more)));
        }
    }

    /// How much it should hold by now. It never waits for more than the whole budget: such a message proceeds alone.
    fn wanted(&self, declared: Option<u64>) -> u64 {
        let wanted = match declared {
            _ if self.so_far <= self.small => 0,
            Some(declared) => declared,
            None if self.so_far <= SMALL => SMALL,
            None => self.so_far.next_multiple_of(STEP),
        };
        let made = if wanted == 0 { 0 } else { self.made };
        (wanted + made).min(self.held.room.most())
    }

    /// Ready when it waits for no more budget.
    pub fn poll_granted(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Fault>> {
        let Some(asking) = &mut self.asking else { return Poll::Ready(Ok(())) };
        let granted = ready!(asking.as_mut().poll(cx));
        self.asking = None;
        Poll::Ready(granted)
    }

    /// Nothing arrived. Ready when it must give up its budget to a waiting message.
    pub fn poll_dawdling(&mut self, cx: &mut Context<'_>) -> Poll<Fault> {
        if self.held.bytes() == 0 {
            return Poll::Pending;
        }
        let look = self.look.get_or_insert_with(|| Box::pin(tokio::time::sleep(LOOK)));
        loop {
            ready!(look.as_mut().poll(cx));
            look.as_mut().reset(Instant::now() + LOOK);
            if is_slow(self.begun, self.so_far) && self.held.room.waiting.load(Ordering::Relaxed) > 0 {
                return Poll::Ready(busy("the body came too slowly while others waited for its room"));
            }
        }
    }
}

fn is_slow(begun: Instant, so_far: u64) -> bool {
    so_far < begun.elapsed().saturating_sub(HEAD_START).as_secs().saturating_mul(SPEED)
}

fn busy(text: &'static str) -> Fault {
    Fault::hub(FaultKind::Busy, text).retry(Retry::After(Some(AGAIN)))
}
