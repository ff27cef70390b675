//! Who can be called, and what they can do.

use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::id::{Media, PeerId, SkillId, Text, Time, Uri, Version};
use crate::json::Json;
use crate::wire::Raw;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Card {
    pub peer: PeerId,
    pub title: Text,
    pub description: Text,
    pub version: Version,
    pub class: RouteClass,
    pub provider: Option<Provider>,
    pub skills: Vec<Skill>,
    pub resources: Vec<Resource>,
    /// Merged from up to three; the digest pins each.
    pub sources: Vec<CardSource>,
    pub health: Health,
    pub telemetry: Option<Json>,
    pub seen: Time,
    /// A signed card travels as `raw` or is replaced by our own, never altered.
    pub raw: Option<Raw>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CardSource {
    pub from: CardFrom,
    pub digest: Digest,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum CardFrom {
    Manifest,
    Telemetry,
    Configuration,
}

/// In rank order. A site that can be asked is an Agent; only a driven one comes last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum RouteClass {
    InProcess,
    Tool,
    Agent,
    Device,
    DrivenSite,
}

impl RouteClass {
    /// The word callers are told.
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

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Health {
    Starting,
    Up,
    Slow,
    Down { since: Time, quarantined: bool },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provider {
    pub name: Text,
    pub url: Option<Uri>,
    pub contact: Option<Text>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Skill {
    pub id: SkillId,
    pub kind: SkillKind,
    pub title: Text,
    pub description: Text,
    pub version: Version,
    /// Of this definition: what policy and a yes were given for.
    pub digest: Digest,
    pub input: Schema,
    pub output: Option<Schema>,
    pub effects: Effects,
    pub capability: Option<Text>,
    pub category: Option<Text>,
    #[serde(default)]
    pub tags: Vec<Text>,
    #[serde(default)]
    pub examples: Vec<Text>,
    #[serde(default)]
    pub phrases: Vec<Phrase>,
    #[serde(default)]
    pub takes: Vec<Media>,
    #[serde(default)]
    pub gives: Vec<Media>,
    /// Agents, teams, graphs, a device's `do`.
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

    /// Recomputes the digest of the definition. Whether its effects are known is no part of it: that decides whether a yes is
    /// needed, not what it is given for, and digests of before stay good.
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

/// Agent: words in, keeps a conversation. Prompt: args in, turns out (parts labelled by role).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum SkillKind {
    Tool,
    Agent,
    Prompt,
}

impl SkillKind {
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

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phrase {
    pub locale: Text,
    pub pattern: Text,
}

impl Resource {
    /// Is this the resource, or may it be one of this template? A template covers what begins as it does before its first
    /// variable: enough to decide who may read, while the peer decides what exists.
    pub fn covers(&self, uri: &str) -> bool {
        match self.uri.split_once('{').filter(|_| self.template) {
            Some((head, _)) => uri.starts_with(head),
            None => *self.uri == *uri,
        }
    }
}

/// A peer's own claim may add effects; only configuration removes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effects {
    pub reads: bool,
    pub writes: bool,
    pub destroys: bool,
    pub spends: bool,
    pub idempotent: bool,
    /// Nobody who is believed said what else it does: it is taken to write, and may destroy and spend.
    #[serde(default)]
    pub unknown: bool,
    /// What it does are calls of others, each of which is judged for itself: it can do whatever they can.
    #[serde(default)]
    pub calls: bool,
    pub claimed_by: CardFrom,
}

impl Effects {
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

    pub const fn unknown() -> Effects {
        Effects { unknown: true, ..Effects::writes(CardFrom::Manifest) }
    }

    /// Of what hands calls on, or makes them: an agent, a team, a plan.
    pub const fn calls(claimed_by: CardFrom) -> Effects {
        Effects { calls: true, idempotent: false, ..Effects::reads_only(claimed_by) }
    }

    /// In words, as hubs tell each other.
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

    /// What a peer claims in these words; what it leaves out it claims not to do.
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

    /// Is it known that calling it changes nothing, neither itself nor through others?
    pub const fn only_read(self) -> bool {
        !self.change() && !self.unknown && !self.calls
    }

    /// Does calling it change anything outside the hub?
    pub const fn change(self) -> bool {
        self.writes || self.destroys || self.spends
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resource {
    pub peer: PeerId,
    pub uri: Uri,
    pub template: bool,
    pub title: Text,
    pub description: Option<Text>,
    pub media: Option<Media>,
    pub size: Option<u64>,
    /// May be read by anyone.
    #[serde(default)]
    pub public: bool,
    /// As its peer described it.
    pub raw: Option<Raw>,
}
