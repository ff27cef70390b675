//! Reads the skills of another hub as skills of one peer here.
//!
//! The other hub's `local/read_file` is `PEER/local.read_file` here. A peer's name has no dot, so the mapping back is unambiguous. Skills
//! of a hub about itself (`hub/…`) are not imported, because every hub has them. Skills that it imported from another hub are not imported
//! either, or two hubs that know each other would keep exchanging their own skills.

use std::collections::HashSet;

use interlingua_model::json::Tree;
use interlingua_model::{PeerId, Skill, SkillId, SkillKind};

use super::jar::TokenJar;
use crate::labels;
use crate::wire::{CONTROL, Message, Submessage};
use interlingua_wire::claims;

pub use interlingua_wire::hub_headers::IMPORTED;

/// How much of one hub is taken.
const MOST: usize = 1_000;
const EXAMPLES: usize = 16;

/// Asks what the other hub can do.
pub fn ask(jar: &TokenJar) -> Message {
    let first = Submessage::text("What can you do?");
    Message { messagetype: Some(CONTROL.into()), first, submessages: jar.all().cloned().collect() }
}

/// The skills in its answer. What cannot be read is left out; effects are as it claims them.
pub fn read(reply: &Message, peer: &PeerId, depth: usize) -> Vec<Skill> {
    let list = reply.all().find(|part| part.has_label(labels::SKILLS)).and_then(|part| part.content.as_json(depth));
    let Some(list) = list else { return Vec::new() };
    let mut names = HashSet::new();
    // Older hubs sent the list itself.
    let items = list.get("skills").unwrap_or(list.tree()).as_array().map(Vec::as_slice).unwrap_or_default();
    let skills = items.iter().filter_map(|item| skill(item, peer));
    skills.filter(|skill| names.insert(skill.id.clone())).take(MOST).collect()
}

/// The other hub's own name of a skill that was taken from it.
pub fn theirs(skill: &SkillId) -> Option<SkillId> {
    let (peer, name) = skill.skill.as_str().split_once('.')?;
    Some(SkillId::new(peer, name))
}

fn skill(item: &Tree, peer: &PeerId) -> Option<Skill> {
    let text = |key: &str| item.get(key).and_then(Tree::as_str).map(claims::text);
    let theirs: SkillId = item.get("skill")?.as_str()?.parse().ok()?;
    if theirs.peer.as_str() == "hub" || item.get(IMPORTED).and_then(Tree::as_bool) == Some(true) {
        return None;
    }
    let name = format!("{}.{}", theirs.peer, theirs.skill);
    if name.len() > claims::NAME || theirs.peer.as_str().contains('.') {
        return None;
    }
    let kind = match item.get("kind").and_then(Tree::as_str) {
        Some("agent") => SkillKind::Agent,
        Some("prompt") => SkillKind::Prompt,
        Some(_) | None => SkillKind::Tool,
    };
    let input = claims::schema(item.get("input")?)?;
    let mut skill = Skill::new(
        SkillId::new(peer.clone(), name),
        kind,
        text("description")?,
        input,
        claims::effects(item.get("effects")),
    );
    skill.title = text("title").unwrap_or_else(|| skill.title.clone());
    skill.version = text("version").map_or(skill.version, |version| version.as_ref().into());
    skill.output = item.get("output").and_then(claims::schema);
    skill.capability = text("capability");
    let examples = item.get("examples").and_then(Tree::as_array).map(Vec::as_slice).unwrap_or_default();
    skill.examples = examples.iter().filter_map(Tree::as_str).take(EXAMPLES).map(claims::text).collect();
    skill.tags = vec![IMPORTED.into()];
    Some(skill.sealed())
}
