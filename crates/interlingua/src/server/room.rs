//! Room for bodies: how many bytes of requests are held at once, by all callers together. One body has its own limit; without
//! this one, many of them at once could take all the memory there is.
//!
//! A body holds room from its first bytes until its answer begins, since until then it is in memory. Small ones hold none, so
//! plain calls go on whatever the large ones do, and pay nothing. One that says its length takes all of that as soon as it is
//! not small any more, so that what was begun can end; one that does not takes more as it grows. Who finds no room waits a
//! moment and is then refused as busy, in its protocol's own form. Who holds some and hardly sends gives way to who waits.
//!
//! What is made of a body counts too: many small values take many times their bytes, so they are counted as they come.
//!
//! Messages of WebSockets count as bodies do (see [`super::counted`]). What is written to disk as it comes (uploads) does not.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::BoxError;
use axum::body::{Body, HttpBody};
use axum::extract::Request;
use bytes::Bytes;
use http::Version;
use hyper::body::{Frame, SizeHint};
use interlingua_core::json::Count;
use interlingua_core::{Fault, FaultKind, Retry};
use tokio::sync::Notify;
use tokio::time::{Instant, Sleep};

use super::gate::Gate;

/// What a body may be without holding any.
pub(crate) const SMALL: u64 = 64 * 1024;
/// The same on HTTP/2, where one connection brings hundreds of them.
const SMALL_STREAM: u64 = 4 * 1024;
/// By how much one grows that does not say how long it is.
const STEP: u64 = 1024 * 1024;
/// How long room is waited for.
const PATIENCE: Duration = Duration::from_secs(2);
/// When somebody who was refused may try again.
const AGAIN: Duration = Duration::from_secs(5);
/// How many bytes a second are fast enough while others wait, after a head start.
const SPEED: u64 = 256 * 1024;
const HEAD_START: Duration = Duration::from_secs(5);
/// How often a body that does not come is looked at.
const LOOK: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub struct Room {
    most: AtomicU64,
    taken: AtomicU64,
    waiting: AtomicUsize,
    freed: Notify,
}

impl Room {
    pub fn new(most: u64) -> Arc<Room> {
        let (most, taken) = (AtomicU64::new(most), AtomicU64::new(0));
        Arc::new(Room { most, taken, waiting: AtomicUsize::new(0), freed: Notify::new() })
    }

    /// From now on; what is held already is let go of in its time.
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
        let _waiting = Waiting::begin(&self.waiting);
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

    /// The request, and what its body holds until that is dropped. `gate` is asked for only where the body is not small.
    pub fn admit(
        self: &Arc<Self>,
        request: Request,
        gate: impl FnOnce() -> Option<Gate>,
    ) -> Result<(Request, Option<Arc<Held>>), Fault> {
        let small = if request.version() == Version::HTTP_2 { SMALL_STREAM } else { SMALL };
        let hint = request.body().size_hint();
        if hint.upper().is_some_and(|most| most <= small) {
            return Ok((request, None));
        }
        let mut gate = gate();
        Gate::pass(&mut gate, hint.lower())?;
        let claim = Claim::new(self, small);
        let held = claim.held.clone();
        let request = request.map(|body| Body::new(Bounded::new(body, claim, gate)));
        Ok((request, Some(held)))
    }
}

struct Waiting<'a>(&'a AtomicUsize);

impl Waiting<'_> {
    fn begin(count: &AtomicUsize) -> Waiting<'_> {
        count.fetch_add(1, Ordering::Relaxed);
        Waiting(count)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What one body holds.
#[derive(Debug)]
pub struct Held {
    room: Arc<Room>,
    bytes: AtomicU64,
}

impl Held {
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

    /// Takes room for what is made of a message that is whole: false when there is none.
    pub(crate) fn weigh(&self, message: &[u8]) -> bool {
        let more = (Count::of(message).tree_bytes() as u64).min(self.room.most().saturating_sub(self.bytes()));
        self.try_grow(more)
    }

    async fn grow(self: Arc<Self>, more: u64) -> Result<(), Fault> {
        self.room.take(more).await?;
        self.bytes.fetch_add(more, Ordering::Relaxed);
        Ok(())
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if self.bytes() > 0 {
            self.room.taken.fetch_sub(self.bytes(), Ordering::AcqRel);
            self.room.freed.notify_waiters();
        }
    }
}

/// These bytes, which hold room until the last slice of them is dropped.
pub(crate) fn kept(bytes: Bytes, held: Arc<Held>) -> Bytes {
    Bytes::from_owner(Kept { bytes, _held: held })
}

struct Kept {
    bytes: Bytes,
    _held: Arc<Held>,
}

impl AsRef<[u8]> for Kept {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

type Asking = Pin<Box<dyn Future<Output = Result<(), Fault>> + Send + Sync>>;

impl std::fmt::Debug for Claim {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Claim").field("held", &self.held).field("so_far", &self.so_far).finish_non_exhaustive()
    }
}

/// What one message holds while it comes, and what it waits for.
pub(crate) struct Claim {
    held: Arc<Held>,
    /// How long it may be without holding any.
    small: u64,
    so_far: u64,
    /// What is made of it, besides.
    made: u64,
    begun: Instant,
    asking: Option<Asking>,
    look: Option<Pin<Box<Sleep>>>,
}

impl Claim {
    pub(crate) fn new(room: &Arc<Room>, small: u64) -> Claim {
        let held = Arc::new(Held { room: room.clone(), bytes: AtomicU64::new(0) });
        Claim { held, small, so_far: 0, made: 0, begun: Instant::now(), asking: None, look: None }
    }

    /// What it holds, for as long as the message is kept.
    pub(crate) fn into_held(self) -> Arc<Held> {
        self.held
    }

    /// So much will be made of it.
    fn makes(&mut self, bytes: u64) {
        self.made = bytes;
    }

    /// So much of it is there now, of so much in all where that is known.
    pub(crate) fn grew_to(&mut self, so_far: u64, declared: Option<u64>) {
        self.so_far = so_far;
        let more = self.wanted(declared).saturating_sub(self.held.bytes());
        if more > 0 && self.asking.is_none() && !self.held.try_grow(more) {
            self.asking = Some(Box::pin(self.held.clone().grow(more)));
        }
    }

    /// How much it should hold by now. More than there is at all is never had: it may go on alone.
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

    /// Ready when no more room is waited for.
    pub(crate) fn poll_granted(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Fault>> {
        let Some(asking) = &mut self.asking else { return Poll::Ready(Ok(())) };
        let granted = ready!(asking.as_mut().poll(cx));
        self.asking = None;
        Poll::Ready(granted)
    }

    /// Nothing came. Ready when it gives way to who waits.
    pub(crate) fn poll_dawdling(&mut self, cx: &mut Context<'_>) -> Poll<Fault> {
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

/// A body that holds room for what has come of it.
struct Bounded {
    body: Body,
    declared: Option<u64>,
    so_far: u64,
    count: Count,
    claim: Claim,
    /// Until it was asked.
    gate: Option<Gate>,
    /// A piece that waits for room.
    piece: Option<Frame<Bytes>>,
}

impl Bounded {
    fn new(body: Body, claim: Claim, gate: Option<Gate>) -> Bounded {
        let declared = body.size_hint().exact();
        Bounded { body, declared, so_far: 0, count: Count::default(), claim, gate, piece: None }
    }

    fn arrived(&mut self, piece: Frame<Bytes>) -> Result<(), Fault> {
        if let Some(data) = piece.data_ref() {
            self.so_far += data.len() as u64;
            self.count.feed(data);
            self.claim.makes(self.count.tree_bytes() as u64);
        }
        Gate::pass(&mut self.gate, self.so_far)?;
        self.piece = Some(piece);
        self.claim.grew_to(self.so_far, self.declared);
        Ok(())
    }
}

impl HttpBody for Bounded {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let this = self.get_mut();
        loop {
            ready!(this.claim.poll_granted(cx))?;
            if let Some(piece) = this.piece.take() {
                return Poll::Ready(Some(Ok(piece)));
            }
            match Pin::new(&mut this.body).poll_frame(cx) {
                Poll::Ready(Some(Ok(piece))) => this.arrived(piece)?,
                Poll::Ready(Some(Err(error))) => return Poll::Ready(Some(Err(error.into()))),
                Poll::Ready(None) => return Poll::Ready(None),
                Poll::Pending => return this.claim.poll_dawdling(cx).map(|fault| Some(Err(fault.into()))),
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.piece.is_none() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

fn is_slow(begun: Instant, so_far: u64) -> bool {
    so_far < begun.elapsed().saturating_sub(HEAD_START).as_secs().saturating_mul(SPEED)
}

fn busy(text: &'static str) -> Fault {
    Fault::hub(FaultKind::Busy, text).retry(Retry::After(Some(AGAIN)))
}

#[cfg(test)]
mod tests {
    use futures_util::{StreamExt, stream};
    use http_body_util::BodyExt;

    use super::*;

    /// A body of so many pieces of 64 KiB, one every so many milliseconds; it does not say how long it is.
    fn body(pieces: usize, every: u64) -> Body {
        Body::from_stream(stream::iter(0..pieces).then(move |_| async move {
            tokio::time::sleep(Duration::from_millis(every)).await;
            Ok::<_, BoxError>(Bytes::from(vec![b'x'; 64 * 1024]))
        }))
    }

    fn admitted(room: &Arc<Room>, body: Body) -> (Body, Option<Arc<Held>>) {
        let (request, held) = room.admit(Request::new(body), || None).expect("nobody is asked for");
        (request.into_body(), held)
    }

    async fn read(body: Body) -> Result<usize, Fault> {
        match body.collect().await {
            Ok(whole) => Ok(whole.to_bytes().len()),
            Err(error) => Err(*error.into_inner().downcast::<Fault>().expect("a fault")),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_small_body_holds_nothing_and_a_large_one_until_its_answer() {
        let room = Room::new(4 * STEP);
        assert!(admitted(&room, Body::from(vec![0; 1_000])).1.is_none(), "it is not even looked at");
        let (small, held) = admitted(&room, body(1, 1));
        assert_eq!(read(small).await.expect("read"), 64 * 1024);
        assert_eq!(room.taken(), 0);
        drop(held);
        let (large, held) = admitted(&room, body(20, 1));
        assert_eq!(read(large).await.expect("read"), 20 * 64 * 1024);
        assert_eq!(room.taken(), 2 * STEP, "it has grown to a second step");
        drop(held);
        let (said, held) = admitted(&room, Body::from(vec![0; 3 * 1024 * 1024]));
        assert_eq!(read(said).await.expect("read"), 3 * 1024 * 1024);
        assert_eq!(room.taken(), 3 * STEP, "it said how long it is");
        drop(held);
        assert_eq!(room.taken(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn with_no_room_left_it_is_waited_for_a_moment_and_refused_then() {
        let room = Room::new(2 * STEP);
        let (first, held) = admitted(&room, Body::from(vec![0; 2 * 1024 * 1024]));
        read(first).await.expect("it is alone");
        let (second, _) = admitted(&room, body(2, 1));
        let refused = read(second).await.expect_err("no room");
        assert_eq!((refused.kind, refused.retry), (FaultKind::Busy, Retry::After(Some(AGAIN))));
        let (third, _held) = admitted(&room, body(2, 1));
        let (read, ()) = tokio::join!(read(third), async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            drop(held);
        });
        assert_eq!(read.expect("there was room in time"), 128 * 1024);
    }

    #[tokio::test(start_paused = true)]
    async fn streams_of_one_connection_hold_room_from_their_first_pages() {
        let room = Room::new(4 * STEP);
        let request = |length: usize| {
            let mut request = Request::new(Body::from(vec![0; length]));
            *request.version_mut() = Version::HTTP_2;
            request
        };
        let (_, held) = room.admit(request(4_096), || None).expect("admitted");
        assert!(held.is_none());
        let (request, _held) = room.admit(request(4_097), || None).expect("admitted");
        assert_eq!(read(request.into_body()).await.expect("read"), 4_097);
        assert_eq!(room.taken(), 4_097);
    }

    #[tokio::test(start_paused = true)]
    async fn who_is_alone_may_be_larger_than_all_the_room() {
        let room = Room::new(STEP);
        let (large, _held) = admitted(&room, body(40, 1));
        assert_eq!(read(large).await.expect("read"), 40 * 64 * 1024);
        assert_eq!(room.taken(), STEP);
    }

    #[tokio::test(start_paused = true)]
    async fn who_holds_room_and_hardly_sends_gives_way_to_who_waits_and_to_nobody_else() {
        let slow = || body(3, 60_000);
        let room = Room::new(STEP);
        let (alone, held) = admitted(&room, slow());
        assert!(read(alone).await.is_ok(), "nobody waits");
        drop(held);
        let (mut slow, held) = admitted(&room, slow());
        for _ in 0..2 {
            slow.frame().await.expect("a piece").expect("is read");
        }
        assert_eq!(room.taken(), STEP);
        let (waiting, _held) = admitted(&room, body(2, 1));
        let (slow, waiting) = tokio::join!(
            async move {
                let slow = read(slow).await;
                drop(held);
                slow
            },
            read(waiting)
        );
        assert_eq!(slow.expect_err("gives way").kind, FaultKind::Busy);
        assert!(waiting.is_ok());
    }
}
