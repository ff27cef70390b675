//! Where protocols meet the outside: each speaks one wire, decodes to the model, goes through the hub's door and encodes
//! what comes back. No edge knows another.

pub mod a2a;
pub(crate) mod agents;
pub mod aip;
pub mod api;
pub(crate) mod content;
pub mod envelope;
pub mod hooks;
mod html;
pub mod local;
pub mod mcp;
pub mod nlip;
pub mod nlweb;
pub mod oauth;
pub mod site;
pub mod status;

use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use arc_swap::ArcSwap;
use axum::Router;

use http::HeaderMap;
use interlingua_core::{Fault, Principal, Secret, Subject};
use interlingua_drivers::files::lent::Lent;
use metrics_exporter_prometheus::PrometheusHandle;

pub use crate::client::oauth::{Desk as SignIns, SignIn};
use crate::client::starting::Starting;
use crate::config::{Config, Peer, Speaks};
use crate::hub::Hub;
use crate::hub::audit::AuditLine;
use crate::hub::byte_budget::Room;
use crate::server::access::Access;
use crate::server::connection::Connection;
use crate::server::counted::Allowance;
use crate::server::keys::KeyDesk;
use crate::server::places::Places;
use crate::telemetry::meters::Phase;

/// What every edge holds.
#[derive(Debug)]
pub struct Shared {
    pub hub: Arc<Hub>,
    pub access: Arc<Access>,
    pub bounds: ArcSwap<Bounds>,
    pub room: Arc<Room>,
    /// For WebSockets of callers who have not shown who they are.
    pub strangers: Places,
    /// Where the hub listens, once it does.
    pub address: OnceLock<SocketAddr>,
    /// What `/metrics` answers with.
    pub prometheus: PrometheusHandle,
    pub routing: envelope::Routing,
    pub mcp: mcp::inbound::Desk,
    pub a2a: ArcSwap<a2a::Settings>,
    pub a2a_modes: a2a::inbound::Modes,
    pub push: a2a::Push,
    pub aip: Arc<aip::Desk>,
    pub sites: site::Sites,
    /// Who was sent to sign in somewhere, for a peer that wants a token.
    pub sign_ins: Arc<SignIns>,
    /// Workspaces of runs that have one of their own.
    pub lent: Arc<Lent>,
    pub keys: KeyDesk,
    /// Whether anything can be kept.
    pub condition: tokio::sync::watch::Receiver<interlingua_drivers::store::Condition>,
}

/// How much one message may be.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    pub body: u64,
    /// Of a caller who has not shown who it is.
    pub anonymous_body: u64,
    /// How long a whole message of a WebSocket may take.
    pub message_time: Duration,
    /// Of one upload.
    pub upload: u64,
    pub depth: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Bounds {
            body: 64 * 1024 * 1024,
            anonymous_body: 1024 * 1024,
            message_time: Duration::from_secs(60),
            upload: 10 * 1024 * 1024 * 1024,
            depth: 128,
        }
    }
}

impl Shared {
    /// As they are now; configuration may change them.
    pub fn bounds(&self) -> Bounds {
        **self.bounds.load()
    }

    /// The hub's address: as configured, else as the other side reached it (the guard has looked at that name), else where it
    /// listens.
    pub(crate) fn base(&self, connection: &Connection, host: Option<&str>) -> String {
        if let Some(url) = &self.a2a.load().url {
            return url.clone();
        }
        let scheme = if connection.encrypted { "https" } else { "http" };
        match (host, self.address.get()) {
            (Some(host), _) => format!("{scheme}://{host}"),
            (None, Some(address)) => format!("{scheme}://{address}"),
            (None, None) => String::new(),
        }
    }

    /// What every WebSocket is held to.
    pub(crate) fn allowance(&self) -> Allowance {
        Allowance { room: self.room.clone(), message_time: self.bounds().message_time }
    }

    /// Shows what is so at this moment in the gauges.
    pub fn observe(&self) {
        self.hub.observe();
        self.hub.meters().bodies.set(f64::from(u32::try_from(self.room.taken()).unwrap_or(u32::MAX)));
    }

    /// `authenticate`: the connection and its headers, completed by what the message itself brings.
    pub fn authenticate(
        &self,
        connection: &Connection,
        headers: &HeaderMap,
        credentials: &[Secret],
    ) -> Result<Principal, Fault> {
        let mut laps = self.hub.meters().laps();
        let now = self.hub.now();
        let transport = self.access.transport(connection, headers, now);
        let proven = transport.and_then(|transport| self.access.complete(transport, credentials, now));
        laps.done(Phase::Authenticate);
        proven.inspect_err(|fault| {
            self.hub.write_audit(AuditLine::new("authenticate", Subject::Anonymous).refused(fault.kind));
        })
    }
}

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
