//! Validation of the phrases of peers; problems are reported with their positions in the file. A slot that the skill does not take is
//! reported there too, if its input is known before the peer is reached; otherwise it becomes a problem of the peer once it is connected.

use interlingua_machines::words::Matcher;
use interlingua_model::{CardFrom, Effects, Json, Phrase, Schema, Skill, SkillId, SkillKind, glob};

use super::Config;
use super::{Kind, Peer};
use interlingua_hub::reserved;
use interlingua_settings::phrases::Placed;
use interlingua_settings::{Problem, SkillSettings};

/// What is wrong with the phrases of all peers. Definitions of websites have been read by now.
pub(super) fn check(config: &Config) -> Vec<Problem> {
    config.peers.iter().flat_map(|(name, peer)| of_peer(name, peer)).collect()
}

fn of_peer(name: &str, peer: &Peer) -> Vec<Problem> {
    let mut problems = Vec::new();
    let known = inputs(peer);
    // An agent, or another hub, may have more skills than the one that is known.
    let has_more = peer.speaks.protocol().is_some_and(|section| section.has_more_skills());
    let all_known = !has_more && !peer.hub;
    for (pattern, settings) in &peer.skills {
        let one = all_known || !pattern.contains('*');
        let fits = known.iter().filter(|(skill, _)| one && glob::matches(pattern, skill));
        let meant: Vec<&Schema> = fits.map(|(_, schema)| schema).collect();
        let anything = Schema(Json::empty_object());
        let schemas = if meant.is_empty() { vec![&anything] } else { meant };
        for Placed { phrase, at } in settings.phrases.placed() {
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
        let of_skill = |(pattern, settings): (&String, &SkillSettings)| {
            let claimed = |Placed { phrase, at }: &Placed| {
                let (matcher, _) = Matcher::compile([&with(phrase, Schema(Json::empty_object()))]);
                let (_, sentence) = reserved::claimed(&matcher).into_iter().next()?;
                let text = format!("`{}`: the hub answers `{sentence}` itself", phrase.pattern);
                Some(Problem::new(format!("peers.{name}.skills.{pattern}.phrases.{at}"), text))
            };
            settings.phrases.placed().iter().filter_map(claimed).collect::<Vec<_>>()
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
    match peer.speaks.kind() {
        Kind::Protocol(_, section) => section.known_inputs(),
        Kind::Site(site) => site.known_inputs(),
    }
}
