//! Metrics. Handles are resolved when a hub or an endpoint is set up; counting is then one atomic operation, without a lookup of a name or
//! label.
//!
//! Labels come from closed lists (phases, protocols, kinds of faults): no caller can add a series.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use arc_swap::ArcSwap;
use interlingua_model::{FaultKind, Feature, Noun, Outcome, QuestionKind, Wire};
use metrics::{Counter, Gauge, counter, gauge};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};

use super::devices::{self, DeviceMeters};
use super::histogram::{self, Histogram};
use super::trace;

/// The recorder of this process, installed on first use. A program with a recorder of its own keeps it; then there is
/// nothing to render here.
pub fn prometheus() -> PrometheusHandle {
    static HANDLE: OnceLock<PrometheusHandle> = OnceLock::new();
    HANDLE
        .get_or_init(|| {
            let recorder = recorder();
            let handle = recorder.handle();
            if metrics::set_global_recorder(recorder).is_err() {
                tracing::warn!(
                    event = "metrics_not_installed",
                    "this process already has a metrics recorder; /metrics stays empty"
                );
            }
            describe();
            handle
        })
        .clone()
}

pub(super) fn recorder() -> metrics_exporter_prometheus::PrometheusRecorder {
    PrometheusBuilder::new().build_recorder()
}

/// The steps of an exchange, by the names of the functions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    Accept,
    Decode,
    Authenticate,
    Resolve,
    Validate,
    Authorize,
    Replay,
    Journal,
    Confirm,
    Dispatch,
    Encode,
    Respond,
}

impl Phase {
    /// In order of declaration: [`Meters`] indexes by it.
    pub const ALL: [Phase; 12] = [
        Phase::Accept,
        Phase::Decode,
        Phase::Authenticate,
        Phase::Resolve,
        Phase::Validate,
        Phase::Authorize,
        Phase::Replay,
        Phase::Journal,
        Phase::Confirm,
        Phase::Dispatch,
        Phase::Encode,
        Phase::Respond,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Phase::Accept => "accept",
            Phase::Decode => "decode",
            Phase::Authenticate => "authenticate",
            Phase::Resolve => "resolve",
            Phase::Validate => "validate",
            Phase::Authorize => "authorize",
            Phase::Replay => "replay",
            Phase::Journal => "journal",
            Phase::Confirm => "confirm",
            Phase::Dispatch => "dispatch",
            Phase::Encode => "encode",
            Phase::Respond => "respond",
        }
    }
}

/// What a hub counts, whatever the protocol.
pub struct Meters {
    phases: [Histogram; Phase::ALL.len()],
    wires: ArcSwap<Vec<(&'static str, Arc<WireMeters>)>>,
    /// Of calls that came by no wire: those the hub makes itself.
    local: Arc<WireMeters>,
    /// Exchanges that run now.
    pub in_flight: Gauge,
    /// Calls that wait for a place.
    pub queue: Gauge,
    /// Kept exchanges that are not done, those that wait on a question included.
    pub tasks: Gauge,
    /// Pieces of background work.
    pub work: Gauge,
    /// Open questions, by kind in the order of [`QuestionKind::NAMES`].
    pub questions: [Gauge; QuestionKind::NAMES.len()],
    /// Accepted connections that are open.
    pub connections: Gauge,
    pub bodies: Gauge,
    pub answers: Gauge,
    /// What is held for callers between requests, in bytes.
    pub exchange_bytes: Gauge,
    pub inbox_bytes: Gauge,
    pub session_bytes: Gauge,
    /// Calls turned away because the queue was full or the wait too long.
    pub shed: Counter,
    /// From handing records to the store until they are synced.
    pub journal_append: Histogram,
    /// Outcomes that came after the first one.
    pub late_outcomes: Counter,
    /// Audit lines that found their queue full.
    pub audit_dropped: Counter,
    /// Readers that fell behind and went on from the journal.
    pub slow_readers: Counter,
    pub config_reloads: Counter,
    /// The old configuration was kept.
    pub config_reload_failures: Counter,
    /// 1 while the configuration that runs is the newest that was offered, 0 after one that was kept out.
    pub config_current: Gauge,
    /// Peers by health.
    pub peers_up: Gauge,
    pub peers_down: Gauge,
    /// Those of devices, once there was one.
    devices: OnceLock<DeviceMeters>,
}

impl std::fmt::Debug for Meters {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Meters")
    }
}

impl Meters {
    /// Resolves every handle. What has no labels is shown from the start, at zero.
    pub fn register() -> Meters {
        let (version, os, arch) = (env!("CARGO_PKG_VERSION"), std::env::consts::OS, std::env::consts::ARCH);
        gauge!("interlingua_build_info", "version" => version, "os" => os, "arch" => arch).set(1.0);
        let config_current = gauge!("interlingua_config_current");
        config_current.set(1.0);
        Meters {
            phases: Phase::ALL.map(|_| Histogram::default()),
            wires: ArcSwap::default(),
            local: Arc::new(WireMeters::register("local")),
            in_flight: gauge!("interlingua_exchanges_in_flight"),
            queue: gauge!("interlingua_queue_length"),
            tasks: gauge!("interlingua_tasks_live"),
            work: gauge!("interlingua_background_work"),
            questions: QuestionKind::NAMES.map(|kind| gauge!("interlingua_questions_pending", "kind" => kind)),
            connections: gauge!("interlingua_connections"),
            bodies: gauge!("interlingua_body_bytes"),
            answers: gauge!("interlingua_answer_bytes"),
            exchange_bytes: gauge!("interlingua_exchange_bytes"),
            inbox_bytes: gauge!("interlingua_inbox_bytes"),
            session_bytes: gauge!("interlingua_session_bytes"),
            shed: counter!("interlingua_calls_shed_total"),
            journal_append: Histogram::default(),
            late_outcomes: counter!("interlingua_late_outcomes_total"),
            audit_dropped: counter!("interlingua_audit_lines_dropped_total"),
            slow_readers: counter!("interlingua_slow_readers_total"),
            config_reloads: counter!("interlingua_config_reloads_total", "result" => "applied"),
            config_reload_failures: counter!("interlingua_config_reloads_total", "result" => "failed"),
            config_current,
            peers_up: gauge!("interlingua_peers", "health" => "up"),
            peers_down: gauge!("interlingua_peers", "health" => "down"),
            devices: OnceLock::new(),
        }
    }

    /// Those of devices. A hub without devices shows none of them.
    pub fn devices(&self) -> &DeviceMeters {
        self.devices.get_or_init(DeviceMeters::register)
    }

    /// The same, if there ever was a device.
    pub fn of_devices(&self) -> Option<&DeviceMeters> {
        self.devices.get()
    }

    /// Everything as text: what the recorder of the process holds, and this hub's own times.
    pub fn render(&self, recorder: &PrometheusHandle) -> String {
        let mut text = counted(&recorder.render());
        let name = "interlingua_phase_seconds";
        histogram::head(name, "time in each phase of an exchange", &mut text);
        for (phase, times) in Phase::ALL.iter().zip(&self.phases) {
            times.render(name, &format!("phase=\"{}\"", phase.as_str()), &mut text);
        }
        let name = "interlingua_exchange_seconds";
        histogram::head(name, "time from the door to the outcome", &mut text);
        self.local.duration.render(name, "protocol=\"local\"", &mut text);
        for (protocol, meters) in self.wires.load().iter() {
            meters.duration.render(name, &format!("protocol=\"{protocol}\""), &mut text);
        }
        let name = "interlingua_journal_append_seconds";
        histogram::head(name, "time until records are synced", &mut text);
        self.journal_append.render(name, "", &mut text);
        text
    }

    pub fn phase(&self, phase: Phase, took: Duration) {
        trace::phase(phase.as_str(), took);
        self.phases[phase as usize].record(took);
    }

    /// Starts timing phases that follow each other.
    pub fn laps(&self) -> Laps<'_> {
        Laps { meters: self, since: Instant::now() }
    }

    /// A protocol's own meters; made when its edge is set up, the same ones when it is set up again.
    pub fn protocol(&self, name: &'static str) -> Arc<WireMeters> {
        if let Some(known) = self.known(name) {
            return known;
        }
        let made = Arc::new(WireMeters::register(name));
        self.wires.rcu(|wires| {
            let mut wires = Vec::clone(wires);
            wires.push((name, made.clone()));
            wires
        });
        made
    }

    /// Those of the protocol a call came in by. No caller can name another.
    pub fn of_call(&self, wire: Option<&Wire>) -> Arc<WireMeters> {
        wire.and_then(|wire| self.known(wire.protocol())).unwrap_or_else(|| self.local.clone())
    }

    fn known(&self, name: &str) -> Option<Arc<WireMeters>> {
        self.wires.load().iter().find(|(known, _)| *known == name).map(|(_, meters)| meters.clone())
    }
}

/// A clock that is read once at the end of each phase.
#[derive(Debug)]
pub struct Laps<'m> {
    meters: &'m Meters,
    since: Instant,
}

impl Laps<'_> {
    /// What was done since the start, or since the last call of this, was `phase`.
    pub fn done(&mut self, phase: Phase) {
        let now = Instant::now();
        self.meters.phase(phase, now.duration_since(self.since));
        self.since = now;
    }
}

/// How many outcomes are told apart.
const OUTCOMES: usize = 24;

/// What is counted for each protocol. Made once, when its edge is set up.
pub struct WireMeters {
    outcomes: [Counter; OUTCOMES],
    /// From the hub's door to the outcome.
    pub duration: Histogram,
    /// Frames that were no message of this protocol.
    pub invalid: Counter,
    protocol: &'static str,
}

impl std::fmt::Debug for WireMeters {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("WireMeters")
    }
}

impl WireMeters {
    pub fn register(protocol: &'static str) -> WireMeters {
        let ended =
            |label: &'static str| counter!("interlingua_exchanges_total", "protocol" => protocol, "outcome" => label);
        WireMeters {
            outcomes: LABELS.map(ended),
            duration: Histogram::default(),
            invalid: counter!("interlingua_invalid_frames_total", "protocol" => protocol),
            protocol,
        }
    }

    /// Long-lived sockets of this protocol that are open; shown where there was one.
    pub fn sockets(&self) -> Gauge {
        gauge!("interlingua_sockets", "protocol" => self.protocol)
    }

    /// An exchange ended, or was refused with a fault of this kind.
    pub fn ended(&self, outcome: &Outcome, took: Duration) {
        let index = match outcome {
            Outcome::Completed => 0,
            Outcome::Cancelled { .. } => 1,
            Outcome::Failed(fault) => failed(fault.kind),
        };
        self.outcomes[index].increment(1);
        self.duration.record(took);
    }

    pub fn refused(&self, kind: FaultKind, took: Duration) {
        self.outcomes[failed(kind)].increment(1);
        self.duration.record(took);
    }
}

/// The `outcome` label of each place in [`WireMeters`]. Of a fault: its own spelling.
const LABELS: [&str; OUTCOMES] = [
    "completed",
    "cancelled",
    "malformed",
    "unsupported",
    "disabled",
    "unauthenticated",
    "denied",
    "not_found",
    "session_expired",
    "invalid_input",
    "unanswered",
    "conflict",
    "already_finished",
    "too_large",
    "busy",
    "budget_spent",
    "loop",
    "unreachable",
    "peer_failed",
    "peer_declined",
    "bad_reply",
    "outcome_unknown",
    "deadline",
    "internal",
];

/// The place of a fault in [`LABELS`].
pub(super) fn failed(kind: FaultKind) -> usize {
    match kind {
        FaultKind::Malformed => 2,
        FaultKind::Unsupported(Feature::SwitchedOff) => 4,
        FaultKind::Unsupported(_) => 3,
        FaultKind::Unauthenticated => 5,
        FaultKind::Denied => 6,
        FaultKind::NotFound(Noun::Session) => 8,
        FaultKind::NotFound(_) => 7,
        FaultKind::InvalidInput => 9,
        FaultKind::Unanswered => 10,
        FaultKind::Conflict => 11,
        FaultKind::AlreadyFinished => 12,
        FaultKind::TooLarge => 13,
        FaultKind::Busy => 14,
        FaultKind::BudgetSpent => 15,
        FaultKind::Loop => 16,
        FaultKind::Unreachable => 17,
        FaultKind::PeerFailed => 18,
        FaultKind::PeerDeclined => 19,
        FaultKind::BadReply => 20,
        FaultKind::OutcomeUnknown => 21,
        FaultKind::Deadline => 22,
        FaultKind::Internal => 23,
    }
}

/// Without the counters that stand at zero under labels which were prepared for them: nothing was counted there yet.
fn counted(text: &str) -> String {
    let (mut kept, mut is_counter) = (String::with_capacity(text.len()), false);
    for line in text.lines() {
        if let Some(about) = line.strip_prefix("# TYPE ") {
            is_counter = about.ends_with(" counter");
        }
        if !(is_counter && line.ends_with("} 0")) {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

fn describe() {
    metrics::describe_gauge!("interlingua_build_info", "1; its labels say which program this is");
    metrics::describe_gauge!("interlingua_exchanges_in_flight", "exchanges that run now");
    metrics::describe_gauge!("interlingua_queue_length", "calls that wait for a place");
    metrics::describe_gauge!("interlingua_tasks_live", "kept exchanges that are not done");
    metrics::describe_gauge!("interlingua_background_work", "pieces of background work");
    metrics::describe_gauge!("interlingua_questions_pending", "open questions by kind; confirm: approvals");
    metrics::describe_gauge!("interlingua_connections", "open connections");
    metrics::describe_gauge!("interlingua_answer_bytes", "bytes held for answers of peers that are read or used");
    metrics::describe_gauge!("interlingua_exchange_bytes", "bytes held for exchanges that run or wait");
    metrics::describe_gauge!(
        "interlingua_inbox_bytes",
        "bytes held for messages that wait for agents, and their answers"
    );
    metrics::describe_gauge!("interlingua_session_bytes", "bytes held for sessions of the envelope and of MCP");
    metrics::describe_gauge!("interlingua_body_bytes", "bytes held for request bodies that are read or answered");
    metrics::describe_counter!("interlingua_calls_shed_total", "calls turned away for want of room");
    metrics::describe_counter!("interlingua_late_outcomes_total", "outcomes that came after the first");
    metrics::describe_counter!("interlingua_audit_lines_dropped_total", "audit lines that found their queue full");
    metrics::describe_counter!("interlingua_slow_readers_total", "readers that fell back to the journal");
    metrics::describe_counter!("interlingua_config_reloads_total", "changes of configuration, applied or kept out");
    metrics::describe_gauge!("interlingua_config_current", "1 unless the newest configuration was kept out");
    metrics::describe_gauge!("interlingua_peers", "registered peers by health");
    metrics::describe_counter!("interlingua_exchanges_total", "exchanges by protocol and outcome");
    metrics::describe_counter!("interlingua_invalid_frames_total", "frames that were no message of their protocol");
    metrics::describe_gauge!("interlingua_sockets", "open long-lived sockets by protocol");
    devices::describe();
}
