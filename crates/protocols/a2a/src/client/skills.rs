//! Skills of an agent: those its card lists, and `chat`, because every agent accepts messages.
//!
//! A2A has no schemas. If the agent supports our extension, they are there; any other skill takes one message in words. The agent's id of a
//! skill may be any text; here it is a name, and [`theirs`] maps it back.
//!
//! Another hub's `local/read_file` is `PEER/local.read_file` here. The skills that every hub has (`hub/…`), and those which that hub
//! imported from another, are not imported.

use std::collections::BTreeSet;

use interlingua_model::json::Tree;
use interlingua_model::{Effects, PeerId, Schema, Skill, SkillId, SkillKind, SkillName, Text};
use serde_json::json;

use crate::discover::read::{AgentCard, Offer};
use interlingua_wire::claims;
use interlingua_wire::hub_headers::IMPORTED;

/// The one skill every agent has: to be spoken to.
pub const CHAT: &str = "chat";
/// The one argument of a skill that takes words.
pub const MESSAGE: &str = "message";

/// Bounds on what is believed.
const LIST: usize = 32;

/// The skills, and what was left out. Effects are as the agent claims them.
pub fn skills(card: &AgentCard, peer: &PeerId) -> (Vec<Skill>, Vec<Text>) {
    let (mut skills, mut problems) = (Vec::new(), Vec::new());
    let mut names = BTreeSet::new();
    for offer in &card.skills {
        if is_not_taken(card, offer) {
            continue;
        }
        let Some(name) = name(&offer.id) else {
            problems.push(format!("`{}` is left out: its id cannot be a name", claims::text(&offer.id)).into());
            continue;
        };
        if !names.insert(name.clone()) {
            problems.push(format!("`{name}` is listed twice; the second is left out").into());
            continue;
        }
        skills.push(skill(card, offer, SkillId::new(peer.clone(), name)));
    }
    if !names.contains(CHAT) {
        skills.push(chat(card, peer));
    }
    (skills, problems)
}

/// The agent's own id of a skill; `None` for `chat`, which has none.
pub fn theirs<'c>(card: &'c AgentCard, skill: &SkillName) -> Option<&'c str> {
    card.skills.iter().find(|offer| name(&offer.id).as_deref() == Some(skill.as_str())).map(|offer| &*offer.id)
}

/// Does this skill take its arguments as words?
pub fn takes_words(skill: &Skill) -> bool {
    let properties = skill.input.0.get("properties").and_then(Tree::as_object);
    properties.is_some_and(|properties| properties.len() == 1 && properties.contains_key(MESSAGE))
}

fn is_not_taken(card: &AgentCard, offer: &Offer) -> bool {
    let imported = offer.tags.iter().any(|tag| &**tag == IMPORTED);
    card.hub.is_some() && (offer.id.starts_with("hub/") || imported)
}

/// Letters, digits and a few marks stay; a slash is a dot; anything else a line below.
fn name(id: &str) -> Option<String> {
    let plain: String = id
        .chars()
        .map(|letter| match letter {
            '/' => '.',
            letter if letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.') => letter,
            _ => '_',
        })
        .collect();
    let says_something = plain.bytes().any(|byte| byte.is_ascii_alphanumeric());
    (says_something && plain.len() <= claims::NAME).then_some(plain)
}

fn skill(card: &AgentCard, offer: &Offer, id: SkillId) -> Skill {
    let said = card.hub.as_ref().and_then(|hub| hub.get("skills")?.get(&*offer.id));
    let schema = |key: &str| said.and_then(|said| claims::schema(said.get(key)?));
    let kind = match said.and_then(|said| said.get("kind")?.as_str()) {
        Some("tool") => SkillKind::Tool,
        Some("prompt") => SkillKind::Prompt,
        Some(_) | None => SkillKind::Agent,
    };
    let input = schema("inputSchema").unwrap_or_else(chat_input);
    let mut skill = Skill::new(
        id,
        kind,
        claims::text(&offer.description),
        input,
        claims::effects(said.and_then(|said| said.get("effects"))),
    );
    if !offer.title.is_empty() {
        skill.title = claims::text(&offer.title);
    }
    skill.output = schema("outputSchema");
    if let Some(version) = said.and_then(|said| said.get("version")?.as_str()) {
        skill.version = claims::text(version);
    }
    skill.tags = offer.tags.iter().take(LIST).map(|tag| claims::text(tag)).collect();
    if card.hub.is_some() && offer.id.contains('/') {
        skill.tags.push(IMPORTED.into());
    }
    skill.examples = offer.examples.iter().take(LIST).map(|example| claims::text(example)).collect();
    skill.takes = if offer.takes.is_empty() { card.takes.clone() } else { offer.takes.clone() };
    skill.gives = if offer.gives.is_empty() { card.gives.clone() } else { offer.gives.clone() };
    skill.sealed()
}

fn chat(card: &AgentCard, peer: &PeerId) -> Skill {
    let id = SkillId::new(peer.clone(), CHAT);
    let mut skill = Skill::new(id, SkillKind::Agent, claims::text(&card.description), chat_input(), Effects::unknown());
    skill.title = claims::text(&card.name);
    skill.takes.clone_from(&card.takes);
    skill.gives.clone_from(&card.gives);
    skill.sealed()
}

/// The input of `chat`, and of any skill without a schema: one message in words.
pub fn chat_input() -> Schema {
    let schema = json!({
        "type": "object",
        "properties": {MESSAGE: {"type": "string", "description": "What to say."}},
        "required": [MESSAGE],
    });
    Schema(schema.into())
}
