//! The peer's end of an exchange, and what comes from it.

use std::future::poll_fn;
use std::task::Poll;

use interlingua_core::peer::{Calling, Exchange, Reply};
use interlingua_core::{Fault, Finished, Raw, Record};

use super::super::admission::Permit;

/// The peer's end.
pub(super) enum Side {
    /// Nothing is running.
    Idle,
    /// Waiting for a place among the running ones.
    Queued(Queued),
    Calling(Calling),
    Live(Exchange),
}

pub(super) type Queued = std::pin::Pin<Box<dyn Future<Output = Result<(Permit, Calling), Fault>> + Send>>;

/// What comes from the peer's side.
#[expect(clippy::large_enum_variant, reason = "a record is the usual case, and each is moved once")]
pub(super) enum News {
    Entered(Permit, Calling),
    Began(Exchange),
    Refused(Fault),
    Done(Box<Finished>, Option<Raw>),
    Record(Record),
    Ended,
}

impl Side {
    /// The next news. Cancel safe: nothing is taken before it is returned.
    pub(super) async fn next(&mut self) -> News {
        poll_fn(|cx| self.poll_news(cx)).await
    }

    fn poll_news(&mut self, cx: &mut std::task::Context<'_>) -> Poll<News> {
        match self {
            Side::Idle => Poll::Pending,
            Side::Queued(queued) => queued.as_mut().poll(cx).map(|entered| match entered {
                Ok((permit, calling)) => News::Entered(permit, calling),
                Err(fault) => News::Refused(fault),
            }),
            Side::Calling(calling) => calling.as_mut().poll(cx).map(|reply| match reply {
                Ok(Reply::Done(finished, raw)) => News::Done(finished, raw),
                Ok(Reply::Live(exchange)) => News::Began(exchange),
                Err(fault) => News::Refused(fault),
            }),
            Side::Live(exchange) => exchange.poll_next(cx).map(|record| record.map_or(News::Ended, News::Record)),
        }
    }

    /// What is there without waiting. The waker is a blank one: the next `next` registers anew.
    pub(super) fn ready_now(&mut self) -> Option<News> {
        let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
        match self.poll_news(&mut cx) {
            Poll::Ready(news) => Some(news),
            Poll::Pending => None,
        }
    }
}
