//! Long-running outbound call: polls a task at the agent that is pending an approval there, by the task id that the agent returned.

use std::time::Duration;

use crate::client::{GoesOn, Replied};
use crate::decode::TaskWish;
use interlingua_machines::words::say;
use interlingua_model::peer::Reply;
use interlingua_model::{Fault, FaultKind, Noun, Outcome, Secret, Sent, Text};

use super::peer::OutboundCall;
use super::reply::Heard;
use interlingua_hub::supervisor::Supervisor;
use interlingua_net::client::call_failure::{self, CallFailure};
use interlingua_net::client::follow::{Look, Remote, follow};

/// How long to wait before an agent is asked again: at first, and at most.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);
/// How long an agent may take to hear that nobody wants its task.
const CANCEL: Duration = Duration::from_secs(10);

/// Follows what the agent has just told.
pub(super) fn live(talk: OutboundCall, goes_on: GoesOn) -> Reply {
    begin(talk, goes_on.task, goes_on.waits)
}

/// Takes up a task that the agent told the id of before.
pub(super) fn taken_up(talk: OutboundCall, remote: Secret) -> Reply {
    begin(talk, remote.text().unwrap_or_default().into(), None)
}

fn begin(talk: OutboundCall, task: Text, waits: Option<Text>) -> Reply {
    let until = talk.until;
    let work = TaskPoller { talk, task, pause: FIRST_PAUSE };
    let note = work.note(waits);
    follow(work, note, until)
}

struct TaskPoller {
    talk: OutboundCall,
    task: Text,
    pause: Duration,
}

impl TaskPoller {
    /// Where it waits, and for what.
    fn note(&self, waits: Option<Text>) -> Option<Text> {
        waits.map(|words| say::waits_there(&self.talk.peer.name, &words).into())
    }

    /// What the agent says of a task that it does not know is not what came of the call.
    fn forgotten(&self, fault: Fault) -> Fault {
        match fault.kind {
            FaultKind::NotFound(Noun::Task) => {
                call_failure::fault(&self.talk.peer.name, FaultKind::OutcomeUnknown, "does not know the task any more")
            }
            _ => fault,
        }
    }

    fn ended(&mut self, mut heard: Heard) -> Reply {
        if let Replied::Finished(finished) = &mut heard.said.value
            && let Outcome::Failed(fault) = &mut finished.outcome
        {
            *fault = self.forgotten(fault.clone());
        }
        let losses = std::mem::take(&mut self.talk.losses);
        heard.reply(&self.talk.dispatch, losses)
    }
}

impl Remote for TaskPoller {
    fn sent(&self) -> Sent {
        Sent::learnt(self.talk.dispatch.key.clone(), Some(Secret::new(&*self.task)), true)
    }

    fn pause(&mut self) -> Duration {
        let next = (self.pause * 2).min(LONGEST_PAUSE);
        std::mem::replace(&mut self.pause, next)
    }

    async fn look(&mut self) -> Look {
        match self.talk.about(&self.task, TaskWish::Look).await {
            Ok(heard) => match &heard.said.value {
                Replied::GoesOn(goes_on) => Look::On(self.note(goes_on.waits.clone())),
                Replied::Finished(_) | Replied::Asked(_) => Look::Ended(self.ended(heard)),
            },
            Err(CallFailure::Failed(fault)) if !is_passing(&fault) => Look::Failed(self.forgotten(fault)),
            Err(CallFailure::Failed(_) | CallFailure::Refused(_)) => {
                let what = "tells nothing more of its task";
                Look::Silent(call_failure::fault(&self.talk.peer.name, FaultKind::OutcomeUnknown, what))
            }
        }
    }

    /// The agent has a moment to say how it ended.
    async fn cancel(&mut self) -> Option<Reply> {
        match tokio::time::timeout(CANCEL, self.talk.about(&self.task, TaskWish::Cancel)).await {
            Ok(Ok(heard)) if is_completed(&heard) => Some(self.ended(heard)),
            Ok(_) | Err(_) => None,
        }
    }

    async fn let_go(mut self) {
        let told = tokio::time::timeout(CANCEL, self.talk.about(&self.task, TaskWish::Cancel)).await;
        if !matches!(told, Ok(Ok(_))) {
            tracing::warn!(event = "peer_cancel_not_delivered", peer = %self.talk.peer.name, "a cancellation did not reach the peer; its task may still run");
        }
    }

    fn too_late(&self) -> Fault {
        call_failure::too_late(&self.talk.peer.name)
    }

    fn supervisor(&self) -> Supervisor {
        self.talk.hub.supervisor().clone()
    }
}

/// It was done before it could be cancelled.
fn is_completed(heard: &Heard) -> bool {
    matches!(&heard.said.value, Replied::Finished(finished) if finished.outcome == Outcome::Completed)
}

/// The agent may tell more when it is asked again.
fn is_passing(fault: &Fault) -> bool {
    matches!(fault.kind, FaultKind::Unreachable | FaultKind::Busy | FaultKind::Deadline | FaultKind::BadReply)
}
