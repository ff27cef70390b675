//! Messages: a new call, or more input to a task that waits for it; answered once, or followed.

use std::sync::Arc;

use crate::decode::{Addressed, Context, Meaning, Wants, decode};
use crate::discover;
use crate::encode::{self, NoAddresses, View};
use crate::wire::{PushConfig, Send, Update};
use interlingua_model::{
    Addressee, Blob, Body, Call, Carried, ConversationId, Event, Fault, FaultKind, Feature, Finished, Input, Json,
    Loss, MessageId, Part, Request, Signal, SkillId, TaskId, Transcript,
};
use interlingua_wire::hub_headers::Headers;

use super::feed::Feed;
use super::{Asking, cards, refused};
use crate::push::From;
use interlingua_hub::audit::losses::Leg;
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

/// What is followed, and how much of it is shown.
struct Opened {
    running: Running,
    view: View,
    context: Option<ConversationId>,
    losses: Vec<Loss>,
}

impl Asking<'_> {
    /// One answer: at once where the client says so, else when there is one or a question.
    pub(super) async fn send(&self, send: Send) -> Result<Update, Fault> {
        let wants = if send.configuration.immediate { Wants::Receipt } else { Wants::Answer };
        let mut opened = match self.opened(send, wants).await? {
            Begun::Called(opened) | Begun::Answered(opened) => *opened,
            // The question still stands: it is asked again.
            Begun::Standing(task, view) => return self.snapshot(task, view).await.map(Update::Task),
            Begun::Published(content) => {
                return Ok(Update::Message(encode::acknowledged(entropy::message_id(), content)));
            }
        };
        let stood = match wants {
            Wants::Receipt => Stood::Task(opened.running.keep().await?),
            Wants::Answer | Wants::Stream => wait(&mut opened.running).await?,
        };
        match stood {
            Stood::Task(task) => {
                let mut folded = opened.running.task().await?;
                folded.losses.extend_from_slice(&opened.losses);
                let told = encode::task(&folded, opened.view, &self.links(task));
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
                self.shared().hub.lost(&Leg { by, of, wire, skill: skill.as_ref() }, &opened.losses);
                Ok(Update::Message(message.value))
            }
        }
    }

    pub(super) async fn stream(&self, send: Send) -> Result<Feed, Fault> {
        match self.opened(send, Wants::Stream).await? {
            Begun::Called(opened) => {
                let Opened { mut running, view, losses, .. } = *opened;
                let task = running.keep().await?;
                Ok(Feed::own(running, view, self.ear(task)).having_lost(losses))
            }
            Begun::Answered(opened) => self.follow(opened.running.id(), opened.view).await,
            Begun::Standing(task, view) => self.follow(task, view).await,
            Begun::Published(_) => Err(Fault::hub(FaultKind::Internal, "an event is not followed")),
        }
    }

    /// The task as it stands, and what comes after.
    pub(super) async fn follow(&self, task: TaskId, view: View) -> Result<Feed, Fault> {
        let hub = &self.shared().hub;
        let folded = hub.task(&self.by, task).await?;
        let reader = hub.watch(&self.by, task, folded.seq).await?;
        Ok(Feed::joined(folded, reader, view, self.ear(task)))
    }

    async fn opened(&self, send: Send, wants: Wants) -> Result<Begun, Fault> {
        self.takes(&send)?;
        let push = send.configuration.push.clone();
        if let Some(push) = &push {
            self.needs_push()?;
            self.shared().own.push.check(self.shared(), push)?;
        }
        let view = View { history: send.configuration.history, artifacts: true };
        let decoded = decode(send, &self.context(wants)).map_err(|invalid| refused(&invalid))?;
        let Carried { value: meaning, losses } = decoded;
        match meaning {
            Meaning::Call(call) => {
                let begun = self.call(call, view, losses).await?;
                let called = match &begun {
                    Begun::Called(opened) => Some(opened.running.id()),
                    Begun::Answered(_) | Begun::Standing(..) | Begun::Published(_) => None,
                };
                if let (Some(push), Some(task)) = (push, called) {
                    self.push(task, push, From::Beginning).await?;
                }
                Ok(begun)
            }
            Meaning::Event(_) if wants == Wants::Stream || push.is_some() => {
                let text = "nothing comes of an event that could be told: it is sent, and answered at once";
                Err(Fault::caller(FaultKind::Unsupported(Feature::Operation), text))
            }
            Meaning::Event(told) => self.publish(*told).await.map(Begun::Published),
            Meaning::More { task, context, message, input } => {
                if let Some(push) = push {
                    self.push_create(PushConfig { task: Some(task.clone()), ..push }).await?;
                }
                self.more(&task, context.as_deref(), message, input, view).await
            }
        }
    }

    /// Every part is of a kind the agent's card names (section 3.1.1). Which these are is looked for only where a part says of
    /// what kind it is.
    fn takes(&self, send: &Send) -> Result<(), Fault> {
        if send.message.parts.iter().all(|part| part.media.is_none()) {
            return Ok(());
        }
        let modes = cards::input_modes(self);
        match send.message.parts.iter().find(|part| !discover::takes(&modes, part)) {
            None => Ok(()),
            Some(part) => {
                let given = part.media.as_deref().unwrap_or_default();
                let text = format!("'{given}' is not taken by this agent; it takes {}", modes.join(", "));
                Err(Fault::caller(FaultKind::Unsupported(Feature::Media), text))
            }
        }
    }

    fn context(&self, wants: Wants) -> Context<'_> {
        Context {
            version: self.version,
            door: self.door.clone(),
            now: self.shared().hub.now(),
            headers: Headers::read(|name| self.arrived.text(name)),
            wants,
            replay: self.settings.replay,
        }
    }

    async fn call(&self, mut call: Box<Call>, view: View, losses: Vec<Loss>) -> Result<Begun, Fault> {
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
        Ok(Begun::Called(Box::new(Opened { running, view, context: Some(context), losses })))
    }

    /// More input: the answer to what the task asks, else something it may want to hear.
    async fn more(
        &self,
        task: &str,
        context: Option<&str>,
        message: MessageId,
        mut input: Input,
        view: View,
    ) -> Result<Begun, Fault> {
        let (hub, task) = (&self.shared().hub, self.task_id(task).await?);
        let row = hub.row(&self.by, task).await?;
        let belongs = row.conversation.as_ref().map(ConversationId::as_str);
        if context.is_some() && context != belongs {
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
                None => return Ok(Begun::Standing(task, view)),
            },
        };
        hub.signal(self.by.clone(), task, signal).await?;
        let running = hub.follow(&self.by, task, after).await?;
        let context = row.conversation.clone();
        Ok(Begun::Answered(Box::new(Opened { running, view, context, losses: Vec::new() })))
    }
}

/// What a message led to.
enum Begun {
    /// A new exchange.
    Called(Box<Opened>),
    /// A task that goes on.
    Answered(Box<Opened>),
    /// It did not fit what the task asks.
    Standing(TaskId, View),
    /// An event, which is no task; what its sender is told.
    Published(Json),
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
            Event::Artifact(_) | Event::Progress { .. } if !running.is_kept() => {
                running.keep().await?;
            }
            Event::Said { parts, .. } => stored |= holds_stored(parts),
            Event::Started(_)
            | Event::Artifact(_)
            | Event::Progress { .. }
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
