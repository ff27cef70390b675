//! Body budget (backpressure): the bytes of requests that all callers together may hold in memory at once. One body has its own limit;
//! without this budget, many of them at once could take all memory.
//!
//! A body holds its part of the budget from its first bytes until its answer begins, since until then it is in memory. Small bodies take
//! nothing from the budget, so plain calls proceed at no cost whatever the large ones do. A body with a declared length reserves all of it
//! as soon as it is not small any more, so that what was begun can end; one without reserves more as it grows. A body without budget waits
//! a moment and is then refused as busy, in its protocol's own form. A sender that holds budget and hardly sends gives it up to those that
//! wait.
//!
//! Decoded values count too: many small values take many times their bytes, so they are counted while they arrive.
//!
//! Messages of WebSockets count as bodies do (see [`crate::counted`]). Uploads, which are written to disk while they arrive, do not.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use axum::BoxError;
use axum::body::{Body, HttpBody};
use axum::extract::Request;
use bytes::Bytes;
use http::Version;
use hyper::body::{Frame, SizeHint};
use interlingua_model::Fault;
use interlingua_model::json::Count;

use interlingua_hub::byte_budget::{ByteBudget, HeldBytes, Reservation, SMALL};

/// What a body may be without holding any on HTTP/2, where one connection brings hundreds of them.
const SMALL_STREAM: u64 = 4 * 1024;

/// Who is asked once a body is longer than `most`.
pub trait Gate: Send + Unpin + 'static {
    /// How long a body may be before it is asked.
    fn most(&self) -> u64;

    /// Whether a longer one is taken.
    fn judge(&self) -> Result<(), Fault>;
}

/// So many bytes came, or will. Who passed once is not asked again.
fn pass<G: Gate>(gate: &mut Option<G>, bytes: u64) -> Result<(), Fault> {
    match gate.take_if(|gate| bytes > gate.most()) {
        Some(gate) => gate.judge(),
        None => Ok(()),
    }
}

/// The request, and what its body holds until that is dropped. `gate` is asked for only where the body is not small.
pub fn admit<G: Gate>(
    room: &Arc<ByteBudget>,
    request: Request,
    gate: impl FnOnce() -> Option<G>,
) -> Result<(Request, Option<Arc<HeldBytes>>), Fault> {
    let small = if request.version() == Version::HTTP_2 { SMALL_STREAM } else { SMALL };
    let hint = request.body().size_hint();
    if hint.upper().is_some_and(|most| most <= small) {
        return Ok((request, None));
    }
    let mut gate = gate();
    pass(&mut gate, hint.lower())?;
    let claim = Reservation::new(room, small);
    let held = claim.held().clone();
    let request = request.map(|body| Body::new(Bounded::new(body, claim, gate)));
    Ok((request, Some(held)))
}

/// A body that holds room for what has come of it.
struct Bounded<G> {
    body: Body,
    declared: Option<u64>,
    so_far: u64,
    count: Count,
    claim: Reservation,
    /// Until it was asked.
    gate: Option<G>,
    /// A piece that waits for room.
    piece: Option<Frame<Bytes>>,
}

impl<G: Gate> Bounded<G> {
    fn new(body: Body, claim: Reservation, gate: Option<G>) -> Bounded<G> {
        let declared = body.size_hint().exact();
        Bounded { body, declared, so_far: 0, count: Count::default(), claim, gate, piece: None }
    }

    fn arrived(&mut self, piece: Frame<Bytes>) -> Result<(), Fault> {
        if let Some(data) = piece.data_ref() {
            self.so_far += data.len() as u64;
            self.count.feed(data);
            self.claim.makes(self.count.tree_bytes() as u64);
        }
        pass(&mut self.gate, self.so_far)?;
        self.piece = Some(piece);
        self.claim.grew_to(self.so_far, self.declared);
        Ok(())
    }
}

impl<G: Gate> HttpBody for Bounded<G> {
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

#[cfg(test)]
mod tests {
    use futures_util::{StreamExt, stream};
    use http_body_util::BodyExt;

    use std::time::Duration;

    use interlingua_model::{FaultKind, Retry};

    use super::*;
    use interlingua_hub::byte_budget::{AGAIN, STEP};

    /// Nobody is asked.
    enum Open {}

    impl Gate for Open {
        fn most(&self) -> u64 {
            match *self {}
        }

        fn judge(&self) -> Result<(), Fault> {
            match *self {}
        }
    }

    /// A body of so many pieces of 64 KiB, one every so many milliseconds; it does not say how long it is.
    fn body(pieces: usize, every: u64) -> Body {
        Body::from_stream(stream::iter(0..pieces).then(move |_| async move {
            tokio::time::sleep(Duration::from_millis(every)).await;
            Ok::<_, BoxError>(Bytes::from(vec![b'x'; 64 * 1024]))
        }))
    }

    fn admitted(room: &Arc<ByteBudget>, body: Body) -> (Body, Option<Arc<HeldBytes>>) {
        let (request, held) = admit(room, Request::new(body), || None::<Open>).expect("nobody is asked for");
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
        let room = ByteBudget::new(4 * STEP);
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
        let room = ByteBudget::new(2 * STEP);
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
        let room = ByteBudget::new(4 * STEP);
        let request = |length: usize| {
            let mut request = Request::new(Body::from(vec![0; length]));
            *request.version_mut() = Version::HTTP_2;
            request
        };
        let (_, held) = admit(&room, request(4_096), || None::<Open>).expect("admitted");
        assert!(held.is_none());
        let (request, _held) = admit(&room, request(4_097), || None::<Open>).expect("admitted");
        assert_eq!(read(request.into_body()).await.expect("read"), 4_097);
        assert_eq!(room.taken(), 4_097);
    }

    #[tokio::test(start_paused = true)]
    async fn who_is_alone_may_be_larger_than_all_the_room() {
        let room = ByteBudget::new(STEP);
        let (large, _held) = admitted(&room, body(40, 1));
        assert_eq!(read(large).await.expect("read"), 40 * 64 * 1024);
        assert_eq!(room.taken(), STEP);
    }

    #[tokio::test(start_paused = true)]
    async fn who_holds_room_and_hardly_sends_gives_way_to_who_waits_and_to_nobody_else() {
        let slow = || body(3, 60_000);
        let room = ByteBudget::new(STEP);
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
