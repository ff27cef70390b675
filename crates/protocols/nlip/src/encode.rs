//! The server side: encodes outcomes and questions as messages.
//!
//! Order: the text for people, the other parts, structured content, artifacts by address, the hub's own extensions (`interlingua-question`,
//! `-route`, `-losses`, `-fault`), the echoed tokens, our own token (clauses 5.1, 6.2). The answer to a control message is a control
//! message (clause 6.3). Progress cannot be carried in one answer and is omitted.

use interlingua_machines::words::say;
use interlingua_model::{
    Addressee, Carried, ConversationId, Entry, Event, Fault, FaultKind, Feature, Finished, Json, Loss, Outcome, Output,
    Part, Question, QuestionKind, Record, Route, TaskId, Text, Way,
};
use serde_json::json;

use super::wire::{CONTROL, ERROR, Message, Submessage};
use super::{fault, labels, part, render};
use interlingua_wire::codec;
use interlingua_wire::object::Object;
pub use part::{Addresses, NoAddresses};

/// What an answer owes to the form of the message it answers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReplyTo {
    pub control: bool,
    /// Tokens that are not ours, in the order they came.
    pub echo: Vec<Submessage>,
    /// Our own token, brought back. Whose conversation it names must still be checked.
    pub conversation: Option<ConversationId>,
}

/// What the answer to a message is written with, and what was told of its exchange so far.
#[derive(Clone)]
pub struct Telling<'a> {
    /// Which way was taken, as soon as an entry said it.
    pub route: Option<Route>,
    /// What was lost before the entry that is told: of the message that is answered, or of other calls in it.
    pub losses: &'a [Loss],
    /// Our own, made by the edge (`tokens::conversation`).
    pub tokens: &'a [Submessage],
    pub addresses: &'a dyn Addresses,
    /// One message is the answer, and takes this with it.
    pub to: ReplyTo,
}

impl Default for Telling<'_> {
    fn default() -> Self {
        Telling { route: None, losses: &[], tokens: &[], addresses: &NoAddresses, to: ReplyTo::default() }
    }
}

impl std::fmt::Debug for Telling<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Telling").field("route", &self.route).field("losses", &self.losses).finish_non_exhaustive()
    }
}

pub type Frames = codec::Frames<Message>;

/// What an entry of an exchange is to its caller: its question, or its end, is the one message that answers. What it says on the
/// way has no message: `output.parts` of the end must be all of it, collected.
pub fn encode(entry: &Entry, telling: &mut Telling<'_>) -> Carried<Frames> {
    let Record::Emitted { event, losses, .. } = &entry.record else { return Carried::whole(Frames::None) };
    match event {
        Event::Asked(question) => Carried::whole(Frames::One(asked(question, losses, telling))),
        Event::Finished(finished) => {
            let Carried { value, losses } = ended(finished, losses, telling);
            Carried { value: Frames::One(value), losses }
        }
        Event::Started(route) => {
            telling.route = Some(route.clone());
            Carried::whole(Frames::None)
        }
        Event::Said { .. } | Event::Progress { .. } | Event::Step(_) | Event::Artifact(_) | Event::Settled { .. } => {
            Carried::whole(Frames::None)
        }
    }
}

/// How one of several calls stands.
#[derive(Debug, Clone, Copy)]
pub enum Stand<'a> {
    Finished(&'a Finished),
    Asked(&'a Question),
    Refused(&'a Fault),
}

/// The outcome of an exchange, and what this message could not say of it.
fn ended(finished: &Finished, before: &[Loss], telling: &mut Telling<'_>) -> Carried<Message> {
    let mut reply = Reply::new(telling);
    reply.output(&finished.output);
    match &finished.outcome {
        Outcome::Completed => {}
        Outcome::Failed(fault) => reply.failed(fault.public.clone(), fault::structured(fault)),
        Outcome::Cancelled { why, .. } => {
            let text = format!("cancelled: {}", why.as_str());
            reply.failed(text.into(), json!({"kind": "cancelled", "why": why.as_str()}).into());
        }
    }
    reply.carried(before, telling)
}

/// A refusal: nothing was begun. `fault` says which HTTP status goes with it.
pub fn refused(fault: &Fault, tokens: &[Submessage], to: ReplyTo) -> Message {
    let mut telling = Telling { tokens, to, ..Telling::default() };
    let mut reply = Reply::new(&telling);
    reply.failed(fault.public.clone(), fault::structured(fault));
    reply.message(&mut telling)
}

/// A question. It ends the response, not the exchange. One that is not the caller's to answer is told as what the call waits for,
/// with the id by which its caller asks on. `before`: what was lost besides what the telling knows of.
pub fn asked(question: &Question, before: &[Loss], telling: &mut Telling<'_>) -> Message {
    let mut reply = Reply::new(telling);
    reply.text = Some(Submessage::text(question_text(question)));
    if let QuestionKind::Visit { url } = &question.kind {
        reply.parts.push(Submessage::uri(url.uri().clone()));
    }
    // Credentials are asked for by a control message (first draft, clause 6.5).
    telling.to.control |= matches!(question.kind, QuestionKind::Credential { .. });
    reply.ours.push(Submessage::json(structured_question(question)).labelled(labels::QUESTION));
    reply.carried(before, telling).value
}

/// A task that its caller asked about goes on.
pub fn goes_on(task: TaskId, telling: &mut Telling<'_>) -> Message {
    let mut reply = Reply::new(telling);
    reply.text = Some(Submessage::text("It goes on."));
    let stands = json!({"task": task.to_string(), "state": "working"});
    reply.ours.push(Submessage::json(stands.into()).labelled(labels::TASK));
    reply.message(telling)
}

/// Several calls of one message, in their order: one text, one `interlingua-result` each. Beside it what it could not say of
/// each call.
pub fn group(stands: &[Stand<'_>], telling: &mut Telling<'_>) -> (Message, Vec<Vec<Loss>>) {
    let mut reply = Reply::new(telling);
    let mut lines = Vec::with_capacity(stands.len());
    for (index, stand) in stands.iter().enumerate() {
        let (status, text, detail) = stand_text(stand);
        lines.push(format!("{}. {status}: {text}", index + 1));
        let mut result = json!({"index": index, "status": status, "text": &*text});
        if let Some((key, value)) = detail {
            result[key] = value.tree().clone();
        }
        reply.ours.push(Submessage::json(result.into()).labelled(labels::RESULT));
    }
    reply.text = Some(Submessage::text(lines.join("\n")));
    let mut lost = Vec::with_capacity(stands.len());
    for stand in stands {
        let before = reply.losses.len();
        if let Stand::Finished(finished) = stand {
            reply.all_parts(&finished.output);
        }
        lost.push(reply.losses[before..].to_vec());
    }
    (reply.message(telling), lost)
}

fn stand_text(stand: &Stand<'_>) -> (&'static str, Text, Option<(&'static str, Json)>) {
    match stand {
        Stand::Asked(question) => {
            ("pending", question_text(question), Some(("question", structured_question(question))))
        }
        Stand::Refused(fault) => ("error", fault.public.clone(), Some(("fault", fault::structured(fault)))),
        Stand::Finished(finished) => match &finished.outcome {
            Outcome::Completed => {
                let output = &finished.output;
                let structured = output.structured.clone().map(|json| ("structured", json));
                ("success", first_text(output).unwrap_or_else(|| "done".into()), structured)
            }
            Outcome::Failed(fault) => ("error", fault.public.clone(), Some(("fault", fault::structured(fault)))),
            Outcome::Cancelled { why, .. } => ("cancelled", why.as_str().into(), None),
        },
    }
}

/// What a person reads of some output.
fn first_text(output: &Output) -> Option<Text> {
    let said = output.parts.iter().find_map(Part::as_text).map(Text::from);
    said.or_else(|| output.structured.as_ref().map(|json| render::for_people(json).into()))
}

/// A plain answer to a message that asked nothing of the hub's door.
pub fn remark(text: &str, tokens: &[Submessage], to: ReplyTo) -> Message {
    with_parts(text, Vec::new(), tokens, to)
}

/// Source code in a language that nobody here reads: a text that says so, as clause 5.3 wants it, and beside it the fault, by which a
/// program tells this from an answer.
pub fn unread(language: &str, tokens: &[Submessage], to: ReplyTo) -> Message {
    let text = format!("I do not read {language} source code.");
    let fault = Fault::caller(FaultKind::Unsupported(Feature::Media), text.as_str());
    let mark = Submessage::json(fault::structured(&fault)).labelled(labels::FAULT);
    with_parts(&text, vec![mark], tokens, to)
}

/// A text and what goes with it.
pub(super) fn with_parts(text: &str, parts: Vec<Submessage>, tokens: &[Submessage], to: ReplyTo) -> Message {
    let mut telling = Telling { tokens, to, ..Telling::default() };
    let mut reply = Reply::new(&telling);
    reply.text = Some(Submessage::text(text));
    reply.parts = parts;
    reply.message(&mut telling)
}

/// A message on its way.
struct Reply<'a> {
    addresses: &'a dyn Addresses,
    /// Of this message alone.
    losses: Vec<Loss>,
    failed: bool,
    text: Option<Submessage>,
    parts: Vec<Submessage>,
    ours: Vec<Submessage>,
    fault: Option<Submessage>,
}

impl<'a> Reply<'a> {
    fn new(telling: &Telling<'a>) -> Reply<'a> {
        Reply {
            addresses: telling.addresses,
            losses: Vec::new(),
            failed: false,
            text: None,
            parts: Vec::new(),
            ours: Vec::new(),
            fault: None,
        }
    }

    /// The first text leads; without one, structured content is put into words.
    fn output(&mut self, output: &Output) {
        let lead = output.parts.iter().position(|part| part.as_text().is_some());
        for (index, part) in output.parts.iter().enumerate() {
            part::encode(part, Way::Output, self.addresses, &mut self.losses, &mut self.parts);
            if lead == Some(index) {
                self.text = self.parts.pop();
            }
        }
        self.structured(output);
        if self.text.is_none()
            && let Some(json) = output.structured.as_ref().or_else(|| output.parts.iter().find_map(Part::as_data))
        {
            self.text = Some(Submessage::text(render::for_people(json)));
        }
    }

    fn all_parts(&mut self, output: &Output) {
        for part in &output.parts {
            part::encode(part, Way::Output, self.addresses, &mut self.losses, &mut self.parts);
        }
        self.structured(output);
    }

    fn structured(&mut self, output: &Output) {
        // A peer that says the same twice says it in its first data part; to compare more would cost as many digests.
        if let Some(json) = &output.structured
            && output.parts.iter().find_map(Part::as_data) != Some(json)
        {
            self.parts.push(Submessage::json(json.clone()));
        }
        for artifact in &output.artifacts {
            match self.addresses.artifact(artifact) {
                Some(uri) => self.parts.push(Submessage::uri(uri)),
                None => self.losses.push(Loss::new("output.artifacts", interlingua_model::LossKind::Dropped)),
            }
        }
    }

    /// What there was so far comes after the text of the failure.
    fn failed(&mut self, text: Text, fault: Json) {
        self.failed = true;
        if let Some(said) = self.text.replace(Submessage::text(text)) {
            self.parts.insert(0, said);
        }
        self.fault = Some(Submessage::json(fault).labelled(labels::FAULT));
    }

    fn carried(mut self, before: &[Loss], telling: &mut Telling<'_>) -> Carried<Message> {
        let losses = std::mem::take(&mut self.losses);
        let all = [telling.losses, before, &losses].concat();
        Carried { value: self.composed(&all, telling), losses }
    }

    fn message(self, telling: &mut Telling<'_>) -> Message {
        self.carried(&[], telling).value
    }

    fn composed(mut self, losses: &[Loss], telling: &mut Telling<'_>) -> Message {
        let to = std::mem::take(&mut telling.to);
        if let Some(route) = &telling.route {
            self.ours.push(Submessage::json(structured_route(route)).labelled(labels::ROUTE));
        }
        if !losses.is_empty() {
            self.ours.push(Submessage::json(structured_losses(losses)).labelled(labels::LOSSES));
        }
        let mut rest = self.parts;
        let first = match self.text {
            Some(text) => text,
            None if rest.is_empty() => Submessage::text("Done."),
            None => rest.remove(0),
        };
        rest.extend(self.ours);
        rest.extend(self.fault);
        rest.extend(to.echo);
        rest.extend_from_slice(telling.tokens);
        let messagetype = match (to.control, self.failed) {
            (true, _) => Some(CONTROL.into()),
            (false, true) => Some(ERROR.into()),
            (false, false) => None,
        };
        Message { messagetype, first, submessages: rest }
    }
}

/// A question's text says what it asks and how to answer; choices that it does not name follow it.
fn question_text(question: &Question) -> Text {
    let text = &question.text;
    if question.to == Addressee::Approvers {
        let task = question.id.0;
        let later = format!("a message with `{}` and `{{\"task\": \"{task}\"}}`", labels::TASK);
        return say::not_run_yet(text, task, Some(&later)).into();
    }
    match &question.kind {
        QuestionKind::Input { choices, .. }
            if !choices.iter().all(|choice| text.contains(&format!("({})", choice.id))) =>
        {
            let lines: Vec<String> = choices.iter().map(|choice| format!("- {}", choice.text)).collect();
            format!("{text}\n{}", lines.join("\n")).into()
        }
        QuestionKind::Input { .. }
        | QuestionKind::Confirm(_)
        | QuestionKind::Credential { .. }
        | QuestionKind::Visit { .. }
        | QuestionKind::Model(_)
        | QuestionKind::Roots
        | QuestionKind::Tool { .. } => text.clone(),
    }
}

/// What a program needs to answer with `interlingua-answer`; or, where approvers are asked, to ask on with `interlingua-task`.
fn structured_question(question: &Question) -> Json {
    let mut value = json!({
        "id": question.id.to_string(),
        "kind": question.kind.as_str(),
        "text": &*question.text,
        "expires": question.expires.to_string(),
    });
    if question.to == Addressee::Approvers {
        value["to"] = "approvers".into();
        value["task"] = question.id.0.to_string().into();
    }
    match &question.kind {
        QuestionKind::Input { form, choices } => {
            value["form"] = form.0.tree().clone();
            if !choices.is_empty() {
                value["choices"] =
                    choices.iter().map(|choice| json!({"id": &*choice.id, "text": &*choice.text})).collect();
            }
        }
        QuestionKind::Confirm(confirm) => {
            value["skill"] = confirm.skill.to_string().into();
            value["call"] = confirm.call.to_string().into();
            if let Some(args) = &confirm.args {
                value["arguments"] = args.tree().clone();
            }
        }
        QuestionKind::Credential { scheme, scopes } => {
            value["scheme"] = (**scheme).into();
            value["scopes"] = scopes.iter().map(|scope| &**scope).collect();
        }
        QuestionKind::Visit { url } => value["url"] = (**url).into(),
        QuestionKind::Model(_) | QuestionKind::Roots | QuestionKind::Tool { .. } => {}
    }
    value.into()
}

fn structured_route(route: &Route) -> Json {
    Object::json(|out| {
        out.text("skill", &route.skill.to_string());
        out.text("class", route.class.as_str());
        out.text("why", route.why.as_str());
        if let Some(version) = &route.version {
            out.text("version", version);
        }
        if let Some(args) = &route.args {
            // Written anew: what came with spaces between its members goes without.
            out.value("arguments", &Json::from_tree(args.tree().clone()));
        }
    })
}

fn structured_losses(losses: &[Loss]) -> Json {
    Object::json(|out| {
        out.array("losses", losses, |loss, out| {
            let mut said = Object::open(out);
            said.text("what", &loss.what);
            said.text("kind", loss.kind.as_str());
            said.finish();
        });
    })
}
