//! Live exchange with a peer: a future that emits records and receives signals, as the running end of a call.
//!
//! Nothing is spawned: the reader of the records polls the work, and dropping the exchange ends it.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use interlingua_model::peer::{Duplex, Reply};
use interlingua_model::{Fault, FaultKind, Feature, Record, Signal};
use tokio::sync::mpsc;
use tokio::time::Instant;

/// How many records may wait for the hub to read them.
const RECORDS: usize = 64;
/// How many signals may wait for the work.
const SIGNALS: usize = 32;

/// Begins work. `takes` says which signals it hears at all.
pub fn live<F>(
    takes: fn(&Signal) -> Result<(), Fault>,
    work: impl FnOnce(mpsc::Sender<Record>, mpsc::Receiver<Signal>) -> F,
) -> Reply
where
    F: Future<Output = ()> + Send + 'static,
{
    let (out, records) = mpsc::channel(RECORDS);
    let (signals, incoming) = mpsc::channel(SIGNALS);
    Reply::Live(Box::new(Live { work: Some(Box::pin(work(out, incoming))), records, signals, takes }))
}

/// All that is to be said, at once.
pub fn told(records: Vec<Record>) -> Reply {
    let (out, waiting) = mpsc::channel(records.len().max(1));
    for record in records {
        let _ = out.try_send(record);
    }
    let (signals, _) = mpsc::channel(1);
    Reply::Live(Box::new(Live { work: None, records: waiting, signals, takes: |_| Ok(()) }))
}

struct Live {
    /// Gone once it has ended.
    work: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    records: mpsc::Receiver<Record>,
    signals: mpsc::Sender<Signal>,
    takes: fn(&Signal) -> Result<(), Fault>,
}

impl Duplex for Live {
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Record>> {
        if let Poll::Ready(Some(record)) = self.records.poll_recv(cx) {
            return Poll::Ready(Some(record));
        }
        if let Some(work) = &mut self.work
            && work.as_mut().poll(cx).is_ready()
        {
            self.work = None;
        }
        // What the work said in this turn comes before its end. A channel that has nothing to give in this turn may have
        // something in the next: only a closed one is empty for good, and it is closed when the work is gone.
        self.records.poll_recv(cx)
    }

    fn signal(&mut self, signal: Signal) -> Result<(), Fault> {
        (self.takes)(&signal)?;
        self.signals
            .try_send(signal)
            .map_err(|_| Fault::caller(FaultKind::Unsupported(Feature::Operation), "the peer has answered already"))
    }
}

/// Waits until then, or for ever.
pub async fn late(until: Option<Instant>) {
    match until {
        Some(until) => tokio::time::sleep_until(until).await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use interlingua_model::{CancelWhy, Event, Finished, Party};

    use super::*;

    /// The runtime lets a task take so much in one turn, and then has every channel say that it is empty.
    #[tokio::test]
    async fn a_turn_that_is_used_up_loses_no_outcome() {
        let (fill, mut others) = mpsc::channel(1_000);
        for _ in 0..1_000 {
            fill.try_send(()).expect("room");
        }
        let finished = || Record::emitted(Event::Finished(Finished::cancelled(Party::Caller, CancelWhy::Asked)));
        let Reply::Live(mut live) = told(vec![finished()]) else { panic!("it goes on") };
        let mut turns = 0;
        let record = poll_fn(|cx| {
            turns += 1;
            while turns == 1 && others.poll_recv(cx).is_ready() {}
            live.poll_next(cx)
        });
        assert!(matches!(record.await, Some(Record::Emitted { event: Event::Finished(_), .. })));
        assert_eq!(turns, 2, "nothing was there in the first turn");
        assert!(poll_fn(|cx| live.poll_next(cx)).await.is_none());
    }
}
