//! Decodes the result of a call: its outcome, questions that end its request, or a task of the server.

use std::time::Duration;

use interlingua_model::peer::View;
use interlingua_model::{
    BadLink, Channel, Event, Fault, FaultKind, Finished, Json, Level, Loss, MessageId, Noun, Outcome, Output, Part,
    Party, PeerId, Piece, Provenance, Question, Raw, Text, Time, Usage,
};

use super::encode::Verb;
use super::state;
use crate::wire::content;
use crate::wire::meta::{self, META};
use crate::{Version, fault};
use interlingua_wire::members::Members;
use interlingua_wire::rpc;

/// What is known of the request when a server's reply is decoded.
#[derive(Debug, Clone)]
pub struct ReplyContext {
    pub peer: PeerId,
    pub version: Version,
    pub verb: Verb,
    /// Configuration says that it is a hub: what it says of its faults and losses is believed.
    pub is_hub: bool,
    /// When a question of it expires.
    pub expires: Time,
    /// How much of an answer must be read, of one that can travel as it came.
    pub view: View,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Replied {
    Finished(Box<Finished>, Vec<Loss>, Option<Raw>),
    /// The request ended with these; the same call goes on with their answers.
    Asked(Vec<Question>),
    /// The server wants the call again with this state, and asks nothing.
    Again(Json),
    /// The server goes on by itself, under this name.
    Task(Task),
}

/// A task of the server's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    pub id: String,
    pub poll: Option<Duration>,
}

/// What a server says of its task.
#[derive(Debug, Clone, PartialEq)]
pub enum TaskState {
    Working { note: Option<Text>, poll: Option<Duration> },
    Asked(Vec<Question>),
    Ended(Box<Finished>, Vec<Loss>, Option<Raw>),
}

impl ReplyContext {
    fn fault(&self, kind: FaultKind, what: &str) -> Fault {
        Fault::new(kind, Party::Peer(self.peer.clone()), format!("{} {what}", self.peer))
    }

    fn bad(&self, what: &str) -> Fault {
        self.fault(FaultKind::BadReply, &format!("does not answer as it should: {what}"))
    }

    /// It wants a person to open what the hub shows nobody.
    pub fn refused(&self, bad: &BadLink) -> Fault {
        self.fault(FaultKind::BadReply, &format!("asks to open a link that is not passed on: {bad}"))
    }

    fn by(&self) -> Provenance {
        Provenance::peer(self.peer.clone())
    }

    /// A response, whichever it is.
    pub fn response(&self, outcome: Result<Members, rpc::Error>) -> Result<Replied, Fault> {
        match outcome {
            Ok(result) => self.result(&result),
            Err(error) if error.code == fault::URL_ELICITATION_REQUIRED => self.visits(&error),
            Err(error) => Err(self.error(&error)),
        }
    }

    /// A server's error as a fault. Its text is the server's, and is cut.
    pub fn error(&self, error: &rpc::Error) -> Fault {
        let mut fault = fault::heard(error, self.verb.fault(), &self.peer);
        fault.public = format!("{}: {}", self.peer, short(&fault.public)).into();
        match self.told(error.data.as_ref().map(Members::of)) {
            Some(kind) if kind != fault.kind => Fault::new(kind, Party::Peer(self.peer.clone()), fault.public),
            Some(_) | None => fault,
        }
    }

    /// The kind of a fault, where whoever tells it is a hub.
    fn told(&self, fault: Option<Members>) -> Option<FaultKind> {
        fault.filter(|_| self.is_hub).as_ref().and_then(meta::fault)
    }

    /// What was lost behind the server, where it is a hub.
    fn losses(&self, result: &Members) -> Vec<Loss> {
        let told = || result.object(META)?.get(meta::LOSSES);
        if self.is_hub { told().map(|list| Loss::listed(list.tree())).unwrap_or_default() } else { Vec::new() }
    }

    fn result(&self, result: &Members) -> Result<Replied, Fault> {
        if !result.is_object() {
            return Err(self.bad("a result that is no object"));
        }
        match result.text("resultType").as_deref() {
            None | Some("complete") => {
                let raw = self.raw(result);
                // A tool's answer that nobody here looks at; what is read of resources and prompts may be missing.
                let well = result.bool("isError") != Some(true) && result.has("content");
                let unread = self.view == View::Head && self.verb == Verb::Call && raw.is_some() && well;
                let finished = if unread { Finished::completed(Output::default()) } else { self.complete(result)? };
                Ok(Replied::Finished(Box::new(finished), self.losses(result), raw))
            }
            Some("input_required") => self.asked(result),
            Some("task") => match result.text("taskId") {
                Some(id) => Ok(Replied::Task(Task { id: id.into_owned(), poll: pause(result) })),
                None => Err(self.bad("a task without its id")),
            },
            Some(_) => Err(self.bad("a type of result nobody asked for")),
        }
    }

    fn complete(&self, result: &Members) -> Result<Finished, Fault> {
        match self.verb {
            Verb::Call => self.called(result),
            Verb::Prompt => self.prompt(result).map(Finished::completed),
            Verb::Read => self.read(result).map(Finished::completed),
            Verb::Complete => {
                let completion = result.get("completion").filter(Json::is_object);
                let completion = completion.ok_or_else(|| self.bad("a completion without `completion`"))?;
                Ok(Finished::completed(Output { structured: Some(completion), ..Output::default() }))
            }
        }
    }

    fn called(&self, result: &Members) -> Result<Finished, Fault> {
        let structured = result.get("structuredContent");
        let parts = match result.get("content") {
            Some(list) => content::decode_all(&list, &self.by()),
            None if structured.is_some() => Vec::new(),
            // Some servers of 2024 answered with the value alone.
            None => return Err(self.bad("a result without `content`")),
        };
        let outcome = match result.bool("isError") {
            Some(true) => Outcome::Failed(self.failed(&parts, result)),
            Some(false) | None => Outcome::Completed,
        };
        let output = Output { parts, structured, ..Output::default() };
        Ok(Finished { outcome, output, usage: Usage::default() })
    }

    fn failed(&self, parts: &[Part], result: &Members) -> Fault {
        let told = result.object(META).and_then(|meta| meta.object(meta::FAULT));
        let kind = self.told(told).unwrap_or(FaultKind::PeerFailed);
        match parts.iter().find_map(Part::as_text) {
            Some(text) => self.fault(kind, &format!("failed: {}", short(text))),
            None => self.fault(kind, "failed"),
        }
    }

    /// Turns, as parts labelled by role.
    fn prompt(&self, result: &Members) -> Result<Output, Fault> {
        let messages = result.list("messages").ok_or_else(|| self.bad("a prompt without `messages`"))?;
        let mut parts = Vec::with_capacity(messages.len());
        for message in &messages {
            let message = Members::of(message);
            let role = if message.text("role").as_deref() == Some("assistant") { "assistant" } else { "user" };
            let content = message.get("content").ok_or_else(|| self.bad("a message without `content`"))?;
            parts.extend(content::decode_all(&content, &self.by()).into_iter().map(|part| part.labelled(role)));
        }
        Ok(Output { parts, ..Output::default() })
    }

    fn read(&self, result: &Members) -> Result<Output, Fault> {
        let contents = result.list("contents").ok_or_else(|| self.bad("a resource without `contents`"))?;
        if contents.is_empty() {
            return Err(Fault::caller(FaultKind::NotFound(Noun::Resource), "there is no such resource"));
        }
        let parts: Option<Vec<Part>> = contents.iter().map(|one| content::decode_contents(one, &self.by())).collect();
        let parts = parts.ok_or_else(|| self.bad("contents that are neither text nor bytes"))?;
        Ok(Output { parts, ..Output::default() })
    }

    fn asked(&self, result: &Members) -> Result<Replied, Fault> {
        if !self.version.is_modern() || self.verb == Verb::Complete {
            return Err(self.bad("a question where none may be asked"));
        }
        let state = result.get("requestState");
        let requests = result.object("inputRequests").filter(|requests| !requests.is_empty());
        match (requests, state) {
            (Some(requests), state) => {
                let asked = state::questions(&requests, state.as_ref(), None, &self.peer, self.expires);
                asked
                    .map_err(|bad| self.refused(&bad))?
                    .map(Replied::Asked)
                    .ok_or_else(|| self.bad("a question that cannot be read"))
            }
            (None, Some(state)) => Ok(Replied::Again(state)),
            (None, None) => Err(self.bad("it asks, and says not what")),
        }
    }

    /// Error -32042 (2025-11-25): addresses a person must visit before the call is made again.
    fn visits(&self, error: &rpc::Error) -> Result<Replied, Fault> {
        let data = error.data.as_ref().map(Members::of).unwrap_or(Members::absent());
        let asked = data.list("elicitations").unwrap_or_default();
        let requests = interlingua_wire::object::Object::json(|all| {
            for (index, params) in asked.iter().enumerate() {
                all.object(&index.to_string(), |request| {
                    request.text("method", crate::question::ELICIT);
                    request.value("params", params);
                });
            }
        });
        let questions = state::questions(&Members::of(&requests), None, None, &self.peer, self.expires);
        match questions.map_err(|bad| self.refused(&bad))?.filter(|questions| !questions.is_empty()) {
            Some(questions) => Ok(Replied::Asked(questions)),
            None => Err(self.error(error)),
        }
    }

    /// The result as it came, for a caller of the same wire. A peer's claims in our own name do not travel.
    fn raw(&self, result: &Members) -> Option<Raw> {
        let json = result.json()?;
        let claims = result.object(META).is_some_and(|meta| meta.iter().any(|(key, _)| key.starts_with(meta::OURS)));
        (!claims).then(|| Raw { wire: self.version.wire(), json: json.clone() })
    }

    /// What `tasks/get` says.
    pub fn task(&self, outcome: Result<Members, rpc::Error>) -> Result<TaskState, Fault> {
        let task = outcome.map_err(|error| self.error(&error))?;
        let note = || task.text("statusMessage").map(|text| Text::from(short(&text)));
        match task.text("status").as_deref() {
            Some("working" | "submitted") => Ok(TaskState::Working { note: note(), poll: pause(&task) }),
            Some("input_required") => self.task_asks(&task),
            Some("completed") => {
                let result = task.object("result").ok_or_else(|| self.bad("a task that is done without a result"))?;
                let finished = self.complete(&result)?;
                Ok(TaskState::Ended(Box::new(finished), self.losses(&result), self.raw(&result)))
            }
            Some("failed") => {
                let error = task.object("error");
                let text = error.as_ref().and_then(|error| error.text("message"));
                let text = text.map(|text| Text::from(short(&text))).or_else(note);
                let text = text.map_or_else(|| "failed".to_owned(), |text| format!("failed: {text}"));
                let told = error.as_ref().and_then(|error| error.object("data"));
                let mut fault = self.fault(self.told(told).unwrap_or(FaultKind::PeerFailed), &text);
                // The error that its call would have been answered with.
                let code = error.and_then(|error| error.number::<i64>("code"));
                fault.peer_code = code.map(|code| code.to_string().into());
                Ok(TaskState::Ended(Box::new(Finished::failed(fault)), Vec::new(), None))
            }
            Some("cancelled") => {
                let by = Party::Peer(self.peer.clone());
                let finished = Finished::cancelled(by, interlingua_model::CancelWhy::Asked);
                Ok(TaskState::Ended(Box::new(finished), Vec::new(), None))
            }
            Some(_) | None => Err(self.bad("a task in no state that is known")),
        }
    }

    fn task_asks(&self, task: &Members) -> Result<TaskState, Fault> {
        let (requests, id) = (task.object("inputRequests"), task.text("taskId"));
        let (Some(requests), Some(id)) = (requests, id) else { return Err(self.bad("a task that asks, and not what")) };
        let asked = state::questions(&requests, None, Some(&id), &self.peer, self.expires);
        asked
            .map_err(|bad| self.refused(&bad))?
            .map(TaskState::Asked)
            .ok_or_else(|| self.bad("a question that cannot be read"))
    }

    /// A notification that belongs to this call, as an event; `None` for one that says nothing to its caller.
    pub fn notification(&self, method: &str, params: &Members, key: &MessageId, number: u32) -> Option<Event> {
        match method {
            "notifications/progress" => Some(Event::Progress {
                done: params.number("progress"),
                total: params.number("total"),
                note: params.text("message").map(|text| (&*text).into()),
            }),
            "notifications/message" => {
                let level = match params.text("level").as_deref() {
                    Some("debug") => Level::Debug,
                    Some("warning") => Level::Warning,
                    Some("error" | "critical" | "alert" | "emergency") => Level::Error,
                    Some(_) | None => Level::Info,
                };
                let text = match params.text("data") {
                    Some(text) => text.into_owned(),
                    None => params.get("data")?.as_str().to_owned(),
                };
                let mut part = Part::text(text, self.by());
                part.name = params.text("logger").map(|name| (&*name).into());
                let message = MessageId::from(format!("{key}.note.{number}"));
                Some(Event::Said { message, channel: Channel::Note(level), piece: Piece::Whole, parts: vec![part] })
            }
            _ => None,
        }
    }
}

fn pause(result: &Members) -> Option<Duration> {
    result.number("pollIntervalMs").or_else(|| result.number("pollInterval")).map(Duration::from_millis)
}

/// A peer's words, no more of them than belong into a fault.
fn short(text: &str) -> String {
    const LONGEST: usize = 400;
    text.chars().take(LONGEST).collect()
}
