//! Instructions for a client's model about the part of the hub that it sees (prompt injection).
//!
//! A model obeys its instructions, so nothing in them comes from a peer: they name peers by their configured names, and contain neither
//! descriptions of peers nor names that devices and agents chose themselves.

use std::collections::BTreeSet;

use crate::names::Mode;
use interlingua_model::{Health, PeerId, Principal, SkillId};

use super::listing::Listing;
use super::own::{SEARCH, Shown};
use super::{Scope, Settings};
use interlingua_hub::Hub;

/// How many peers are named.
const MAX_NAMED: usize = 20;

const HUB: &str = "Interlingua is a hub: it connects tools, agents, devices and websites of many protocols";

impl Listing {
    /// In the name of whoever asks: what they may not see is not spoken of.
    pub(super) fn instructions(&self, hub: &Hub, by: &Principal, settings: &Settings) -> String {
        let what = match (&self.scope, self.mode) {
            (Scope::All, Mode::Prefixed) => {
                ", and the name of each tool begins with the peer that has it: `PEER__TOOL`."
            }
            (Scope::All, Mode::Bare) => ", and each tool belongs to one of these peers.",
            (Scope::View(_), _) => ", and these tools are the part of them that was chosen here.",
            (Scope::Peer(_), _) => ", and these tools are those of one peer, under their own names.",
        };
        let mut text = format!("{HUB}{what}");
        if !matches!(self.scope, Scope::Peer(_)) {
            add_peers(&self.peers_up(hub, by, settings), &mut text);
        }
        if self.shown(hub, by, settings) == Shown::Search {
            let [find, call] =
                SEARCH.map(|(peer, skill)| self.tool_names.name(&SkillId::new(peer, skill)).unwrap_or_default());
            text += &format!(
                " There are more tools than are listed: search them with `{find}`, then call the one you chose with `{call}`."
            );
        }
        text
    }

    /// The peers of the configuration that are up, as far as this list shows them to this principal under their own names.
    fn peers_up(&self, hub: &Hub, by: &Principal, settings: &Settings) -> BTreeSet<PeerId> {
        let visible = hub.visible(by);
        let is_up = |peer: &PeerId| {
            hub.health_of(peer).is_some_and(|health| match health {
                Health::Up | Health::Slow => true,
                Health::Starting | Health::Down { .. } => false,
            })
        };
        let mut up = BTreeSet::new();
        for entry in self.entries().filter(|entry| !self.renamed.contains_key(&entry.key)) {
            let peer = &entry.skill.id.peer;
            if settings.named.contains(peer) && !up.contains(peer) && is_up(peer) && visible.lists(&entry.skill) {
                up.insert(peer.clone());
            }
        }
        up
    }
}

fn add_peers(up: &BTreeSet<PeerId>, text: &mut String) {
    if up.is_empty() {
        return;
    }
    let names: Vec<&str> = up.iter().take(MAX_NAMED).map(PeerId::as_str).collect();
    *text += &format!(" Connected now: {}", names.join(", "));
    if let Some(more) = up.len().checked_sub(MAX_NAMED).filter(|more| *more > 0) {
        *text += &format!(" and {more} more");
    }
    text.push('.');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_peers_are_counted_and_not_all_named() {
        let named = |count: usize| {
            let peers = (0..count).map(|n| PeerId::from(format!("peer{n:03}"))).collect();
            let mut text = String::from("A hub.");
            add_peers(&peers, &mut text);
            text
        };
        assert_eq!(named(0), "A hub.");
        assert_eq!(named(2), "A hub. Connected now: peer000, peer001.");
        assert!(named(MAX_NAMED).ends_with("peer019."), "{}", named(MAX_NAMED));
        assert!(named(10_000).ends_with("peer019 and 9980 more."), "{}", named(10_000));
    }
}
