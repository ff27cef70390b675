//! Inbound A2A. [`Asking::perform`] performs one operation of one agent; [`rpc`], [`http`] and [`grpc`] are the bindings, [`arrived`] is
//! what they have in common, [`offered`] the operations that an agent offers, [`cards`] serves the agents' cards.

mod arrived;
mod cards;
mod events;
mod feed;
mod grpc;
mod http;
pub(crate) mod links;
mod list;
mod modes;
mod offered;
#[cfg(test)]
mod races;
mod rpc;
mod send;
mod sse;

use std::sync::Arc;

use crate::Version;
use crate::decode::{Addressed, Context, Incoming, Own, ReplyTo, decode};
use crate::encode::{self, View};
use crate::grpc::service;
use crate::invalid::{Invalid, Problem};
use crate::wire::{Answer, Operation, PushConfig, TaskState};
use axum::Router;
use axum::routing::{any, get, post};
use interlingua_machines::task::Task;
use interlingua_model::{Carried, Fault, FaultKind, Loss, Noun, PeerId, Principal, Signal, TaskId, Text};
use interlingua_wire::codec::Meaning;
use interlingua_wire::hub_headers::Headers;

pub use self::modes::Modes;

use self::arrived::Arrived;
use self::feed::{Ear, Feed};
use self::links::Links;
use super::Settings;
use super::push::{Asker, From};
use super::signing::KEYS;
use crate::Endpoint;
use interlingua_access::Shown;
use interlingua_hub::audit::losses::{LossContext, Named};
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

    fn stream(feed: Feed) -> Reply {
        Reply::Stream(Box::new(feed))
    }
}

impl Asking<'_> {
    fn shared(&self) -> &Endpoint {
        &self.arrived.shared
    }

    async fn perform(&self, operation: Operation) -> Result<Reply, Fault> {
        self.check_offered(&operation)?;
        let decoded = decode(operation, &self.context()).map_err(|invalid| refused(&invalid))?;
        let Carried { value: Incoming { meaning, reply, credentials: _ }, losses } = decoded;
        match meaning {
            Meaning::Call(call) => self.call(call, reply, losses).await,
            Meaning::Signal { to, signal } => self.cancel(to, signal).await.map(Answer::Task).map(Reply::whole),
            Meaning::Own(own) => self.perform_own(own, reply).await,
        }
    }

    async fn perform_own(&self, own: Own, reply: ReplyTo) -> Result<Reply, Fault> {
        match own {
            Own::More(more) => return self.more(*more, reply).await,
            Own::Event(told) => self.publish(*told, reply).await.map(Answer::Sent),
            Own::Get { task, history } => {
                let view = View { history, artifacts: true };
                self.snapshot(self.own_task(task).await?, view).await.map(Answer::Task)
            }
            Own::List(list) => self.list(list).await.map(Answer::Tasks),
            Own::Subscribe { task } => return self.subscribe(task).await.map(Reply::stream),
            Own::PushCreate { task, config } => self.push_create(task, *config).await.map(Answer::Push),
            Own::PushGet { task, id } => self.push_get(task, id.as_ref()).await.map(Answer::Push),
            Own::PushList { task } => {
                let task = self.own_task(task).await?;
                self.shared().own.push.list(self.shared(), task).await.map(Answer::Pushes)
            }
            Own::PushDelete { task, id } => {
                let task = self.own_task(task).await?;
                self.shared().own.push.delete(self.shared(), task, &id).await.map(|()| Answer::Deleted)
            }
            Own::ExtendedCard => cards::of(self).map(|(card, _)| Answer::Card(card)),
        }
        .map(Reply::whole)
    }

    fn context(&self) -> Context<'_> {
        Context {
            version: self.version,
            door: &self.door,
            now: self.shared().hub.now(),
            headers: Headers::read(|name| self.arrived.text(name)),
            replay: self.settings.replay,
        }
    }

    /// A webhook for a task that is there: it is told what comes.
    async fn push_create(&self, task: TaskId, config: PushConfig) -> Result<PushConfig, Fault> {
        let task = self.own_task(task).await?;
        let folded = self.shared().hub.task(&self.by, task).await?;
        self.push(task, config, From::After(folded.seq)).await
    }

    async fn push(&self, task: TaskId, config: PushConfig, from: From) -> Result<PushConfig, Fault> {
        let known = Shown::of(self.arrived.connection, &self.arrived.headers).known_by();
        let asker = Asker { by: &self.by, known };
        self.shared().own.push.create(self.shared(), &asker, task, config, self.version, from).await
    }

    async fn push_get(&self, task: TaskId, id: Option<&Text>) -> Result<PushConfig, Fault> {
        let found = self.shared().own.push.get(self.shared(), self.own_task(task).await?, id).await?;
        found.ok_or_else(|| Fault::caller(FaultKind::NotFound(Noun::Task), "this task tells no such webhook"))
    }

    /// What of a peer may be called, may be known to be there.
    fn sees(&self, peer: &PeerId) -> bool {
        self.shared().hub.visible(&self.by).has_peer(peer)
    }

    /// A task of this agent's that is theirs; anything else is not there.
    async fn own_task(&self, task: TaskId) -> Result<TaskId, Fault> {
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
        let leg = LossContext { by: &self.by, of: Named::of(task), wire: self.version.wire(), skill };
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

    /// The signal goes to the peer; it is answered when the task has ended, or when its grace is over. A task that ended otherwise all the same was
    /// not cancelled, and its client is told so.
    async fn cancel(&self, task: TaskId, signal: Signal) -> Result<crate::wire::Task, Fault> {
        let (hub, task) = (&self.shared().hub, self.own_task(task).await?);
        let after = hub.seq_of(task);
        hub.signal(self.by.clone(), task, signal).await?;
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
    async fn subscribe(&self, task: TaskId) -> Result<Feed, Fault> {
        let (hub, task) = (&self.shared().hub, self.own_task(task).await?);
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

/// What cannot be read is the caller's to mend, field by field.
fn refused(invalid: &Invalid) -> Fault {
    if invalid.problem == Problem::NoSuchTask {
        return no_such_task();
    }
    let fault = Fault::caller(FaultKind::InvalidInput, invalid.to_string());
    match invalid.path.as_str() {
        "" => fault,
        path => fault.field(path, invalid.problem.to_string()),
    }
}
