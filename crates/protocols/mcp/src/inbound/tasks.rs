//! Exchanges that continue without their client, by the id it was given (extension `io.modelcontextprotocol/tasks`): their state and
//! outcome, answers to their questions, and their cancel.

use crate::decode::{ReplyTo, Said};
use crate::encode::task::{Standing, State as TaskState};
use crate::encode::{Asks, RequestOutcome, Written};
use crate::fault::{Refused, Verb};
use interlingua_model::{Addressee, Fault, FaultKind, Signal, TaskId};
use interlingua_wire::members::Members;

use super::ask::{Asker, Reply, sorted};
use super::call_stream::{CallContext, CallStream};

impl Asker {
    pub(super) async fn task_get(&self, id: TaskId, about: CallContext) -> Reply {
        let task = match self.shared.hub.task(&self.by, id).await {
            Ok(task) => task,
            Err(fault) => return Reply::Now(about.refuse(&fault)),
        };
        let (id, created, updated) = (task.id, task.created, task.updated);
        let cancelled = task.finished().is_some_and(|finished| crate::encode::task::is_cancelled(&finished.outcome));
        let (mut ended, mut open) = (None, Vec::new());
        if task.finished().is_some() {
            match self.ended(id).await {
                Ok(end) => ended = Some(end),
                Err(fault) => return Reply::Now(about.refuse(&fault)),
            }
        } else {
            match about.questions(id).await {
                Ok(questions) => open = questions,
                Err(fault) => return Reply::Now(about.refuse(&fault)),
            }
        }
        let state = match &ended {
            _ if cancelled => TaskState::Cancelled,
            Some(Ok(result)) => TaskState::Completed(result.json()),
            Some(Err(refused)) => TaskState::Failed(&refused.error),
            None if open.is_empty() => TaskState::Working,
            None => TaskState::Waiting(&open),
        };
        // One that runs is kept until it ends.
        let kept = self.shared.hub.settings().tasks;
        let ttl_ms = ended.is_some().then(|| updated.after(kept).0.saturating_sub(created.0));
        // What approvers are asked is told, and not put to this client.
        let waits = task.open.values().find(|question| question.to == Addressee::Approvers);
        let note = waits.map(|question| format!("waits for approval: {}", question.text));
        let standing = Standing { id, created, updated, ttl_ms, note: note.as_deref(), state };
        Reply::Now(Ok(Written::by(|out| about.encoder().task(&standing, out))))
    }

    /// What a finished task ended in, as the call itself would have.
    async fn ended(&self, task: TaskId) -> Result<RequestOutcome, Fault> {
        let about = self.about(ReplyTo::of(Verb::Call));
        let said = Said { progress: None, log: None, client: Default::default(), ..about.said.clone() };
        let running = self.shared.hub.follow(&self.by, task, 0).await?;
        Ok(CallStream::new(CallContext { said, asks: Asks::AsRequests, ..about }, running).end().await)
    }

    pub(super) async fn task_update(&self, id: TaskId, about: CallContext, responses: &Members) -> Reply {
        let hub = &self.shared.hub;
        let open = match hub.row(&self.by, id).await {
            Ok(row) => about.questions(row.task).await,
            Err(fault) => Err(fault),
        };
        let given = match open.map(|open| sorted(open, responses)) {
            Ok(Ok((given, _))) => given,
            Ok(Err(problem)) => return Reply::Now(Err(Refused::params(problem))),
            Err(fault) => return Reply::Now(about.refuse(&fault)),
        };
        for signal in given {
            if let Signal::Answered { question, .. } = &signal
                && let Err(fault) = hub.signal(self.by.clone(), question.0, signal.clone()).await
            {
                return Reply::Now(about.refuse(&fault));
            }
        }
        self.acknowledged()
    }

    pub(super) async fn signal(&self, to: TaskId, signal: Signal) -> Reply {
        match self.shared.hub.signal(self.by.clone(), to, signal).await {
            // One that is over has nothing to be cancelled; the wish is acknowledged all the same.
            Ok(()) => self.acknowledged(),
            Err(fault) if fault.kind == FaultKind::AlreadyFinished => self.acknowledged(),
            Err(fault) => self.refuse(&fault),
        }
    }

    fn acknowledged(&self) -> Reply {
        Reply::Now(Ok(Written::by(|out| self.encoder().empty(out))))
    }
}
