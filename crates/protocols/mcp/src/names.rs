//! Tool namespacing: names of the tools and prompts of many peers, and addresses of their resources.
//!
//! One table holds every spelling of every skill, and names are looked up whole: a name is never split, because `__` may be part of either
//! piece of it (M-22). A spelling that two skills claim belongs to neither, so that no peer can take over the name of another's skill.
//! Names have at most 64 characters of `[A-Za-z0-9_-]`, which is what models accept; one that is too long, or that two skills would share,
//! ends in characters of its digest. Names do not depend on what else is registered, except where two would be equal.
//!
//! Prefixed names are `peer__skill`; `mcp__peer__skill` means the same, and `mcp__skill` where it is the only one. Bare names are the
//! skill's own. One that two peers have, or that looks like a prefixed one among several peers, is listed with its peer's, and a call of an
//! ambiguous name is refused with a text that says so.

use std::collections::HashMap;

use interlingua_model::{Digest, Fault, FaultKind, Noun, SkillId, SkillName, Text};

/// Names of prompts stand apart from those of tools: a server may use one name for both. No tool's name has a colon.
const PROMPT: &str = "prompt:";

/// The skill behind a prompt of this name.
pub fn prompt_skill(name: &str) -> SkillName {
    SkillName::from(format!("{PROMPT}{name}"))
}

/// The name by which its server knows a skill.
pub fn server_name(skill: &SkillName) -> &str {
    skill.as_str().strip_prefix(PROMPT).unwrap_or(skill.as_str())
}

/// What addresses of artifacts begin with.
pub const ARTIFACTS: &str = "interlingua://artifacts/";

/// As many letters as models take in a tool's name.
pub const MAX_NAME: usize = 64;
/// As many letters as the protocol allows.
const MAX_BARE: usize = 128;
/// Letters of the digest at the end of a name that had to be changed.
const SUFFIX: usize = 8;
/// As many where the name is claimed by two even so. No name that a peer chose ends like these.
const LONGER: [usize; 2] = [16, 32];
/// What all other spellings begin with.
const SERVED: &str = "mcp__";

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
    /// Every spelling, and whose it is; `None`: several claim it.
    spellings: HashMap<Text, Option<SkillId>>,
    by_skill: HashMap<SkillId, Text>,
}

impl Table {
    pub fn build<'a>(mode: Mode, skills: impl IntoIterator<Item = &'a SkillId>) -> Table {
        let skills: Vec<&SkillId> = skills.into_iter().collect();
        let alone = skills.windows(2).all(|two| two[0].peer == two[1].peer);
        let mut table = Table::default();
        for id in &skills {
            for spelling in listed(mode, alone, id).into_iter().chain(others(id)) {
                table.claim(spelling, id);
            }
        }
        let mut unnamed = table.settle(&skills, |id| listed(mode, alone, id));
        for letters in LONGER {
            let longer = |id: &SkillId| vec![suffixed(&whole(id), id, letters)];
            for id in &unnamed {
                longer(id).into_iter().for_each(|spelling| table.claim(spelling, id));
            }
            unnamed = table.settle(&unnamed, longer);
        }
        table
    }

    fn claim(&mut self, spelling: String, id: &SkillId) {
        let holder = self.spellings.entry(spelling.into()).or_insert_with(|| Some(id.clone()));
        if holder.as_ref().is_some_and(|holder| holder != id) {
            *holder = None;
        }
    }

    /// Gives each the first of these spellings that is its alone, and returns those that have none.
    fn settle<'a>(&mut self, skills: &[&'a SkillId], wanted: impl Fn(&SkillId) -> Vec<String>) -> Vec<&'a SkillId> {
        let mut unnamed = Vec::new();
        for id in skills {
            let own = |name: &String| self.spellings.get(name.as_str()).and_then(Option::as_ref) == Some(*id);
            match wanted(id).into_iter().find(own) {
                Some(name) => drop(self.by_skill.insert((*id).clone(), name.into())),
                None => unnamed.push(*id),
            }
        }
        unnamed
    }

    /// What a skill is called. A bare name that several have is told with its peer's.
    pub fn name(&self, skill: &SkillId) -> Option<Text> {
        self.by_skill.get(skill).cloned()
    }

    /// Does any skill claim this name, alone or with others?
    pub fn is_claimed(&self, name: &str) -> bool {
        self.spellings.contains_key(name)
    }

    /// The skill of this name.
    pub fn skill(&self, name: &str) -> Result<&SkillId, Fault> {
        let text = match self.spellings.get(name) {
            Some(Some(id)) => return Ok(id),
            Some(None) => format!("several peers have '{}': spell it with its peer, as it is listed", shown(name)),
            None => format!("Unknown tool: {}", shown(name)),
        };
        Err(Fault::caller(FaultKind::NotFound(Noun::Skill), text))
    }
}

/// The names under which a skill may be listed, the best first. Among several peers a name with `__` would read as another
/// peer's, so it is no bare name there.
fn listed(mode: Mode, alone: bool, id: &SkillId) -> Vec<String> {
    match mode {
        Mode::Bare if alone || !server_name(&id.skill).contains("__") => vec![bare(id), prefixed(id)],
        Mode::Bare | Mode::Prefixed => vec![prefixed(id)],
    }
}

/// What it may be called besides. The short spelling of a name with `__` would read as the long one of another peer's skill.
fn others(id: &SkillId) -> Vec<String> {
    let own = server_name(&id.skill);
    let mut others = vec![format!("{SERVED}{}", prefixed(id))];
    if !own.contains("__") && !is_longer(own) {
        others.push(format!("{SERVED}{own}"));
    }
    others
}

/// A name somebody else gave, short enough to repeat.
fn shown(name: &str) -> String {
    name.chars().take(MAX_NAME).collect()
}

/// `peer__skill`.
fn prefixed(id: &SkillId) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    fitted(&whole(id), id, MAX_NAME, allowed)
}

/// `peer__skill`, whatever its letters.
fn whole(id: &SkillId) -> String {
    format!("{}__{}", id.peer, server_name(&id.skill))
}

/// The server's own name, as the protocol allows it.
fn bare(id: &SkillId) -> String {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    fitted(server_name(&id.skill), id, MAX_BARE, allowed)
}

/// Only letters that are allowed, and not too many. What had to be changed ends in letters of its digest, so that two
/// names stay two.
fn fitted(name: &str, id: &SkillId, max: usize, allowed: impl Fn(char) -> bool) -> String {
    if name.len() <= max && !name.is_empty() && name.chars().all(&allowed) && !is_longer(name) {
        return name.to_owned();
    }
    suffixed(name, id, SUFFIX)
}

/// Does it end as only names do that two claimed?
fn is_longer(name: &str) -> bool {
    let hex = |c: char| matches!(c, '0'..='9' | 'a'..='f');
    name.rsplit_once('_').is_some_and(|(_, end)| LONGER.contains(&end.len()) && end.chars().all(hex))
}

fn suffixed(name: &str, id: &SkillId, letters: usize) -> String {
    let digest = Digest::of(id.to_string().as_bytes()).to_string();
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' };
    let head: String = name.chars().map(plain).take(MAX_NAME - letters - 1).collect();
    format!("{head}_{}", &digest[..letters])
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
    fn m_20_a_name_that_is_too_long_ends_in_a_hash_that_depends_on_nothing_else() {
        let long = format!("find_{}", "rooms_".repeat(20));
        let (one, other) = (ids(&[("hotels", &long)]), ids(&[("hotels", &format!("{long}2"))]));
        let alone = Table::build(Mode::Prefixed, &one).name(&one[0]).expect("named");
        assert!(alone.len() <= 64 && MAX_NAME == 64 && alone.starts_with("hotels__find_rooms_"), "{alone}");
        let all = [one.clone(), other.clone(), ids(&[("a", "b"), ("hotels", "find")])].concat();
        let table = Table::build(Mode::Prefixed, &all);
        assert_eq!(table.name(&one[0]), Some(alone.clone()), "the same beside others");
        assert_ne!(table.name(&other[0]), Some(alone));
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

    #[test]
    fn m_21_no_peer_takes_a_name_by_which_another_is_called() {
        let skills =
            ids(&[("evil", "local__write_file"), ("evil", "write_file"), ("local", "write_file"), ("mcp", "x")]);
        let table = Table::build(Mode::Bare, &skills);
        let names: Vec<Text> = skills.iter().map(|skill| table.name(skill).expect("named")).collect();
        assert_eq!(
            names.iter().map(|name| &**name).collect::<Vec<_>>(),
            ["evil__local__write_file", "evil__write_file", "local__write_file", "x"]
        );
        assert_eq!(table.skill("local__write_file"), Ok(&skills[2]));
        assert_eq!(table.skill("mcp__local__write_file"), Ok(&skills[2]));
        // One server alone is as it was written.
        let own = ids(&[("evil", "local__write_file"), ("evil", "write_file")]);
        let table = Table::build(Mode::Bare, &own);
        assert_eq!(table.name(&own[0]).as_deref(), Some("local__write_file"));
    }

    /// Names made to be taken for others.
    fn meant_to_mislead() -> impl Strategy<Value = (String, String)> {
        let peer = prop::sample::select(vec!["a", "b", "a_b", "mcp", "hub", "mcp-a"]);
        let piece = prop::sample::select(vec!["a", "b", "mcp", "hub", "x", "", "_", "é", "x.y", "2d711642b726b044"]);
        let skill = prop::collection::vec(piece, 1..4).prop_map(|pieces| pieces.join("__"));
        (peer.prop_map(str::to_owned), skill.prop_filter("a name", |name| !name.is_empty()))
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

        #[test]
        fn m_20_no_two_skills_share_a_spelling_whatever_their_names(
            pairs in prop::collection::btree_set(meant_to_mislead(), 1..30),
            bare in any::<bool>(),
        ) {
            let skills: Vec<SkillId> = pairs.iter().map(|(peer, skill)| SkillId::new(peer.as_str(), skill.as_str())).collect();
            let table = Table::build(if bare { Mode::Bare } else { Mode::Prefixed }, &skills);
            let mut names = std::collections::HashSet::new();
            for skill in &skills {
                let name = table.name(skill).expect("named");
                prop_assert_eq!(table.skill(&name).ok(), Some(skill), "{}", name);
                prop_assert!(names.insert(name.clone()), "{} is there twice", name);
                // Whoever's name stands before a `__` of it, it is the skill of that peer.
                let named = skills.iter().map(|skill| &skill.peer).filter(|peer| name.starts_with(&format!("{peer}__")));
                let several = skills.iter().any(|other| other.peer != skill.peer);
                for peer in named {
                    prop_assert!(!several || *peer == skill.peer, "{} of {} reads as {}'s", name, skill, peer);
                }
            }
        }
    }
}
