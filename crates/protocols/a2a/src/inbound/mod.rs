//! They call us. One agent is asked for one thing ([`Asking::perform`]); [`rpc`], [`http`] and [`grpc`] are the ways there,
//! [`arrived`] is what they have in common, [`cards`] says where the agents are.

mod arrived;
mod cards;
mod events;
mod feed;
mod grpc;
mod http;
pub(crate) mod links;
mod list;
mod modes;
#[cfg(test)]
mod races;
mod rpc;
mod send;
mod sse;

use std::sync::Arc;

use crate::decode::Addressed;
use crate::encode::{self, View};
use crate::grpc::service;
use crate::invalid::Invalid;
use crate::wire::{Answer, Operation, PushConfig, TaskState};
use crate::{Version, ext};
use axum::Router;
use axum::routing::{any, get, post};
use interlingua_machines::task::Task;
use interlingua_model::{CancelWhy, Fault, FaultKind, Feature, Loss, Noun, PeerId, Principal, Signal, TaskId, Text};

pub use self::modes::Modes;

use self::arrived::Arrived;
use self::feed::{Ear, Feed};
use self::links::Links;
use super::Settings;
use super::push::{Asker, From};
use super::signing::KEYS;
use crate::Endpoint;
use interlingua_access::Shown;
use interlingua_hub::audit::losses::{Leg, Named};
use interlingua_hub::live::no_such_task;

pub fn routes(state: Arc<Endpoint>) -> Router {
    let rpc = post(rpc::respond).fallback(rpc::not_allowed);
    Router::new()
        .route("/.well-known/agent-card.json", get(cards::answer))
        .route(KEYS, get(cards::keys))
        .route("/agents/{peer}/.well-known/agent-card.json", get(cards::answer))
        .route("/a2a", rpc.clone())
        .route("/a2a/", rpc.clone())
        .route("/a2a/{*below}", any(http::respond))
        .route("/agents/{peer}/a2a", rpc.clone())
        .route("/agents/{peer}/a2a/", rpc)
        .route("/agents/{peer}/a2a/{*below}", any(http::respond))
        .route(&format!("/{}/{{below}}", service(Version::V1)), any(grpc::new))
        .route(&format!("/{}/{{below}}", service(Version::V03)), any(grpc::old))
        .with_state(state)
}

/// One agent, asked by somebody who is known.
struct Asking<'a> {
    arrived: &'a Arrived,
    settings: Arc<Settings>,
    version: Version,
    by: Principal,
    door: Addressed,
}

/// What goes back.
enum Reply {
    Whole(Box<Answer>),
    Stream(Box<Feed>),
}

impl Reply {
    fn whole(answer: Answer) -> Reply {
        Reply::Whole(Box::new(answer))
    }
}

impl Asking<'_> {
    fn shared(&self) -> &Endpoint {
        &self.arrived.shared
    }

    async fn perform(&self, operation: Operation) -> Result<Reply, Fault> {
        match operation {
            Operation::Send(send) => {
                self.needs_extension()?;
                self.send(*send).await.map(|sent| Reply::whole(Answer::Sent(sent)))
            }
            Operation::Stream(send) => {
                self.needs_extension()?;
                self.needs(self.settings.capabilities.streaming)?;
                self.stream(*send).await.map(|feed| Reply::Stream(Box::new(feed)))
            }
            Operation::Get { task, history } => {
                let view = View { history, artifacts: true };
                self.snapshot(self.task_id(&task).await?, view).await.map(|task| Reply::whole(Answer::Task(task)))
            }
            Operation::List(list) => self.list(list).await.map(|listed| Reply::whole(Answer::Tasks(listed))),
            Operation::Cancel { task } => self.cancel(&task).await.map(|task| Reply::whole(Answer::Task(task))),
            Operation::Subscribe { task } => {
                self.needs(self.settings.capabilities.streaming)?;
                self.subscribe(&task).await.map(|feed| Reply::Stream(Box::new(feed)))
            }
            Operation::PushCreate(config) => self.push_create(*config).await.map(Reply::whole),
            Operation::PushGet { task, id } => self.push_get(&task, id.as_ref()).await.map(Reply::whole),
            Operation::PushList { task } => {
                self.needs_push()?;
                let configs = self.shared().own.push.list(self.shared(), self.task_id(&task).await?).await?;
                Ok(Reply::whole(Answer::Pushes(configs)))
            }
            Operation::PushDelete { task, id } => {
                self.needs_push()?;
                self.shared().own.push.delete(self.shared(), self.task_id(&task).await?, &id).await?;
                Ok(Reply::whole(Answer::Deleted))
            }
            Operation::ExtendedCard => {
                self.needs_extended_card()?;
                if self.by.is_anonymous() {
                    let text = "the extended card needs authentication: it is for callers who say who they are";
                    return Err(Fault::caller(FaultKind::Unauthenticated, text));
                }
                Ok(Reply::whole(Answer::Card(cards::of(self)?.0)))
            }
        }
    }

    fn needs(&self, capability: bool) -> Result<(), Fault> {
        if capability {
            return Ok(());
        }
        Err(Fault::caller(
            FaultKind::Unsupported(Feature::Operation),
            "this agent's card says that it does not do this",
        ))
    }

    /// Off, it is an operation that is not there in 1.0, and a card that is not there in 0.3 (section 8.2 there).
    fn needs_extended_card(&self) -> Result<(), Fault> {
        match (self.settings.capabilities.extended_card, self.version) {
            (true, _) => Ok(()),
            (false, Version::V1) => self.needs(false),
            (false, Version::V03) => {
                let kind = FaultKind::Unsupported(Feature::ExtendedCard);
                Err(Fault::caller(kind, "this agent has no extended card"))
            }
        }
    }

    /// What our extension says of an answer must be understood, where the card says so (section 3.2.4).
    fn needs_extension(&self) -> Result<(), Fault> {
        if !self.settings.extension_required || self.arrived.activates() {
            return Ok(());
        }
        let text = format!("this agent requires the extension {}: activate it in A2A-Extensions", ext::URI);
        Err(Fault::caller(FaultKind::Unsupported(Feature::Extension), text))
    }

    fn needs_push(&self) -> Result<(), Fault> {
        if self.settings.capabilities.push { Ok(()) } else { Err(no_push()) }
    }

    /// A webhook for a task that is there: it is told what comes.
    async fn push_create(&self, config: PushConfig) -> Result<Answer, Fault> {
        self.needs_push()?;
        let task = self.task_id(config.task.as_deref().unwrap_or_default()).await?;
        let folded = self.shared().hub.task(&self.by, task).await?;
        self.push(task, config, From::After(folded.seq)).await.map(Answer::Push)
    }

    async fn push(&self, task: TaskId, config: PushConfig, from: From) -> Result<PushConfig, Fault> {
        let known = Shown::of(self.arrived.connection, &self.arrived.headers).known_by();
        let asker = Asker { by: &self.by, known };
        self.shared().own.push.create(self.shared(), &asker, task, config, self.version, from).await
    }

    async fn push_get(&self, task: &str, id: Option<&Text>) -> Result<Answer, Fault> {
        self.needs_push()?;
        let found = self.shared().own.push.get(self.shared(), self.task_id(task).await?, id).await?;
        let none = || Fault::caller(FaultKind::NotFound(Noun::Task), "this task tells no such webhook");
        found.map(Answer::Push).ok_or_else(none)
    }

    /// What of a peer may be called, may be known to be there.
    fn sees(&self, peer: &PeerId) -> bool {
        self.shared().hub.visible(&self.by).has_peer(peer)
    }

    /// A task of this agent's that is theirs; anything else is not there.
    async fn task_id(&self, text: &str) -> Result<TaskId, Fault> {
        let task: TaskId = text.parse().map_err(|_| no_such_task())?;
        let row = self.shared().hub.row(&self.by, task).await?;
        if let (Addressed::Peer(peer), Some(skill)) = (&self.door, &row.skill)
            && skill.split('/').next() != Some(peer.as_str())
        {
            return Err(no_such_task());
        }
        Ok(task)
    }

    async fn snapshot(&self, task: TaskId, view: View) -> Result<crate::wire::Task, Fault> {
        let folded = self.shared().hub.task(&self.by, task).await?;
        let told = encode::task(&folded, view, &self.links(task));
        // What goes on is told again: only an end is summed up.
        if folded.finished().is_some() {
            self.lost(&folded, &told.losses);
        }
        Ok(told.value)
    }

    /// What this protocol could not carry of a task, in the message that asked or in what answers it.
    fn lost(&self, task: &Task, losses: &[Loss]) {
        let skill = task.route.as_ref().map(|route| &route.skill);
        let leg = Leg { by: &self.by, of: Named::of(task), wire: self.version.wire(), skill };
        self.shared().hub.lost(&leg, losses);
    }

    /// How this caller is told a task as it goes on.
    fn ear(&self, task: TaskId) -> Ear {
        let (hub, by) = (Arc::clone(&self.shared().hub), self.by.clone());
        Ear { hub, by, wire: self.version.wire(), links: self.links(task) }
    }

    fn links(&self, task: TaskId) -> Links {
        Links::new(self.arrived.url(&self.door), task)
    }

    /// Told to the peer; answered when the task has ended, or when its grace is over. A task that ended otherwise all the same was
    /// not cancelled, and its client is told so.
    async fn cancel(&self, task: &str) -> Result<crate::wire::Task, Fault> {
        let (hub, task) = (&self.shared().hub, self.task_id(task).await?);
        let after = hub.seq_of(task);
        hub.signal(self.by.clone(), task, Signal::Cancel(CancelWhy::Asked)).await?;
        let mut reader = hub.watch(&self.by, task, after).await?;
        while reader.next().await?.is_some() {}
        let ended = self.snapshot(task, View::WHOLE).await?;
        match ended.status.state {
            TaskState::Completed | TaskState::Failed | TaskState::Rejected => {
                Err(Fault::caller(FaultKind::AlreadyFinished, "this task ended before it was cancelled"))
            }
            TaskState::Canceled
            | TaskState::Submitted
            | TaskState::Working
            | TaskState::InputRequired
            | TaskState::AuthRequired => Ok(ended),
        }
    }

    /// A snapshot joined to what comes after it; or, where a client says what it has seen, all that came since.
    async fn subscribe(&self, task: &str) -> Result<Feed, Fault> {
        let (hub, task) = (&self.shared().hub, self.task_id(task).await?);
        let last = self.arrived.text("last-event-id").and_then(feed::seen);
        let folded = hub.task(&self.by, task).await?;
        if let Some(last) = last {
            let reader = hub.watch(&self.by, task, 0).await?;
            return Ok(Feed::resumed(reader, last, self.ear(task)));
        }
        if folded.finished().is_some() {
            return Err(Fault::caller(FaultKind::AlreadyFinished, "this task has already finished"));
        }
        let reader = hub.watch(&self.by, task, folded.seq).await?;
        Ok(Feed::joined(folded, reader, View::WHOLE, self.ear(task)))
    }
}

fn no_such_agent() -> Fault {
    Fault::caller(FaultKind::NotFound(Noun::Task), "there is no such agent here")
}

fn no_push() -> Fault {
    Fault::caller(FaultKind::Unsupported(Feature::Push), "this agent tells no webhooks")
}

/// What cannot be read is the caller's to mend, field by field.
fn refused(invalid: &Invalid) -> Fault {
    let fault = Fault::caller(FaultKind::InvalidInput, invalid.to_string());
    match invalid.path.as_str() {
        "" => fault,
        path => fault.field(path, invalid.problem.to_string()),
    }
}
