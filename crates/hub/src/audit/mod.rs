//! Audit log: one line for each decision, batched into the journal off the hot path. Calls wait while too many lines are pending
//! (`waiting`); a line that is dropped nevertheless is counted and reported as missing. Pages form a signed hash chain
//! ([`interlingua_machines::audit`]), so a verifier detects changes.
//!
//! Equal refusals of one caller are written once and then counted: a thousand equal requests leave two lines (`refusals`).
//!
//! A call leaves a line when it is proposed and decided on (`authorize`), when a person is asked and answers (`confirm`), when it is sent
//! to its peer and is not freely repeatable (`dispatch`), and when it ends (`return`); if its caller's protocol could not carry all of it,
//! one more line says what was lost ([`losses`]). Lines hold no content and no secret: the principal, the action, the resource, the
//! outcome, the losses, and the trace and task; of arguments what configuration allows ([`interlingua_machines::audit::arguments`]).

pub mod key;
pub mod losses;
mod read;
mod refusals;
mod waiting;
mod writer;

use std::borrow::Cow;
use std::fmt::Display;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use interlingua_machines::audit::arguments::{Keep, kept};
use interlingua_model::ports::Store;
use interlingua_model::{
    Call, Fault, FaultKind, Json, Loss, Principal, Skill, SkillId, TaskId, Text, Time, gather_losses,
};
use metrics::Counter;
use serde::{Deserialize, Serialize};
use tokio::sync::{mpsc, oneshot};

use key::{Half, Signing};
use losses::Lately;
use waiting::UnwrittenLines;
use writer::{Seal, Writer, WriterMessage};

use super::clock::Clock;
use super::policy::matches;
use super::supervisor::Supervisor;
use interlingua_telemetry::trace;

/// How many lines may wait to be written; their bytes have a bound of their own.
const MAX_WAITING: usize = 16_384;
/// How long a call waits for lines to be written.
const PATIENCE: Duration = Duration::from_secs(2);
/// How much of a name is written down.
const MAX_NAME: usize = 200;

/// The outcome of a decision in favour.
pub const ALLOWED: &str = "allowed";

/// What is stored of the arguments of skills; the first matching rule counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeepArguments {
    /// Patterns over `peer/skill` that the rule is about.
    pub skills: Vec<Text>,
    /// What is written of their arguments.
    pub keep: Keep,
}

/// One decision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AuditLine {
    /// When it was decided: set when the line is written.
    pub at: Time,
    /// The principal.
    pub by: String,
    /// What was decided about, such as `authorize` or `confirm`.
    pub action: Cow<'static, str>,
    /// A skill, a peer, a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on: Option<String>,
    /// [`ALLOWED`], the outcome, or the kind of a fault.
    pub outcome: Cow<'static, str>,
    /// The task it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
    /// The protocol by which it arrived.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wire: Option<Cow<'static, str>>,
    /// The trace it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<String>,
    /// The arguments, as far as the configuration has them written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Json>,
    /// What no translation could carry: between hub and peer where it is a `return`, between caller and hub where it is `lost`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub losses: Vec<String>,
    /// How often the same was refused again, after the line that was written of the first time; `at` is the last time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<u64>,
    /// When it was refused again first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<Time>,
    /// It is one of those that are merged.
    #[serde(skip)]
    refusal: bool,
}

impl AuditLine {
    /// A line for an allowed action.
    pub fn new(action: &'static str, by: impl Display) -> AuditLine {
        AuditLine {
            at: Time(0),
            by: short(by.to_string()),
            action: action.into(),
            on: None,
            outcome: ALLOWED.into(),
            task: None,
            wire: None,
            trace: None,
            arguments: None,
            losses: Vec::new(),
            times: None,
            first: None,
            refusal: false,
        }
    }

    /// The same line, about this skill, peer or file. A long name is truncated.
    #[must_use]
    pub fn on(mut self, what: impl Display) -> AuditLine {
        self.on = Some(short(what.to_string()));
        self
    }

    /// The same line with what the rules store of the arguments of this skill.
    #[must_use]
    pub fn arguments(mut self, rules: &[KeepArguments], skill: &Skill, arguments: Option<&Json>) -> AuditLine {
        let rule = rules.iter().find(|rule| rule.skills.iter().any(|pattern| matches(pattern, &skill.id)));
        if let (Some(rule), Some(arguments)) = (rule, arguments) {
            self.arguments = kept(rule.keep, arguments, &skill.input.0);
        }
        self
    }

    /// The same line with these losses.
    #[must_use]
    pub fn losses<'a>(mut self, losses: impl Iterator<Item = &'a Loss>) -> AuditLine {
        let mut each = Vec::new();
        gather_losses(&mut each, losses);
        let written = |loss: Loss| format!("{}: {}", short(loss.what.to_string()), loss.kind.as_str());
        self.losses = each.into_iter().map(written).collect();
        self
    }

    /// The same line, about this task.
    #[must_use]
    pub fn task(mut self, task: TaskId) -> AuditLine {
        self.task = Some(task);
        self
    }

    /// The same line with the context of a call.
    #[must_use]
    pub fn call(mut self, call: &Call) -> AuditLine {
        self.wire = call.origin.wire().map(|wire| wire.0.clone());
        self.trace = call.trace.as_ref().and_then(trace::id).map(str::to_owned);
        self
    }

    /// The same line with another outcome.
    #[must_use]
    pub fn outcome(mut self, outcome: &'static str) -> AuditLine {
        self.outcome = outcome.into();
        self
    }

    /// The same line as a refusal. Refusals that repeat are merged into one line.
    #[must_use]
    pub fn refused(self, kind: FaultKind) -> AuditLine {
        AuditLine { refusal: true, ..self.outcome(kind.as_str()) }
    }
}

/// A stranger may have chosen the name.
fn short(mut name: String) -> String {
    if name.len() > MAX_NAME
        && let Some((end, _)) = name.char_indices().nth(MAX_NAME)
    {
        name.truncate(end);
    }
    name
}

/// The audit log: takes lines without waiting, chains and signs them in pages, and writes them to the journal.
#[derive(Debug)]
pub struct Audit {
    lines: mpsc::Sender<WriterMessage>,
    clock: Clock,
    dropped: Arc<AtomicU64>,
    counted: Counter,
    /// Its own, so that what the rest of the hub decides while it stops is still written.
    writer: Supervisor,
    seal: Arc<Seal>,
    lately: Lately,
    waiting: Arc<UnwrittenLines>,
}

impl Audit {
    /// `counted` counts the lines that could not be taken. Must be called within a runtime.
    pub(crate) fn start(store: &Store, clock: Clock, counted: Counter) -> Audit {
        let (lines, told) = mpsc::channel(MAX_WAITING);
        let (writer, seal, dropped) = (Supervisor::new(), Arc::new(Seal::default()), Arc::<AtomicU64>::default());
        let waiting = Arc::<UnwrittenLines>::default();
        let work = Writer::new(
            store,
            clock,
            seal.clone(),
            dropped.clone(),
            counted.clone(),
            waiting.clone(),
            writer.stopping().clone(),
        );
        writer.run(work.run(told));
        Audit { lines, clock, dropped, counted, writer, seal, lately: Lately::default(), waiting }
    }

    /// From now on pages are signed with this key.
    fn sign_with(&self, signing: Signing) {
        self.seal.store(Some(Arc::new(signing)));
    }

    /// All signing keys so far, the current one first.
    pub fn keys(&self) -> Vec<Half> {
        self.seal.load().as_ref().map(|signing| signing.known.clone()).unwrap_or_default()
    }

    /// Resolves when the key that signs has handed over to the next one, or could not.
    async fn hand_over(&self, next: Arc<Signing>) {
        let (reply, written) = oneshot::channel();
        if self.lines.send(WriterMessage::HandOver(next, reply)).await.is_ok() {
            let _ = written.await;
        }
    }

    /// Writes a line, which belongs to the current trace unless it names another.
    pub fn write(&self, mut line: AuditLine) {
        line.at = self.clock.now();
        if line.trace.is_none() {
            line.trace = trace::ambient_id();
        }
        let bytes = waiting::weight(&line);
        if self.waiting.add(&line) {
            if self.lines.try_send(WriterMessage::Line(Box::new(line))).is_ok() {
                return;
            }
            self.waiting.remove(bytes);
        }
        self.dropped.fetch_add(1, Ordering::Relaxed);
        self.counted.increment(1);
    }

    fn is_behind(&self) -> bool {
        self.waiting.is_behind() || self.lines.capacity() < MAX_WAITING / 2
    }

    /// Resolves when lines are written about as fast as they arrive: no more is decided than can be logged.
    pub(super) async fn caught_up(&self) -> Result<(), Fault> {
        if !self.is_behind() {
            return Ok(());
        }
        let written = async {
            loop {
                // Before it is looked: what is written in between wakes this one.
                let less = self.waiting.less();
                if !self.is_behind() {
                    return;
                }
                less.await;
            }
        };
        let busy = |_| Fault::hub(FaultKind::Busy, "the audit is not written as fast as calls come");
        tokio::time::timeout(PATIENCE, written).await.map_err(busy)
    }

    /// Writes a line about a caller, a skill and a task, as far as they are known.
    pub fn line(
        &self,
        action: &'static str,
        by: &Principal,
        skill: Option<&SkillId>,
        task: Option<TaskId>,
        refused: Option<FaultKind>,
    ) {
        let mut line = AuditLine::new(action, by.owner());
        line.on = skill.map(ToString::to_string);
        line.task = task;
        self.write(match refused {
            Some(kind) => line.refused(kind),
            None => line,
        });
    }

    /// The number of dropped lines since the start.
    pub fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    /// Resolves when all that was told before is written.
    async fn written(&self) {
        let (reply, written) = oneshot::channel();
        if self.lines.send(WriterMessage::Flush(reply)).await.is_ok() {
            let _ = written.await;
        }
    }

    /// Resolves when all that was told before is written, and signed where there is a key.
    async fn signed(&self) {
        let (reply, signed) = oneshot::channel();
        if self.lines.send(WriterMessage::Sign(reply)).await.is_ok() {
            let _ = signed.await;
        }
    }

    /// Writes what waits. Nothing is taken afterwards.
    pub(super) async fn stop(&self, patience: Duration) -> bool {
        self.writer.stop(patience).await
    }
}
