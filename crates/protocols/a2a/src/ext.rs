//! Our own extension, for what A2A has no field for. It is in `metadata` of messages, tasks and updates under the extension's URI, and in
//! `capabilities.extensions[].params` of cards; a client without it loses nothing that A2A promises.
//!
//! | from a client | |
//! |---|---|
//! | `skill` | which skill is meant: `peer/skill`, or its name where the address names the peer |
//! | `priority` | 1 to 10, 10 is the most urgent |
//! | `deadline` | a time, or a span such as `30s` |
//! | `via` | hubs passed |
//! | `type` | what the message is for: `request`, `query` (nothing is remembered of its id), `event`, `artifact` |
//! | `topic`, `accessControl` | of an event that belongs to no task: what it is about, who may read it |
//! | `from`, `correlationId` | of a message between agents: which of them speaks, what it belongs to |
//!
//! | from a server | |
//! |---|---|
//! | `fault` | the kind of a failure, in the hub's words |
//! | `losses` | what could not be carried |
//! | `progress`, `channel`, `route`, `question` | what a status is about |

use interlingua_machines::bus::Kind;
pub use interlingua_machines::bus::priority::{level, priority};
use interlingua_model::json::write_string;
use interlingua_model::{
    Channel, Fault, HubId, Json, Level, Loss, Priority, Question, QuestionKind, Route, Skill, Text,
};

use super::invalid::{Invalid, Problem};
use interlingua_wire::object::Object;

pub const URI: &str = "urn:interlingua:hub:1";

/// What a client says in it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Hints {
    pub skill: Option<Text>,
    pub priority: Option<Priority>,
    pub deadline: Option<String>,
    pub via: Option<String>,
    /// What the message is for.
    pub kind: Option<Kind>,
    pub topic: Option<Text>,
    pub readers: Vec<Text>,
    pub from: Option<Text>,
    pub correlation: Option<Text>,
}

/// Of the metadata of a message, then of its request.
pub fn hints(metadata: [Option<&Json>; 2]) -> Result<Hints, Invalid> {
    let mut hints = Hints::default();
    for ours in metadata.into_iter().flatten().filter_map(|metadata| metadata.get(URI)) {
        let text = |key: &str| ours.get(key).and_then(serde_json::Value::as_str);
        hints.skill = hints.skill.or_else(|| text("skill").map(Text::from));
        hints.deadline = hints.deadline.or_else(|| text("deadline").map(str::to_owned));
        hints.topic = hints.topic.or_else(|| text("topic").map(Text::from));
        hints.from = hints.from.or_else(|| text("from").map(Text::from));
        hints.correlation = hints.correlation.or_else(|| text("correlationId").map(Text::from));
        if let Some(kind) = ours.get("type") {
            let heard = kind.as_str().and_then(Kind::parse);
            hints.kind = Some(heard.ok_or_else(|| Invalid::at("metadata.type", Problem::UnknownValue))?);
        }
        if let Some(readers) = ours.get("accessControl") {
            let listed =
                readers.as_array().ok_or_else(|| Invalid::at("metadata.accessControl", Problem::NotAnArray))?;
            hints.readers = listed.iter().filter_map(serde_json::Value::as_str).map(Text::from).collect();
        }
        if let Some(level) = ours.get("priority") {
            let heard = level.as_u64().and_then(priority);
            hints.priority = Some(heard.ok_or_else(|| Invalid::at("metadata.priority", Problem::Priority))?);
        }
        if let Some(via) = ours.get("via") {
            hints.via = Some(match via {
                serde_json::Value::Array(hubs) => {
                    hubs.iter().filter_map(serde_json::Value::as_str).collect::<Vec<_>>().join(",")
                }
                other => other.as_str().unwrap_or_default().to_owned(),
            });
        }
    }
    Ok(hints)
}

/// Metadata that holds nothing but our extension.
pub(super) fn metadata(fill: impl FnOnce(&mut Object<'_>)) -> Json {
    Object::json(|object| object.object(URI, fill))
}

/// What a call says to the next hub, beside what its message carried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outgoing<'c> {
    pub skill: Option<&'c str>,
    pub priority: Priority,
    pub via: &'c [HubId],
    pub purpose: Purpose<'c>,
}

/// What a message is for, and who says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Purpose<'c> {
    /// A request needs no word.
    pub kind: Option<Kind>,
    pub from: Option<&'c str>,
    pub correlation: Option<&'c str>,
}

impl Purpose<'_> {
    /// Something else than a request, which is what any message is taken for.
    pub fn other_than_request(&self) -> Option<Kind> {
        self.kind.filter(|kind| *kind != Kind::Request)
    }
}

impl Outgoing<'_> {
    pub fn metadata(&self) -> Option<Json> {
        let Outgoing { skill, priority, via, purpose } = *self;
        let texts = [
            ("skill", skill),
            ("type", purpose.other_than_request().map(Kind::as_str)),
            ("from", purpose.from),
            ("correlationId", purpose.correlation),
        ];
        if priority == Priority::NORMAL && via.is_empty() && texts.iter().all(|(_, text)| text.is_none()) {
            return None;
        }
        Some(metadata(|ours| {
            for (key, text) in texts {
                if let Some(text) = text {
                    ours.text(key, text);
                }
            }
            if priority != Priority::NORMAL {
                ours.number("priority", level(priority));
            }
            if !via.is_empty() {
                ours.array("via", via, |hub, out| write_string(hub.as_str(), out));
            }
        }))
    }
}

pub(super) fn losses(ours: &mut Object<'_>, losses: &[Loss]) {
    if losses.is_empty() {
        return;
    }
    ours.array("losses", losses, |loss, out| {
        let mut object = Object::open(out);
        object.text("what", &loss.what);
        object.text("kind", loss.kind.as_str());
        object.finish();
    });
}

pub(super) fn fault(ours: &mut Object<'_>, fault: &Fault) {
    ours.object("fault", |object| {
        object.text("kind", fault.kind.as_str());
        if !fault.fields.is_empty() {
            object.array("fields", &fault.fields, |field, out| {
                let mut object = Object::open(out);
                object.text("path", &field.path);
                object.text("problem", &field.problem);
                object.finish();
            });
        }
    });
}

pub(super) fn route(ours: &mut Object<'_>, route: &Route) {
    ours.object("route", |object| {
        object.text("skill", &route.skill.to_string());
        object.text("why", route.why.as_str());
        if let Some(args) = &route.args {
            object.value("arguments", args);
        }
    });
}

pub(super) fn channel(ours: &mut Object<'_>, channel: Channel) {
    ours.text(
        "channel",
        match channel {
            Channel::Answer => "answer",
            Channel::Reasoning => "reasoning",
            Channel::Note(Level::Debug) => "debug",
            Channel::Note(Level::Info) => "info",
            Channel::Note(Level::Warning) => "warning",
            Channel::Note(Level::Error) => "error",
        },
    );
}

pub(super) fn progress(ours: &mut Object<'_>, done: Option<f64>, total: Option<f64>) {
    ours.object("progress", |object| {
        for (key, value) in [("done", done), ("total", total)] {
            if let Some(value) = value.filter(|value| value.is_finite()) {
                object.key(key).extend_from_slice(value.to_string().as_bytes());
            }
        }
    });
}

/// Enough for a program to show a form, or to say yes to exactly this call.
pub(super) fn question(ours: &mut Object<'_>, question: &Question) {
    ours.object("question", |object| {
        object.text("id", &question.id.to_string());
        object.text("kind", question.kind.as_str());
        object.text("expires", &question.expires.to_string());
        match &question.kind {
            QuestionKind::Input { form, choices } => {
                object.value("form", &form.0);
                if !choices.is_empty() {
                    object.array("choices", choices, |choice, out| {
                        let mut object = Object::open(out);
                        object.text("id", &choice.id);
                        object.text("text", &choice.text);
                        object.finish();
                    });
                }
            }
            QuestionKind::Confirm(confirm) => {
                object.text("skill", &confirm.skill.to_string());
                object.text("digest", &confirm.call.to_string());
                if let Some(args) = &confirm.args {
                    object.value("arguments", args);
                }
            }
            QuestionKind::Credential { scheme, .. } => object.text("scheme", scheme),
            QuestionKind::Visit { url } => object.text("url", url),
            QuestionKind::Model(_) | QuestionKind::Roots | QuestionKind::Tool { .. } => {}
        }
    });
}

/// The schemas of a card's skills, by the ids under which the card lists them.
pub(super) fn schemas<'a>(ours: &mut Object<'_>, skills: impl Iterator<Item = (&'a str, &'a Skill)>) {
    ours.object("skills", |object| {
        for (id, skill) in skills {
            object.object(id, |object| {
                object.value("inputSchema", &skill.input.0);
                if let Some(output) = &skill.output {
                    object.value("outputSchema", &output.0);
                }
                object.text("version", &skill.version);
                object.text("kind", skill.kind.as_str());
                object.array("effects", skill.effects.names(), write_string);
            });
        }
    });
}
