//! Embedding interface: what protocols, agents, sites and tools use of a hub besides opening exchanges. It offers records of their own,
//! background work, the time, the audit log, and settings that change while the hub runs.

use std::sync::Arc;

use arc_swap::{ArcSwap, Guard};
use bytes::Bytes;
use interlingua_keys::Keyring;
use interlingua_model::policy::{Action, Decision};
use interlingua_model::ports::{Blobs, Expect, Hit, Item, Journal, Pending, Records, Room, Store, StoreFault};
use interlingua_model::{Digest, Fault, Health, HubId, Json, Notice, PeerId, Principal, Skill, TaskId, Text, Time};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::admission::Admission;
use super::answers::Answers;
use super::audit::{Audit, AuditLine};
use super::bus::Bus;
use super::clock::Clock;
use super::hooks::Hooks;
use super::listeners::Listeners;
use super::live::Live;
use super::policy::Policy;
use super::registry::{Catalogue, Registry};
use super::shares::Holdings;
use super::supervisor::Supervisor;
use super::{Hub, Settings, limits, news, runs};
use interlingua_telemetry::meters::Meters;

/// Records of one kind, by the hub's clock: expired records are absent.
#[derive(Clone, Copy)]
pub struct RecordNamespace<'a> {
    records: &'a Arc<dyn Records>,
    kind: &'static str,
    now: Time,
}

impl std::fmt::Debug for RecordNamespace<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RecordNamespace").field("kind", &self.kind).finish_non_exhaustive()
    }
}

impl<'a> RecordNamespace<'a> {
    pub fn get(&self, key: &str) -> Pending<'a, Option<Item>> {
        self.records.get(self.kind, key, self.now)
    }

    /// Returns the new revision.
    pub fn put(&self, key: &str, value: Bytes, expires: Option<Time>, expect: Expect) -> Pending<'a, u64> {
        self.records.put(self.kind, key, value, expires, expect, self.now)
    }

    /// Within an owner's limits.
    pub fn put_within(&self, room: Room, item: Item) -> Pending<'a, u64> {
        self.records.put_within(room, self.kind, item, self.now)
    }

    /// The same content, sealed by another key.
    pub fn rewrite(&self, key: &str, value: Bytes, revision: u64) -> Pending<'a, bool> {
        self.records.rewrite(self.kind, key, value, revision)
    }

    /// Removes and returns it.
    pub fn take(&self, key: &str) -> Pending<'a, Option<Item>> {
        self.records.take(self.kind, key, self.now)
    }

    /// In the order of their keys.
    pub fn list(&self, after: Option<&str>, limit: usize) -> Pending<'a, Vec<Item>> {
        self.records.list(self.kind, after, limit, self.now)
    }

    pub fn count(&self) -> Pending<'a, u64> {
        self.records.count(self.kind, self.now)
    }
}

/// What is stored.
impl Hub {
    /// Records of one kind.
    pub fn records(&self, kind: &'static str) -> RecordNamespace<'_> {
        RecordNamespace { records: &self.store.records, kind, now: self.now() }
    }

    /// The blob store.
    pub fn blobs(&self) -> &Arc<dyn Blobs> {
        &self.store.blobs
    }

    /// The journals.
    pub fn journal(&self) -> &Arc<dyn Journal> {
        &self.store.journal
    }

    /// All ports of the store.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The records of all kinds: for what [`Hub::records`] does not offer.
    pub fn store_records(&self) -> &Arc<dyn Records> {
        &self.store.records
    }

    /// Skills whose texts match these words, best first. [`Hub::visible`] decides whether the caller may see them.
    pub async fn search_skills(&self, words: &str, limit: usize) -> Result<Vec<Hit>, StoreFault> {
        self.search_index(words, limit).await
    }

    /// The keys by which the hub seals and authenticates.
    pub fn keys(&self) -> &Arc<Keyring> {
        &self.keys
    }

    /// The audit log.
    pub fn audit(&self) -> &Audit {
        &self.audit
    }

    /// Writes a line to the audit log. Does not wait.
    pub fn write_audit(&self, line: AuditLine) {
        self.audit.write(line);
    }
}

/// Work and time.
impl Hub {
    /// The id of this hub, by which other hubs recognize a loop.
    pub fn id(&self) -> &HubId {
        &self.id
    }

    /// The hub's clock.
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// The runtime's instant of this time.
    pub fn instant(&self, at: Time) -> Instant {
        self.clock.instant(at)
    }

    /// Starts background work and waits for it at the end.
    pub fn supervisor(&self) -> &Supervisor {
        &self.supervisor
    }

    /// Runs to its end; the hub waits for it when it stops.
    pub fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        self.supervisor.run(work);
    }

    /// Runs until the hub stops.
    pub fn spawn_until_stop(&self, work: impl Future<Output = ()> + Send + 'static) {
        self.supervisor.run_until_stop(work);
    }

    /// Cancelled when the hub begins to stop.
    pub fn stopping(&self) -> &CancellationToken {
        self.supervisor.stopping()
    }

    /// The metrics.
    pub fn meters(&self) -> &Meters {
        &self.meters
    }

    /// Admission control: how many calls run at once.
    pub fn admission(&self) -> &Arc<Admission> {
        &self.admission
    }

    /// Memory held for callers, and its bounds.
    pub fn holdings(&self) -> &Holdings {
        &self.holdings
    }

    /// Limits by rules of the operator's.
    pub fn limits(&self) -> &limits::Limits {
        &self.limits
    }
}

/// Running tasks and runs.
impl Hub {
    /// A task that runs in this process.
    pub fn live(&self, task: TaskId) -> Option<Arc<Live>> {
        self.live.get(task)
    }

    /// Does this task run in this process?
    pub fn is_live(&self, task: TaskId) -> bool {
        self.live.get(task).is_some()
    }

    /// The number of running tasks.
    pub fn live_count(&self) -> usize {
        self.live.count()
    }

    /// The sequence of the last record of a running task; 0 for any other.
    pub fn seq_of(&self, task: TaskId) -> u64 {
        self.live.get(task).map_or(0, |live| live.seq())
    }

    /// Notifies when a run of an agent, a team or a plan has new records.
    pub fn run_records(&self) -> runs::Listener {
        self.runs.listen()
    }

    /// Informs readers that the run of this task has new records.
    pub fn run_appended(&self, task: TaskId) {
        self.runs.appended(task);
    }

    /// The messages between agents.
    pub fn bus(&self) -> &Bus {
        &self.bus
    }
}

/// Peers and rules.
impl Hub {
    /// All peers and skills now, whoever may see them. What a caller sees is [`Hub::visible`].
    pub fn catalogue(&self) -> Arc<Catalogue> {
        self.registry.catalogue()
    }

    /// The registry of peers.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// Sets what an operator should fix about a peer. Fails only where the registry does.
    pub fn set_problems(&self, peer: &PeerId, problems: impl Iterator<Item = Text>) -> Result<(), Fault> {
        self.registry.set_problems(peer, problems)
    }

    /// Sets whether a peer can be reached, as its card shows it.
    pub fn set_health(&self, peer: &PeerId, health: Health) -> Result<(), Fault> {
        self.registry.set_health(peer, health)
    }

    /// Notices of changes at peers.
    pub fn notices(&self) -> news::Listener {
        self.news.listen()
    }

    /// Informs all listeners of [`Hub::notices`].
    pub fn announce(&self, notice: Notice) {
        self.news.publish(notice);
    }

    /// The settings now.
    pub fn settings(&self) -> Guard<Arc<Settings>> {
        self.settings.load()
    }

    /// Replaces the settings: they hold from the next call on.
    pub fn set_settings(&self, settings: Settings) {
        self.settings.store(Arc::new(settings));
    }

    /// Replaces the rules: they hold from the next decision on, and streams that they no longer allow end.
    pub fn set_policy(&self, policy: Policy) {
        self.policy.store(Arc::new(policy));
    }

    /// The version of the current rules.
    pub fn policy_version(&self) -> Digest {
        self.policy.load().version()
    }

    /// May this principal approve calls that have no particular approver?
    pub fn may_approve(&self, by: &Principal) -> bool {
        self.policy.load().approves(by, None, self.now())
    }

    /// May they register agents, of some name?
    pub fn may_register(&self, by: &Principal) -> bool {
        self.policy.load().registers(by, None, self.now())
    }

    /// May they come in as this device?
    pub fn may_enter(&self, by: &Principal, device: &PeerId) -> bool {
        self.policy.load().enters(by, device, self.now())
    }

    /// Do the rules forbid this device?
    pub fn bars(&self, by: &Principal, device: &PeerId) -> bool {
        self.policy.load().bars(by, device, self.now())
    }

    /// The decision of the rules about a call, and which rules made it.
    pub fn explain(
        &self,
        by: &Principal,
        action: Action,
        skill: &Skill,
        wire: Option<&str>,
        args: Option<&Json>,
    ) -> Decision {
        self.policy.load().explain(by, action, skill, wire, args, self.now())
    }

    /// The hooks, which may be replaced while the hub runs.
    pub fn hooks(&self) -> &ArcSwap<Hooks> {
        &self.hooks
    }
}

/// Toward the outside.
impl Hub {
    /// The address under which people reach the hub, once that is known.
    pub fn reached(&self) -> Option<Arc<String>> {
        self.reached.load_full()
    }

    /// Sets the address under which people reach the hub, such as `https://hub.example`.
    pub fn set_reached(&self, base: &str) {
        self.reached.store(Some(Arc::new(base.trim_end_matches('/').to_owned())));
    }

    /// Limits of peers' responses.
    pub fn answers(&self) -> &Answers {
        &self.answers
    }

    /// The addresses on which the hub listens, for the SSRF guard.
    pub fn listeners(&self) -> &Listeners {
        &self.listeners
    }
}
