//! Refreshes the card: reads the lists that a server says have changed, all of them after a new session, and publishes the result.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use crate::client::list::List;
use interlingua_model::{Fault, Health, Notice};

use super::card::{Shown, shown};
use super::follow;
use super::peer::McpPeer;
use super::pins::{Pinned, Pins};
use super::session::{Session, Unanswered};
use interlingua_hub::Hub;
use interlingua_net::client::health::{Probed, is_registered};

/// Servers tell of many changes at once: so long is waited for more.
const DEBOUNCE: Duration = Duration::from_millis(50);

/// Lists for as long as the peer is registered.
pub(super) fn watch(hub: &Arc<Hub>, peer: &Arc<McpPeer>) {
    let (watched, known) = (Arc::downgrade(peer), Arc::downgrade(hub));
    let changes = peer.upstream.changes.clone();
    hub.spawn_until_stop(async move {
        loop {
            changes.wait().await;
            tokio::time::sleep(DEBOUNCE).await;
            let (Some(hub), Some(peer)) = (known.upgrade(), watched.upgrade()) else { return };
            if !is_registered(&hub, &peer) {
                return;
            }
            peer.refresh(&hub).await;
        }
    });
}

/// Connects and lists as soon as somebody has signed in.
pub(super) fn watch_sign_ins(hub: &Arc<Hub>, peer: &Arc<McpPeer>) {
    let Some(account) = peer.upstream.account() else { return };
    let mut news = account.news();
    let (watched, known) = (Arc::downgrade(peer), Arc::downgrade(hub));
    hub.spawn_until_stop(async move {
        while news.changed().await.is_ok() {
            let (Some(hub), Some(peer)) = (known.upgrade(), watched.upgrade()) else { return };
            if !is_registered(&hub, &peer) {
                return;
            }
            peer.probe(&hub).await;
            peer.upstream.changes.add(&List::ALL);
        }
    });
}

impl McpPeer {
    /// The card by what is known of the server now.
    pub(super) async fn show(self: &Arc<Self>, hub: &Arc<Hub>, health: Health) -> Result<(), Fault> {
        let mut shown = shown(&self.name, &self.config, &self.listing(), health, hub.now());
        self.compare(hub, &mut shown).await?;
        for problem in &shown.problems {
            tracing::warn!(event = "peer_problem", peer = %self.name, %problem, "a definition of the server has a problem");
        }
        hub.register(shown.card, self.clone()).await?;
        *self.problems.lock().unwrap_or_else(PoisonError::into_inner) = shown.problems;
        self.show_problems(hub);
        Ok(())
    }

    /// Holds what it offers against what was pinned, and pins what is new. What is not stored is not pinned.
    async fn compare(&self, hub: &Hub, shown: &mut Shown) -> Result<(), Fault> {
        let mut read = match self.pinned() {
            Ok(pins) => Ok(pins),
            Err(_) => Pins::load(hub, &self.kept, self.changes).await,
        };
        let (offered, known) = (shown.card.skills.clone(), shown.problems.clone());
        let pinned = loop {
            let mut pins = match read {
                Ok(pins) => pins,
                Err(why) => {
                    shown.card.skills.clear();
                    shown.problems.push(why.clone());
                    break Err(why);
                }
            };
            if !pins.compare(&mut shown.card.skills, self.changes, &mut shown.problems) {
                break Ok(pins);
            }
            match pins.keep(hub, &self.kept).await? {
                Pinned::Stored => break Ok(pins),
                Pinned::Overtaken => {
                    (shown.card.skills, shown.problems) = (offered.clone(), known.clone());
                    read = Pins::load(hub, &self.kept, self.changes).await;
                }
            }
        };
        *self.pins.lock().unwrap_or_else(PoisonError::into_inner) = pinned;
        Ok(())
    }

    async fn refresh(self: &Arc<Self>, hub: &Arc<Hub>) {
        let _listing = self.upstream.listing.clone();
        let seen = self.upstream.changes.take();
        for uri in seen.updated {
            hub.announce(Notice::Updated(self.name.clone(), uri));
        }
        let Some(session) = self.upstream.current().filter(|_| !seen.lists.is_empty()) else { return };
        let mut listing = (*self.listing()).clone();
        listing.greeted(session.version, &session.server);
        for list in &seen.lists {
            match fetch(&session, *list).await {
                Ok(items) => *listing.of(*list) = items,
                Err(why) => {
                    tracing::warn!(event = "peer_list_failed", peer = %self.name, list = list.method(), cause = %why, "the server did not answer a list request; the previous list stays")
                }
            }
        }
        self.lists(listing.clone());
        let shown = self.show(hub, Health::Up).await;
        let kept = self.kept.keep(hub, &listing).await;
        for fault in [shown.err(), kept.err()].into_iter().flatten() {
            tracing::error!(event = "peer_not_updated", peer = %self.name, error = %fault, cause = ?fault.source, "what the hub knows of a peer could not be updated or stored");
        }
        self.listed.send_replace(true);
        if seen.lists.len() == List::ALL.len() {
            follow::start(self, session);
        }
    }
}

async fn fetch(session: &Session, list: List) -> Result<Vec<interlingua_model::Json>, Unanswered> {
    if !session.server.has(list) {
        return Ok(Vec::new());
    }
    match session.list(list).await {
        // One that has resources need not have templates.
        Err(Unanswered::Error(_)) if list == List::Templates => Ok(Vec::new()),
        listed => listed,
    }
}
