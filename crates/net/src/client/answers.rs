//! Response limits (backpressure) for all peers, in one place: the length of one message (`limits.body`), the time from its first byte to
//! its last (`limits.message_time`), and the memory of all of them together (`limits.answers`).
//!
//! [`Coming`] is the body of an HTTP answer, [`Measure`] the same for any other source of bytes; WebSockets are counted below
//! their frames ([`crate::counted`]). A message that is not small holds its share until the last slice of its bytes
//! is dropped, however long that is.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming};
use tokio::time::{Instant, Sleep};

use super::transport_error::{Begun, TransportError, Why};
use crate::counted::{Allowance, Refusal, earned};
pub use interlingua_hub::answers::Answers;
use interlingua_hub::byte_budget::{Reservation, SMALL, kept};

/// What a WebSocket to a peer is held to.
pub fn allowance(answers: &Answers) -> Allowance {
    Allowance { room: answers.room().clone(), message_time: answers.message_time() }
}

/// More came than is read.
pub fn too_large(cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> TransportError {
    TransportError::new(Begun::Perhaps, Why::TooLarge, cause)
}

pub fn refused(refusal: Refusal) -> TransportError {
    match refusal {
        Refusal::Slow => TransportError::new(Begun::Perhaps, Why::Slow, "a message was begun and did not end in time"),
        Refusal::Busy => {
            TransportError::new(Begun::Perhaps, Why::Busy, "the hub holds as much of its peers' answers as it may")
        }
    }
}

/// Watches messages that come one after another from one source.
#[derive(Debug)]
pub struct Measure {
    answers: Answers,
    /// Of the message that comes.
    claim: Option<Box<Reservation>>,
    /// How long the hub waited for it so far, and since when it waits again. The time that the hub itself takes does not count.
    waited: Duration,
    since: Option<Instant>,
    overdue: Option<Pin<Box<Sleep>>>,
}

impl Measure {
    pub fn new(answers: &Answers) -> Measure {
        Measure { answers: answers.clone(), claim: None, waited: Duration::ZERO, since: None, overdue: None }
    }

    /// How long one message may be.
    pub fn most(&self) -> usize {
        self.answers.message()
    }

    /// What `next` brings, while `unfinished` bytes of a message are there.
    pub async fn more<T>(&mut self, unfinished: usize, next: impl Future<Output = T>) -> Result<T, TransportError> {
        let mut next = std::pin::pin!(next);
        std::future::poll_fn(|cx| self.poll_more(cx, unfinished, |cx| next.as_mut().poll(cx))).await
    }

    /// Room for what is there comes first, then more of it.
    fn poll_more<T>(
        &mut self,
        cx: &mut Context<'_>,
        unfinished: usize,
        next: impl FnOnce(&mut Context<'_>) -> Poll<T>,
    ) -> Poll<Result<T, TransportError>> {
        if unfinished == 0 {
            self.begin_anew();
            return next(cx).map(Ok);
        }
        if unfinished as u64 > SMALL {
            let claim = self.claim.get_or_insert_with(|| Box::new(Reservation::new(self.answers.room(), SMALL)));
            claim.grew_to(unfinished as u64, None);
            if ready!(claim.poll_granted(cx)).is_err() {
                return Poll::Ready(Err(refused(Refusal::Busy)));
            }
        }
        let since = *self.since.get_or_insert_with(Instant::now);
        match next(cx) {
            Poll::Ready(more) => {
                self.waited += since.elapsed();
                self.since = None;
                Poll::Ready(Ok(more))
            }
            Poll::Pending => self.poll_refused(cx, since, unfinished).map(|refusal| Err(refused(refusal))),
        }
    }

    fn poll_refused(&mut self, cx: &mut Context<'_>, since: Instant, unfinished: usize) -> Poll<Refusal> {
        if let Some(claim) = &mut self.claim
            && claim.poll_dawdling(cx).is_ready()
        {
            return Poll::Ready(Refusal::Busy);
        }
        let time = self.answers.message_time() + earned(unfinished as u64);
        let due = since + time.saturating_sub(self.waited);
        let overdue = self.overdue.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(due)));
        if overdue.deadline() != due {
            overdue.as_mut().reset(due);
        }
        overdue.as_mut().poll(cx).map(|()| Refusal::Slow)
    }

    fn begin_anew(&mut self) {
        (self.claim, self.waited, self.since) = (None, Duration::ZERO, None);
    }

    /// A message is whole: what it holds, with what is made of it, goes with its bytes.
    pub fn whole(&mut self, message: Bytes) -> Result<Bytes, TransportError> {
        let held = self.claim.take().map(|claim| claim.into_held());
        self.begin_anew();
        match held {
            Some(held) if !held.weigh(&message) => Err(refused(Refusal::Busy)),
            Some(held) => Ok(kept(message, held)),
            None => Ok(message),
        }
    }
}

/// The body of an answer. Whoever reads it says how much of an unfinished message it has.
pub struct Coming {
    body: Incoming,
    measure: Measure,
}

impl fmt::Debug for Coming {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Coming").field("measure", &self.measure).finish_non_exhaustive()
    }
}

impl Coming {
    pub(super) fn new(body: Incoming, answers: &Answers) -> Coming {
        Coming { body, measure: Measure::new(answers) }
    }

    /// How long one message of it may be.
    pub fn most(&self) -> usize {
        self.measure.most()
    }

    /// As long as it is, if it says so.
    pub(super) fn declared(&self) -> u64 {
        self.body.size_hint().lower()
    }

    /// The next frame of HTTP, which may hold trailers. Cancel safe.
    pub async fn frame(&mut self, unfinished: usize) -> Option<Result<Frame<Bytes>, TransportError>> {
        std::future::poll_fn(|cx| self.poll_frame(cx, unfinished)).await
    }

    pub fn poll_frame(
        &mut self,
        cx: &mut Context<'_>,
        unfinished: usize,
    ) -> Poll<Option<Result<Frame<Bytes>, TransportError>>> {
        let Coming { body, measure } = self;
        measure.poll_more(cx, unfinished, |cx| Pin::new(body).poll_frame(cx)).map(|more| match more {
            Ok(frame) => frame.map(|frame| frame.map_err(TransportError::broken)),
            Err(lost) => Some(Err(lost)),
        })
    }

    /// A message of it is whole.
    pub fn whole(&mut self, message: Bytes) -> Result<Bytes, TransportError> {
        self.measure.whole(message)
    }
}
