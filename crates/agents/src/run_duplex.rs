//! A run as an exchange of the hub: it is polled for its events and receives the caller's signals. Dropping it ends the run's work and
//! drops the calls it has made.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use interlingua_model::peer::Duplex;
use interlingua_model::{Fault, FaultKind, Record, Signal};
use tokio::sync::mpsc;

use super::outbox::RunOutbox;

/// How many signals may wait for a run.
pub(super) const MAX_SIGNALS: usize = 64;

pub(super) struct RunDuplex {
    /// `None` once it has ended.
    pub(super) work: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    pub(super) outbox: Arc<RunOutbox>,
    pub(super) signals: mpsc::Sender<Signal>,
}

impl Duplex for RunDuplex {
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Record>> {
        loop {
            if let Some(record) = self.outbox.next() {
                return Poll::Ready(Some(record));
            }
            let Some(work) = &mut self.work else { return Poll::Ready(None) };
            match work.as_mut().poll(cx) {
                Poll::Ready(()) => self.work = None,
                Poll::Pending => {
                    return match self.outbox.next() {
                        Some(record) => Poll::Ready(Some(record)),
                        None => Poll::Pending,
                    };
                }
            }
        }
    }

    fn signal(&mut self, signal: Signal) -> Result<(), Fault> {
        match signal {
            Signal::Answered { question, answer, .. } => {
                self.outbox.answered(question, answer);
                Ok(())
            }
            signal @ (Signal::Said { .. } | Signal::Cancel(_)) => self
                .signals
                .try_send(signal)
                .map_err(|_| Fault::hub(FaultKind::Busy, "too much waits to be told to this run")),
        }
    }
}
