//! A running program as an exchange: its records as they arrive, and cancellation.
//!
//! Nothing runs by itself: the work advances when the hub requests the next record, so a slow reader slows the work down (backpressure) and
//! dropping the exchange ends it.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use interlingua_model::peer::Duplex;
use interlingua_model::{Answer, CancelWhy, Carried, Event, Fault, FaultKind, Feature, Finished, Record, Signal};
use tokio::sync::{mpsc, oneshot};

/// How many events may wait for the hub to read them.
pub const WAITING_EVENTS: usize = 64;

/// What came of it, and what of that could not be kept.
type ExchangeFuture = Pin<Box<dyn Future<Output = Carried<Finished>> + Send>>;

pub struct Running {
    /// Gone once it has finished.
    work: Option<ExchangeFuture>,
    finished: Option<Carried<Finished>>,
    events: mpsc::Receiver<Event>,
    cancel: Option<oneshot::Sender<CancelWhy>>,
    /// Where answers go, of work that asks.
    answers: Option<mpsc::Sender<Answer>>,
}

impl std::fmt::Debug for Running {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Running").finish_non_exhaustive()
    }
}

impl Running {
    pub fn new(work: ExchangeFuture, events: mpsc::Receiver<Event>, cancel: oneshot::Sender<CancelWhy>) -> Running {
        Running { work: Some(work), finished: None, events, cancel: Some(cancel), answers: None }
    }

    /// The same, of work that asks: its answers go here.
    pub fn answering(self, answers: mpsc::Sender<Answer>) -> Running {
        Running { answers: Some(answers), ..self }
    }
}

fn takes_nothing_more() -> Fault {
    Fault::hub(FaultKind::Unsupported(Feature::Operation), "this takes its arguments once and nothing after them")
}

impl Duplex for Running {
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Record>> {
        if let Poll::Ready(Some(event)) = self.events.poll_recv(cx) {
            return Poll::Ready(Some(Record::emitted(event)));
        }
        if let Some(work) = &mut self.work
            && let Poll::Ready(finished) = work.as_mut().poll(cx)
        {
            self.finished = Some(finished);
            self.work = None;
        }
        // What the work said in this turn comes before its end. A queue may also say "not now" while it holds something: the
        // runtime makes who reads much give way. So only its own word that it is over lets the end through.
        match (self.events.poll_recv(cx), &self.work) {
            (Poll::Ready(Some(event)), _) => Poll::Ready(Some(Record::emitted(event))),
            (Poll::Ready(None), None) => {
                let ended =
                    |Carried { value, losses }| Record::Emitted { event: Event::Finished(value), losses, raw: None };
                Poll::Ready(self.finished.take().map(ended))
            }
            (Poll::Ready(None), Some(_)) | (Poll::Pending, _) => Poll::Pending,
        }
    }

    fn signal(&mut self, signal: Signal) -> Result<(), Fault> {
        match signal {
            Signal::Cancel(why) => {
                // A second cancel, or one after the end, changes nothing.
                if let Some(cancel) = self.cancel.take() {
                    let _ = cancel.send(why);
                }
                Ok(())
            }
            Signal::Answered { answer, .. } => {
                let answers = self.answers.as_ref().ok_or_else(takes_nothing_more)?;
                // Nobody waits for it any more: then it changes nothing.
                let _ = answers.try_send(answer);
                Ok(())
            }
            Signal::Said { .. } => Err(takes_nothing_more()),
        }
    }
}
