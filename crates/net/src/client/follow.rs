//! Polling of a remote task: requests its state until the task has ended or is not wanted any more.
//!
//! If the poll is dropped before that (by a deadline, a caller that left, a peer that stops reporting), the peer is sent a cancel, unless
//! the hub itself is stopping: the journal holds what finds the call again, and it is resumed after the next start.

use std::future::{Future, poll_fn};
use std::time::Duration;

use interlingua_model::peer::Reply;
use interlingua_model::{CancelWhy, Event, Fault, FaultKind, Feature, Finished, Party, Record, Sent, Signal, Text};
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::live::{self, late};
use interlingua_hub::supervisor::Supervisor;

/// How often a look may bring nothing before the call is given up on.
const MAX_SILENT: u32 = 10;

/// How a call stands at a peer.
#[derive(Debug)]
pub enum Look {
    /// It goes on. What is to be told of it.
    On(Option<Text>),
    /// It has ended, or asks its caller something: nothing more is heard of it by looking.
    Ended(Reply),
    /// What was asked for was not told this time, and this is the fault if it never is.
    Silent(Fault),
    /// It will never be told.
    Failed(Fault),
}

/// A call at a peer of one protocol.
pub trait Remote: Send + Sync + Sized + 'static {
    /// What finds it again, for the journal.
    fn sent(&self) -> Sent;
    /// How long to wait before the next look.
    fn pause(&mut self) -> Duration;
    fn look(&mut self) -> impl Future<Output = Look> + Send;
    /// Has the peer cancel it. What came of it where it was done before.
    fn cancel(&mut self) -> impl Future<Output = Option<Reply>> + Send;
    /// The peer is told that nobody wants it any more.
    fn let_go(self) -> impl Future<Output = ()> + Send;
    /// It took longer than it may.
    fn too_late(&self) -> Fault;
    fn supervisor(&self) -> Supervisor;
}

/// Follows a call; `note` is what the peer has said of it so far.
pub fn follow<R: Remote>(remote: R, note: Option<Text>, until: Option<Instant>) -> Reply {
    live::live(takes, |out, signals| Follow { remote: Some(remote), out, signals, told: None }.run(note, until))
}

fn takes(signal: &Signal) -> Result<(), Fault> {
    match signal {
        Signal::Cancel(_) => Ok(()),
        Signal::Said { .. } | Signal::Answered { .. } => Err(Fault::caller(
            FaultKind::Unsupported(Feature::Operation),
            "the peer works on the call: nothing more can be said to it",
        )),
    }
}

struct Follow<R: Remote> {
    /// Gone once the peer need not be told of the end.
    remote: Option<R>,
    out: mpsc::Sender<Record>,
    signals: mpsc::Receiver<Signal>,
    /// What was last told of how it stands.
    told: Option<Text>,
}

impl<R: Remote> Drop for Follow<R> {
    fn drop(&mut self) {
        let Some(remote) = self.remote.take() else { return };
        let supervisor = remote.supervisor();
        if !supervisor.stopping().is_cancelled() {
            supervisor.run_until_stop(remote.let_go());
        }
    }
}

impl<R: Remote> Follow<R> {
    async fn run(mut self, note: Option<Text>, until: Option<Instant>) {
        let Some(sent) = self.remote.as_ref().map(Remote::sent) else { return };
        self.emit(Record::Sent(sent)).await;
        self.tell(note).await;
        let mut silent = 0;
        while let Some(remote) = &mut self.remote {
            let pause = remote.pause();
            tokio::select! {
                biased;
                Some(signal) = self.signals.recv() => {
                    if let Signal::Cancel(why) = signal {
                        return self.cancel(why).await;
                    }
                    continue;
                }
                () = late(until) => {
                    let fault = remote.too_late();
                    return self.emit(failed(fault)).await;
                }
                () = tokio::time::sleep(pause) => {}
            }
            match remote.look().await {
                Look::On(note) => {
                    silent = 0;
                    self.tell(note).await;
                }
                Look::Ended(reply) => return self.end(reply).await,
                Look::Failed(fault) => {
                    self.remote = None;
                    return self.emit(failed(fault)).await;
                }
                Look::Silent(fault) => {
                    silent += 1;
                    if silent >= MAX_SILENT {
                        return self.emit(failed(fault)).await;
                    }
                }
            }
        }
    }

    /// Waits while whoever reads is slow. Nobody reads any more when the call is being dropped.
    async fn emit(&self, record: Record) {
        let _ = self.out.send(record).await;
    }

    /// For whoever made the call: how it stands, where that is new.
    async fn tell(&mut self, note: Option<Text>) {
        if note.is_some() && self.told != note {
            self.emit(Record::emitted(Event::Progress { done: None, total: None, note: note.clone() })).await;
            self.told = note;
        }
    }

    /// The last of it; the peer need not be told anything.
    async fn end(&mut self, reply: Reply) {
        self.remote = None;
        match reply {
            Reply::Done(finished, _) => self.emit(Record::emitted(Event::Finished(*finished))).await,
            Reply::Live(mut rest) => {
                while let Some(record) = poll_fn(|cx| rest.poll_next(cx)).await {
                    self.emit(record).await;
                }
            }
        }
    }

    /// A call that was done before it could be cancelled is told as done; one that goes on regardless is let go of.
    async fn cancel(&mut self, why: CancelWhy) {
        let Some(remote) = &mut self.remote else { return };
        let reply = remote.cancel().await;
        let cancelled = || Reply::Done(Box::new(Finished::cancelled(Party::Caller, why)), None);
        self.end(reply.unwrap_or_else(cancelled)).await;
    }
}

fn failed(fault: Fault) -> Record {
    Record::emitted(Event::Finished(Finished::failed(fault)))
}
