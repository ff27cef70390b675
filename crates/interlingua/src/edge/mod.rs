//! Where protocols meet the outside: each speaks one wire, decodes to the model, goes through the hub's door and encodes
//! what comes back. No edge knows another.

pub mod a2a;
pub(crate) mod agents;
pub mod aip;
pub mod api;
pub mod envelope;
pub mod hooks;
pub mod local;
pub mod mcp;
pub mod nlip;
pub mod nlweb;
pub mod site;
pub mod status;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use interlingua_core::Fault;

use crate::client::starting::Starting;
use crate::config::{Config, Peer, Speaks};
use crate::endpoint::{Shared, content, oauth};
use crate::hub::Hub;

/// Every protocol's paths.
pub fn routes() -> Router<Arc<Shared>> {
    Router::new()
        .merge(nlip::inbound::http::routes())
        .merge(nlip::inbound::ws::routes())
        .merge(nlip::upload_routes())
        .merge(envelope::inbound::http::routes())
        .merge(mcp::inbound::http::routes())
        .merge(a2a::inbound::routes())
        .merge(oauth::routes())
        .merge(aip::inbound::routes())
        .merge(nlweb::inbound::routes())
        .merge(api::routes())
        .merge(content::routes())
        .merge(status::routes())
}

/// Every peer that configuration names, and those inside the hub.
pub async fn register(shared: &Arc<Shared>, config: &Config) -> Result<(), Fault> {
    shared.hub.meters().protocol(nlip::PROTOCOL);
    shared.hub.meters().protocol(envelope::PROTOCOL);
    shared.hub.meters().protocol(mcp::PROTOCOL);
    shared.hub.meters().protocol(a2a::PROTOCOL);
    shared.hub.meters().protocol(aip::PROTOCOL);
    shared.hub.meters().protocol(nlweb::PROTOCOL);
    shared.hub.meters().protocol(api::PROTOCOL);
    shared.hub.meters().protocol(interlingua_core::bus::said::WIRE);
    shared.aip.start();
    shared.hub.hooks().store(Arc::new(hooks::prepare(&shared.hub, config)?));
    local::register(&shared.hub, shared.lent.clone(), config).await?;
    crate::agents::prepare(shared, config)?.register(&shared.hub).await?;
    aip::graph::register(&shared.hub).await?;
    site::open(&shared.sites, &shared.hub, config);
    let mut starting = Vec::new();
    for (name, peer) in &config.peers {
        if let Registered::Starts(peer) = prepare(shared, name, peer).await?.register(&shared.hub).await? {
            starting.push(peer);
        }
    }
    // Whoever asks first should find them listed; one that is slow holds up nobody.
    futures_util::future::join_all(starting.iter().map(|peer| peer.listed(FIRST_LISTS))).await;
    agents::restore(&shared.hub).await
}

/// Where configuration has servers that tokens may be kept for. Those of any other are removed.
pub(crate) async fn forget_tokens(hub: &Hub, config: &Config) -> Result<(), Fault> {
    let places = config.peers.iter().filter_map(|(name, peer)| {
        let Speaks::Mcp(mcp) = &peer.speaks else { return None };
        crate::client::oauth::place(name, mcp.url.as_deref()?)
    });
    crate::client::oauth::retain(hub, &places.collect::<Vec<_>>()).await
}

/// How long a start waits for peers to say what they offer.
const FIRST_LISTS: Duration = Duration::from_millis(1_500);

/// A peer that is made and can be registered, whatever it speaks.
#[derive(Debug)]
pub enum Prepared {
    Nlip(Box<nlip::outbound::Prepared>),
    Mcp(mcp::outbound::Prepared),
    A2a(a2a::outbound::Prepared),
    Aip(Box<aip::outbound::Prepared>),
    Nlweb(Box<nlweb::outbound::Prepared>),
    Site(Box<site::Prepared>),
}

/// What is known of a peer once it is registered.
#[derive(Debug)]
pub enum Registered {
    /// Its card is complete.
    Known,
    /// It will say what it offers.
    Starts(Starting),
}

/// Makes a peer: all that its configuration can be refused for is refused here.
pub async fn prepare(shared: &Shared, name: &str, peer: &Peer) -> Result<Prepared, Fault> {
    let hub = &shared.hub;
    match &peer.speaks {
        Speaks::Nlip(nlip) => nlip::outbound::prepare(hub, name, peer, nlip).map(Box::new).map(Prepared::Nlip),
        Speaks::Mcp(mcp) => mcp::outbound::prepare((hub, &shared.sign_ins), name, peer, mcp).await.map(Prepared::Mcp),
        Speaks::A2a(a2a) => a2a::outbound::prepare(hub, name, peer, a2a).await.map(Prepared::A2a),
        Speaks::Aip(aip) => aip::outbound::prepare(hub, name, peer, aip).map(Box::new).map(Prepared::Aip),
        Speaks::Nlweb(nlweb) => nlweb::outbound::prepare(hub, name, peer, nlweb).map(Box::new).map(Prepared::Nlweb),
        Speaks::Site(site) => site::prepare(&shared.sites, hub, name, peer, site).map(Box::new).map(Prepared::Site),
    }
}

impl Prepared {
    /// Adds the peer, or replaces it whole.
    pub async fn register(self, hub: &Arc<Hub>) -> Result<Registered, Fault> {
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

/// Records whose values are sealed with the hub's keys for a purpose, under the key they are kept by: kind and purpose.
pub(crate) fn sealed_records() -> [(&'static str, &'static str); 7] {
    use crate::client::oauth;
    [
        (crate::hub::vault::KIND, crate::hub::vault::KIND),
        (crate::hub::audit::key::KIND, crate::hub::audit::key::KIND),
        (nlip::outbound::LEGS, nlip::outbound::LEGS),
        (a2a::WEBHOOKS, a2a::WEBHOOKS),
        (oauth::TOKENS, oauth::TOKENS),
        (oauth::CLIENTS, oauth::CLIENTS),
        (interlingua_drivers::browser::SESSIONS, site::keeper::SEALED),
    ]
}
