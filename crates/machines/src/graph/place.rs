//! Placement: selects the peer for a step. The peer has the required skill, is connected, has capacity, and has the least load.

use std::collections::{BTreeMap, BTreeSet};

use super::plan::Want;
use interlingua_model::id::{PeerId, Text};

/// A peer that steps may be given to, as far as the choice depends on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    pub platform: Option<Text>,
    pub capabilities: BTreeSet<Text>,
    /// False while it is down or quarantined: its steps wait, until it is back or no longer known.
    pub available: bool,
    /// It answers, but late.
    pub slow: bool,
    /// How much others than this graph have given it to do.
    pub busy: u32,
    /// How many calls it takes at once.
    pub capacity: u32,
    /// How hard it works by its own account, 0 to 100.
    pub strain: u8,
}

impl Default for Candidate {
    fn default() -> Self {
        Candidate {
            platform: None,
            capabilities: BTreeSet::new(),
            available: true,
            slow: false,
            busy: 0,
            capacity: 1,
            strain: 0,
        }
    }
}

impl Candidate {
    fn has(&self, capability: Option<&Text>, platform: Option<&Text>) -> bool {
        capability.is_none_or(|wanted| self.capabilities.contains(wanted))
            && platform.is_none_or(|wanted| self.platform.as_ref() == Some(wanted))
    }

    fn has_room(&self, given: u32) -> bool {
        self.available && self.busy.saturating_add(given) < self.capacity
    }

    /// Less is better: slow ones last, then by how much of it is taken and how hard it works.
    fn cost(&self, given: u32) -> (bool, u64) {
        let taken = u64::from(self.busy) + u64::from(given);
        (self.slow, taken * 100 / u64::from(self.capacity.max(1)) + u64::from(self.strain.min(100)))
    }
}

/// Every peer that is known, here or not.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Peers(BTreeMap<PeerId, Candidate>);

impl Peers {
    pub fn insert(&mut self, peer: impl Into<PeerId>, candidate: Candidate) {
        self.0.insert(peer.into(), candidate);
    }

    pub fn remove(&mut self, peer: &PeerId) {
        self.0.remove(peer);
    }

    pub fn get_mut(&mut self, peer: &PeerId) -> Option<&mut Candidate> {
        self.0.get_mut(peer)
    }

    pub fn get(&self, peer: &PeerId) -> Option<&Candidate> {
        self.0.get(peer)
    }

    /// Who is to do it, when `given` tells how much each has from this graph.
    pub fn choose(&self, want: &Want, given: impl Fn(&PeerId) -> u32) -> Placed {
        match want {
            Want::Peer(peer) => match self.0.get(peer) {
                None => Placed::Nobody,
                Some(candidate) if candidate.has_room(given(peer)) => Placed::With(peer.clone()),
                Some(_) => Placed::Later,
            },
            Want::Any { capability, platform } => {
                let fit = || self.0.iter().filter(|(_, one)| one.has(capability.as_ref(), platform.as_ref()));
                let free = fit().filter(|(peer, one)| one.has_room(given(peer)));
                match free.min_by_key(|(peer, one)| one.cost(given(peer))) {
                    Some((peer, _)) => Placed::With(peer.clone()),
                    None if fit().next().is_some() => Placed::Later,
                    None => Placed::Nobody,
                }
            }
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Placed {
    With(PeerId),
    /// Those who could are busy or away.
    Later,
    /// No peer that is known could ever do it.
    Nobody,
}

impl FromIterator<(PeerId, Candidate)> for Peers {
    fn from_iter<I: IntoIterator<Item = (PeerId, Candidate)>>(peers: I) -> Peers {
        Peers(peers.into_iter().collect())
    }
}
