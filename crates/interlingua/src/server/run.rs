//! A hub from its configuration: store, keys, peers, listeners. Also how a program embeds one.

use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use arc_swap::{ArcSwap, ArcSwapOption};
use axum::Router;
use axum::extract::Request;
use axum::middleware::from_fn;
use axum::response::Response;
use interlingua_keys::KeyFault;
use interlingua_model::json::set_most_values;
use interlingua_model::ports::{Condition, Retention};
use interlingua_model::{Fault, FaultKind, Noun, Secret};
use interlingua_store_sqlite::OpenFault;
use rustls::ServerConfig;
use tokio::net::{TcpListener, UnixListener};

use super::keys::{self, KeyDesk, OuterFault};
use super::peers::{self, PeerParts};
use super::ports::{AgentMemories, BrowserSessions};
use super::purge::{self, Purging};
use super::retire::{self, HubKeys};
use super::storage;
use super::store::{self, OpenStore, Opened};
use crate::config::{self, Config};
use crate::console;
use crate::endpoints::{AllSettings, Endpoints, PATHS, own_interface, routes};
use crate::status::Status;
use interlingua_access::Access;
use interlingua_access::issuers::Issuers;
use interlingua_access::owner_token;
use interlingua_access::rights;
use interlingua_access::sessions::SWEEP;
use interlingua_access::tokens;
use interlingua_agents::Topics;
use interlingua_endpoint::guard::Guard;
use interlingua_endpoint::ports::{NoRoutedSessions, Ports, RoutedSessions};
use interlingua_endpoint::protocol::Protocol;
use interlingua_endpoint::{Bounds, Endpoint, Shared};
use interlingua_hub::admission::{AdmissionLimits, Rate};
use interlingua_hub::answers::AnswerLimits;
use interlingua_hub::audit::KeepArguments;
use interlingua_hub::bus::{CalledAgents, NoneCalled};
use interlingua_hub::byte_budget::ByteBudget;
use interlingua_hub::call_router::{CallRouter, Direct};
use interlingua_hub::hooks::Hooks;
use interlingua_hub::limits::LimitRule;
use interlingua_hub::shares::HoldingLimits;
use interlingua_hub::supervisor::round;
use interlingua_hub::{FrontDoor, Hub, Settings, Unknown};
use interlingua_net::accept::{Acceptor, LiveTls, bind_unix};
use interlingua_net::connection_limits::ConnectionLimits;
use interlingua_net::descriptors::{self, Share};
use interlingua_net::tls::{self, TlsFault};
use interlingua_telemetry::meters;

/// How long running exchanges have to end when the hub stops.
const STOP_PATIENCE: Duration = Duration::from_secs(10);
/// How often gauges are set and samples folded.
const OBSERVE_EVERY: Duration = Duration::from_secs(1);

/// Where the key which signs the audit was before it was kept in the store.
const AUDIT_KEY: &str = "audit.pem";

/// Why a hub did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartFault {
    #[error(transparent)]
    Store(OpenFault),
    #[error("{0}")]
    Postgres(interlingua_store_postgres::OpenFault),
    #[error("store.postgres.ca: {0}")]
    Authority(String),
    #[error(
        "the database belongs to the hub `{kept}`, and `hub.id` says `{configured}`: correct the one, or use another database or schema"
    )]
    OtherHub { configured: String, kept: String },
    #[error("{0}; `store.encryption` of the configuration says where it is")]
    Encrypted(OpenFault),
    #[error("store.encryption: {0}")]
    Outer(#[from] OuterFault),
    #[error("the hub's keys: {0}")]
    Keys(#[from] KeyFault),
    #[error("tls: {0}")]
    Tls(#[from] TlsFault),
    #[error("cannot listen on {address}: {cause}")]
    Listen { address: SocketAddr, cause: std::io::Error },
    #[error("{}: {cause}", .path.display())]
    File { path: PathBuf, cause: std::io::Error },
    #[error("{0}")]
    Fault(#[from] Fault),
}

/// A hub that serves.
#[derive(Debug)]
pub struct Server {
    pub hub: Arc<Hub>,
    pub shared: Arc<Shared>,
    pub endpoints: Endpoints,
    pub address: SocketAddr,
    store: OpenStore,
    /// What was applied last.
    pub(super) config: Config,
    /// The hooks of it.
    pub(super) hooks: Arc<Hooks>,
    pub(super) tls: LiveTls,
    pub(super) retention: Arc<ArcSwap<purge::Rules>>,
    pub(super) keys: HubKeys,
    pub(super) peers: PeerParts,
    protocols: Vec<Arc<dyn Protocol>>,
    status: Arc<Endpoint<Status>>,
}

impl Server {
    /// A hub that speaks the protocols of the table.
    pub async fn start(config: &Config) -> Result<Server, StartFault> {
        Server::start_with(config, |_| Vec::new()).await
    }

    /// Opens the store, registers peers, takes up what a crash left, then listens. Nothing is accepted before that. `own`:
    /// protocols of the program that embeds the hub, beside those of the table.
    pub async fn start_with(
        config: &Config,
        own: impl FnOnce(&Arc<Shared>) -> Vec<Arc<dyn Protocol>>,
    ) -> Result<Server, StartFault> {
        let outer = match &config.store.encryption {
            Some(encryption) => Some(keys::outer(encryption).await?),
            None => None,
        };
        let Opened { store, ring, id } = store::open(config, outer.as_ref()).await?;
        let keys = Arc::new(ring);
        // The recorder first: meters count where they were registered.
        let prometheus = meters::prometheus();
        let newest = purge::newest(&store.ports()).await.map_err(Fault::from)?;
        let hub = Hub::new(id, store.ports(), keys, admission_limits(config), settings(config));
        hub.limits().set(limit_rules(config));
        hub.answers().set(answer_limits(config));
        hub.holdings().set(holding_limits(config));
        set_most_values(values(config));
        hub.open_audit_key(&config.data().join(AUDIT_KEY)).await?;
        let token = owner_token::kept(config.data())
            .map_err(|cause| StartFault::File { path: config.data().join(owner_token::FILE), cause })?;
        let access = open_access(config, &hub, &token).await?;
        hub.set_policy(rights::policy(&config.access));
        let shared = shared(config, &hub, access);
        let settings = AllSettings::new(&hub, config).map_err(|fault| fault.cause)?;
        let endpoints = Endpoints::open(&shared, settings)?;
        let mut protocols = endpoints.list();
        protocols.extend(own(&shared));
        let keys = HubKeys {
            hub: hub.clone(),
            access: shared.access.clone(),
            desk: Arc::new(KeyDesk::new(config.data(), hub.keys().clone(), outer, token, store.at_rest())),
            protocols: protocols.clone(),
        };
        let peers = PeerParts {
            hub: hub.clone(),
            sign_ins: shared.sign_ins.clone(),
            sites: Arc::default(),
            lent: Arc::default(),
            router: protocols.iter().find_map(|protocol| protocol.call_router()).unwrap_or_else(|| Arc::new(Direct)),
            topics: Topics::default(),
        };
        let called = protocols.iter().find_map(|it| it.called_agents()).unwrap_or_else(|| Arc::new(NoneCalled));
        let routed = protocols.iter().find_map(|protocol| protocol.routed_sessions());
        let routed = routed.unwrap_or_else(|| Arc::new(NoRoutedSessions));
        protocols.push(own_interface(&shared, own_ports(&keys, &peers, &called, routed)));
        let status = Endpoint::new(&shared, Status { prometheus, condition: store.condition() });
        peers::forget_tokens(&hub, config).await?;
        for protocol in &protocols {
            hub.meters().protocol(protocol.name());
        }
        hub.meters().protocol(interlingua_machines::bus::said::WIRE);
        protocols.iter().for_each(|protocol| protocol.start());
        peers::register(&peers, config).await?;
        hub.restore_agents(&*called).await?;
        resume(&keys, &protocols).await?;
        peers.listen(config).await?;
        let retention = Arc::new(ArcSwap::from_pointee(purge_rules(config)));
        let purging = Purging::start(&hub, retention.clone(), newest, config.data());
        let purging = purging.await.map_err(Fault::from)?;
        hub.spawn_until_stop(purging.run());
        hub.spawn_until_stop(observe(status.clone()));
        hub.spawn_until_stop(sweep_sessions(shared.clone()));
        hub.spawn_until_stop(storage::follow(hub.clone(), store.condition()));
        let tls = Arc::new(ArcSwapOption::new(certificate(config)?));
        let routes = routes(&shared, &protocols, &status);
        let address = listen(config, &shared, routes, tls.clone()).await?;
        let (config, hooks) = (config.clone(), hub.hooks().load_full());
        Ok(Server {
            hub,
            shared,
            endpoints,
            address,
            store,
            config,
            hooks,
            tls,
            retention,
            keys,
            peers,
            protocols,
            status,
        })
    }

    /// Where calls of agents go, for a program that adds agents of its own.
    pub fn call_router(&self) -> Arc<dyn CallRouter> {
        self.peers.router.clone()
    }

    /// Every path that this hub answers at, without the guard.
    pub fn routes(&self) -> Router {
        routes(&self.shared, &self.protocols, &self.status)
    }

    /// Returns when the store has failed: whoever runs the hub then ends the process, so that the store is opened again.
    pub async fn store_failed(&self) {
        let mut condition = self.store.condition();
        if condition.wait_for(|now| *now == Condition::Failed).await.is_err() {
            // The writer is gone because the store was closed.
            std::future::pending().await
        }
    }

    /// Lets what runs end, then closes the store.
    pub async fn stop(self) {
        if !self.hub.stop(STOP_PATIENCE).await {
            tracing::warn!(
                event = "exchanges_not_ended",
                "some exchanges did not end in time; they continue after the next start"
            );
        }
        self.store.close().await;
    }
}

/// Callers of the configuration, tokens and sessions that were stored.
async fn open_access(config: &Config, hub: &Arc<Hub>, token: &Secret) -> Result<Arc<Access>, Fault> {
    let access = Arc::new(Access::default());
    let issuers =
        Issuers::start(hub, &config.access, config.hub.url.as_deref(), &Issuers::default(), &access.changed())?;
    access.replace(rights::rules(&config.access, token, Arc::new(issuers)));
    tokens::apply(hub, &access).await?;
    access.set_session_rules(config.console.rules());
    access.restore_sessions(hub).await?;
    Ok(access)
}

/// Continues what a stop or a crash interrupted.
async fn resume(keys: &HubKeys, protocols: &[Arc<dyn Protocol>]) -> Result<(), Fault> {
    let taken = keys.hub.recover().await?;
    if taken > 0 {
        tracing::info!(event = "tasks_taken_up", tasks = taken, "unfinished tasks were resumed");
    }
    for protocol in protocols {
        protocol.resume().await?;
    }
    retire::resume(keys).await
}

/// What the HTTP sides of all protocols hold.
fn shared(config: &Config, hub: &Arc<Hub>, access: Arc<Access>) -> Arc<Shared> {
    Arc::new(Shared {
        hub: hub.clone(),
        access,
        bounds: ArcSwap::from_pointee(bounds(config)),
        room: ByteBudget::new(config.limits.bodies.0),
        strangers: strangers(config),
        address: OnceLock::new(),
        paths: PATHS,
        sign_ins: Arc::default(),
        url: ArcSwapOption::from_pointee(config.public_url()),
    })
}

/// What the hub's own interface asks of the rest.
fn own_ports(
    keys: &HubKeys,
    peers: &PeerParts,
    agents: &Arc<dyn CalledAgents>,
    routed: Arc<dyn RoutedSessions>,
) -> Ports {
    Ports {
        keys: Arc::new(keys.clone()),
        sites: Arc::new(BrowserSessions { hub: keys.hub.clone(), sites: peers.sites.clone() }),
        agents: agents.clone(),
        memories: Arc::new(AgentMemories(keys.hub.clone())),
        routed,
        build: console::build(),
        started: keys.hub.now(),
    }
}

/// Every path, behind the one guard.
fn router(shared: &Arc<Shared>, routes: Router, guard: Guard) -> Router {
    let (state, unknown) = (shared.clone(), shared.clone());
    routes
        .fallback(move |request: Request| async move { not_found(&unknown, &request) })
        .layer(from_fn(move |request, next| guard.clone().check(state.clone(), request, next)))
}

fn not_found(shared: &Shared, request: &Request) -> Response {
    let format = shared.error_format(request.uri().path());
    // Clients that look for a WebSocket where there is none know only one answer that says so for good.
    if request.headers().contains_key(http::header::UPGRADE) {
        return format.refuse(&Fault::caller(FaultKind::Denied, "there is no WebSocket at this path"));
    }
    format.refuse(&Fault::caller(FaultKind::NotFound(Noun::Resource), "there is nothing at this path"))
}

pub(super) fn certificate(config: &Config) -> Result<Option<Arc<ServerConfig>>, TlsFault> {
    config.tls.as_ref().map(tls::server).transpose()
}

async fn listen(config: &Config, shared: &Arc<Shared>, routes: Router, tls: LiveTls) -> Result<SocketAddr, StartFault> {
    let wanted = config.listen.0;
    let failed = |cause| StartFault::Listen { address: wanted, cause };
    // Known before anybody can connect: peers are called already.
    shared.hub.listeners().add(wanted);
    let listener = TcpListener::bind(wanted).await.map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    shared.hub.listeners().add(address);
    let _ = shared.address.set(address);
    let reached = reached(config, address);
    shared.hub.set_reached(&reached);
    shared.sign_ins.set_base(&reached, config.hub.url.is_some());
    let named = config.hub.url.as_ref().and_then(|url| url.parse::<http::Uri>().ok()?.host().map(str::to_owned));
    let guard = Guard { hosts: named.into_iter().collect(), loopback_only: address.ip().is_loopback() };
    let supervisor = shared.hub.supervisor();
    let allowed = descriptors::raise(config.limits.connections);
    let share = Share::of(allowed, config.limits.connections, config.limits.from_one_address());
    if share.connections < config.limits.connections {
        tracing::warn!(
            event = "connections_reduced",
            open_files = allowed,
            configured = config.limits.connections,
            connections = share.connections,
            "the system allows too few open files for `limits.connections`: the hub accepts fewer connections; raise `ulimit -Hn` or `LimitNOFILE=`"
        );
    }
    let acceptor = Acceptor {
        router: router(shared, routes, guard),
        supervisor: supervisor.clone(),
        open: shared.hub.meters().connections.clone(),
        connections: ConnectionLimits::new(share.connections, share.each),
    };
    // The Owner's socket has places of its own: strangers who take all the others do not keep its Owner out.
    let local = Acceptor { connections: ConnectionLimits::new(share.owner, share.owner), ..acceptor.clone() };
    let unix = owner_socket(config.socket())?;
    supervisor.run_until_stop(acceptor.tcp(listener, tls));
    if let Some(unix) = unix {
        supervisor.run_until_stop(local.unix(unix));
    }
    Ok(address)
}

/// None where the system cannot make one there: its path is too long, or the file system has no sockets. The Owner then uses the token.
fn owner_socket(path: PathBuf) -> Result<Option<UnixListener>, StartFault> {
    match bind_unix(&path) {
        Ok(socket) => Ok(Some(socket)),
        Err(error) if matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::Unsupported) => {
            tracing::warn!(event = "owner_socket_missing", path = %path.display(), %error, "the hub has no socket for its Owner: use its address and the Owner's token");
            Ok(None)
        }
        Err(cause) => Err(StartFault::File { path, cause }),
    }
}

/// Where people reach the hub: as configuration says, else where it listens.
fn reached(config: &Config, address: SocketAddr) -> String {
    if let Some(url) = &config.hub.url {
        return url.clone();
    }
    let ip = if address.ip().is_unspecified() { Ipv4Addr::LOCALHOST.into() } else { address.ip() };
    let scheme = if config.tls.is_some() { "https" } else { "http" };
    format!("{scheme}://{}", SocketAddr::new(ip, address.port()))
}

/// Places for WebSockets of callers who have not shown who they are: four addresses may take all.
fn strangers(config: &Config) -> ConnectionLimits {
    let each = config.limits.anonymous_sockets;
    ConnectionLimits::new(each.saturating_mul(4), each)
}

pub(super) fn bounds(config: &Config) -> Bounds {
    let limits = &config.limits;
    Bounds {
        body: limits.body.0,
        anonymous_body: limits.anonymous_body.0.min(limits.body.0),
        message_time: limits.message_time.0,
        upload: config.retention.artifacts.0,
        depth: usize::from(limits.depth),
    }
}

pub(super) fn admission_limits(config: &Config) -> AdmissionLimits {
    let limits = &config.limits;
    AdmissionLimits {
        in_flight: usize::try_from(limits.in_flight).unwrap_or(usize::MAX),
        queue: usize::try_from(limits.queue).unwrap_or(usize::MAX),
        rate: limits.rate.map(|rate| Rate { count: rate.count, per: rate.per }),
        ..AdmissionLimits::default()
    }
}

pub(super) fn answer_limits(config: &Config) -> AnswerLimits {
    let limits = &config.limits;
    AnswerLimits { message: limits.body.bytes(), message_time: limits.message_time.0, together: limits.answers.0 }
}

pub(super) fn holding_limits(config: &Config) -> HoldingLimits {
    let limits = &config.limits;
    HoldingLimits {
        exchanges: limits.exchanges.0,
        inboxes: limits.inboxes.0,
        sessions: limits.sessions.0,
        message: limits.body.0,
    }
}

pub(super) fn purge_rules(config: &Config) -> purge::Rules {
    let kept = &config.retention;
    let records = Retention {
        tasks: kept.tasks.0,
        tasks_count: kept.tasks_count,
        audit: kept.audit.0,
        audit_count: kept.audit_count,
        audit_bytes: kept.audit_bytes.0,
        topics: kept.tasks.0,
        topics_count: kept.tasks_count,
    };
    purge::Rules { records, artifacts: kept.artifacts.0, clock_leap: kept.clock_leap.0 }
}

/// How many values a message may have.
pub(super) fn values(config: &Config) -> usize {
    usize::try_from(config.limits.values).unwrap_or(usize::MAX)
}

pub(super) fn limit_rules(config: &Config) -> Vec<LimitRule> {
    config.limits.rules.iter().map(|rule| rule.rule(&config.access)).collect()
}

pub(super) fn settings(config: &Config) -> Settings {
    Settings {
        name: config.hub.name().into(),
        front_door: config.front_door.as_deref().map(FrontDoor::named),
        model: config.hub.model.as_deref().map(Into::into),
        deadline: config.limits.deadline.0,
        question: config.limits.question.0,
        waiting: u64::from(config.limits.waiting),
        unknown: unknown(config.confirm.unknown),
        replay: config.limits.replay.0,
        conversations: config.retention.conversations.0,
        tasks: config.retention.tasks.0,
        tasks_of_one: config.retention.tasks_per_caller,
        bytes_of_task: config.limits.task.0,
        bytes_of_one: config.retention.bytes_per_caller.0,
        bytes_of_anonymous: config.retention.anonymous_bytes.0,
        conversations_of_one: config.retention.conversations_per_caller,
        audit_arguments: config.audit.arguments.iter().map(audit_rule).collect(),
        kept_names: config.kept_names().into(),
        ..Settings::default()
    }
}

fn unknown(written: config::Unknown) -> Unknown {
    match written {
        config::Unknown::ByModel => Unknown::ByModel,
        config::Unknown::Ask => Unknown::Ask,
        config::Unknown::Allow => Unknown::Allow,
    }
}

fn audit_rule(written: &config::AuditArguments) -> KeepArguments {
    let skills = written.skills.iter().map(|pattern| pattern.as_str().into()).collect();
    KeepArguments { skills, keep: written.keep.into() }
}

/// Ends sessions of browsers that have expired, and stores when the others were used.
async fn sweep_sessions(shared: Arc<Shared>) {
    let mut ticks = tokio::time::interval(SWEEP);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        if let Err(fault) = shared.access.sweep_sessions(&shared.hub).await {
            tracing::warn!(event = "sessions_not_stored", error = %fault, "sessions of the console could not be stored");
        }
    }
}

/// Keeps gauges true and folds the samples of histograms, which would pile up between two readings.
async fn observe(status: Arc<Endpoint<Status>>) {
    let mut ticks = tokio::time::interval(OBSERVE_EVERY);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        round("gauges", async {
            status.observe();
            status.own.prometheus.run_upkeep();
        })
        .await;
    }
}
