//! Folds everything that an agent reports of one call into events: from a stream, from one answer, or from polling.
//!
//! A snapshot that comes after events, because a stream broke off or the hub was restarted, only adds what is new in it. An artifact of a
//! plain agent is an artifact; what another hub returned is the result itself.
//!
//! Deliberately absent: sending requests, waiting, and who can answer a question.

use std::collections::BTreeMap;

use interlingua_model::json::Tree;
use interlingua_model::{
    Addressee, ArtifactHeader, ArtifactId, BadLink, CancelWhy, Channel, Choice, Chunk, Confirm, Event, Fault,
    FaultKind, Finished, Json, Level, Loss, MessageId, Meta, Outcome, Output, Owner, Part, Party, PeerId, Piece,
    Provenance, Question, QuestionId, QuestionKind, Schema, TaskId, Text, Time, Usage, WebLink,
};
use serde_json::json;

use super::fault::bounded;
use super::remote::Remote;
use crate::decode::part;
use crate::ext;
use crate::wire::{self, Artifact, ArtifactUpdate, Content, Message, Role, Status, StatusUpdate, TaskState, Update};

/// How many artifacts one task may have.
const MOST_ARTIFACTS: usize = 10_000;
/// A note is for people.
const NOTE: usize = 2_000;
/// The artifact in which a hub returns its result.
const RESULT: &str = "result";
/// The one field of a form for an answer in words.
const ANSWER: &str = "answer";

/// Who tells it.
#[derive(Debug, Clone)]
pub struct Teller {
    pub peer: PeerId,
    /// It speaks our extension.
    pub speaks_ours: bool,
    /// Configuration says that it is a hub: its faults and losses are believed.
    pub is_hub: bool,
    /// The task here, and whose it is.
    pub task: TaskId,
    pub owner: Owner,
}

/// What there is to do about something told.
#[derive(Debug, Clone, PartialEq)]
pub enum Told {
    /// It knows the call by these ids.
    Known(Remote),
    Event(Event),
    /// It asks, and may go on without an answer.
    Asks(Question),
    /// What it asked is not open any more.
    GoesOn,
    /// It asks, and ended its request with that.
    Ends(Question),
    Finished(Box<Finished>, Vec<Loss>),
}

#[derive(Debug)]
pub struct Following {
    teller: Teller,
    remote: Option<Remote>,
    context: Option<Text>,
    /// In the order in which they came.
    order: Vec<Text>,
    made: BTreeMap<Text, Made>,
    result: Vec<wire::Part>,
    /// It has asked, and has not gone on since.
    asks: bool,
    noted: Option<Text>,
}

/// How much of an artifact was told.
#[derive(Debug, Default, Clone, Copy)]
struct Made {
    next: u32,
    parts: usize,
    closed: bool,
}

impl Following {
    /// `remote`: where it is known already.
    pub fn new(teller: Teller, remote: Option<Remote>) -> Following {
        Following {
            teller,
            context: remote.as_ref().and_then(|remote| remote.context.clone()),
            remote,
            order: Vec::new(),
            made: BTreeMap::new(),
            result: Vec::new(),
            asks: false,
            noted: None,
        }
    }

    pub fn remote(&self) -> Option<&Remote> {
        self.remote.as_ref()
    }

    /// The agent's own id of the conversation.
    pub fn context(&self) -> Option<&Text> {
        self.context.as_ref()
    }

    /// Takes an update; `expires` is for a question. An error is one of the agent's making.
    pub fn hear(&mut self, update: Update, expires: Time) -> Result<Vec<Told>, Fault> {
        let mut told = Vec::new();
        match update {
            Update::Message(message) => {
                self.context = message.context.clone().or(self.context.take());
                told.push(self.answered(message));
            }
            Update::Task(task) => {
                self.known(&task.id, task.context.as_ref(), &mut told)?;
                let ended = task.status.state.is_terminal();
                for artifact in task.artifacts {
                    self.snapshot(artifact, ended, &mut told)?;
                }
                let said = task.history.into_iter().rev().find(|message| message.role == Role::Agent);
                self.status(task.status, said, task.metadata.as_ref(), expires, &mut told);
            }
            Update::Status(StatusUpdate { task, context, status, metadata }) => {
                self.known(&task, Some(&context).filter(|context| !context.is_empty()), &mut told)?;
                self.status(status, None, metadata.as_ref(), expires, &mut told);
            }
            Update::Artifact(update) => {
                let context = Some(&update.context).filter(|context| !context.is_empty());
                self.known(&update.task, context, &mut told)?;
                self.chunk(update, &mut told)?;
            }
        }
        Ok(told)
    }

    fn bad(&self, what: &str) -> Fault {
        let peer = &self.teller.peer;
        Fault::new(FaultKind::BadReply, Party::Peer(peer.clone()), format!("{peer} breaks its protocol: {what}"))
    }

    fn known(&mut self, task: &Text, context: Option<&Text>, told: &mut Vec<Told>) -> Result<(), Fault> {
        if self.remote.as_ref().is_some_and(|remote| remote.task != *task) {
            return Err(self.bad("it speaks of another task"));
        }
        let context = context.cloned().or_else(|| self.context.clone());
        let remote = Remote { task: task.clone(), context: context.clone() };
        if self.remote.as_ref() != Some(&remote) {
            self.context = context;
            self.remote = Some(remote.clone());
            told.push(Told::Known(remote));
        }
        Ok(())
    }

    fn parts(&self, parts: impl IntoIterator<Item = wire::Part>) -> Vec<Part> {
        let provenance = Provenance::peer(self.teller.peer.clone());
        parts.into_iter().map(|given| part(given, &provenance)).collect()
    }

    fn is_result(&self, artifact: &Artifact) -> bool {
        self.teller.speaks_ours && &*artifact.id == RESULT && artifact.name.as_deref() == Some(RESULT)
    }

    fn chunk(&mut self, update: ArtifactUpdate, told: &mut Vec<Told>) -> Result<(), Fault> {
        let ArtifactUpdate { artifact, append, last, .. } = update;
        if self.is_result(&artifact) {
            if !append {
                self.result.clear();
            }
            self.result.extend(artifact.parts);
            return Ok(());
        }
        let made = self.made.get(&artifact.id).copied();
        match (append, made) {
            (true, None) => Err(self.bad("it appends to an artifact that it has not begun")),
            (true, Some(made)) if made.closed => Err(self.bad("it appends to an artifact that it has ended")),
            (true, Some(made)) => self.tell(artifact, made, last, told),
            (false, Some(_)) => self.tell(artifact, Made::default(), last, told),
            (false, None) => self.begin(artifact, last, told),
        }
    }

    /// What is new in an artifact that is told whole; the last of it, where the task has ended.
    fn snapshot(&mut self, mut artifact: Artifact, ended: bool, told: &mut Vec<Told>) -> Result<(), Fault> {
        if self.is_result(&artifact) {
            self.result = artifact.parts;
            return Ok(());
        }
        match self.made.get(&artifact.id).copied() {
            None => self.begin(artifact, ended, told),
            Some(made) if made.parts == artifact.parts.len() => Ok(()),
            Some(made) if made.parts < artifact.parts.len() && !made.closed => {
                artifact.parts.drain(..made.parts);
                self.tell(artifact, made, ended, told)
            }
            Some(_) => self.tell(artifact, Made::default(), ended, told),
        }
    }

    fn begin(&mut self, artifact: Artifact, last: bool, told: &mut Vec<Told>) -> Result<(), Fault> {
        if self.order.len() >= MOST_ARTIFACTS {
            return Err(self.bad("it makes more artifacts than a task may have"));
        }
        self.order.push(artifact.id.clone());
        self.tell(artifact, Made::default(), last, told)
    }

    /// Index 0 begins, or begins anew.
    fn tell(&mut self, artifact: Artifact, made: Made, last: bool, told: &mut Vec<Told>) -> Result<(), Fault> {
        let header = (made.next == 0).then(|| ArtifactHeader {
            name: artifact.name.clone(),
            media: None,
            kind: None,
            owner: self.teller.owner.clone(),
            readers: Vec::new(),
            meta: Meta(artifact.metadata.clone()),
        });
        let now = Made { next: made.next + 1, parts: made.parts + artifact.parts.len(), closed: last };
        self.made.insert(artifact.id.clone(), now);
        let parts = self.parts(artifact.parts);
        let chunk = Chunk { artifact: ArtifactId(artifact.id), index: made.next, last, parts, header };
        told.push(Told::Event(Event::Artifact(chunk)));
        Ok(())
    }

    fn status(
        &mut self,
        status: Status,
        said: Option<Message>,
        about: Option<&Json>,
        expires: Time,
        told: &mut Vec<Told>,
    ) {
        let Status { state, message, .. } = status;
        match state {
            TaskState::Submitted | TaskState::Working => {
                if std::mem::take(&mut self.asks) {
                    told.push(Told::GoesOn);
                }
                told.extend(self.progress(message, about).map(Told::Event));
            }
            TaskState::InputRequired => told.push(match self.question(state, message.as_ref(), expires) {
                Ok(question) => Told::Ends(question),
                Err(bad) => self.refused(&bad),
            }),
            TaskState::AuthRequired => {
                if !std::mem::replace(&mut self.asks, true) {
                    told.push(match self.question(state, message.as_ref(), expires) {
                        Ok(question) => Told::Asks(question),
                        Err(bad) => self.refused(&bad),
                    });
                }
            }
            TaskState::Completed | TaskState::Failed | TaskState::Canceled | TaskState::Rejected => {
                let losses = about.filter(|_| self.teller.is_hub).map(losses).unwrap_or_default();
                let finished = self.finished(state, message, said);
                told.push(Told::Finished(Box::new(finished), losses));
            }
        }
    }

    /// Words about the work are progress; other content is said. A hub says which it is.
    fn progress(&mut self, message: Option<Message>, about: Option<&Json>) -> Option<Event> {
        let ours = |json: Option<&Json>| json.and_then(|json| json.get(ext::URI)).cloned();
        let progress = ours(about).and_then(|ours| ours.get("progress").cloned());
        let number = |key: &str| progress.as_ref().and_then(|progress| progress.get(key)?.as_f64());
        let (done, total) = (number("done"), number("total"));
        let message = message.filter(|message| self.noted.as_ref() != Some(&message.id));
        let Some(message) = message else {
            return progress.is_some().then_some(Event::Progress { done, total, note: None });
        };
        self.noted = Some(message.id.clone());
        let channel = ours(message.metadata.as_ref()).and_then(|ours| channel(ours.get("channel")?.as_str()?));
        let plain = message.parts.iter().all(|part| matches!(part.content, Content::Text(_)));
        match channel {
            None if plain => Some(Event::Progress { done, total, note: Some(words(&message)) }),
            channel => Some(Event::Said {
                message: MessageId(message.id.clone()),
                channel: channel.unwrap_or(Channel::Note(Level::Info)),
                piece: Piece::Whole,
                parts: self.parts(message.parts),
            }),
        }
    }

    /// One message and no task.
    fn answered(&mut self, message: Message) -> Told {
        let output = self.output(message.parts);
        let losses = message.metadata.as_ref().filter(|_| self.teller.is_hub).map(losses).unwrap_or_default();
        Told::Finished(Box::new(Finished::completed(output)), losses)
    }

    /// The one object among the parts is what programs read. One that is said twice, for programs and for people, is one.
    fn output(&mut self, mut parts: Vec<wire::Part>) -> Output {
        let mut all = parts.iter().filter_map(data);
        let first = all.next().filter(|first| first.is_object());
        let structured = first.filter(|first| all.all(|other| other == *first)).cloned();
        if structured.is_some() {
            parts.retain(|part| data(part).is_none());
        }
        let artifacts = self.order.iter().cloned().map(ArtifactId).collect();
        Output { said: None, parts: self.parts(parts), structured, artifacts }
    }

    /// The result is what was returned, what the last status says, or, of an agent that says it nowhere else, the last message.
    fn finished(&mut self, state: TaskState, message: Option<Message>, said: Option<Message>) -> Finished {
        let peer = self.teller.peer.clone();
        let text = message.as_ref().map(words).unwrap_or_default();
        let origin = Party::Peer(peer.clone());
        let outcome = match state {
            TaskState::Failed => {
                Outcome::Failed(self.failure(FaultKind::PeerFailed, "failed", &text, message.as_ref()))
            }
            TaskState::Rejected => {
                Outcome::Failed(self.failure(FaultKind::PeerDeclined, "declined", &text, message.as_ref()))
            }
            TaskState::Canceled => Outcome::Cancelled { by: origin, why: CancelWhy::Asked },
            TaskState::Completed
            | TaskState::Submitted
            | TaskState::Working
            | TaskState::InputRequired
            | TaskState::AuthRequired => Outcome::Completed,
        };
        let mut parts = std::mem::take(&mut self.result);
        match (&outcome, message) {
            (Outcome::Completed, Some(message)) => parts.extend(message.parts),
            (Outcome::Completed, None) if parts.is_empty() && self.order.is_empty() => {
                parts.extend(said.into_iter().flat_map(|message| message.parts));
            }
            // The text of a failure is the fault's.
            (Outcome::Failed(_), Some(message)) => {
                parts.extend(message.parts.into_iter().filter(|part| !matches!(part.content, Content::Text(_))));
            }
            (Outcome::Completed | Outcome::Failed(_) | Outcome::Cancelled { .. }, _) => {}
        }
        Finished { outcome, output: self.output(parts), usage: Usage::default() }
    }

    fn failure(&self, kind: FaultKind, what: &str, text: &str, message: Option<&Message>) -> Fault {
        let told = message.and_then(|message| message.metadata.as_ref()).filter(|_| self.teller.is_hub);
        let named = told.and_then(|told| told.get(ext::URI)?.get("fault")?.get("kind")?.as_str());
        let theirs = named.and_then(FaultKind::named);
        let peer = &self.teller.peer;
        let public = match text {
            "" => format!("{peer} {what}"),
            text => format!("{peer} {what}: {}", bounded(text)),
        };
        Fault::new(theirs.unwrap_or(kind), Party::Peer(peer.clone()), public)
    }

    /// It wants a person to open what the hub shows nobody.
    fn refused(&self, bad: &BadLink) -> Told {
        let peer = &self.teller.peer;
        let text = format!("{peer} asks to open a link that is not passed on: {bad}");
        let fault = Fault::new(FaultKind::BadReply, Party::Peer(peer.clone()), text);
        Told::Finished(Box::new(Finished::failed(fault)), Vec::new())
    }

    fn question(&self, state: TaskState, message: Option<&Message>, expires: Time) -> Result<Question, BadLink> {
        let peer = &self.teller.peer;
        let text = message.map(words).filter(|text| !text.is_empty());
        let told = message.and_then(|message| message.metadata.as_ref()?.get(ext::URI)?.get("question"));
        let kind = told.filter(|_| self.teller.speaks_ours).and_then(|told| self.kind(told));
        let kind = match kind {
            Some(kind) => kind,
            None => plain_kind(state, message)?,
        };
        let text = match &kind {
            QuestionKind::Visit { url } => url.asked_by(peer, &text.unwrap_or_default()),
            QuestionKind::Input { .. }
            | QuestionKind::Confirm(_)
            | QuestionKind::Credential { .. }
            | QuestionKind::Model(_)
            | QuestionKind::Roots
            | QuestionKind::Tool { .. } => text.unwrap_or_else(|| format!("{peer} wants to know more.").into()),
        };
        Ok(Question {
            // The task numbers its questions itself.
            id: QuestionId(self.teller.task, 0),
            to: Addressee::Caller,
            kind,
            text,
            asked_by: Party::Peer(peer.clone()),
            expires,
            resume: None,
            name: None,
        })
    }

    /// A hub says what kind of question it is. A request for approval is one whoever asks: it takes the answer from the caller
    /// and gives it to approvers.
    fn kind(&self, told: &Tree) -> Option<QuestionKind> {
        let text = |key: &str| told.get(key).and_then(Tree::as_str);
        match text("kind")? {
            "input" => {
                let form = told.get("form").filter(|form| form.is_object())?;
                let choices = told.get("choices").and_then(Tree::as_array).into_iter().flatten();
                let choices = choices.filter_map(|choice| {
                    Some(Choice { id: choice.get("id")?.as_str()?.into(), text: choice.get("text")?.as_str()?.into() })
                });
                Some(QuestionKind::Input { form: Schema(Json::from_tree(form.clone())), choices: choices.collect() })
            }
            "confirm" => {
                let shown = Json::from_tree(told.clone()).digest();
                let args = told.get("arguments").map(|arguments| Json::from_tree(arguments.clone()));
                Some(QuestionKind::Confirm(Confirm::asked_by(&self.teller.peer, shown, text("skill"), args).into()))
            }
            _ => None,
        }
    }
}

/// Credentials are asked for where there is no page to visit.
fn plain_kind(state: TaskState, message: Option<&Message>) -> Result<QuestionKind, BadLink> {
    let link = message.and_then(|message| message.parts.iter().find_map(link));
    Ok(match (state, link) {
        (TaskState::AuthRequired, Some(url)) => QuestionKind::Visit { url: WebLink::parse(url)? },
        (TaskState::AuthRequired, None) => QuestionKind::Credential { scheme: "bearer".into(), scopes: Vec::new() },
        _ => QuestionKind::Input {
            form: Schema(
                json!({"type": "object", "properties": {ANSWER: {"type": "string"}}, "required": [ANSWER]}).into(),
            ),
            choices: Vec::new(),
        },
    })
}

fn data(part: &wire::Part) -> Option<&Json> {
    match &part.content {
        Content::Data(data) => Some(data),
        Content::Text(_) | Content::Raw(_) | Content::Url(_) => None,
    }
}

fn link(part: &wire::Part) -> Option<&str> {
    match &part.content {
        Content::Url(url) => Some(url),
        Content::Text(_) | Content::Raw(_) | Content::Data(_) => None,
    }
}

/// What a message says in words, no more than people read.
fn words(message: &Message) -> Text {
    let texts = message.parts.iter().filter_map(|part| match &part.content {
        Content::Text(text) => Some(&**text),
        Content::Raw(_) | Content::Url(_) | Content::Data(_) => None,
    });
    texts.collect::<Vec<_>>().join("\n").chars().take(NOTE).collect::<String>().into()
}

fn channel(name: &str) -> Option<Channel> {
    Some(match name {
        "answer" => Channel::Answer,
        "reasoning" => Channel::Reasoning,
        "debug" => Channel::Note(Level::Debug),
        "info" => Channel::Note(Level::Info),
        "warning" => Channel::Note(Level::Warning),
        "error" => Channel::Note(Level::Error),
        _ => return None,
    })
}

fn losses(metadata: &Json) -> Vec<Loss> {
    metadata.get(ext::URI).and_then(|ours| ours.get("losses")).map(Loss::listed).unwrap_or_default()
}
