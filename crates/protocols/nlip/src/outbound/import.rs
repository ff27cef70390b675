//! Imports the skills of a peer that is a hub, over NLIP: when the peer is registered, and from time to time after that.
//!
//! The peer's claims may add effects to a skill; only configuration removes any (`effects`, `trust_hints`). If the peer is unreachable, its
//! last card stays.

use std::sync::Arc;
use std::time::Duration;

use crate::client::{TokenJar, skills};
use interlingua_model::{Card, Fault, FaultKind, Principal, Proof, Secret, Skill};

use super::NlipPeer;
use super::card;
use super::legs::LegKey;
use super::transport::LIMITS;
use interlingua_hub::Hub;
use interlingua_net::client::health::is_registered;
use interlingua_settings::Peer;

/// How often it is asked, and how soon again while it has not answered yet.
const EVERY: Duration = Duration::from_secs(60);
const SOON: Duration = Duration::from_secs(1);
const PATIENCE: Duration = Duration::from_secs(10);

/// Keeps the card of this hub what the hub says, for as long as it is registered.
pub(super) fn watch(hub: &Arc<Hub>, peer: &Arc<NlipPeer>, config: Peer) {
    let (watched, known) = (Arc::downgrade(peer), Arc::downgrade(hub));
    hub.spawn_until_stop(async move {
        let mut pause = SOON;
        loop {
            let (Some(hub), Some(peer)) = (known.upgrade(), watched.upgrade()) else { return };
            if !is_registered(&hub, &peer) {
                return;
            }
            match offer(&hub, &peer, &config).await {
                Ok(()) => pause = EVERY,
                Err(fault) => {
                    tracing::debug!(peer = %peer.name, error = %fault, cause = ?fault.source, "its skills are not known");
                    pause = (pause * 2).min(EVERY);
                }
            }
            drop((hub, peer));
            tokio::time::sleep(pause).await;
        }
    });
}

/// Asks, and registers what is new.
async fn offer(hub: &Arc<Hub>, peer: &Arc<NlipPeer>, config: &Peer) -> Result<(), Fault> {
    let claimed = peer.claimed(hub).await?;
    let catalogue = hub.catalogue();
    let Some(registered) = catalogue.peers.get(&peer.name) else { return Ok(()) };
    let mut card = card::card(&peer.name, config, hub.now());
    let offered = claimed.into_iter().filter(|skill| config.offers(skill.id.skill.as_str()));
    card.skills.extend(offered.map(|skill| config.believed(skill)));
    if digests(&card) == digests(&registered.card) {
        return Ok(());
    }
    tracing::info!(peer = %peer.name, skills = card.skills.len(), "it told its skills");
    card.health = registered.card.health;
    hub.register(card, peer.clone()).await
}

fn digests(card: &Card) -> Vec<interlingua_model::Digest> {
    card.skills.iter().map(|skill| skill.digest).collect()
}

impl NlipPeer {
    /// What it says it can do, to us.
    async fn claimed(&self, hub: &Hub) -> Result<Vec<Skill>, Fault> {
        let mut jar = TokenJar::default();
        if let Some(token) = self.token.as_ref().and_then(Secret::text) {
            jar.present(token);
        }
        let owner = Principal::hub_owner(Proof::InProcess).owner();
        let leg = LegKey::new(&self.name, &self.address.origin.to_string(), &owner, "skills");
        let message = skills::ask(&jar);
        let headers = [(interlingua_wire::hub_headers::VIA, hub.id().to_string())];
        let asked = tokio::time::timeout(PATIENCE, self.transport.exchange(&leg, &message, &headers)).await;
        let silent = |why: String| Fault::hub(FaultKind::Unreachable, format!("{} did not say: {why}", self.name));
        let received = asked.map_err(|late| silent(late.to_string()))?.map_err(|lost| silent(lost.to_string()))?;
        let reply = received.message.map_err(|invalid| silent(invalid.to_string()))?;
        Ok(skills::read(&reply, &self.name, LIMITS.depth))
    }
}
