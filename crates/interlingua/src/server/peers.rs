//! Peers from configuration: each is made by its protocol, registered, and replaced when configuration changes.

use std::sync::Arc;
use std::time::Duration;

use interlingua_model::Fault;
use interlingua_tools::files::run_workspaces::RunWorkspaces;

use crate::config::{Config, Kind, Peer};
use interlingua_agents::{ConfiguredAgents, Topics};
use interlingua_net::client::oauth;
use interlingua_net::client::starting::Starting;

use interlingua_endpoint::SignIns;
use interlingua_endpoint::sections::{self, PeerAround};
use interlingua_hub::Hub;
use interlingua_hub::call_router::CallRouter;

/// What peers are made of.
#[derive(Debug)]
pub(super) struct PeerParts {
    pub(super) hub: Arc<Hub>,
    pub(super) sign_ins: Arc<SignIns>,
    pub(super) sites: Arc<interlingua_sites::Sites>,
    /// Workspaces of runs that have one of their own.
    pub(super) lent: Arc<RunWorkspaces>,
    /// Where calls of agents go.
    pub(super) router: Arc<dyn CallRouter>,
    /// What events start.
    pub(super) topics: Topics,
}

impl PeerParts {
    pub(super) fn roster(&self, config: &Config) -> Result<ConfiguredAgents, Fault> {
        interlingua_agents::prepare(&self.hub, &self.lent, &self.router, &config.agent_sections())
    }

    /// From now on events start what this configuration says. Runs must have been resumed.
    pub(super) async fn listen(&self, config: &Config) -> Result<(), Fault> {
        self.topics.replace(&self.hub, interlingua_agents::topic_starts(&config.agent_sections())?).await;
        Ok(())
    }
}

/// Every peer that configuration names, and those inside the hub.
pub(super) async fn register(parts: &PeerParts, config: &Config) -> Result<(), Fault> {
    let hub = &parts.hub;
    hub.hooks().store(Arc::new(interlingua_hooks::prepare(hub, &config.hooks)?));
    interlingua_tools::register(hub, parts.lent.clone(), config.local_sections()).await?;
    parts.roster(config)?.register(hub).await?;
    interlingua_agents::plans::register(hub).await?;
    let driven = config.peers.values().any(|peer| matches!(peer.speaks.kind(), Kind::Site(_)));
    interlingua_sites::open(&parts.sites, hub, config.data(), &config.browser, driven);
    let mut starting = Vec::new();
    for (name, peer) in &config.peers {
        starting.extend(prepare(parts, name, peer).await?.register(hub).await?);
    }
    // Whoever asks first should find them listed; one that is slow holds up nobody.
    futures_util::future::join_all(starting.iter().map(|peer: &Starting| peer.listed(FIRST_LISTS))).await;
    Ok(())
}

/// Where configuration has servers that tokens may be kept for. Those of any other are removed.
pub(super) async fn forget_tokens(hub: &Hub, config: &Config) -> Result<(), Fault> {
    let places =
        config.peers.iter().filter_map(|(name, peer)| oauth::place(name, peer.speaks.protocol()?.signs_in_at()?));
    oauth::retain(hub, &places.collect::<Vec<_>>()).await
}

/// How long a start waits for peers to say what they offer.
const FIRST_LISTS: Duration = Duration::from_millis(1_500);

/// A peer that is made and can be registered, whatever it speaks.
#[derive(Debug)]
pub(super) enum Prepared {
    Protocol(Box<dyn sections::Prepared>),
    Site(Box<interlingua_sites::Prepared>),
}

/// Makes a peer: all that its configuration can be refused for is refused here.
pub(super) async fn prepare(parts: &PeerParts, name: &str, peer: &Peer) -> Result<Prepared, Fault> {
    let (hub, sign_ins) = (&parts.hub, &parts.sign_ins);
    match peer.speaks.kind() {
        Kind::Protocol(_, section) => {
            section.prepare(PeerAround { hub, sign_ins, name, peer }).await.map(Prepared::Protocol)
        }
        Kind::Site(site) => {
            interlingua_sites::prepare(&parts.sites, hub, name, peer, site).map(Box::new).map(Prepared::Site)
        }
    }
}

impl Prepared {
    /// Adds the peer, or replaces it whole. What is returned says when it is listed; `None`: its card is complete.
    pub(super) async fn register(self, hub: &Arc<Hub>) -> Result<Option<Starting>, Fault> {
        match self {
            Prepared::Protocol(peer) => peer.register(hub).await,
            Prepared::Site(peer) => peer.register(hub).await.map(|()| None),
        }
    }
}
