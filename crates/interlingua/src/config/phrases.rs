//! Sentences that mean a skill of a peer, as an operator writes them, in the grammar of `interlingua_core::words`.
//!
//! What is wrong with a phrase is told with its place in the file. A slot that the skill does not take is told there too,
//! where its input is known before the peer is reached; elsewhere it becomes a problem of the peer once it is.

use indexmap::IndexMap;
use interlingua_core::words::Matcher;
use interlingua_core::{CardFrom, Effects, Json, PeerId, Phrase, Schema, Skill, SkillId, SkillKind, Text, glob, site};
use interlingua_protocols::{a2a, nlip, nlweb};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Config, Peer, Problem, Speaks};
use crate::hub::reserved;

/// Of one entry, over all languages.
const MOST: usize = 100;

/// Phrases in the order of the file.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(try_from = "Written")]
pub struct Phrases(Vec<Placed>);

/// A phrase, and where it stands below `phrases`.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Placed {
    phrase: Phrase,
    at: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected a list of phrases, or lists by language: `{ en: [\"…\"], es: [\"…\"] }`")]
#[schemars(rename = "Phrases")]
enum Written {
    /// In English.
    Listed(Vec<Text>),
    /// By language.
    Spoken(IndexMap<String, Vec<Text>>),
}

impl TryFrom<Written> for Phrases {
    type Error = String;

    fn try_from(written: Written) -> Result<Phrases, Self::Error> {
        let placed = |locale: &str, below: &str, patterns: Vec<Text>| {
            let placed = |(number, pattern): (usize, Text)| Placed {
                phrase: Phrase { locale: locale.into(), pattern },
                at: format!("{below}{number}"),
            };
            patterns.into_iter().enumerate().map(placed).collect::<Vec<_>>()
        };
        let phrases = match written {
            Written::Listed(patterns) => placed("en", "", patterns),
            Written::Spoken(spoken) => spoken
                .into_iter()
                .flat_map(|(locale, patterns)| placed(&locale, &format!("{locale}."), patterns))
                .collect(),
        };
        if phrases.len() > MOST {
            return Err(format!("expected at most {MOST} phrases"));
        }
        Ok(Phrases(phrases))
    }
}

impl JsonSchema for Phrases {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        Written::schema_name()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        Written::json_schema(generator)
    }
}

impl Phrases {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = &Phrase> {
        self.0.iter().map(|placed| &placed.phrase)
    }
}

/// What is wrong with the phrases of all peers. Definitions of websites have been read by now.
pub(super) fn check(config: &Config) -> Vec<Problem> {
    config.peers.iter().flat_map(|(name, peer)| of_peer(name, peer)).collect()
}

fn of_peer(name: &str, peer: &Peer) -> Vec<Problem> {
    let mut problems = Vec::new();
    let known = inputs(peer);
    // An agent, or another hub, may have more skills than the one that is known.
    let all_known = !matches!(peer.speaks, Speaks::A2a(_)) && !peer.hub;
    for (pattern, settings) in &peer.skills {
        let one = all_known || !pattern.contains('*');
        let fits = known.iter().filter(|(skill, _)| one && glob::matches(pattern, skill));
        let meant: Vec<&Schema> = fits.map(|(_, schema)| schema).collect();
        let anything = Schema(Json::empty_object());
        let schemas = if meant.is_empty() { vec![&anything] } else { meant };
        for Placed { phrase, at } in &settings.phrases.0 {
            if let Some(wrong) = schemas.iter().find_map(|schema| wrong(phrase, schema)) {
                problems.push(Problem::new(format!("peers.{name}.skills.{pattern}.phrases.{at}"), wrong));
            }
        }
    }
    problems
}

/// Phrases of peers that claim a sentence which the hub answers itself.
pub(super) fn claimed(config: &Config) -> Vec<Problem> {
    let of_peer = |(name, peer): (&String, &Peer)| {
        let of_skill = |(pattern, settings): (&String, &super::peers::SkillSettings)| {
            let claimed = |Placed { phrase, at }: &Placed| {
                let (matcher, _) = Matcher::compile([&with(phrase, Schema(Json::empty_object()))]);
                let (_, sentence) = reserved::claimed(&matcher).into_iter().next()?;
                let text = format!("`{}`: the hub answers `{sentence}` itself", phrase.pattern);
                Some(Problem::new(format!("peers.{name}.skills.{pattern}.phrases.{at}"), text))
            };
            settings.phrases.0.iter().filter_map(claimed).collect::<Vec<_>>()
        };
        peer.skills.iter().flat_map(of_skill).collect::<Vec<_>>()
    };
    config.peers.iter().flat_map(of_peer).collect()
}

/// A skill that has this phrase.
fn with(phrase: &Phrase, input: Schema) -> Skill {
    let effects = Effects::reads_only(CardFrom::Configuration);
    let mut skill = Skill::new(SkillId::new("peer", "skill"), SkillKind::Tool, "", input, effects);
    skill.phrases = vec![phrase.clone()];
    skill
}

/// Why a skill with this input cannot have this phrase.
fn wrong(phrase: &Phrase, input: &Schema) -> Option<String> {
    let (_, problems) = Matcher::compile([&with(phrase, input.clone())]);
    problems.first().map(|problem| format!("`{}`: {}", phrase.pattern, problem.problem))
}

/// Inputs that are known before a peer is reached, by the names of its skills.
fn inputs(peer: &Peer) -> Vec<(String, Schema)> {
    match &peer.speaks {
        Speaks::Nlip(_) => vec![(nlip::client::CHAT.into(), nlip::client::chat_input())],
        Speaks::A2a(_) => vec![(a2a::client::skills::CHAT.into(), a2a::client::skills::chat_input())],
        Speaks::Nlweb(_) => vec![(nlweb::client::ASK.into(), nlweb::client::ask_input())],
        Speaks::Site(site) => {
            let skills = site.site.iter().flat_map(|site| site::skills(site, &PeerId::from("site")));
            skills.map(|skill| (skill.id.skill.to_string(), skill.input)).collect()
        }
        Speaks::Mcp(_) | Speaks::Aip(_) => Vec::new(),
    }
}
