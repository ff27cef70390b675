//! JSON of peers, skills and resources.

use interlingua_model::peer::Standing;
use interlingua_model::{Card, Effects, Health, Json, Skill};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PeerView {
    pub name: String,
    pub title: String,
    pub description: String,
    pub version: String,
    /// `in_process`, `tool`, `agent`, `device` or `driven_site`: the order of preference if several peers offer the same.
    pub class: String,
    /// The protocol by which it is called: `nlip`, `mcp`, `a2a`, `aip`, `nlweb`, `site` for a driven website, `local` inside
    /// the hub.
    #[serde(default = "local")]
    pub protocol: String,
    /// `starting`, `up`, `slow` or `down`.
    pub health: String,
    /// When it went down, for a peer that is down.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub down_since: Option<String>,
    /// Quarantined: its definition changed and needs a decision (pinning), or it left and may come back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub quarantined: bool,
    #[serde(flatten)]
    pub standing: StandingView,
    /// Whether its card is signed by a trusted key: `verified`, `unknown`, `altered` or `unsigned`;
    /// absent if signatures are not checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
    /// The key that signed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signed_by: Option<String>,
    /// How many skills it has.
    pub skills: usize,
    pub resources: usize,
    /// When the hub last heard from it.
    pub seen: String,
    /// Problems that the hub's owner should fix although the peer can be called, such as a tool manifest that is left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
}

/// Reachability of the peer; absent for peers inside the hub, and until the first attempt.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StandingView {
    /// Score from 0 (unusable) to 100, from reachability, latency and whether its card can be used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<u8>,
    /// Percentage of attempts that reached it; recent attempts weigh most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reached: Option<u8>,
    /// Latency of the health probe, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_ms: Option<u64>,
    /// When it was last reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reached_at: Option<String>,
}

impl From<Option<Standing>> for StandingView {
    fn from(standing: Option<Standing>) -> StandingView {
        let Some(Standing { score, reached, latency, last }) = standing else { return StandingView::default() };
        StandingView {
            score: Some(score),
            reached: Some(reached),
            latency_ms: latency.and_then(|latency| u64::try_from(latency.as_millis()).ok()),
            reached_at: last.map(|time| time.to_string()),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SkillView {
    /// `peer/skill`.
    pub id: String,
    /// `tool`, `agent` or `prompt`.
    pub kind: String,
    pub title: String,
    pub description: String,
    pub version: String,
    /// JSON Schema of its arguments.
    #[schemars(with = "serde_json::Value")]
    pub input: Json,
    /// JSON Schema of its structured result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Value>")]
    pub output: Option<Json>,
    pub effects: EffectsView,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capability: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phrases: Vec<PhraseView>,
    /// Anyone may call it.
    pub public: bool,
    /// Every call of it is a task.
    pub always_kept: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EffectsView {
    pub reads: bool,
    pub writes: bool,
    pub destroys: bool,
    pub spends: bool,
    pub idempotent: bool,
    /// Its effects are not declared by a trusted source: it may write, destroy and spend.
    #[serde(default)]
    pub unknown: bool,
    /// It acts by calling other skills; each of these calls is authorized separately.
    #[serde(default)]
    pub calls: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PhraseView {
    pub locale: String,
    pub pattern: String,
}

/// What is inside the hub is called in no protocol.
fn local() -> String {
    "local".to_owned()
}

impl From<&Card> for PeerView {
    fn from(card: &Card) -> PeerView {
        let (down_since, quarantined) = match card.health {
            Health::Starting | Health::Up | Health::Slow => (None, false),
            Health::Down { since, quarantined } => (Some(since.to_string()), quarantined),
        };
        PeerView {
            name: card.peer.to_string(),
            title: card.title.to_string(),
            description: card.description.to_string(),
            version: card.version.to_string(),
            class: card.class.as_str().into(),
            protocol: local(),
            health: health(card.health).into(),
            down_since,
            quarantined,
            standing: StandingView::default(),
            signature: None,
            signed_by: None,
            skills: card.skills.len(),
            resources: card.resources.len(),
            seen: card.seen.to_string(),
            problems: Vec::new(),
        }
    }
}

pub(super) fn health(health: Health) -> &'static str {
    match health {
        Health::Starting => "starting",
        Health::Up => "up",
        Health::Slow => "slow",
        Health::Down { .. } => "down",
    }
}

impl From<&Skill> for SkillView {
    fn from(skill: &Skill) -> SkillView {
        let texts = |texts: &[interlingua_model::Text]| texts.iter().map(ToString::to_string).collect();
        let phrases = skill.phrases.iter();
        SkillView {
            id: skill.id.to_string(),
            kind: skill.kind.as_str().into(),
            title: skill.title.to_string(),
            description: skill.description.to_string(),
            version: skill.version.to_string(),
            input: skill.input.0.clone(),
            output: skill.output.as_ref().map(|schema| schema.0.clone()),
            effects: skill.effects.into(),
            capability: skill.capability.as_ref().map(ToString::to_string),
            category: skill.category.as_ref().map(ToString::to_string),
            tags: texts(&skill.tags),
            examples: texts(&skill.examples),
            phrases: phrases
                .map(|p| PhraseView { locale: p.locale.to_string(), pattern: p.pattern.to_string() })
                .collect(),
            public: skill.public,
            always_kept: skill.always_kept,
        }
    }
}

impl From<Effects> for EffectsView {
    fn from(effects: Effects) -> EffectsView {
        let Effects { reads, writes, destroys, spends, idempotent, unknown, calls, claimed_by: _ } = effects;
        EffectsView { reads, writes, destroys, spends, idempotent, unknown, calls }
    }
}

impl EffectsView {
    /// The words for it: `reads`, `reads, writes`, `unknown`, …
    pub fn words(self) -> String {
        let all = [
            ("unknown", self.unknown),
            ("reads", self.reads && !self.unknown && !self.calls),
            ("writes", self.writes && !self.unknown),
            ("destroys", self.destroys),
            ("spends", self.spends),
            ("calls others", self.calls),
        ];
        let words: Vec<&str> = all.into_iter().filter(|(_, has)| *has).map(|(word, _)| word).collect();
        words.join(", ")
    }
}
