//! Placement: selects the peer for a step, and says why. The peer has the required skill and memory, is connected, has capacity, and has
//! the least load.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::plan::Want;
use interlingua_model::id::{PeerId, Text};

/// The capability of a device with a graphics processor.
pub const GPU: &str = "gpu";

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
    /// How busy its processors are by its own account, 0 to 100; `None` where it said nothing, or too long ago.
    pub strain: Option<u8>,
    /// Free memory in MiB, by its own account.
    pub free_memory: Option<u64>,
    /// Is it a device? Why other peers were not chosen is no news to anybody.
    pub device: bool,
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
            strain: None,
            free_memory: None,
            device: false,
        }
    }
}

/// What a peer that says nothing is taken to have for strain.
const UNKNOWN_STRAIN: u8 = 50;
/// How many others a reason speaks of.
const OTHERS: usize = 3;

impl Candidate {
    fn has(&self, want: &Want) -> bool {
        self.lacks(want).is_none()
    }

    /// What it cannot do of what is wanted, in words that follow its name.
    fn lacks(&self, want: &Want) -> Option<String> {
        let Want::Any { capability, platform, memory } = want else { return None };
        if let Some(wanted) = capability.as_ref().filter(|wanted| !self.capabilities.contains(*wanted)) {
            let wanted = if &**wanted == GPU { "GPU" } else { &**wanted };
            return Some(format!("has no {wanted}"));
        }
        if let Some(wanted) = platform.as_ref().filter(|wanted| self.platform.as_ref() != Some(*wanted)) {
            return Some(format!("is not {wanted}"));
        }
        match (memory, self.free_memory) {
            (Some(_), None) => Some("does not report its free memory".to_owned()),
            (Some(wanted), Some(free)) if free < *wanted => Some(format!("has {} free", gibibytes(free))),
            (Some(_), Some(_)) | (None, _) => None,
        }
    }

    fn has_room(&self, given: u32) -> bool {
        self.available && self.busy.saturating_add(given) < self.capacity
    }

    /// Less is better: slow ones last, then by how much of it is taken and how hard it works, then by its free memory.
    fn cost(&self, given: u32) -> (bool, u64, Reverse<u64>) {
        let taken = u64::from(self.busy) + u64::from(given);
        let strain = u64::from(self.strain.unwrap_or(UNKNOWN_STRAIN).min(100));
        let cost = taken * 100 / u64::from(self.capacity.max(1)) + strain;
        (self.slow, cost, Reverse(self.free_memory.unwrap_or_default()))
    }

    /// What it reports, for people.
    fn report(&self) -> String {
        let strain = self.strain.map(|strain| format!("{strain} % CPU"));
        let memory = self.free_memory.map(|free| format!("{} free", gibibytes(free)));
        [strain, memory].into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// Why it was not chosen, in words that follow its name.
    fn against(&self, want: &Want, given: u32) -> String {
        let busy = || (!self.has_room(given)).then(|| if self.available { "is busy" } else { "is away" }.to_owned());
        let slow = || self.slow.then(|| "is slow".to_owned());
        let reports = || Some(self.report()).filter(|report| !report.is_empty()).map(|report| format!("has {report}"));
        let lacks = self.lacks(want).or_else(busy).or_else(slow).or_else(reports);
        lacks.unwrap_or_else(|| "reports no load".to_owned())
    }
}

/// MiB as people read them.
fn gibibytes(mebibytes: u64) -> String {
    let tenths = mebibytes.saturating_mul(10) / 1024;
    format!("{}.{} GiB", tenths / 10, tenths % 10)
}

/// Every peer that is known, here or not.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Peers {
    known: BTreeMap<PeerId, Candidate>,
    /// The hub has just started, and peers that are not known yet may still connect: nobody is said to be missing.
    pub gathering: bool,
}

impl Peers {
    pub fn insert(&mut self, peer: impl Into<PeerId>, candidate: Candidate) {
        self.known.insert(peer.into(), candidate);
    }

    pub fn remove(&mut self, peer: &PeerId) {
        self.known.remove(peer);
    }

    pub fn get_mut(&mut self, peer: &PeerId) -> Option<&mut Candidate> {
        self.known.get_mut(peer)
    }

    pub fn get(&self, peer: &PeerId) -> Option<&Candidate> {
        self.known.get(peer)
    }

    /// Who is to do it, when `given` tells how much each has from this graph.
    pub fn choose(&self, want: &Want, given: impl Fn(&PeerId) -> u32) -> Placed {
        match want {
            Want::Peer(peer) => match self.known.get(peer) {
                None => self.missing(),
                Some(candidate) if candidate.has_room(given(peer)) => Placed::With(peer.clone()),
                Some(_) => Placed::Later,
            },
            Want::Any { .. } => {
                let fit = || self.known.iter().filter(|(_, one)| one.has(want));
                let free = fit().filter(|(peer, one)| one.has_room(given(peer)));
                match free.min_by_key(|(peer, one)| one.cost(given(peer))) {
                    Some((peer, _)) => Placed::With(peer.clone()),
                    None if fit().next().is_some() => Placed::Later,
                    None => self.missing(),
                }
            }
        }
    }

    fn missing(&self) -> Placed {
        if self.gathering { Placed::Later } else { Placed::Nobody }
    }
}

impl Peers {
    /// Why this peer, where there was a choice: what it reports, and what spoke against other devices.
    pub fn why(&self, want: &Want, chosen: &PeerId, given: impl Fn(&PeerId) -> u32) -> Option<Text> {
        let one = match want {
            Want::Peer(_) => return None,
            Want::Any { .. } => self.known.get(chosen)?,
        };
        let mut why = format!("chosen: {chosen}");
        let report = one.report();
        if !report.is_empty() {
            why.push_str(&format!(", {report}"));
        }
        let others = self.known.iter().filter(|(peer, other)| other.device && *peer != chosen);
        for (peer, other) in others.take(OTHERS) {
            why.push_str(&format!("; {peer} {}", other.against(want, given(peer))));
        }
        Some(why.into())
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
        Peers { known: peers.into_iter().collect(), gathering: false }
    }
}
