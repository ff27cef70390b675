//! Copy-on-write catalogue: peers and their skills, immutable and replaced whole. Readers never wait for a writer.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use arc_swap::ArcSwap;
use interlingua_machines::words::Matcher;
use interlingua_model::peer::Peer;
use interlingua_model::{
    Card, CardFrom, Digest, Effects, Fault, FaultKind, Health, Json, Kinds, PeerId, Schema, Skill, SkillId, SkillKind,
    Text, Version,
};

use super::reserved;
use super::validate::Schemas;

/// Bounds on the catalogue.
pub(crate) const MAX_PEERS: usize = 10_000;
pub(crate) const MAX_SKILLS: usize = 100_000;
/// How many problems of one peer are kept.
const MAX_PROBLEMS: usize = 100;

/// One change of a batch.
pub enum Change {
    /// Adds a peer or replaces it whole.
    Put(Box<Card>, Arc<dyn Peer>),
    /// Removes a peer.
    Remove(PeerId),
}

impl std::fmt::Debug for Change {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Change::Put(card, _) => f.debug_tuple("Put").field(&card.peer).finish(),
            Change::Remove(peer) => f.debug_tuple("Remove").field(peer).finish(),
        }
    }
}

/// A registered peer, and its card.
#[derive(Clone)]
pub struct Registered {
    /// What it says of itself, with what the configuration overrides.
    pub card: Arc<Card>,
    /// How it is called.
    pub peer: Arc<dyn Peer>,
    /// What an operator should mend, though the peer can be called.
    pub problems: Arc<[Text]>,
    /// Of these, skills of its card that cannot be called, and phrases that mean none of them. They stay problems for as long
    /// as the card does.
    closed: Arc<[Text]>,
    /// Made for the first who reads: most peers have nothing to read.
    readers: OnceLock<Readers>,
}

/// Under which skill a read of a resource is decided, counted and written down. It is in no list: a resource is.
#[derive(Clone)]
struct Readers {
    own: Arc<Skill>,
    public: Arc<Skill>,
}

/// The name of the skill that a read of a resource counts as.
pub const READ_RESOURCE: &str = "read_resource";

impl Readers {
    fn of(peer: &PeerId) -> Readers {
        let input = Schema(Json::empty_object());
        let effects = Effects::reads_only(CardFrom::Configuration);
        let id = SkillId::new(peer.as_str(), READ_RESOURCE);
        let own = Skill::new(id, SkillKind::Tool, "Reads a resource", input, effects);
        Readers { public: Arc::new(Skill { public: true, ..own.clone() }), own: Arc::new(own) }
    }
}

impl Registered {
    fn new(mut card: Card, peer: Arc<dyn Peer>, schemas: &Schemas) -> Registered {
        let closed = schemas.close(&mut card);
        let closed: Arc<[Text]> = closed.into_iter().chain(left_out(&mut card)).take(MAX_PROBLEMS).collect();
        Registered { card: Arc::new(card), peer, problems: closed.clone(), closed, readers: OnceLock::new() }
    }

    /// The skill that a read of this resource counts as; `None` if the peer offers no resources. A peer may know more resources than it
    /// lists.
    pub fn reader(&self, uri: &str) -> Option<&Arc<Skill>> {
        let resources = &self.card.resources;
        let public = resources.iter().any(|resource| resource.public && resource.covers(uri));
        if resources.is_empty() {
            return None;
        }
        let readers = self.readers.get_or_init(|| Readers::of(&self.card.peer));
        Some(if public { &readers.public } else { &readers.own })
    }
}

/// Takes the phrases off a card that its skills cannot have, such as one with a slot that is no argument, and says why of each. One that
/// claims a sentence of the hub's own stays for what else it says.
fn left_out(card: &mut Card) -> Vec<Text> {
    let mut said = Vec::new();
    for skill in card.skills.iter_mut().filter(|skill| !skill.phrases.is_empty()) {
        let (matcher, problems) = Matcher::compile([&*skill]);
        for (pattern, sentence) in reserved::claimed(&matcher).into_iter().filter(|_| !reserved::answers(&skill.id)) {
            tracing::warn!(event = "phrase_reserved", peer = %card.peer, skill = %skill.id, %pattern, sentence, "a phrase matches a sentence that the hub answers itself");
            said.push(format!("phrase `{pattern}` of {}: the hub answers `{sentence}` itself", skill.id).into());
        }
        skill.phrases.retain(|phrase| problems.iter().all(|problem| problem.pattern != phrase.pattern));
        for problem in problems {
            tracing::warn!(event = "phrase_left_out", peer = %card.peer, skill = %skill.id, %problem, "a phrase does not fit its skill and is left out");
            said.push(format!("{problem}; it is left out").into());
        }
    }
    said
}

impl std::fmt::Debug for Registered {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Registered").field("peer", &self.card.peer).finish_non_exhaustive()
    }
}

/// All peers and skills at one moment.
#[derive(Debug, Default)]
pub struct Catalogue {
    /// Rises with every change.
    pub generation: u64,
    /// All peers by name.
    pub peers: BTreeMap<PeerId, Registered>,
    /// Versions side by side, newest first.
    pub skills: BTreeMap<SkillId, Vec<Arc<Skill>>>,
    /// Phrases of all skills, compiled.
    pub matcher: Matcher,
}

impl Catalogue {
    /// The skill under this name, in this version or the newest.
    pub fn skill(&self, id: &SkillId, version: Option<&Version>) -> Option<&Arc<Skill>> {
        let versions = self.skills.get(id)?;
        match version {
            None => versions.first(),
            Some(version) => versions.iter().find(|skill| skill.version == *version),
        }
    }

    /// Newest version of every skill, in order of name.
    pub fn newest(&self) -> impl Iterator<Item = &Arc<Skill>> {
        self.skills.values().filter_map(|versions| versions.first())
    }

    /// The same of one peer.
    pub fn newest_of(&self, peer: &PeerId) -> impl Iterator<Item = &Arc<Skill>> {
        let first = SkillId::new(peer.clone(), "");
        let own = move |(id, _): &(&SkillId, &Vec<Arc<Skill>>)| id.peer == first.peer;
        self.skills.range(SkillId::new(peer.clone(), "")..).take_while(own).filter_map(|(_, versions)| versions.first())
    }

    fn rebuilt(mut self) -> Catalogue {
        self.generation += 1;
        self.skills.clear();
        for registered in self.peers.values() {
            for skill in &registered.card.skills {
                self.skills.entry(skill.id.clone()).or_default().push(Arc::new(skill.clone()));
            }
        }
        for versions in self.skills.values_mut() {
            versions.sort_by(|a, b| newer_first(&a.version, &b.version));
        }
        let (matcher, problems) = Matcher::compile(self.skills.values().filter_map(|v| v.first()).map(|s| &**s));
        for problem in problems {
            tracing::warn!(event = "phrase_left_out", %problem, "a phrase does not fit its skill and is left out");
        }
        self.matcher = matcher;
        self
    }
}

/// Compares version texts by their numbers, then as text.
fn newer_first(a: &str, b: &str) -> std::cmp::Ordering {
    let numbers = |text: &str| -> Vec<u64> {
        text.split(|c: char| !c.is_ascii_digit())
            .filter(|run| !run.is_empty())
            .filter_map(|run| run.parse().ok())
            .collect()
    };
    numbers(b).cmp(&numbers(a)).then_with(|| b.cmp(a))
}

/// The peers of the hub. Readers get a snapshot; writers replace it whole.
#[derive(Debug, Default)]
pub struct Registry {
    current: ArcSwap<Catalogue>,
    /// One writer at a time; held only while a new catalogue is built.
    writing: Mutex<()>,
    pub(super) schemas: Schemas,
}

impl Registry {
    /// The snapshot now.
    pub fn catalogue(&self) -> Arc<Catalogue> {
        self.current.load_full()
    }

    /// Adds a peer or replaces it whole; returns how the lists have changed.
    pub fn register(&self, card: Card, peer: Arc<dyn Peer>) -> Result<Kinds, Fault> {
        let mut changed = Kinds::default();
        let registered = Registered::new(card, peer, &self.schemas);
        self.change(|peers| {
            let old = peers.get(&registered.card.peer).map(|old| old.card.clone());
            changed = differences(old.as_deref(), Some(&registered.card));
            peers.insert(registered.card.peer.clone(), registered);
        })?;
        Ok(changed)
    }

    /// `None`: there was no such peer.
    pub(crate) fn unregister(&self, peer: &PeerId) -> Result<Option<Kinds>, Fault> {
        let mut removed = None;
        self.change(|peers| removed = peers.remove(peer))?;
        Ok(removed.map(|old| differences(Some(&old.card), None)))
    }

    /// Many changes for the price of one; what each peer now lists otherwise than before.
    pub(crate) fn apply(&self, changes: Vec<Change>) -> Result<Vec<(PeerId, Kinds)>, Fault> {
        let mut changed = Vec::with_capacity(changes.len());
        let read = |change| match change {
            Change::Put(card, peer) => (card.peer.clone(), Some(Registered::new(*card, peer, &self.schemas))),
            Change::Remove(id) => (id, None),
        };
        let changes: Vec<(PeerId, Option<Registered>)> = changes.into_iter().map(read).collect();
        self.change(|peers| {
            for (id, new) in changes {
                let card = new.as_ref().map(|new| new.card.clone());
                let old = match new {
                    Some(new) => peers.insert(id.clone(), new),
                    None => peers.remove(&id),
                };
                let (old, new) = (old.map(|old| old.card), card);
                changed.push((id, differences(old.as_deref(), new.as_deref())));
            }
        })?;
        Ok(changed)
    }

    pub(crate) fn set_health(&self, peer: &PeerId, health: Health) -> Result<(), Fault> {
        self.change(|peers| {
            if let Some(registered) = peers.get_mut(peer) {
                let card = Card { health, ..(*registered.card).clone() };
                registered.card = Arc::new(card);
            }
        })
    }

    /// Until the peer is registered again.
    pub(crate) fn set_problems(&self, peer: &PeerId, problems: impl Iterator<Item = Text>) -> Result<(), Fault> {
        self.change(|peers| {
            if let Some(registered) = peers.get_mut(peer) {
                registered.problems = registered.closed.iter().cloned().chain(problems).take(MAX_PROBLEMS).collect();
            }
        })
    }

    fn change(&self, edit: impl FnOnce(&mut BTreeMap<PeerId, Registered>)) -> Result<(), Fault> {
        let _one = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let old = self.current.load();
        let mut peers = old.peers.clone();
        edit(&mut peers);
        let skills: usize = peers.values().map(|registered| registered.card.skills.len()).sum();
        if peers.len() > MAX_PEERS || skills > MAX_SKILLS {
            return Err(Fault::hub(FaultKind::Busy, "the registry is full"));
        }
        let next = Catalogue { generation: old.generation, peers, ..Catalogue::default() }.rebuilt();
        self.current.store(Arc::new(next));
        Ok(())
    }
}

/// Which lists differ between the old card and the new one. A peer that is added or removed changes the list of tools even if it has none:
/// which tools of the hub itself are listed depends on whether there are peers.
fn differences(old: Option<&Card>, new: Option<&Card>) -> Kinds {
    let differ = |wanted: fn(&Skill) -> bool| {
        let skills = |card: Option<&Card>| -> Vec<(SkillId, Digest)> {
            let skills = card.map(|card| &*card.skills).unwrap_or_default();
            skills.iter().filter(|skill| wanted(skill)).map(|skill| (skill.id.clone(), skill.digest)).collect()
        };
        skills(old) != skills(new)
    };
    let resources = |card: Option<&Card>| card.map(|card| card.resources.clone()).unwrap_or_default();
    Kinds {
        tools: old.is_some() != new.is_some() || differ(|skill| skill.kind != SkillKind::Prompt),
        prompts: differ(|skill| skill.kind == SkillKind::Prompt),
        resources: resources(old) != resources(new),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_ordered_by_their_numbers() {
        let mut versions = ["1.2", "1.10", "1.9", "2"];
        versions.sort_by(|a, b| newer_first(a, b));
        assert_eq!(versions, ["2", "1.10", "1.9", "1.2"]);
    }
}
