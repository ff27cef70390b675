//! Cards: the description of a peer, its skills and its resources.

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::id::{Media, PeerId, SkillId, Text, Time, Uri, Version};
use crate::json::Json;
use crate::wire::Raw;

/// What the hub knows of a peer: who it is, what it can do, and whether it can be reached.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Card {
    /// The peer it describes.
    pub peer: PeerId,
    /// Its name for people.
    pub title: Text,
    /// What it is for, in words; part of what search looks through.
    pub description: Text,
    /// The version of the peer, as it says itself.
    pub version: Version,
    /// What kind of peer it is, which decides its rank among peers that offer the same capability.
    pub class: RouteClass,
    /// Who operates it, if it says so.
    pub provider: Option<Provider>,
    /// What it can be asked to do.
    pub skills: Vec<Skill>,
    /// What can be read from it.
    pub resources: Vec<Resource>,
    /// Merged from up to three sources; the digest pins each.
    pub sources: Vec<CardSource>,
    /// Whether it can be reached, as its connection last found.
    pub health: Health,
    /// What a device last reported of itself: platform, capabilities, state. An object as its protocol has it.
    pub telemetry: Option<Json>,
    /// When something was last heard from it.
    pub seen: Time,
    /// A signed card travels as `raw` or is replaced by our own, never altered.
    pub raw: Option<Raw>,
}

/// One of the documents that a card was merged from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CardSource {
    /// What kind of document.
    pub from: CardFrom,
    /// Digest of its bytes, by which a change is noticed (pinning).
    pub digest: Digest,
}

/// Where a card, or a claim about effects, came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum CardFrom {
    /// The peer's own description of itself.
    Manifest,
    /// What a device reports while it runs.
    Telemetry,
    /// The operator's configuration, which overrides both.
    Configuration,
}

/// What kind of peer a call goes to, in rank order: of several that offer a capability the first is called. A site that answers questions
/// is an Agent; only a driven one comes last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum RouteClass {
    /// Part of this process, such as the hub's own skills and file tools.
    InProcess,
    /// A tool server.
    Tool,
    /// An agent, a hub, or a site that can be asked.
    Agent,
    /// A device.
    Device,
    /// A website without an API that the hub plays as a person would.
    DrivenSite,
}

impl RouteClass {
    /// The word that callers see.
    pub fn as_str(self) -> &'static str {
        match self {
            RouteClass::InProcess => "in_process",
            RouteClass::Tool => "tool",
            RouteClass::Agent => "agent",
            RouteClass::Device => "device",
            RouteClass::DrivenSite => "driven_site",
        }
    }
}

/// Whether a peer can be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Health {
    /// Not tried yet.
    Starting,
    /// The last attempt reached it.
    Up,
    /// Reached, but answers slowly.
    Slow,
    /// Not reached; calls are refused without an attempt (circuit breaker) until it is back.
    Down {
        /// When it was found to be down, or was last heard.
        since: Time,
        /// A device that has disconnected: it stays listed and is not called.
        quarantined: bool,
    },
}

/// Who operates a peer, by the peer's own word.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provider {
    /// The operator's name.
    pub name: Text,
    /// Its page.
    pub url: Option<Uri>,
    /// How to reach it: an address of any kind.
    pub contact: Option<Text>,
}

/// One thing that a peer can do: its interface, its effects, and how it is found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Skill {
    /// Its peer and its name there.
    pub id: SkillId,
    /// How it is called: with arguments, in words, or to fill in a template.
    pub kind: SkillKind,
    /// Its name for people.
    pub title: Text,
    /// What it does, in words: for people, models and search.
    pub description: Text,
    /// The version of this skill; `1` where its peer has none.
    pub version: Version,
    /// Digest of this definition, to which policy and approvals refer.
    pub digest: Digest,
    /// The JSON Schema of its arguments.
    pub input: Schema,
    /// The JSON Schema of [`crate::Output::structured`]; `None` where nothing is promised.
    pub output: Option<Schema>,
    /// What calling it does to the world: decides approval and retries.
    pub effects: Effects,
    /// What it offers in general; [`crate::Target::Capability`] finds it by this.
    pub capability: Option<Text>,
    /// A group for lists and policy.
    pub category: Option<Text>,
    /// Words that search looks through.
    #[serde(default)]
    pub tags: Vec<Text>,
    /// Requests in words that it answers; shown to people and searched.
    #[serde(default)]
    pub examples: Vec<Text>,
    /// Patterns of plain words that mean this skill.
    #[serde(default)]
    pub phrases: Vec<Phrase>,
    /// Media types it takes as parts.
    #[serde(default)]
    pub takes: Vec<Media>,
    /// Media types it answers with.
    #[serde(default)]
    pub gives: Vec<Media>,
    /// Always stored: agents, teams, graphs, a device's `do`.
    pub always_kept: bool,
    /// May be called by anyone.
    #[serde(default)]
    pub public: bool,
    /// As its peer described it.
    pub raw: Option<Raw>,
}

impl Skill {
    /// A skill that reads and can be repeated, taking one object; the digest is of what is given here, so change fields
    /// before calling [`Skill::sealed`].
    pub fn new(id: SkillId, kind: SkillKind, description: impl Into<Text>, input: Schema, effects: Effects) -> Skill {
        Skill {
            title: id.skill.0.clone(),
            id,
            kind,
            description: description.into(),
            version: "1".into(),
            digest: Digest([0; 32]),
            input,
            output: None,
            effects,
            capability: None,
            category: None,
            tags: Vec::new(),
            examples: Vec::new(),
            phrases: Vec::new(),
            takes: Vec::new(),
            gives: Vec::new(),
            always_kept: false,
            public: false,
            raw: None,
        }
        .sealed()
    }

    /// Recomputes the digest of the definition. Whether its effects are known is not part of it: that decides whether approval is needed,
    /// not what is approved, and earlier digests stay valid.
    pub fn sealed(mut self) -> Skill {
        let flags = [
            self.kind as u8,
            u8::from(self.effects.reads),
            u8::from(self.effects.writes),
            u8::from(self.effects.destroys),
            u8::from(self.effects.spends),
            u8::from(self.effects.idempotent),
        ];
        let output = self.output.as_ref().map(|schema| schema.0.digest().0);
        self.digest = Digest::of_fields([
            self.id.peer.as_str().as_bytes(),
            self.id.skill.as_str().as_bytes(),
            self.version.as_bytes(),
            self.description.as_bytes(),
            &self.input.0.digest().0,
            output.as_ref().map(<[u8; 32]>::as_slice).unwrap_or_default(),
            &flags,
        ]);
        self
    }
}

/// How a skill is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum SkillKind {
    /// Arguments in, a result out.
    Tool,
    /// Words in; it keeps a conversation.
    Agent,
    /// Arguments in, turns of a conversation out: parts labelled by role.
    Prompt,
}

impl SkillKind {
    /// The word that lists and protocols show.
    pub fn as_str(self) -> &'static str {
        match self {
            SkillKind::Tool => "tool",
            SkillKind::Agent => "agent",
            SkillKind::Prompt => "prompt",
        }
    }
}

/// JSON Schema 2020-12, compiled once per digest; a network `$ref` is never fetched.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Schema(pub Json);

/// A pattern of plain words that means a skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phrase {
    /// The language of the pattern, as a tag such as `en`.
    pub locale: Text,
    /// Words, with slots in braces where the value of an argument stands; the grammar is in
    /// `interlingua_machines::words`.
    pub pattern: Text,
}

impl Resource {
    /// Is this the resource, or can it match this template? A template covers every URI that begins with its text before the first
    /// variable: enough to decide who may read, while the peer decides what exists.
    pub fn covers(&self, uri: &str) -> bool {
        match self.uri.split_once('{').filter(|_| self.template) {
            Some((head, _)) => uri.starts_with(head),
            None => *self.uri == *uri,
        }
    }
}

/// What calling a skill does to the world. A peer's own claim may add effects; only configuration removes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effects {
    /// It returns something.
    pub reads: bool,
    /// It changes something.
    pub writes: bool,
    /// It deletes or overwrites something: needs approval.
    pub destroys: bool,
    /// It costs money: needs approval.
    pub spends: bool,
    /// Calling it twice with the same arguments does no more than calling it once: it may be retried.
    pub idempotent: bool,
    /// No trusted source declared its other effects: it is assumed to write, and may destroy and spend.
    #[serde(default)]
    pub unknown: bool,
    /// Its effects are calls of other skills, each of which is authorized on its own: it can do whatever they can.
    #[serde(default)]
    pub calls: bool,
    /// The source of this declaration.
    pub claimed_by: CardFrom,
}

impl Effects {
    /// It reads, can be repeated, and does nothing else.
    pub const fn reads_only(claimed_by: CardFrom) -> Effects {
        Effects {
            reads: true,
            writes: false,
            destroys: false,
            spends: false,
            idempotent: true,
            unknown: false,
            calls: false,
            claimed_by,
        }
    }

    /// It changes something, and neither destroys nor spends.
    pub const fn writes(claimed_by: CardFrom) -> Effects {
        Effects { writes: true, idempotent: false, ..Effects::reads_only(claimed_by) }
    }

    /// Effects of a skill that no trusted source has described: assumed to write, and unknown beyond that.
    pub const fn unknown() -> Effects {
        Effects { unknown: true, ..Effects::writes(CardFrom::Manifest) }
    }

    /// Effects of a skill that makes calls: an agent, a team, a plan.
    pub const fn calls(claimed_by: CardFrom) -> Effects {
        Effects { calls: true, idempotent: false, ..Effects::reads_only(claimed_by) }
    }

    /// As words, for other hubs.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        let named = [
            ("reads", self.reads),
            ("writes", self.writes),
            ("destroys", self.destroys),
            ("spends", self.spends),
            ("idempotent", self.idempotent),
            ("unknown", self.unknown),
            ("calls", self.calls),
        ];
        named.into_iter().filter(|(_, is)| *is).map(|(name, _)| name)
    }

    /// The effects that a peer claims in these words; an effect that it omits is claimed absent.
    pub fn claimed(names: &[&str]) -> Effects {
        let says = |name: &str| names.contains(&name);
        Effects {
            reads: says("reads"),
            writes: says("writes"),
            destroys: says("destroys"),
            spends: says("spends"),
            idempotent: says("idempotent"),
            unknown: says("unknown"),
            calls: says("calls"),
            claimed_by: CardFrom::Manifest,
        }
    }

    /// Is it known that calling it changes nothing, directly or through others?
    pub const fn only_read(self) -> bool {
        !self.change() && !self.unknown && !self.calls
    }

    /// Does calling it change anything outside the hub?
    pub const fn change(self) -> bool {
        self.writes || self.destroys || self.spends
    }
}

/// Something that can be read from a peer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resource {
    /// The peer that has it.
    pub peer: PeerId,
    /// Its URI, or a template of URIs (RFC 6570), as the peer spells it.
    pub uri: Uri,
    /// Is `uri` a template?
    pub template: bool,
    /// Its name for people.
    pub title: Text,
    /// What it holds, in words.
    pub description: Option<Text>,
    /// Its media type, where the peer says.
    pub media: Option<Media>,
    /// Its size in bytes, where the peer says.
    pub size: Option<u64>,
    /// May be read by anyone.
    #[serde(default)]
    pub public: bool,
    /// As its peer described it.
    pub raw: Option<Raw>,
}
