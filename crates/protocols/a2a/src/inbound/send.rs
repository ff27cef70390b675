//! Sends of messages: a new call, or further input to a waiting task; answered once, or streamed.

use std::sync::Arc;

use crate::decode::{Addressed, More, ReplyTo, Wants};
use crate::encode::{self, NoAddresses, View};
use crate::wire::{Answer, Update};
use interlingua_model::{
    Addressee, Blob, Body, Call, ConversationId, Event, Fault, FaultKind, Finished, Loss, Part, Request, Signal,
    SkillId, TaskId, Transcript,
};

use super::feed::Feed;
use super::{Asking, Reply};
use crate::push::From;
use interlingua_hub::audit::losses::LossContext;
use interlingua_hub::live::no_such_task;
use interlingua_hub::{Running, entropy};

/// Where an exchange stands that was waited for.
enum Stood {
    /// Nobody was told its id: the answer is a message.
    Answered(Box<Answered>),
    Task(TaskId),
}

/// An answer that is no task's.
struct Answered {
    finished: Finished,
    losses: Vec<Loss>,
    skill: Option<SkillId>,
}

/// What is followed.
struct Opened {
    running: Running,
    context: Option<ConversationId>,
    losses: Vec<Loss>,
}

impl Asking<'_> {
    /// A new exchange.
    pub(super) async fn call(&self, call: Box<Call>, mut reply: ReplyTo, losses: Vec<Loss>) -> Result<Reply, Fault> {
        let opened = self.open(call, losses).await?;
        if let Some(webhook) = reply.webhook.take() {
            self.push(opened.running.id(), *webhook, From::Beginning).await?;
        }
        self.answer(Begun::Called(Box::new(opened)), &reply).await
    }

    /// More input to a task, and its webhook first: nothing that follows is missed.
    pub(super) async fn more(&self, more: More, mut reply: ReplyTo) -> Result<Reply, Fault> {
        if let Some(webhook) = reply.webhook.take() {
            self.push_create(more.task, *webhook).await?;
        }
        let begun = self.hand_on(more).await?;
        self.answer(begun, &reply).await
    }

    async fn answer(&self, begun: Begun, reply: &ReplyTo) -> Result<Reply, Fault> {
        let view = View { history: reply.history, artifacts: true };
        match reply.wants {
            Wants::Answer | Wants::Receipt => {
                self.send(begun, reply.wants, view).await.map(Answer::Sent).map(Reply::whole)
            }
            Wants::Stream => self.stream(begun, view).await.map(Reply::stream),
        }
    }

    /// One answer: at once where the client says so, else when there is one or a question.
    async fn send(&self, begun: Begun, wants: Wants, view: View) -> Result<Update, Fault> {
        let mut opened = match begun {
            Begun::Called(opened) | Begun::Answered(opened) => *opened,
            // The question still stands: it is asked again.
            Begun::Standing(task) => return self.snapshot(task, view).await.map(Update::Task),
        };
        let stood = match wants {
            Wants::Receipt => Stood::Task(opened.running.keep().await?),
            Wants::Answer | Wants::Stream => wait(&mut opened.running).await?,
        };
        match stood {
            Stood::Task(task) => {
                let mut folded = opened.running.task().await?;
                folded.losses.extend_from_slice(&opened.losses);
                let told = encode::task(&folded, view, &self.links(task));
                opened.losses.extend(told.losses);
                self.lost(&folded, &opened.losses);
                Ok(Update::Task(told.value))
            }
            Stood::Answered(answered) => {
                let Answered { finished, losses: lost, skill } = *answered;
                if let interlingua_model::Outcome::Failed(fault) = finished.outcome {
                    return Err(fault);
                }
                let (id, context) = (entropy::message_id(), opened.context.as_ref());
                let before = [&*opened.losses, &lost].concat();
                let message = encode::message(id, context, &finished, &finished.output.parts, &before, &NoAddresses);
                opened.losses.extend(message.losses);
                let (by, of, wire) = (&self.by, opened.running.named(), self.version.wire());
                self.shared().hub.lost(&LossContext { by, of, wire, skill: skill.as_ref() }, &opened.losses);
                Ok(Update::Message(message.value))
            }
        }
    }

    async fn stream(&self, begun: Begun, view: View) -> Result<Feed, Fault> {
        match begun {
            Begun::Called(opened) => {
                let Opened { mut running, losses, .. } = *opened;
                let task = running.keep().await?;
                Ok(Feed::own(running, view, self.ear(task)).having_lost(losses))
            }
            Begun::Answered(opened) => self.follow(opened.running.id(), view).await,
            Begun::Standing(task) => self.follow(task, view).await,
        }
    }

    /// The task as it stands, and what comes after.
    async fn follow(&self, task: TaskId, view: View) -> Result<Feed, Fault> {
        let hub = &self.shared().hub;
        let folded = hub.task(&self.by, task).await?;
        let reader = hub.watch(&self.by, task, folded.seq).await?;
        Ok(Feed::joined(folded, reader, view, self.ear(task)))
    }

    async fn open(&self, mut call: Box<Call>, losses: Vec<Loss>) -> Result<Opened, Fault> {
        let hub = &self.shared().hub;
        // Sent again without a context, it begins the same one: so it is the same message.
        let begun = || hub.conversation_begun_by(&self.by, self.arrived.connection.id, call.id.as_str());
        let context = call.conversation.clone().unwrap_or_else(begun);
        call.conversation = Some(context.clone());
        if let interlingua_model::Ask::Invoke { input, .. } = &mut call.ask {
            hub.store_large(&mut input.parts).await?;
        }
        let request = Request { by: self.by.clone(), connection: self.arrived.connection.id, call };
        let running = hub.open(request).await?;
        Ok(Opened { running, context: Some(context), losses })
    }

    /// The answer to what the task asks, else something it may want to hear.
    async fn hand_on(&self, more: More) -> Result<Begun, Fault> {
        let More { task, context, message, mut input } = more;
        let (hub, task) = (&self.shared().hub, self.own_task(task).await?);
        let row = hub.row(&self.by, task).await?;
        let belongs = row.conversation.as_ref().map(ConversationId::as_str);
        if context.is_some() && context.as_deref() != belongs {
            let text = "the task belongs to another context than the message";
            return Err(Fault::caller(FaultKind::InvalidInput, text).field("message.contextId", "is not the task's"));
        }
        hub.store_large(&mut input.parts).await?;
        let Some(live) = hub.live(task) else {
            return Err(match row.state.is_done() {
                true => Fault::caller(FaultKind::AlreadyFinished, "this task has already finished"),
                false => no_such_task(),
            });
        };
        let after = live.seq();
        let asked = live.questions().into_iter().find(|question| question.to == Addressee::Caller);
        let signal = match asked {
            None => Signal::Said { message, input },
            Some(question) => match hub.read_answer(&question, input) {
                Some(answer) => Signal::Answered { question: question.id, message, answer },
                None => return Ok(Begun::Standing(task)),
            },
        };
        hub.signal(self.by.clone(), task, signal).await?;
        let running = hub.follow(&self.by, task, after).await?;
        let context = row.conversation.clone();
        Ok(Begun::Answered(Box::new(Opened { running, context, losses: Vec::new() })))
    }
}

/// What a message led to.
enum Begun {
    /// A new exchange.
    Called(Box<Opened>),
    /// A task that goes on.
    Answered(Box<Opened>),
    /// It did not fit what the task asks.
    Standing(TaskId),
}

/// Reads to the end, or to a question its caller can answer. What shows work on the way is a task from then on.
async fn wait(running: &mut Running) -> Result<Stood, Fault> {
    let (mut transcript, mut stored) = (Transcript::of_messages(), false);
    loop {
        let Some(entry) = running.next().await? else { return Ok(Stood::Task(running.id())) };
        let Some(event) = entry.record.event() else { continue };
        // A task is told from its journal.
        if !running.is_kept() {
            transcript.push(&entry.record)?;
        }
        match event {
            // A message has no place that its large content could be fetched from; a task has.
            Event::Finished(finished) if !running.is_kept() && (stored || holds_stored(&finished.output.parts)) => {
                return running.keep().await.map(Stood::Task);
            }
            Event::Finished(finished) if !running.is_kept() => {
                let finished = transcript.whole(finished);
                let Transcript { route, losses, .. } = transcript;
                let skill = route.map(|route| route.skill);
                return Ok(Stood::Answered(Box::new(Answered { finished, losses, skill })));
            }
            Event::Finished(_) => return Ok(Stood::Task(running.id())),
            Event::Asked(question) if question.to == Addressee::Caller => return Ok(Stood::Task(running.id())),
            Event::Artifact(_) | Event::Progress { .. } | Event::Step(_) if !running.is_kept() => {
                running.keep().await?;
            }
            Event::Said { parts, .. } => stored |= holds_stored(parts),
            Event::Started(_)
            | Event::Artifact(_)
            | Event::Progress { .. }
            | Event::Step(_)
            | Event::Asked(_)
            | Event::Settled { .. } => {}
        }
    }
}

/// Whether there is content among these that is too large to stand in an answer.
fn holds_stored(parts: &[Part]) -> bool {
    parts.iter().any(|part| matches!(part.body, Body::Blob(Blob::Stored { .. })))
}

/// The agent whose skills a message may be for.
pub(super) fn peer_of(door: &Addressed) -> Option<&interlingua_model::PeerId> {
    match door {
        Addressed::Hub => None,
        Addressed::Peer(peer) => Some(peer),
    }
}

/// A skill that is shared by a catalogue.
pub(super) type Skill = Arc<interlingua_model::Skill>;
