//! Peers from configuration: each is made by its protocol, registered, and replaced when configuration changes.

use std::sync::Arc;
use std::time::Duration;

use interlingua_model::Fault;
use interlingua_tools::files::run_workspaces::RunWorkspaces;

use crate::config::{Config, Peer, Speaks};
use interlingua_agents::{self, CallRouter, ConfiguredAgents};
use interlingua_net::client::oauth;
use interlingua_net::client::starting::Starting;

use interlingua_endpoint::SignIns;
use interlingua_hub::Hub;

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
}

impl PeerParts {
    pub(super) fn roster(&self, config: &Config) -> Result<ConfiguredAgents, Fault> {
        interlingua_agents::prepare(&self.hub, &self.lent, &self.router, &config.agent_sections())
    }
}

/// Every peer that configuration names, and those inside the hub.
pub(super) async fn register(parts: &PeerParts, config: &Config) -> Result<(), Fault> {
    let hub = &parts.hub;
    hub.hooks().store(Arc::new(interlingua_hooks::prepare(hub, &config.hooks)?));
    interlingua_tools::register(hub, parts.lent.clone(), config.local_sections()).await?;
    parts.roster(config)?.register(hub).await?;
    interlingua_agents::plans::register(hub).await?;
    let driven = config.peers.values().any(|peer| matches!(peer.speaks, Speaks::Site(_)));
    interlingua_sites::open(&parts.sites, hub, config.data(), &config.browser, driven);
    let mut starting = Vec::new();
    for (name, peer) in &config.peers {
        if let Registered::Starts(peer) = prepare(parts, name, peer).await?.register(hub).await? {
            starting.push(peer);
        }
    }
    // Whoever asks first should find them listed; one that is slow holds up nobody.
    futures_util::future::join_all(starting.iter().map(|peer| peer.listed(FIRST_LISTS))).await;
    interlingua_a2a::restore(hub).await
}

/// Where configuration has servers that tokens may be kept for. Those of any other are removed.
pub(super) async fn forget_tokens(hub: &Hub, config: &Config) -> Result<(), Fault> {
    let places = config.peers.iter().filter_map(|(name, peer)| {
        let Speaks::Mcp(mcp) = &peer.speaks else { return None };
        oauth::place(name, mcp.url.as_deref()?)
    });
    oauth::retain(hub, &places.collect::<Vec<_>>()).await
}

/// How long a start waits for peers to say what they offer.
const FIRST_LISTS: Duration = Duration::from_millis(1_500);

/// A peer that is made and can be registered, whatever it speaks.
#[derive(Debug)]
pub(super) enum Prepared {
    Nlip(Box<interlingua_nlip::outbound::Prepared>),
    Mcp(interlingua_mcp::outbound::Prepared),
    A2a(interlingua_a2a::outbound::Prepared),
    Aip(Box<interlingua_aip::outbound::Prepared>),
    Nlweb(Box<interlingua_nlweb::outbound::Prepared>),
    Site(Box<interlingua_sites::Prepared>),
}

/// What is known of a peer once it is registered.
#[derive(Debug)]
pub(super) enum Registered {
    /// Its card is complete.
    Known,
    /// It will say what it offers.
    Starts(Starting),
}

/// Makes a peer: all that its configuration can be refused for is refused here.
pub(super) async fn prepare(parts: &PeerParts, name: &str, peer: &Peer) -> Result<Prepared, Fault> {
    let hub = &parts.hub;
    match &peer.speaks {
        Speaks::Nlip(nlip) => {
            interlingua_nlip::outbound::prepare(hub, name, peer, nlip).map(Box::new).map(Prepared::Nlip)
        }
        Speaks::Mcp(mcp) => {
            interlingua_mcp::outbound::prepare((hub, &parts.sign_ins), name, peer, mcp).await.map(Prepared::Mcp)
        }
        Speaks::A2a(a2a) => interlingua_a2a::outbound::prepare(hub, name, peer, a2a).await.map(Prepared::A2a),
        Speaks::Aip(aip) => interlingua_aip::outbound::prepare(hub, name, peer, aip).map(Box::new).map(Prepared::Aip),
        Speaks::Nlweb(nlweb) => {
            interlingua_nlweb::outbound::prepare(hub, name, peer, nlweb).map(Box::new).map(Prepared::Nlweb)
        }
        Speaks::Site(site) => {
            interlingua_sites::prepare(&parts.sites, hub, name, peer, site).map(Box::new).map(Prepared::Site)
        }
    }
}

impl Prepared {
    /// Adds the peer, or replaces it whole.
    pub(super) async fn register(self, hub: &Arc<Hub>) -> Result<Registered, Fault> {
        match self {
            Prepared::Nlip(peer) => peer.register(hub).await.map(|()| Registered::Known),
            Prepared::Mcp(peer) => peer.register(hub).await.map(Registered::Starts),
            Prepared::A2a(peer) => peer.register(hub).await.map(Registered::Starts),
            Prepared::Aip(peer) => peer.register(hub).await.map(|()| Registered::Known),
            Prepared::Nlweb(peer) => peer.register(hub).await.map(|()| Registered::Known),
            Prepared::Site(peer) => peer.register(hub).await.map(|()| Registered::Known),
        }
    }
}
