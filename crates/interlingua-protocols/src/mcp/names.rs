//! What the tools and prompts of many peers are called, and whose they are; and addresses of their resources.
//!
//! A table is made of all skills and looked up whole: a name is never split, because `__` may be part of either piece of it
//! (M-22). Names have at most 64 letters of `[A-Za-z0-9_-]`, which is what models take; one that is too long, or that two
//! skills would share, ends in letters of its digest. They do not depend on what else is registered, except where two
//! would be equal.
//!
//! Prefixed names are `peer__skill`; `mcp__peer__skill` means the same, and `mcp__skill` where it is the only one. Bare names
//! are the skill's own, and one that two peers have is refused with a text that says so.

use std::collections::HashMap;

use interlingua_core::{Digest, Fault, FaultKind, Noun, SkillId, Text};

use super::definition::server_name;

/// As many letters as models take in a tool's name.
pub const MAX_NAME: usize = 64;
/// As many letters as the protocol allows.
const MAX_BARE: usize = 128;
/// Letters of the digest at the end of a name that had to be changed.
const SUFFIX: usize = 8;

/// How names are made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Mode {
    #[default]
    Prefixed,
    Bare,
}

/// The names of one kind of skills: tools, or prompts.
#[derive(Debug, Clone, Default)]
pub struct Table {
    by_name: HashMap<Text, SkillId>,
    by_skill: HashMap<SkillId, Text>,
    /// Other spellings; `None`: several claim it.
    short: HashMap<Text, Option<SkillId>>,
    /// For bare names that several have.
    long: Option<Box<Table>>,
}

impl Table {
    /// The order of `skills` decides who keeps a name that two would have; give it sorted.
    pub fn build<'a>(mode: Mode, skills: impl IntoIterator<Item = &'a SkillId> + Clone) -> Table {
        let long = (mode == Mode::Bare).then(|| Box::new(Table::build(Mode::Prefixed, skills.clone())));
        let mut table = Table { long, ..Table::default() };
        for id in skills {
            let own = server_name(&id.skill);
            let (name, others) = match mode {
                Mode::Prefixed => {
                    let name = prefixed(id);
                    let others = vec![format!("mcp__{name}"), format!("mcp__{own}")];
                    (name, others)
                }
                // The bare name itself is among its spellings, so that two claims on it are noticed.
                Mode::Bare => (bare(id), vec![bare(id), format!("mcp__{own}")]),
            };
            for other in others {
                table.short.entry(other.into()).and_modify(|claim| *claim = None).or_insert_with(|| Some(id.clone()));
            }
            let name: Text = if table.by_name.contains_key(&*name) { suffixed(&name, id) } else { name }.into();
            table.by_name.insert(name.clone(), id.clone());
            table.by_skill.insert(id.clone(), name);
        }
        table
    }

    /// What a skill is called. A bare name that several have is told with its peer's.
    pub fn name(&self, skill: &SkillId) -> Option<Text> {
        match &self.long {
            Some(long) if matches!(self.short.get(&*bare(skill)), Some(None)) => long.name(skill),
            Some(_) | None => self.by_skill.get(skill).cloned(),
        }
    }

    /// The skill of this name.
    pub fn skill(&self, name: &str) -> Result<&SkillId, Fault> {
        let several = self.long.is_some() && matches!(self.short.get(name), Some(None));
        if several {
            let text = format!("several peers have '{}': spell it with its peer, as it is listed", shown(name));
            return Err(Fault::caller(FaultKind::NotFound(Noun::Skill), text));
        }
        let found = self.by_name.get(name).or_else(|| self.short.get(name).and_then(Option::as_ref));
        match (found, &self.long) {
            (Some(id), _) => Ok(id),
            (None, Some(long)) => long.skill(name),
            (None, None) => {
                Err(Fault::caller(FaultKind::NotFound(Noun::Skill), format!("Unknown tool: {}", shown(name))))
            }
        }
    }
}

/// A name somebody else gave, short enough to repeat.
fn shown(name: &str) -> String {
    name.chars().take(MAX_NAME).collect()
}

/// `peer__skill`.
fn prefixed(id: &SkillId) -> String {
    let name = format!("{}__{}", id.peer, server_name(&id.skill));
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    fitted(&name, id, MAX_NAME, allowed)
}

/// The server's own name, as the protocol allows it.
fn bare(id: &SkillId) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    fitted(server_name(&id.skill), id, MAX_BARE, allowed)
}

/// Only letters that are allowed, and not too many. What had to be changed ends in letters of its digest, so that two
/// names stay two.
fn fitted(name: &str, id: &SkillId, max: usize, allowed: impl Fn(char) -> bool) -> String {
    if name.len() <= max && !name.is_empty() && name.chars().all(&allowed) {
        return name.to_owned();
    }
    let clean: String = name.chars().map(|c| if allowed(c) { c } else { '_' }).collect();
    suffixed(&clean, id)
}

/// `name` is ASCII.
fn suffixed(name: &str, id: &SkillId) -> String {
    let digest = Digest::of(id.to_string().as_bytes()).to_string();
    let head = &name[..name.len().min(MAX_NAME - SUFFIX - 1)];
    format!("{head}_{}", &digest[..SUFFIX])
}

/// What addresses of peers' resources begin with.
const PEERS: &str = "interlingua://peers/";

/// A peer's address as the hub's clients read it. The peer's own follows as it is, so that opaque ones and templates stay
/// what they were.
pub fn outward(peer: &str, uri: &str) -> String {
    format!("{PEERS}{peer}/{uri}")
}

/// Whose address it is, and as that peer knows it.
pub fn inward(uri: &str) -> Option<(&str, &str)> {
    uri.strip_prefix(PEERS)?.split_once('/').filter(|(peer, uri)| !peer.is_empty() && !uri.is_empty())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ids(pairs: &[(&str, &str)]) -> Vec<SkillId> {
        pairs.iter().map(|(peer, skill)| SkillId::new(*peer, *skill)).collect()
    }

    #[test]
    fn m_20_names_are_peer_and_skill_and_other_spellings_mean_the_same() {
        let skills = ids(&[("files", "read"), ("search", "find"), ("web", "read")]);
        let table = Table::build(Mode::Prefixed, &skills);
        assert_eq!(table.name(&skills[1]).as_deref(), Some("search__find"));
        for name in ["search__find", "mcp__search__find", "mcp__find"] {
            assert_eq!(table.skill(name), Ok(&skills[1]), "{name}");
        }
        assert!(table.skill("mcp__read").is_err(), "two have it");
        assert!(table.skill("find").is_err(), "no bare names here");
    }

    #[test]
    fn m_21_a_bare_name_that_two_have_is_refused_and_each_is_listed_with_its_peer() {
        let skills = ids(&[("a", "read"), ("b", "read"), ("b", "write")]);
        let table = Table::build(Mode::Bare, &skills);
        assert_eq!(table.skill("write"), Ok(&skills[2]));
        let fault = table.skill("read").expect_err("ambiguous");
        assert!(fault.public.contains("several peers"), "{}", fault.public);
        for skill in &skills[..2] {
            let name = table.name(skill).expect("listed");
            assert_eq!(table.skill(&name), Ok(skill));
        }
        assert_eq!(table.name(&skills[2]).as_deref(), Some("write"));
    }

    #[test]
    fn m_22_underscores_in_names_of_peers_do_not_mislead() {
        let skills = ids(&[("a", "b__c"), ("a__b", "c")]);
        let table = Table::build(Mode::Prefixed, &skills);
        let names: Vec<Text> = skills.iter().map(|skill| table.name(skill).expect("named")).collect();
        assert_ne!(names[0], names[1]);
        for (name, skill) in names.iter().zip(&skills) {
            assert_eq!(table.skill(name), Ok(skill));
        }
    }

    #[test]
    fn m_23_addresses_come_back_as_they_were() {
        for uri in ["file:///a b", "urn:isbn:1", "test://x/{id}/data", "mailto:a@b", "a?b#c", "interlingua://peers/x/y"]
        {
            let out = outward("p_1", uri);
            assert_eq!(inward(&out), Some(("p_1", uri)));
        }
        assert_eq!(inward("file:///a"), None);
    }

    proptest! {
        #[test]
        fn m_20_every_name_is_short_clean_unique_and_leads_back(
            pairs in prop::collection::btree_set(("[a-z_]{1,40}", "[A-Za-z0-9_.é -]{1,60}"), 1..40),
            bare in any::<bool>(),
        ) {
            let skills: Vec<SkillId> = pairs.iter().map(|(peer, skill)| SkillId::new(peer.as_str(), skill.as_str())).collect();
            let table = Table::build(if bare { Mode::Bare } else { Mode::Prefixed }, &skills);
            for skill in &skills {
                let name = table.name(skill).expect("named");
                prop_assert!(name.len() <= MAX_NAME && !name.is_empty());
                let clean = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-' || (bare && b == b'.');
                prop_assert!(name.bytes().all(clean));
                prop_assert_eq!(table.skill(&name).ok(), Some(skill), "{}", name);
            }
        }
    }
}
