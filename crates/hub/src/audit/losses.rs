//! Audit lines of translation losses: what the caller's protocol could not carry, of the request when it was decoded, or of the answer when
//! it was encoded.
//!
//! An exchange ends, and its `return` line is written, before its answer is encoded; the answer may be sent later, by another protocol, or
//! never. So a loss is a line of its own (`lost`), which names the exchange as its `return` line does, and the protocol that carried the
//! answer. Without a loss there is no line.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use interlingua_machines::task::Task;
use interlingua_model::{Digest, Loss, Principal, SkillId, TaskId, Trace, Wire};

use super::AuditLine;
use crate::Hub;
use interlingua_telemetry::trace;

/// How many tellings are remembered, so that none is written twice.
const REMEMBERED: usize = 1_024;

/// The name of an exchange in the audit log, also after its end.
#[derive(Debug, Clone)]
pub struct Named {
    /// The exchange.
    pub task: TaskId,
    /// Without one of its own it belongs to what is being done.
    pub trace: Option<Trace>,
}

impl Named {
    /// The name of a task's exchange.
    pub fn of(task: &Task) -> Named {
        Named { task: task.id, trace: task.call.trace.clone() }
    }
}

/// The context of losses: the exchange, the caller and the protocol.
#[derive(Debug, Clone)]
pub struct LossContext<'a> {
    /// The caller.
    pub by: &'a Principal,
    /// The exchange.
    pub of: Named,
    /// By which protocol.
    pub wire: Wire,
    /// What was called, where that is known.
    pub skill: Option<&'a SkillId>,
}

impl Hub {
    /// Writes the losses between a caller and the hub. Reading an answer again loses the same again, and leaves one line.
    pub fn lost(&self, leg: &LossContext<'_>, losses: &[Loss]) {
        if losses.is_empty() {
            return;
        }
        let mut line = AuditLine::new("lost", leg.by.owner()).task(leg.of.task).outcome("told").losses(losses.iter());
        line.wire = Some(leg.wire.0.clone());
        line.trace = leg.of.trace.as_ref().and_then(trace::id).map(str::to_owned);
        if let Some(skill) = leg.skill {
            line = line.on(skill);
        }
        if self.audit.lately.is_new(&line) {
            self.audit.write(line);
        }
    }
}

/// The lines that were written last, by their digest.
#[derive(Debug, Default)]
pub(super) struct Lately(Mutex<VecDeque<Digest>>);

impl Lately {
    fn is_new(&self, line: &AuditLine) -> bool {
        let task = line.task.map_or(0, |task| task.0).to_be_bytes();
        let wire = line.wire.as_deref().unwrap_or_default();
        let fields = [line.by.as_bytes(), &task, wire.as_bytes()];
        let digest = Digest::of_fields(fields.into_iter().chain(line.losses.iter().map(String::as_bytes)));
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.contains(&digest) {
            return false;
        }
        if known.len() == REMEMBERED {
            known.pop_front();
        }
        known.push_back(digest);
        true
    }
}
