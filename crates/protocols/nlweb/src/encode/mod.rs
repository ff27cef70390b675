//! Encodes an answer in the generation of its request, whole ([`whole`]) or as a stream ([`encode`]).
//!
//! The content of an answer is the same in all of them: items, a summary, questions, a promise, a failure.

mod several;
mod stream;

use std::borrow::Cow;

use interlingua_model::json::Tree;
use interlingua_model::{
    Addressee, Blob, Body, CancelWhy, Carried, Channel, Entry, Event, Fault, Finished, Loss, LossKind, Outcome, Output,
    Part, Question, QuestionKind, Record, Route, Text, Way, lost_parts,
};
use interlingua_wire::codec;
use serde_json::{Map, json};

use super::decode::Invalid;
use super::item::{self, Item, Kind, items};
use super::wire::{Asked, Dialect, Manner};
use super::{APPROVAL, fault};

pub use several::Several;
pub use stream::{Frame, Streamed};

pub type Frames = codec::Frames<Frame>;

/// What an entry is told with.
#[derive(Debug)]
pub struct Telling<'a> {
    pub answer: &'a mut Streamed,
    /// Whose exchange this is, of several; empty where one alone is asked.
    pub site: &'a str,
}

/// What an entry adds to a stream. A question that is not for the caller, or that one of several asks, adds nothing: whether the
/// stream ends with it is for the endpoint to say. The output of an end must be all that was said.
pub fn encode(entry: &Entry, telling: &mut Telling<'_>) -> Carried<Frames> {
    let Record::Emitted { event, losses, .. } = &entry.record else { return Carried::whole(Frames::None) };
    let Telling { answer, site } = telling;
    answer.lost(losses);
    let frames = match event {
        Event::Started(route) => {
            answer.went(route);
            Frames::None
        }
        Event::Said { channel: Channel::Answer, parts, .. } => answer.said(parts, site).into(),
        Event::Artifact(chunk) => answer.said(&chunk.parts, site).into(),
        Event::Progress { note: Some(note), .. } => answer.progress(note).into(),
        Event::Step(step) => step.note().and_then(|note| answer.progress(&note)).into(),
        Event::Asked(question) => match question.to {
            Addressee::Caller => answer.asked(question).into(),
            Addressee::Approvers => Frames::None,
        },
        Event::Finished(finished) => {
            let lost = lost(&finished.output);
            return Carried { value: answer.finished(finished, &lost, site).into(), losses: lost };
        }
        Event::Said { channel: Channel::Reasoning | Channel::Note(_), .. }
        | Event::Progress { note: None, .. }
        | Event::Settled { .. } => Frames::None,
    };
    Carried::whole(frames)
}

/// Where an exchange stands.
#[derive(Debug, Clone, Copy)]
pub enum Stand<'a> {
    Finished(&'a Finished),
    /// With what brings the answer back to it.
    Asked(&'a Question),
    /// It goes on; the token finds it again.
    Promised {
        token: &'a str,
        note: Option<&'a str>,
    },
    Refused(&'a Fault),
}

/// What surrounds an answer.
#[derive(Debug, Clone)]
pub struct Envelope {
    pub dialect: Dialect,
    /// The hub's id of the request, or the caller's own in the first generation.
    pub id: Text,
    /// Who answered.
    pub site: Text,
    /// To be sent with the next request of this conversation.
    pub conversation: Option<Text>,
    pub losses: Vec<Loss>,
    /// Which way was taken, and why.
    pub route: Option<Route>,
    /// What a model says of the items, in place of the words of the answer.
    pub words: Option<Part>,
    summarize: bool,
    generate: bool,
    most: usize,
    first: usize,
    least_score: f64,
    /// Only items of this type are wanted.
    item_type: Option<Text>,
}

impl Envelope {
    pub fn of(asked: &Asked, id: Text, site: Text) -> Envelope {
        Envelope { site, ..Envelope::again(&asked.manner(), asked.query_id.clone().unwrap_or(id)) }
    }

    /// Of an answer that was promised to a request of this manner.
    pub fn again(asked: &Manner, id: Text) -> Envelope {
        Envelope {
            dialect: asked.dialect,
            id,
            site: "".into(),
            conversation: None,
            losses: Vec::new(),
            route: None,
            words: None,
            summarize: asked.modes.summarize || asked.modes.generate,
            generate: asked.modes.generate,
            most: asked.most,
            first: asked.first,
            least_score: asked.least_score,
            item_type: asked.item_type.clone(),
        }
    }

    /// Of a request that could not be read.
    pub fn unread(dialect: Dialect, id: Text) -> Envelope {
        let (site, losses) = ("".into(), Vec::new());
        Envelope {
            dialect,
            id,
            site,
            conversation: None,
            losses,
            route: None,
            words: None,
            summarize: false,
            generate: false,
            most: 0,
            first: 0,
            least_score: 0.0,
            item_type: None,
        }
    }

    /// Notes who answers.
    pub fn went(&mut self, route: &Route) {
        if self.site.is_empty() {
            self.site = route.skill.peer.0.clone();
        }
        self.route = Some(route.clone());
    }

    fn takes(&self, item: &Item) -> bool {
        item.score >= self.least_score && self.item_type.as_ref().is_none_or(|kind| item.is_a(kind))
    }
}

/// The HTTP status of a whole answer.
pub fn status(dialect: Dialect, stand: &Stand<'_>) -> u16 {
    match stand {
        Stand::Promised { .. } if dialect == Dialect::Named => 202,
        Stand::Refused(fault) => fault::status(fault),
        Stand::Finished(_) | Stand::Asked(_) | Stand::Promised { .. } => 200,
    }
}

/// The whole answer as one object.
pub fn whole(envelope: &Envelope, stand: &Stand<'_>) -> Tree {
    let said = said(envelope, stand);
    match envelope.dialect {
        Dialect::Flat => flat_whole(envelope, &said),
        Dialect::Content | Dialect::Results | Dialect::Named => {
            let mut object = Map::new();
            object.insert("_meta".into(), meta(envelope, &said));
            object.extend(body(envelope, &said));
            Tree::Object(object)
        }
    }
}

/// The rows of an output with the site they are from, for answers made of several.
pub fn rows(output: &Output, site: &str) -> Vec<Tree> {
    items(output, site).iter().map(Item::nested).collect()
}

/// What an answer of this protocol has no place for: it is items and a text. `output.parts` must be all that was said.
pub fn lost(output: &Output) -> Vec<Loss> {
    let has_place = |part: &Part| match &part.body {
        Body::Text { .. } => true,
        // Rows stand for all data, where there are any.
        Body::Data(_) => true,
        Body::Blob(Blob::Inline(_)) => true,
        // What is kept elsewhere is an item with an address.
        Body::Blob(Blob::Stored { .. }) | Body::Link => part.uri.is_some(),
        Body::Code { .. } | Body::Place { .. } | Body::Other { .. } => false,
    };
    let mut losses = lost_parts(Way::Output, output.parts.iter().filter(|part| !has_place(part)));
    if output.parts.iter().any(|part| part.label.is_some() && part.as_text().is_some()) {
        losses.push(Way::Output.part("label", LossKind::Dropped));
    }
    // The address of a row is a member of the row itself.
    if output.parts.iter().any(|part| part.uri.is_some() && part.as_data().is_some()) {
        losses.push(Way::Output.part("uri", LossKind::Dropped));
    }
    // Files have their names.
    if output.parts.iter().any(|part| part.name.is_some() && (part.as_data().is_some() || words_of(part))) {
        losses.push(Way::Output.part("name", LossKind::Dropped));
    }
    if !output.artifacts.is_empty() {
        losses.push(Loss::new("output.artifacts", LossKind::Dropped));
    }
    losses
}

/// Is it among the words of an answer? A text with an address is a document of its own.
fn words_of(part: &Part) -> bool {
    part.as_text().is_some() && part.uri.is_none()
}

/// A request that could not be read: the answer, and its status.
pub fn refused(invalid: &Invalid, id: Text) -> (u16, Tree) {
    let Invalid { dialect, problem } = invalid;
    (400, failed(&Envelope::unread(*dialect, id), problem.code(), &problem.to_string()))
}

fn failed(envelope: &Envelope, code: &'static str, message: &str) -> Tree {
    let said = Said::Failure(code.into(), message.to_owned());
    match envelope.dialect {
        Dialect::Flat => json!({"message_type": "error", "query_id": &*envelope.id, "error": message, "status": 400}),
        Dialect::Content | Dialect::Results | Dialect::Named => {
            let mut object = Map::new();
            object.insert("_meta".into(), meta(envelope, &said));
            object.extend(body(envelope, &said));
            Tree::Object(object)
        }
    }
}

/// An answer before it is spelled.
enum Said {
    Answer(Vec<Item>, Option<String>),
    Questions(Tree),
    Promise(String, Option<String>),
    Failure(Text, String),
}

fn said(envelope: &Envelope, stand: &Stand<'_>) -> Said {
    match stand {
        Stand::Refused(fault) => Said::Failure(fault::code(fault).into(), fault.public.to_string()),
        Stand::Promised { token, note } => Said::Promise((*token).to_owned(), note.map(str::to_owned)),
        Stand::Asked(question) => Said::Questions(elicitation(question)),
        Stand::Finished(finished) => match &finished.outcome {
            Outcome::Completed => answer(envelope, finished),
            Outcome::Failed(fault) => Said::Failure(fault::code(fault).into(), fault.public.to_string()),
            Outcome::Cancelled { why, .. } => Said::Failure("CANCELLED".into(), cancelled(*why)),
        },
    }
}

fn cancelled(why: CancelWhy) -> String {
    format!("cancelled: {}", why.as_str())
}

fn answer(envelope: &Envelope, finished: &Finished) -> Said {
    let output = match &envelope.words {
        None => Cow::Borrowed(&finished.output),
        Some(words) => Cow::Owned(worded(&finished.output, words)),
    };
    let found = items(&output, &envelope.site).into_iter().filter(|item| envelope.takes(item));
    let found: Vec<Item> = found.skip(envelope.first).take(envelope.most).collect();
    let texts: Vec<&str> = item::words(&output).collect();
    // Where there are rows, their words are wanted only by those who ask for them.
    let has_rows = found.iter().any(|item| item.kind == Kind::Row);
    let text = Some(texts.join("\n")).filter(|text| !text.is_empty() && (!has_rows || envelope.summarize));
    Said::Answer(found, text)
}

/// The same with other words.
fn worded(output: &Output, words: &Part) -> Output {
    let others = output.parts.iter().filter(|part| part.as_text().is_none());
    let parts = std::iter::once(words).chain(others).cloned().collect();
    Output {
        parts,
        said: output.said.clone(),
        structured: output.structured.clone(),
        artifacts: output.artifacts.clone(),
    }
}

/// What is asked, one question for each field.
fn elicitation(question: &Question) -> Tree {
    let questions = match &question.kind {
        QuestionKind::Input { form, choices } if choices.is_empty() => fields(question, form.0.tree()),
        QuestionKind::Input { choices, .. } => {
            let options: Vec<&str> = choices.iter().map(|choice| &*choice.text).collect();
            vec![json!({"id": "choice", "text": &*question.text, "type": "single_select", "options": options})]
        }
        QuestionKind::Confirm(_) => {
            vec![json!({"id": APPROVAL, "text": &*question.text, "type": "single_select", "options": ["yes", "no"]})]
        }
        QuestionKind::Visit { url } => {
            vec![json!({"id": "visit", "text": format!("{} {}", question.text, &**url), "type": "text"})]
        }
        QuestionKind::Credential { .. } | QuestionKind::Model(_) | QuestionKind::Roots | QuestionKind::Tool { .. } => {
            vec![json!({"id": "answer", "text": &*question.text, "type": "text"})]
        }
    };
    json!({"text": &*question.text, "questions": questions})
}

fn fields(question: &Question, form: &Tree) -> Vec<Tree> {
    let properties = form.get("properties").and_then(Tree::as_object);
    let asked = properties.into_iter().flatten().map(|(name, property)| {
        let text =
            property.get("description").and_then(Tree::as_str).map_or_else(|| name.replace('_', " "), str::to_owned);
        let options = |of: &Tree| of.get("enum").and_then(Tree::as_array).cloned();
        match (options(property), property.get("items").and_then(options)) {
            (Some(options), _) => json!({"id": name, "text": text, "type": "single_select", "options": options}),
            (None, Some(options)) => json!({"id": name, "text": text, "type": "multi_select", "options": options}),
            (None, None) => json!({"id": name, "text": text, "type": "text"}),
        }
    });
    let asked: Vec<Tree> = asked.collect();
    if asked.is_empty() { vec![json!({"id": "answer", "text": &*question.text, "type": "text"})] } else { asked }
}

fn meta(envelope: &Envelope, said: &Said) -> Tree {
    let kind = match said {
        Said::Answer(..) => "answer",
        Said::Questions(_) => "elicitation",
        Said::Promise(..) => "promise",
        Said::Failure(..) => "failure",
    };
    let mut meta = json!({"version": envelope.dialect.version(), "request_id": &*envelope.id});
    match envelope.dialect {
        Dialect::Results | Dialect::Content => {
            let mut letters = kind.chars();
            let first: String = letters.next().map(|c| c.to_ascii_uppercase()).into_iter().collect();
            meta["response_type"] = format!("{first}{}", letters.as_str()).into();
        }
        Dialect::Named | Dialect::Flat => meta["response_type"] = kind.into(),
    }
    if let Some(conversation) = &envelope.conversation {
        let mut session = json!({"conversation_id": &**conversation});
        if let Said::Questions(_) = said {
            session["state_token"] = (**conversation).into();
        }
        meta["session_context"] = session;
    }
    if !envelope.losses.is_empty() {
        meta["losses"] =
            envelope.losses.iter().map(|loss| json!({"what": &*loss.what, "kind": loss.kind.as_str()})).collect();
    }
    if let Some(route) = &envelope.route {
        meta["route"] = taken(route);
    }
    meta
}

fn taken(route: &Route) -> Tree {
    let mut taken = json!({"skill": route.skill.to_string(), "class": route.class.as_str(), "why": route.why.as_str()});
    if let Some(args) = &route.args {
        taken["arguments"] = args.tree().clone();
    }
    taken
}

/// The members beside `_meta`.
fn body(envelope: &Envelope, said: &Said) -> Map<String, Tree> {
    let mut body = Map::new();
    match said {
        Said::Answer(items, text) => {
            let results = spelled(envelope, items, text.as_deref());
            match envelope.dialect {
                Dialect::Content => body.insert("content".into(), results.into()),
                Dialect::Flat | Dialect::Results | Dialect::Named => body.insert("results".into(), results.into()),
            };
        }
        Said::Questions(elicitation) => {
            body.insert("elicitation".into(), elicitation.clone());
        }
        Said::Promise(token, note) => {
            let mut promise = json!({"token": token, "estimated_time": 5});
            if let Some(note) = note {
                promise["progress"] = note.as_str().into();
            }
            body.insert("promise".into(), promise);
        }
        Said::Failure(code, message) => {
            body.insert("error".into(), json!({"code": &**code, "message": message}));
        }
    }
    body
}

fn spelled(envelope: &Envelope, items: &[Item], text: Option<&str>) -> Vec<Tree> {
    let mut all: Vec<Tree> =
        items.iter().zip(envelope.first..).map(|(item, index)| result(envelope.dialect, item, index)).collect();
    all.extend(text.map(|text| summary(envelope.dialect, text)));
    all
}

/// One item as this generation spells it. Only the last one says its place.
fn result(dialect: Dialect, item: &Item, index: usize) -> Tree {
    let mut object = item.nested();
    match dialect {
        Dialect::Content => json!({"type": "resource", "resource": object}),
        Dialect::Named => {
            object["index"] = index.into();
            object
        }
        Dialect::Results | Dialect::Flat => object,
    }
}

fn summary(dialect: Dialect, text: &str) -> Tree {
    match dialect {
        Dialect::Content => json!({"type": "text", "text": text}),
        Dialect::Results | Dialect::Flat => json!({"@type": "Summary", "text": text}),
        Dialect::Named => json!({"@type": "SearchSummary", "text": text}),
    }
}

/// One object: results, and one member for each other message.
fn flat_whole(envelope: &Envelope, said: &Said) -> Tree {
    let mut whole = json!({"query_id": &*envelope.id, "results": []});
    for frame in stream::flat_end(envelope, said) {
        let Tree::Object(mut message) = frame.data else { continue };
        message.remove("query_id");
        let kind = message.remove("message_type").and_then(|kind| kind.as_str().map(str::to_owned)).unwrap_or_default();
        match kind.as_str() {
            "result_batch" => whole["results"] = message.remove("results").unwrap_or_default(),
            "complete" => {}
            _ => whole[kind] = Tree::Object(message),
        }
    }
    whole
}
