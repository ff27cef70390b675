//! Encodes outcomes, questions, lists and faults as results.
//!
//! The answer of a peer of this protocol is relayed as it was written ([`relay`]): only what the hub owns in it is changed. Everything else
//! is made from the model. A result of the modern era names its kind and the server.

mod relay;
pub mod task;
#[cfg(test)]
mod tests;

use interlingua_model::json::write_string;
use interlingua_model::{
    Fault, FaultKind, Finished, Json, Loss, LossKind, Noun, Outcome, Output, Part, Party, Question, Raw, Route, Way,
};

use super::{RequestOutcome, Written};
use crate::decode::{List, ReplyTo};
use crate::fault::{Refused, Spelling};
use crate::names::ARTIFACTS;
use crate::wire::content::{Addresses, Writer, write_text};
use crate::wire::version::is_ours;
use crate::wire::{capabilities, meta};
use crate::{Version, discover, fault, question};
use interlingua_wire::members::Members;
use interlingua_wire::object::Object;
use interlingua_wire::rpc::Id;

/// Who answers (schema: `Implementation`).
#[derive(Debug, Clone, Copy)]
pub struct Server<'a> {
    pub name: &'a str,
    pub title: &'a str,
    pub version: &'a str,
}

impl Server<'_> {
    fn write(self, out: &mut Object<'_>) {
        out.text("name", self.name);
        out.text("title", self.title);
        out.text("version", self.version);
    }
}

/// How long a client may keep something, and whether others may see it (2026-07-28, caching).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cache {
    pub ttl_ms: u64,
    pub public: bool,
}

impl Cache {
    /// To be asked for again each time.
    pub const NONE: Cache = Cache { ttl_ms: 0, public: false };

    fn write(self, out: &mut Object<'_>) {
        out.number("ttlMs", self.ttl_ms);
        out.text("cacheScope", if self.public { "public" } else { "private" });
    }
}

/// What an answer is written with.
#[derive(Clone, Copy)]
pub struct Encoder<'a> {
    pub version: Version,
    pub server: Server<'a>,
    pub addresses: &'a dyn Addresses,
}

impl std::fmt::Debug for Encoder<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Encoder").field("version", &self.version).finish_non_exhaustive()
    }
}

/// What goes into `_meta` of a result beside what its maker put there.
#[derive(Debug, Clone, Copy, Default)]
pub struct Beside<'a> {
    pub losses: &'a [Loss],
    pub fault: Option<&'a Fault>,
    /// The token by which a conversation with an agent goes on.
    pub conversation: Option<&'a str>,
    /// Which way was taken, where the caller named none.
    pub route: Option<&'a Route>,
    /// Anyone may have it: only then may a server's word that it is public be passed on.
    pub public: bool,
}

impl Encoder<'_> {
    /// A result of one kind; `fill` writes its members.
    fn result(&self, kind: &str, beside: &Beside<'_>, out: &mut Vec<u8>, fill: impl FnOnce(&mut Object<'_>)) {
        let mut result = Object::open(out);
        if self.version.is_modern() {
            result.text("resultType", kind);
        }
        fill(&mut result);
        self.meta(None, beside, &mut result);
        result.finish();
    }

    /// `_meta`: who answers, what was lost, what is wrong; before it what its maker wrote, without what only the hub may say.
    fn meta(&self, free: Option<&Members>, beside: &Beside<'_>, result: &mut Object<'_>) {
        let is_free = |key: &str| !key.starts_with(meta::OURS) && key != meta::SERVER_INFO;
        let any_free = free.is_some_and(|free| free.iter().any(|(key, _)| is_free(key)));
        let ours = !beside.losses.is_empty() || beside.fault.is_some() || beside.route.is_some();
        if !any_free && !ours && !self.version.is_modern() {
            return;
        }
        result.object(meta::META, |object| {
            for (key, value) in free.iter().flat_map(|free| free.iter()).filter(|(key, _)| is_free(key)) {
                object.value(key, &value);
            }
            if self.version.is_modern() {
                object.object(meta::SERVER_INFO, |info| self.server.write(info));
            }
            meta::write_losses(beside.losses, object);
            if let Some(route) = beside.route {
                meta::write_route(route, object);
            }
            if let Some(fault) = beside.fault {
                object.value(meta::FAULT, &fault::data(fault));
            }
        });
    }

    pub fn empty(&self, out: &mut Vec<u8>) {
        self.result("complete", &Beside::default(), out, |_| {});
    }

    /// The end of a subscription.
    pub fn listened(&self, subscription: &Id, out: &mut Vec<u8>) {
        let mut result = Object::open(out);
        result.text("resultType", "complete");
        result.object(meta::META, |object| {
            object.value(meta::SUBSCRIPTION_ID, &subscription.json());
            object.object(meta::SERVER_INFO, |info| self.server.write(info));
        });
        result.finish();
    }

    /// `server/discover`.
    pub fn discover(&self, instructions: &str, cache: Cache, out: &mut Vec<u8>) {
        self.result("complete", &Beside::default(), out, |result| {
            result.array("supportedVersions", Version::SERVED, |version, out| write_string(version.as_str(), out));
            capabilities::write_server(self.version, result);
            result.text("instructions", instructions);
            cache.write(result);
        });
    }

    /// `initialize`.
    pub fn initialize(&self, instructions: &str, out: &mut Vec<u8>) {
        let mut result = Object::open(out);
        result.text("protocolVersion", self.version.as_str());
        capabilities::write_server(self.version, &mut result);
        result.object("serverInfo", |info| self.server.write(info));
        result.text("instructions", instructions);
        result.finish();
    }

    /// A page of a list; `items` are definitions as they were written.
    pub fn list<'i>(
        &self,
        list: List,
        items: impl Iterator<Item = &'i [u8]>,
        next: Option<&str>,
        cache: Cache,
        out: &mut Vec<u8>,
    ) {
        let key = match list {
            List::Tools => "tools",
            List::Prompts => "prompts",
            List::Resources => "resources",
            List::Templates => "resourceTemplates",
        };
        self.result("complete", &Beside::default(), out, |result| {
            result.array(key, items, |item, out| out.extend_from_slice(item));
            if let Some(next) = next {
                result.text("nextCursor", next);
            }
            if self.version.is_modern() {
                cache.write(result);
            }
        });
    }

    /// The outcome of a tool. `output.parts` must be what was said, collected; `by` is whose addresses it holds. Returns what
    /// this version could not say of it, which is told beside what was lost before.
    pub fn call(
        &self,
        finished: &Finished,
        raw: Option<&Raw>,
        by: &Party,
        beside: &Beside<'_>,
        out: &mut Vec<u8>,
    ) -> Vec<Loss> {
        if let Some(members) = original(raw, self.version) {
            self.relay_call(&members, by, beside, out);
            return Vec::new();
        }
        let mut losses = Vec::new();
        let output = &finished.output;
        let mut content = Vec::new();
        self.write_content(finished, &mut losses, &mut content);
        losses.extend(self.unstructured(output));
        let fault = match &finished.outcome {
            Outcome::Failed(fault) => Some(fault),
            Outcome::Completed | Outcome::Cancelled { .. } => None,
        };
        let told = [beside.losses, &losses].concat();
        let beside = Beside { losses: &told, fault, ..*beside };
        self.result("complete", &beside, out, |result| {
            result.key("content").extend_from_slice(&content);
            if let Some(structured) = self.structured(output, beside.conversation) {
                result.value("structuredContent", &structured);
            }
            if !matches!(finished.outcome, Outcome::Completed) {
                result.bool("isError", true);
            }
        });
        losses
    }

    /// What a program reads. Before 2026-07-28 it must be an object; with an agent it says how the conversation goes on.
    fn structured(&self, output: &Output, conversation: Option<&str>) -> Option<Json> {
        match (&output.structured, conversation) {
            (Some(structured), _) if self.is_sayable(structured) => Some(structured.clone()),
            (None, Some(conversation)) if self.version.has_structured() => Some(Object::json(|object| {
                let said: Vec<&str> = output.parts.iter().filter_map(Part::as_text).collect();
                object.text(discover::MESSAGE, &said.join("\n"));
                object.text(discover::CONVERSATION, conversation);
            })),
            (Some(_) | None, _) => None,
        }
    }

    fn is_sayable(&self, structured: &Json) -> bool {
        self.version.has_structured() && (structured.is_object() || self.version.is_modern())
    }

    /// What becomes of a value that this version has no place for: text where it is all there is or was said so too, else
    /// nothing.
    fn unstructured(&self, output: &Output) -> Option<Loss> {
        let structured = output.structured.as_ref().filter(|structured| !self.is_sayable(structured))?;
        let said =
            output.parts.is_empty() || output.parts.iter().any(|part| part.as_text() == Some(structured.as_str()));
        let kind = if said { LossKind::Flattened } else { LossKind::Dropped };
        Some(Loss::new("output.structured", kind))
    }

    fn write_content(&self, finished: &Finished, losses: &mut Vec<Loss>, out: &mut Vec<u8>) {
        let output = &finished.output;
        let writer = Writer { version: self.version, way: Way::Output, addresses: self.addresses };
        let mut blocks = Blocks::open(out);
        for part in &output.parts {
            writer.block(part, losses, blocks.next());
        }
        if let Some(structured) = output.structured.as_ref().filter(|_| output.parts.is_empty()) {
            write_text(structured.as_str(), blocks.next());
        }
        for artifact in &output.artifacts {
            self.artifact(artifact.as_str(), blocks.next());
        }
        match &finished.outcome {
            Outcome::Completed => {}
            Outcome::Failed(fault) if output.parts.is_empty() => write_text(&fault.public, blocks.next()),
            Outcome::Failed(_) => {}
            Outcome::Cancelled { why, .. } => write_text(&format!("cancelled: {}", why.as_str()), blocks.next()),
        }
        blocks.finish();
    }

    fn artifact(&self, id: &str, out: &mut Vec<u8>) {
        let uri = format!("{ARTIFACTS}{id}");
        if !self.version.has_structured() {
            return write_text(&uri, out);
        }
        let mut link = Object::open(out);
        link.text("type", "resource_link");
        link.text("uri", &uri);
        link.text("name", id);
        link.finish();
    }

    /// A fault that is an outcome of a tool.
    pub fn failed(&self, fault: &Fault, out: &mut Vec<u8>) {
        self.call(&Finished::failed(fault.clone()), None, &Party::Hub, &Beside::default(), out);
    }

    /// A fault as the answer to a request.
    pub fn refusal(&self, fault: &Fault, reply: &ReplyTo) -> RequestOutcome {
        match fault::spelling(fault, self.version, reply.verb) {
            Spelling::Error { code, status } => {
                let error = match &reply.uri {
                    Some(uri) if fault.kind == FaultKind::NotFound(Noun::Resource) => {
                        fault::not_found(fault, code, uri)
                    }
                    Some(_) | None => fault::error(fault, code),
                };
                Err(Refused { error, status })
            }
            Spelling::Outcome => Ok(Written::by(|out| self.failed(fault, out))),
        }
    }

    /// What a resource holds. Returns what its contents could not say.
    pub fn read(
        &self,
        finished: &Finished,
        raw: Option<&Raw>,
        by: &Party,
        beside: &Beside<'_>,
        out: &mut Vec<u8>,
    ) -> Vec<Loss> {
        if let Some(members) = original(raw, self.version) {
            self.relay_read(&members, by, beside, out);
            return Vec::new();
        }
        let writer = Writer { version: self.version, way: Way::Output, addresses: self.addresses };
        let (mut losses, mut contents) = (Vec::new(), Vec::new());
        let mut blocks = Blocks::open(&mut contents);
        for part in &finished.output.parts {
            writer.contents(part, &mut losses, blocks.next());
        }
        blocks.finish();
        let told = [beside.losses, &losses].concat();
        self.result("complete", &Beside { losses: &told, ..*beside }, out, |result| {
            result.key("contents").extend_from_slice(&contents);
            if self.version.is_modern() {
                Cache::NONE.write(result);
            }
        });
        losses
    }

    /// A prompt: each part is a message of the role it is labelled with. Returns what those could not say.
    pub fn prompt(
        &self,
        finished: &Finished,
        raw: Option<&Raw>,
        by: &Party,
        beside: &Beside<'_>,
        out: &mut Vec<u8>,
    ) -> Vec<Loss> {
        if let Some(members) = original(raw, self.version) {
            self.relay_prompt(&members, by, beside, out);
            return Vec::new();
        }
        let writer = Writer { version: self.version, way: Way::Output, addresses: self.addresses };
        let mut losses = Vec::new();
        let mut messages = Vec::new();
        let mut blocks = Blocks::open(&mut messages);
        for part in &finished.output.parts {
            let mut message = Object::open(blocks.next());
            message.text("role", if part.label.as_deref() == Some("assistant") { "assistant" } else { "user" });
            writer.block(part, &mut losses, message.key("content"));
            message.finish();
        }
        blocks.finish();
        let told = [beside.losses, &losses].concat();
        self.result("complete", &Beside { losses: &told, ..*beside }, out, |result| {
            result.key("messages").extend_from_slice(&messages);
        });
        losses
    }

    /// How an argument could go on.
    pub fn complete(&self, finished: &Finished, beside: &Beside<'_>, out: &mut Vec<u8>) {
        let found = finished.output.structured.as_ref().map(Members::of).unwrap_or(Members::absent());
        let values = found.list("values").unwrap_or_default();
        let cut = values.len() > MAX_VALUES;
        self.result("complete", beside, out, |result| {
            result.object("completion", |completion| {
                completion.array("values", values.iter().take(MAX_VALUES), |value, out| {
                    out.extend_from_slice(value.as_bytes());
                });
                if let Some(total) = found.get("total") {
                    completion.value("total", &total);
                }
                completion.bool("hasMore", cut || found.bool("hasMore").unwrap_or_default());
            });
        });
    }

    /// What must be known before the call can go on (2026-07-28, multi round-trip requests).
    pub fn input_required(&self, questions: &[Question], state: &str, out: &mut Vec<u8>) {
        self.result("input_required", &Beside::default(), out, |result| {
            write_input_requests(questions, self.version, result);
            result.text("requestState", state);
        });
    }
}

/// How many values one completion may have (schema: `CompleteResult`).
const MAX_VALUES: usize = 100;

/// The longest name of a server's that is kept as a key.
const LONGEST_NAME: usize = 128;

/// The key of a question in `inputRequests`, among those that are open with it: what its server calls it, where that is
/// one question's name alone.
pub fn input_key(question: &Question, open: &[Question]) -> String {
    let name = named(question).filter(|name| !name.is_empty() && name.len() <= LONGEST_NAME);
    let has = |other: &Question, name: &str| own_key(other) == name || named(other) == Some(name);
    let is_alone = |name: &&str| open.iter().filter(|other| has(other, name)).count() == 1;
    name.filter(is_alone).map_or_else(|| own_key(question), ToOwned::to_owned)
}

fn named(question: &Question) -> Option<&str> {
    question.name.as_deref().map(|name| &**name)
}

fn own_key(question: &Question) -> String {
    format!("q{}", question.id.1)
}

fn write_input_requests(questions: &[Question], version: Version, result: &mut Object<'_>) {
    result.object("inputRequests", |requests| {
        for asked in questions {
            if let Some(asking) = question::encode(asked, version) {
                requests.object(&input_key(asked, questions), |request| {
                    request.text("method", asking.method);
                    request.value("params", &asking.params);
                });
            }
        }
    });
}

/// A result as a server of this protocol wrote it. A version that cannot carry all of it gets it from the model instead.
fn original(raw: Option<&Raw>, version: Version) -> Option<Members> {
    let raw = raw.filter(|raw| is_ours(&raw.wire) && version.has_structured())?;
    Some(Members::of(&raw.json)).filter(Members::is_object)
}

/// A list being written.
struct Blocks<'a> {
    out: &'a mut Vec<u8>,
    empty: bool,
}

impl<'a> Blocks<'a> {
    fn open(out: &'a mut Vec<u8>) -> Blocks<'a> {
        out.push(b'[');
        Blocks { out, empty: true }
    }

    /// The place of the next element.
    fn next(&mut self) -> &mut Vec<u8> {
        if !self.empty {
            self.out.push(b',');
        }
        self.empty = false;
        self.out
    }

    fn finish(self) {
        self.out.push(b']');
    }
}
