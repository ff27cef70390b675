//! An agent's reply as an outcome or a question.

use std::time::Duration;

use interlingua_model::{
    Addressee, BadLink, Carried, Choice, Confirm, Fault, FaultKind, Finished, Json, Loss, Outcome, Output, Part, Party,
    PeerId, Provenance, Question, QuestionId, QuestionKind, Retry, Schema, Secret, Text, Time, Usage, Way, WebLink,
};

use super::encode::Tongue;
use crate::wire::{Format, Message, Submessage};
use crate::{fault, labels, part, phrases};

/// The leg on which the reply arrived.
#[derive(Debug, Clone)]
pub struct ReplyContext {
    pub peer: PeerId,
    /// A hub's fault and losses are believed only of a peer that configuration says is one.
    pub tongue: Tongue,
    /// For a question, should there be one.
    pub question: QuestionId,
    pub expires: Time,
    pub depth: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Replied {
    Finished(Box<Finished>),
    /// The agent ended its reply with it; the answer is the next message.
    Asked(Box<Question>),
    /// It goes on at the agent without an answer from here.
    GoesOn(GoesOn),
}

/// A task of the agent's, which is asked about by its id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GoesOn {
    pub task: Text,
    /// What approvers over there are asked.
    pub waits: Option<Text>,
}

/// Longer than any id of a hub's.
const LONGEST_ID: usize = 128;

/// Reads a reply. Its tokens are the jar's business, not the content's.
pub fn reply(message: Message, leg: &ReplyContext) -> Carried<Replied> {
    let failed = failure(&message);
    let control = message.is_control();
    let mut read = Read::default();
    for submessage in std::iter::once(message.first).chain(message.submessages) {
        read.take(submessage, leg);
    }
    if let Some(failed) = failed {
        let outcome = Outcome::Failed(read.fault.take().unwrap_or_else(|| failed.fault(leg)));
        return read.finished(outcome);
    }
    if let Some(refused) = read.refused.take() {
        return read.finished(Outcome::Failed(refused));
    }
    if let Some(goes_on) = read.goes_on.take() {
        return Carried { value: Replied::GoesOn(goes_on), losses: read.losses };
    }
    if let Some(question) = read.question.take() {
        return Carried { value: Replied::Asked(Box::new(question)), losses: read.losses };
    }
    if control && phrases::of_control(&read.words()) == Some(phrases::Wish::Credentials) {
        let kind = QuestionKind::Credential { scheme: "token".into(), scopes: Vec::new() };
        let question = leg.question(kind, read.words().into(), None);
        return Carried { value: Replied::Asked(Box::new(question)), losses: read.losses };
    }
    read.finished(Outcome::Completed)
}

/// A failure the agent told of: by message type, or in the first draft's format.
struct Failure {
    code: Option<Text>,
    text: Text,
}

fn failure(message: &Message) -> Option<Failure> {
    let report = message.all().find(|submessage| submessage.format == Format::Error);
    match report {
        Some(error) if message.first.format == Format::Error || message.is_error() => {
            let coded = error.subformat.eq_ignore_ascii_case("code");
            Some(Failure {
                code: coded.then(|| error.content.as_text()).flatten(),
                text: part::report_text(&error.subformat, &error.content),
            })
        }
        _ if message.is_error() => {
            Some(Failure { code: None, text: message.first.content.as_text().unwrap_or_default() })
        }
        _ => None,
    }
}

impl Failure {
    fn fault(self, leg: &ReplyContext) -> Fault {
        let mut fault =
            Fault::new(FaultKind::PeerFailed, Party::Peer(leg.peer.clone()), said_by(&leg.peer, &self.text));
        fault.peer_code = self.code;
        fault
    }
}

/// A peer's words, no more of them than belong into a fault.
fn said_by(peer: &PeerId, text: &str) -> String {
    const LONGEST: usize = 400;
    let short: String = text.chars().take(LONGEST).collect();
    if short.is_empty() { format!("{peer} failed") } else { format!("{peer} failed: {short}") }
}

#[derive(Default)]
struct Read {
    parts: Vec<Part>,
    losses: Vec<Loss>,
    question: Option<Question>,
    goes_on: Option<GoesOn>,
    fault: Option<Fault>,
    /// It wants a person to open what the hub shows nobody.
    refused: Option<Fault>,
}

impl Read {
    fn take(&mut self, submessage: Submessage, leg: &ReplyContext) {
        if !submessage.label.as_deref().is_some_and(labels::is_ours) {
            let provenance = Provenance::peer(leg.peer.clone());
            self.parts.extend(part::decode(submessage, &provenance, leg.depth, Way::Output, &mut self.losses));
            return;
        }
        let Some(content) = submessage.content.as_json(leg.depth) else { return };
        if submessage.has_label(labels::TASK) {
            self.goes_on = GoesOn::read(&content, None);
        } else if submessage.has_label(labels::QUESTION)
            && let Some(goes_on) = GoesOn::for_approvers(&content)
        {
            self.goes_on = Some(goes_on);
        } else if submessage.has_label(labels::QUESTION) {
            match leg.asked(&content) {
                Ok(question) => self.question = question,
                Err(bad) => self.refused = Some(leg.refused(&bad)),
            }
        } else if leg.tongue == Tongue::Hub && submessage.has_label(labels::FAULT) {
            self.fault = fault::read(&content, &leg.peer, &self.words());
        } else if leg.tongue == Tongue::Hub && submessage.has_label(labels::LOSSES) {
            // Older hubs sent the list itself.
            self.losses.extend(Loss::listed(content.get("losses").unwrap_or(content.tree())));
        }
    }

    fn words(&self) -> String {
        self.parts.iter().filter_map(Part::as_text).collect::<Vec<_>>().join("\n")
    }

    fn finished(self, outcome: Outcome) -> Carried<Replied> {
        let output = Output { parts: self.parts, ..Output::default() };
        let finished = Finished { outcome, output, usage: Usage::default() };
        Carried { value: Replied::Finished(Box::new(finished)), losses: self.losses }
    }
}

impl GoesOn {
    fn read(content: &Json, waits: Option<Text>) -> Option<GoesOn> {
        let task = content.get("task").and_then(|task| task.as_str())?;
        let is_id = !task.is_empty() && task.len() <= LONGEST_ID;
        is_id.then(|| GoesOn { task: task.into(), waits })
    }

    /// A question for approvers of the other hub: whoever is asked here could not answer it. A hub that does not say for whom it is
    /// asks its caller.
    fn for_approvers(content: &Json) -> Option<GoesOn> {
        let text = |key: &str| content.get(key).and_then(|value| value.as_str());
        let words = (text("to") == Some("approvers")).then(|| text("text")).flatten()?;
        GoesOn::read(content, Some(words.into()))
    }
}

impl ReplyContext {
    fn question(&self, kind: QuestionKind, text: Text, resume: Option<Secret>) -> Question {
        Question {
            id: self.question,
            to: Addressee::Caller,
            kind,
            text,
            asked_by: Party::Peer(self.peer.clone()),
            expires: self.expires,
            resume,
            name: None,
        }
    }

    /// `interlingua-question`. Its id is the agent's and goes back with the answer; one that does not read is no question.
    fn asked(&self, content: &Json) -> Result<Option<Question>, BadLink> {
        let text = |key: &str| content.get(key).and_then(|value| value.as_str());
        let (Some("visit"), Some(url), Some(words)) = (text("kind"), text("url"), text("text")) else {
            return Ok(self.asked_other(content));
        };
        let url = WebLink::parse(url)?;
        let words = url.asked_by(&self.peer, words);
        Ok(Some(self.question(QuestionKind::Visit { url }, words, text("id").map(Secret::new))))
    }

    fn refused(&self, bad: &BadLink) -> Fault {
        let text = format!("{} asks to open a link that is not passed on: {bad}", self.peer);
        Fault::new(FaultKind::BadReply, Party::Peer(self.peer.clone()), text)
    }

    fn asked_other(&self, content: &Json) -> Option<Question> {
        let text = |key: &str| content.get(key).and_then(|value| value.as_str());
        let kind = match text("kind")? {
            "input" => QuestionKind::Input { form: form(content), choices: choices(content) },
            "confirm" => {
                let args = content.get("arguments").map(|arguments| Json::from_tree(arguments.clone()));
                QuestionKind::Confirm(Confirm::asked_by(&self.peer, content.digest(), text("skill"), args).into())
            }
            "credential" => {
                let scopes = content.get("scopes").and_then(|scopes| scopes.as_array());
                let scopes = scopes.into_iter().flatten().filter_map(|scope| scope.as_str().map(Text::from)).collect();
                QuestionKind::Credential { scheme: text("scheme").unwrap_or("token").into(), scopes }
            }
            _ => return None,
        };
        Some(self.question(kind, text("text")?.into(), text("id").map(Secret::new)))
    }
}

fn form(content: &Json) -> Schema {
    Schema(content.get("form").map_or_else(Json::empty_object, |form| Json::from_tree(form.clone())))
}

fn choices(content: &Json) -> Vec<Choice> {
    let read = |choice: &interlingua_model::json::Tree| {
        Some(Choice { id: choice.get("id")?.as_str()?.into(), text: choice.get("text")?.as_str()?.into() })
    };
    content.get("choices").and_then(|list| list.as_array()).into_iter().flatten().filter_map(read).collect()
}

/// What an HTTP status other than success says. `body` is its message, if it is one; `retry_after` its header.
pub fn refused(status: u16, body: Option<&Message>, retry_after: Option<Duration>, leg: &ReplyContext) -> Fault {
    if leg.tongue == Tongue::Hub
        && let Some(message) = body
        && let Some(fault) = message
            .labelled(labels::FAULT)
            .and_then(|sub| sub.content.as_json(leg.depth))
            .and_then(|content| fault::read(&content, &leg.peer, &message.first.content.as_text().unwrap_or_default()))
    {
        return fault;
    }
    let (kind, what) = match status {
        401 => (FaultKind::Unauthenticated, "wants credentials"),
        403 => (FaultKind::PeerDeclined, "declined"),
        408 | 504 => (FaultKind::Deadline, "took too long"),
        413 => (FaultKind::TooLarge, "says the message is too large"),
        422 => (FaultKind::InvalidInput, "says the message is not valid"),
        429 | 503 => (FaultKind::Busy, "is busy"),
        300..=399 | 404 | 405 | 415 => (FaultKind::BadReply, "does not answer as an NLIP agent"),
        _ => (FaultKind::PeerFailed, "failed"),
    };
    let public = format!("{} {what} (HTTP {status})", leg.peer);
    let mut fault = Fault::new(kind, Party::Peer(leg.peer.clone()), public);
    fault.peer_code = Some(status.to_string().into());
    if kind == FaultKind::Busy {
        fault.retry = Retry::After(retry_after);
    }
    fault
}
