//! The state of the peer's side of an exchange, and the stream of its events.

use std::future::{poll_fn, ready};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use interlingua_model::peer::{Calling, Dispatch, Duplex, Exchange, Peer, Place, Reply};
use interlingua_model::{Fault, FaultKind, Finished, Loss, Raw, Record, Signal};

use tokio::time::Sleep;

use super::super::admission::Permit;

/// The peer's end.
pub(super) enum Side {
    /// Nothing is running.
    Idle,
    /// Waiting for a place at the peer. Nothing was sent.
    Placing(Placed),
    /// Waiting for a peer to list its skills.
    Looking(Pin<Box<Sleep>>),
    /// Waiting for a place among the running ones.
    Queued(Queued),
    Calling(Calling),
    Live(Exchange),
    /// It has ended, and hooks are informed of the outcome.
    Checking(Checking),
}

pub(super) type Placed = Pin<Box<dyn Future<Output = Result<Place, Fault>> + Send>>;
pub(super) type Checking = Pin<Box<dyn Future<Output = News> + Send>>;
pub(super) type Queued = Pin<Box<dyn Future<Output = Result<(Permit, Calling), Fault>> + Send>>;

/// Events of the peer's side.
#[expect(clippy::large_enum_variant, reason = "a record is the usual case, and each is moved once")]
pub(super) enum News {
    Placed(Place),
    /// It is time to look for the skill again.
    Looked,
    Entered(Permit, Calling),
    Began(Exchange),
    Refused(Fault),
    Done(Box<Finished>, Option<Raw>),
    Record(Record),
    /// It ended so, and the hooks have seen it.
    Checked(Box<Finished>, Vec<Loss>, Option<Raw>),
    Ended,
}

impl Side {
    /// The next news. Cancel safe: nothing is taken before it is returned.
    pub(super) async fn next(&mut self) -> News {
        poll_fn(|cx| self.poll_news(cx)).await
    }

    /// A peer that panics has ended without an answer, and affects no other exchange.
    fn poll_news(&mut self, cx: &mut Context<'_>) -> Poll<News> {
        catch_unwind(AssertUnwindSafe(|| self.poll_peer(cx))).unwrap_or_else(|_| {
            *self = Side::Idle;
            Poll::Ready(News::Ended)
        })
    }

    fn poll_peer(&mut self, cx: &mut Context<'_>) -> Poll<News> {
        match self {
            Side::Idle => Poll::Pending,
            Side::Placing(placed) => placed.as_mut().poll(cx).map(|placed| match placed {
                Ok(place) => News::Placed(place),
                Err(fault) => News::Refused(fault),
            }),
            Side::Looking(sleep) => sleep.as_mut().poll(cx).map(|()| News::Looked),
            Side::Queued(queued) => queued.as_mut().poll(cx).map(|entered| match entered {
                Ok((permit, calling)) => News::Entered(permit, calling),
                Err(fault) => News::Refused(fault),
            }),
            Side::Calling(calling) => calling.as_mut().poll(cx).map(|reply| match reply {
                Ok(Reply::Done(finished, raw)) => News::Done(finished, raw),
                Ok(Reply::Live(exchange)) => News::Began(exchange),
                Err(fault) => News::Refused(fault),
            }),
            Side::Checking(checking) => checking.as_mut().poll(cx),
            Side::Live(exchange) => exchange.poll_next(cx).map(|record| record.map_or(News::Ended, News::Record)),
        }
    }

    /// The next event without waiting. The waker is a blank one: the next `next` registers again.
    pub(super) fn ready_now(&mut self) -> Option<News> {
        let mut cx = Context::from_waker(std::task::Waker::noop());
        match self.poll_news(&mut cx) {
            Poll::Ready(news) => Some(news),
            Poll::Pending => None,
        }
    }
}

/// Calls the peer. One that panics before it has begun is one that ended without an answer.
pub(super) fn called(peer: Arc<dyn Peer>, dispatch: Dispatch) -> Calling {
    let calling = catch_unwind(AssertUnwindSafe(|| peer.call(dispatch)));
    calling.unwrap_or_else(|_| Box::pin(ready(Ok(Reply::Live(Box::new(Gone))))))
}

/// Passes a signal into the running exchange.
pub(super) fn told(exchange: &mut Exchange, signal: Signal) -> Result<(), Fault> {
    let told = catch_unwind(AssertUnwindSafe(|| exchange.signal(signal)));
    told.unwrap_or_else(|_| Err(Fault::hub(FaultKind::PeerFailed, "the peer failed when it was told")))
}

/// Nothing comes of it.
struct Gone;

impl Duplex for Gone {
    fn poll_next(&mut self, _: &mut Context<'_>) -> Poll<Option<Record>> {
        Poll::Ready(None)
    }

    fn signal(&mut self, _: Signal) -> Result<(), Fault> {
        Err(Fault::hub(FaultKind::PeerFailed, "the peer is gone"))
    }
}
