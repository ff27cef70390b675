//! The hub: one entry point for every call of every protocol, and the phases behind it.
//!
//! Life of an exchange, by the names of the functions: `accept` and `decode` (protocol endpoints), `authenticate`, then here `resolve`,
//! `validate`, `authorize`, `replay`, `journal`, `confirm`, `dispatch`; back at the endpoint `encode`, `respond`.
//!
//! An exchange that is not stored is polled in its caller's task: nothing is spawned and nothing is written. A stored exchange is run by
//! the [`supervisor::Supervisor`], and its caller is a reader of its journal like any other.

#![warn(missing_docs)]

mod absent;
pub mod admission;
pub mod advisor;
pub mod answers;
mod approval_events;
pub mod approvals;
pub mod artifacts;
pub mod asking;
pub mod audit;
mod beside;
pub mod bus;
pub mod byte_budget;
pub mod call_router;
pub mod clock;
mod conversations;
pub mod devices;
mod driver;
pub mod entropy;
mod fold;
#[doc(hidden)]
pub mod fuzzing;
mod granted;
pub mod hooks;
pub mod in_process;
mod index;
mod interface;
mod large;
pub mod limits;
pub mod listeners;
pub mod live;
pub mod names;
pub mod news;
mod notification_events;
mod open;
mod pages;
pub mod policy;
mod prepare;
mod prepared;
pub mod reauthorize;
mod recover;
pub mod registry;
pub mod reserved;
mod running;
pub mod runs;
pub mod shares;
mod signals;
mod slot_cache;
pub mod stall;
pub mod supervisor;
mod task_tokens;
#[cfg(test)]
mod tests;
mod validate;
pub mod vault;
pub mod visible;
mod waiting;
mod words;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use arc_swap::{ArcSwap, ArcSwapOption};
use interlingua_keys::{Keyring, Tagger};
use interlingua_model::ports::{Share, Store};
use interlingua_model::{Health, HubId, Owner, PeerId, SkillId, Subject, Text, Time};

pub use conversations::CONVERSATIONS;
pub use granted::Granted;
pub use large::{between, pieces};
pub use running::{Running, Settled};

use admission::{Admission, AdmissionLimits};
use answers::Answers;
use audit::Audit;
use clock::Clock;
use hooks::Hooks;
use listeners::Listeners;
use live::LiveTable;
use reauthorize::PolicyInForce;
use registry::Registry;
use shares::Holdings;
use supervisor::Supervisor;
use validate::Schemas;
use vault::Vault;

use interlingua_telemetry::meters::Meters;

/// What may change while the hub runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// What the hub calls itself to people.
    pub name: Text,
    /// Where plain words go.
    pub front_door: Option<FrontDoor>,
    /// For calls that bring none.
    pub deadline: Duration,
    /// How long a question waits for its answer.
    pub question: Duration,
    /// How many exchanges of one caller may wait for an answer or an approval.
    pub waiting: u64,
    /// Which calls of skills with unknown effects need approval.
    pub unknown: Unknown,
    /// How long a message id is remembered.
    pub replay: Duration,
    /// How long a conversation is stored after its last turn.
    pub conversations: Duration,
    /// How long a finished task is stored.
    pub tasks: Duration,
    /// How many tasks one caller may store.
    pub tasks_of_one: u64,
    /// Bytes in the journals of one task.
    pub bytes_of_task: u64,
    /// How many bytes one caller may store.
    pub bytes_of_one: u64,
    /// How many bytes all anonymous callers together may store.
    pub bytes_of_anonymous: u64,
    /// How many conversations one caller may store.
    pub conversations_of_one: u64,
    /// The model that is asked when the hub cannot resolve plain words.
    pub model: Option<Text>,
    /// A ranked skill must score this much to be taken.
    pub match_threshold: f64,
    /// What the audit log stores of arguments.
    pub audit_arguments: Arc<[audit::KeepArguments]>,
    /// Names that configuration reserves for peers that are not connected yet: devices with a key of their own.
    pub kept_names: Arc<[Text]>,
}

/// Which calls of skills with unknown effects need approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unknown {
    /// Those whose skill was chosen by a model, plain words or a plan.
    ByModel,
    /// All of them.
    Ask,
    /// None of them: they run without approval.
    Allow,
}

/// The default receiver of plain words: the agent of a peer, or one skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FrontDoor {
    /// This peer, which finds the skill for the words itself.
    Peer(PeerId),
    /// This skill.
    Skill(SkillId),
}

impl FrontDoor {
    /// From `peer` or `peer/skill`.
    pub fn named(name: &str) -> FrontDoor {
        name.parse().map_or_else(|_| FrontDoor::Peer(PeerId::from(name)), FrontDoor::Skill)
    }
}

impl Settings {
    /// The quota of this owner in bytes; the hub's Owner has none.
    pub fn bytes_of(&self, owner: &Owner) -> Option<u64> {
        match &*owner.0 {
            [Subject::HubOwner, ..] => None,
            subjects if subjects.contains(&Subject::Anonymous) => Some(self.bytes_of_anonymous),
            _ => Some(self.bytes_of_one),
        }
    }

    /// The same, for records of a topic.
    pub fn share_of(&self, owner: &Owner) -> Option<Share> {
        self.bytes_of(owner).map(|bytes| Share { owner: owner.to_string().into(), bytes })
    }
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            name: "Interlingua".into(),
            front_door: None,
            deadline: Duration::from_secs(300),
            question: Duration::from_secs(3600),
            waiting: 1_000,
            unknown: Unknown::ByModel,
            replay: Duration::from_secs(24 * 3600),
            conversations: Duration::from_secs(24 * 3600),
            tasks: Duration::from_secs(30 * 24 * 3600),
            tasks_of_one: 100_000,
            bytes_of_task: 256 * 1024 * 1024,
            bytes_of_one: 4 * 1024 * 1024 * 1024,
            bytes_of_anonymous: 64 * 1024 * 1024,
            conversations_of_one: 100_000,
            model: None,
            match_threshold: 0.45,
            audit_arguments: Arc::default(),
            kept_names: Arc::default(),
        }
    }
}

/// A running hub.
#[derive(Debug)]
pub struct Hub {
    id: HubId,
    clock: Clock,
    store: Store,
    /// Held by whoever changes the index of words; taken by whoever searches it.
    indexing: tokio::sync::RwLock<()>,
    keys: Arc<Keyring>,
    registry: Registry,
    policy: PolicyInForce,
    settings: ArcSwap<Settings>,
    admission: Arc<Admission>,
    /// By rules of the operator's.
    limits: limits::Limits,
    live: LiveTable,
    waiting: waiting::WaitingCounts,
    supervisor: Supervisor,
    /// How much peers may answer.
    answers: Answers,
    /// Where it listens: nothing it sends goes there unless configuration says so.
    listeners: Listeners,
    audit: Audit,
    meters: Meters,
    news: news::News,
    /// What devices reported.
    devices: devices::Devices,
    bus: bus::Bus,
    /// What is held in memory for callers, in bytes.
    holdings: Holdings,
    /// Who waits for records of agents, teams and plans.
    runs: runs::Runs,
    /// Who is asked before and after a dispatch.
    hooks: ArcSwap<Hooks>,
    /// Where people reach it, once that is known.
    reached: ArcSwapOption<String>,
    /// What configuration has to think with.
    advisor: ArcSwap<Option<Arc<dyn advisor::Advisor>>>,
    own_advisor: ArcSwap<Option<Arc<dyn advisor::Advisor>>>,
    schemas: Schemas,
    filled: slot_cache::SlotCache,
    approvals: approval_events::Approvals,
    noting: notification_events::Noting,
    vault: Vault,
    conversation_tags: OnceLock<Tagger>,
    /// Names this start of the hub, to itself.
    start: u128,
}

impl Hub {
    /// Must be called within a runtime. Register the peers afterwards, then [`Hub::recover`] resumes what a crash left.
    pub fn new(id: HubId, store: Store, keys: Arc<Keyring>, limits: AdmissionLimits, settings: Settings) -> Arc<Hub> {
        let clock = Clock::start();
        let supervisor = Supervisor::new();
        let meters = Meters::register();
        let registry = Registry::default();
        let audit = Audit::start(&store, clock, meters.audit_dropped.clone());
        Arc::new(Hub {
            id,
            clock,
            schemas: registry.schemas.clone(),
            registry,
            policy: PolicyInForce::default(),
            settings: ArcSwap::from_pointee(settings),
            admission: Admission::new(limits),
            limits: limits::Limits::default(),
            live: LiveTable::default(),
            waiting: waiting::WaitingCounts::default(),
            audit,
            meters,
            news: news::News::default(),
            devices: devices::Devices::default(),
            bus: bus::Bus::default(),
            holdings: Holdings::default(),
            runs: runs::Runs::default(),
            hooks: ArcSwap::default(),
            reached: ArcSwapOption::empty(),
            advisor: ArcSwap::default(),
            own_advisor: ArcSwap::default(),
            filled: slot_cache::SlotCache::default(),
            approvals: approval_events::Approvals::default(),
            noting: notification_events::Noting::default(),
            vault: Vault::new(store.records.clone(), keys.clone()),
            supervisor,
            answers: Answers::default(),
            listeners: Listeners::default(),
            store,
            indexing: tokio::sync::RwLock::default(),
            keys,
            conversation_tags: OnceLock::new(),
            start: entropy::bits(),
        })
    }

    /// The hub's time: see [`clock`].
    pub fn now(&self) -> Time {
        self.clock.now()
    }

    /// The expiry of a question that is asked now.
    pub fn question_expires(&self) -> Time {
        self.now().after(self.settings.load().question)
    }

    /// Updates the gauges; everything else is counted as it happens.
    pub fn observe(&self) {
        let count = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
        let (running, waiting) = self.admission.load();
        self.meters.in_flight.set(count(running));
        let bytes = |bytes: u64| f64::from(u32::try_from(bytes).unwrap_or(u32::MAX));
        self.meters.answers.set(bytes(self.answers.held()));
        let holdings = &self.holdings;
        self.meters.exchange_bytes.set(bytes(holdings.exchanges.taken()));
        self.meters.inbox_bytes.set(bytes(holdings.inboxes.taken()));
        self.meters.session_bytes.set(bytes(holdings.session_bytes()));
        self.meters.queue.set(count(waiting));
        self.meters.tasks.set(count(self.live.count()));
        self.meters.work.set(count(self.supervisor.count()));
        self.observe_questions();
        let catalogue = self.registry.catalogue();
        let is_down = |health: &Health| matches!(health, Health::Down { .. });
        let down = catalogue.peers.values().filter(|registered| is_down(&registered.card.health)).count();
        self.meters.peers_down.set(count(down));
        self.meters.peers_up.set(count(catalogue.peers.len() - down));
        if let Some(meters) = self.meters.of_devices() {
            self.devices.observe(meters);
        }
    }

    /// Lets running exchanges end, and writes what is pending.
    pub async fn stop(&self, patience: Duration) -> bool {
        let ended = self.supervisor.stop(patience).await;
        self.audit.stop(patience).await && ended
    }
}
