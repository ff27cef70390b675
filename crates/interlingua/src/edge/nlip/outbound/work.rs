//! A call that goes on at the agent without an answer from here: it waits for somebody who may approve it over there. The agent is
//! asked how its task stands until that has ended, asks its caller something, or nobody wants it any more.
//!
//! Let go of before it has ended, the agent is told so, unless the hub itself is stopping: the id of the task is in the journal, and
//! it is found again after the next start.

use std::future::poll_fn;
use std::time::Duration;

use interlingua_core::peer::Reply;
use interlingua_core::words::say;
use interlingua_core::{
    CancelWhy, Event, Fault, FaultKind, Feature, Finished, Noun, Outcome, Party, Record, Secret, Sent, Signal, Text,
};
use interlingua_protocols::nlip::client::{GoesOn, Replied};
use interlingua_protocols::nlip::decode::TaskWish;
use tokio::sync::mpsc;

use super::peer::Talk;
use super::reply::Heard;
use crate::client::ended::{self, Ended};
use crate::client::live::{self, late};

/// How long to wait before an agent is asked again: at first, and at most.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);
/// How often an agent may fail to tell of a task before it is given up on.
const MAX_SILENT: u32 = 10;
/// How long an agent may take to hear that nobody wants its task.
const CANCEL: Duration = Duration::from_secs(10);

/// Follows what the agent has just told.
pub(super) fn live(talk: Talk, goes_on: GoesOn) -> Reply {
    begin(talk, goes_on.task, goes_on.waits)
}

/// Takes up a task that the agent told the id of before.
pub(super) fn taken_up(talk: Talk, remote: Secret) -> Reply {
    begin(talk, remote.text().unwrap_or_default().into(), None)
}

fn begin(talk: Talk, task: Text, waits: Option<Text>) -> Reply {
    live::live(takes, |out, signals| Work { talk: Some(talk), task, out, signals, told: None }.run(waits))
}

fn takes(signal: &Signal) -> Result<(), Fault> {
    match signal {
        Signal::Cancel(_) => Ok(()),
        Signal::Said { .. } | Signal::Answered { .. } => Err(Fault::caller(
            FaultKind::Unsupported(Feature::Operation),
            "the call waits for somebody else: nothing more can be said to it",
        )),
    }
}

struct Work {
    /// Gone once the agent need not be told of the end.
    talk: Option<Talk>,
    task: Text,
    out: mpsc::Sender<Record>,
    signals: mpsc::Receiver<Signal>,
    /// What it was last said to wait for.
    told: Option<Text>,
}

impl Drop for Work {
    fn drop(&mut self) {
        let (Some(mut talk), task) = (self.talk.take(), self.task.clone()) else { return };
        let supervisor = talk.hub.supervisor.clone();
        if supervisor.stopping().is_cancelled() {
            return;
        }
        supervisor.run_until_stop(async move {
            let told = tokio::time::timeout(CANCEL, talk.about(&task, TaskWish::Cancel)).await;
            if !matches!(told, Ok(Ok(_))) {
                tracing::warn!(event = "nlip_cancel_not_delivered", peer = %talk.peer.name, "a task may run on");
            }
        });
    }
}

impl Work {
    async fn run(mut self, waits: Option<Text>) {
        let Some(talk) = &self.talk else { return };
        let remote = Secret::new(&*self.task);
        self.emit(Record::Sent(Sent::learnt(talk.dispatch.key.clone(), Some(remote), true))).await;
        self.tell(waits).await;
        let (mut pause, mut silent) = (FIRST_PAUSE, 0);
        while let Some(talk) = &mut self.talk {
            let until = talk.until;
            tokio::select! {
                biased;
                Some(signal) = self.signals.recv() => {
                    if let Signal::Cancel(why) = signal {
                        return self.cancel(why).await;
                    }
                }
                () = late(until) => {
                    let fault = ended::too_late(&talk.peer.name);
                    return self.emit(failed(fault)).await;
                }
                () = tokio::time::sleep(pause) => match talk.about(&self.task, TaskWish::Look).await {
                    Ok(heard) => {
                        silent = 0;
                        if self.hear(heard).await.is_over() {
                            return;
                        }
                    }
                    Err(Ended::Failed(fault)) if !is_passing(&fault) => {
                        let fault = forgotten(talk, fault);
                        return self.end(failed(fault)).await;
                    }
                    Err(Ended::Failed(_) | Ended::Refused(_)) => {
                        silent += 1;
                        if silent >= MAX_SILENT {
                            let what = "tells nothing more of its task";
                            let fault = ended::fault(&talk.peer.name, FaultKind::OutcomeUnknown, what);
                            return self.emit(failed(fault)).await;
                        }
                    }
                },
            }
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// Waits while whoever reads is slow. Nobody reads any more when the call is being dropped.
    async fn emit(&self, record: Record) {
        let _ = self.out.send(record).await;
    }

    /// The last record; the agent need not be told anything.
    async fn end(&mut self, record: Record) {
        self.talk = None;
        self.emit(record).await;
    }

    /// For whoever made the call: where it waits, and for what.
    async fn tell(&mut self, waits: Option<Text>) {
        let (Some(words), Some(talk)) = (&waits, &self.talk) else { return };
        if self.told == waits {
            return;
        }
        let note = Some(say::waits_there(&talk.peer.name, words).into());
        self.emit(Record::emitted(Event::Progress { done: None, total: None, note })).await;
        self.told = waits;
    }

    async fn hear(&mut self, mut heard: Heard) -> Flow {
        if let Replied::GoesOn(goes_on) = &heard.said.value {
            self.tell(goes_on.waits.clone()).await;
            return Flow::On;
        }
        let Some(mut talk) = self.talk.take() else { return Flow::Over };
        if let Replied::Finished(finished) = &mut heard.said.value
            && let Outcome::Failed(fault) = &mut finished.outcome
        {
            *fault = forgotten(&talk, fault.clone());
        }
        let losses = std::mem::take(&mut talk.losses);
        match heard.reply(&talk.dispatch, losses) {
            Reply::Done(finished, _) => self.emit(Record::emitted(Event::Finished(*finished))).await,
            Reply::Live(mut rest) => {
                while let Some(record) = poll_fn(|cx| rest.poll_next(cx)).await {
                    self.emit(record).await;
                }
            }
        }
        Flow::Over
    }

    /// The agent has a moment to say how it ended; one that goes on regardless is let go of.
    async fn cancel(&mut self, why: CancelWhy) {
        let cancelled = || Record::emitted(Event::Finished(Finished::cancelled(Party::Caller, why)));
        let Some(talk) = &mut self.talk else { return };
        match tokio::time::timeout(CANCEL, talk.about(&self.task, TaskWish::Cancel)).await {
            Ok(Ok(heard)) if is_completed(&heard) => {
                let _ended = self.hear(heard).await;
            }
            Ok(_) | Err(_) => self.end(cancelled()).await,
        }
    }
}

/// Is there more to come?
#[derive(Debug, PartialEq, Eq)]
enum Flow {
    On,
    Over,
}

impl Flow {
    fn is_over(&self) -> bool {
        *self == Flow::Over
    }
}

/// It was done before it could be cancelled.
fn is_completed(heard: &Heard) -> bool {
    matches!(&heard.said.value, Replied::Finished(finished) if finished.outcome == Outcome::Completed)
}

/// What the agent says of a task that it does not know is not what came of the call.
fn forgotten(talk: &Talk, fault: Fault) -> Fault {
    match fault.kind {
        FaultKind::NotFound(Noun::Task) => {
            ended::fault(&talk.peer.name, FaultKind::OutcomeUnknown, "does not know the task any more")
        }
        _ => fault,
    }
}

/// The agent may tell more when it is asked again.
fn is_passing(fault: &Fault) -> bool {
    matches!(fault.kind, FaultKind::Unreachable | FaultKind::Busy | FaultKind::Deadline | FaultKind::BadReply)
}

fn failed(fault: Fault) -> Record {
    Record::emitted(Event::Finished(Finished::failed(fault)))
}
