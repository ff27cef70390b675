//! A running program as the hub sees it: records as they come, a cancel that may still go in.
//!
//! Nothing runs by itself: the work advances when the hub asks for the next record, so a slow reader slows the program
//! down and dropping the exchange ends it.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use interlingua_core::peer::Duplex;
use interlingua_core::{CancelWhy, Event, Fault, FaultKind, Feature, Finished, Record, Signal};
use tokio::sync::{mpsc, oneshot};

/// How many events may wait for the hub to read them.
pub(super) const WAITING_EVENTS: usize = 64;

type Work = Pin<Box<dyn Future<Output = Finished> + Send>>;

pub(super) struct Running {
    /// Gone once it has finished.
    work: Option<Work>,
    finished: Option<Finished>,
    events: mpsc::Receiver<Event>,
    cancel: Option<oneshot::Sender<CancelWhy>>,
}

impl Running {
    pub(super) fn new(work: Work, events: mpsc::Receiver<Event>, cancel: oneshot::Sender<CancelWhy>) -> Running {
        Running { work: Some(work), finished: None, events, cancel: Some(cancel) }
    }

    fn waiting(&mut self, cx: &mut Context<'_>) -> Option<Record> {
        match self.events.poll_recv(cx) {
            Poll::Ready(Some(event)) => Some(Record::emitted(event)),
            Poll::Ready(None) | Poll::Pending => None,
        }
    }
}

impl Duplex for Running {
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Record>> {
        if let Some(record) = self.waiting(cx) {
            return Poll::Ready(Some(record));
        }
        if let Some(work) = &mut self.work
            && let Poll::Ready(finished) = work.as_mut().poll(cx)
        {
            self.finished = Some(finished);
            self.work = None;
        }
        // What the work said in this turn comes before its end.
        if let Some(record) = self.waiting(cx) {
            return Poll::Ready(Some(record));
        }
        match (self.work.is_some(), self.finished.take()) {
            (true, _) => Poll::Pending,
            (false, finished) => Poll::Ready(finished.map(|finished| Record::emitted(Event::Finished(finished)))),
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
            Signal::Answered { .. } | Signal::Said { .. } => Err(Fault::hub(
                FaultKind::Unsupported(Feature::Operation),
                "this tool takes its arguments once and nothing after them",
            )),
        }
    }
}
