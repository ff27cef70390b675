//! Approval notifications for operators: the number of open questions, a log event when an approval is pending and when it is decided, and
//! calls of hooks. None of them can approve anything.

use std::sync::Arc;

use interlingua_machines::task::Task;
use interlingua_model::{Confirm, Decided, Entry, Event, How, Input, Question, QuestionId, QuestionKind, SkillId};
use tokio::sync::Semaphore;

use super::Hub;
use super::hooks::{HookCall, PendingApproval, When};

/// How many hooks are told at the same time. A hook is not told of what is beyond that; the log says so.
const MAX_TELLING: usize = 64;

#[derive(Debug)]
pub(super) struct Approvals {
    places: Arc<Semaphore>,
}

impl Default for Approvals {
    fn default() -> Self {
        Approvals { places: Arc::new(Semaphore::new(MAX_TELLING)) }
    }
}

impl Hub {
    /// Reads from a commit which approvals are pending now and which are decided, and returns those that were given to calls of
    /// the task itself. `before`: the questions that were open.
    pub(super) fn note_approvals(
        &self,
        task: &Task,
        before: &[Question],
        entries: &[Arc<Entry>],
    ) -> Vec<(QuestionId, SkillId)> {
        let mut granted = Vec::new();
        let mut open: Vec<(&Question, &Confirm)> = before.iter().filter_map(approval).collect();
        for event in entries.iter().filter_map(|entry| entry.record.event()) {
            match event {
                Event::Asked(question) => {
                    let asked = approval(question);
                    if let Some((question, confirm)) = asked {
                        self.tell_pending(task, question, confirm);
                    }
                    open.extend(asked);
                }
                Event::Settled { question, how, decided, .. } => {
                    if let Some(at) = open.iter().position(|(open, _)| open.id == *question) {
                        let (asked, confirm) = open.swap_remove(at);
                        told(task, (asked, confirm), word(*how), decided.as_deref());
                        if confirm.relays.is_none() && decided.as_ref().is_some_and(|decided| decided.granted) {
                            granted.push((asked.id, confirm.skill.clone()));
                        }
                    }
                }
                Event::Finished(_) => open.drain(..).for_each(|left| told(task, left, "withdrawn", None)),
                Event::Started { .. }
                | Event::Said { .. }
                | Event::Progress { .. }
                | Event::Step(_)
                | Event::Artifact(_) => {}
            }
        }
        granted
    }

    fn tell_pending(&self, task: &Task, question: &Question, confirm: &Confirm) {
        let by = task.by.owner().to_string();
        tracing::info!(
            event = "approval_pending", task = %task.id, question = %question.id, skill = %confirm.skill,
            by, until = %question.expires, "a call waits for an approval"
        );
        for hook in self.hooks.load().of(When::Confirm, &confirm.skill) {
            let Ok(place) = self.approvals.places.clone().try_acquire_owned() else {
                tracing::warn!(event = "approval_hook_skipped", hook = %hook.name, task = %task.id, "too many hooks are running; this one is not informed of the pending approval");
                continue;
            };
            let text = Input::parts(confirm.parts.to_vec()).words().into_owned();
            let told = HookCall {
                hook: hook.name.clone(),
                when: When::Confirm,
                task: task.id,
                by: by.clone(),
                wire: task.call.origin.wire().map(|wire| wire.0.to_string()),
                skill: confirm.skill.clone(),
                effects: confirm.effects,
                arguments: confirm.args.clone(),
                text: Some(text).filter(|text| !text.is_empty()),
                finished: None,
                waiting: Some(PendingApproval { question: question.id, until: question.expires }),
            };
            self.supervisor.run_until_stop(async move {
                let _place = place;
                // Whatever it answers decides nothing; that it could not be told is in the log.
                let _ = hook.verdict(told).await;
            });
        }
    }

    /// Open questions by kind.
    pub(super) fn observe_questions(&self) {
        let mut counts = [0_u32; QuestionKind::NAMES.len()];
        for live in self.live.all() {
            live.each_question(|question| {
                let at = QuestionKind::NAMES.iter().position(|name| *name == question.kind.as_str());
                if let Some(count) = at.and_then(|at| counts.get_mut(at)) {
                    *count = count.saturating_add(1);
                }
            });
        }
        for (gauge, count) in self.meters.questions.iter().zip(counts) {
            gauge.set(f64::from(count));
        }
    }
}

fn approval(question: &Question) -> Option<(&Question, &Confirm)> {
    match &question.kind {
        QuestionKind::Confirm(confirm) => Some((question, confirm)),
        QuestionKind::Input { .. }
        | QuestionKind::Credential { .. }
        | QuestionKind::Visit { .. }
        | QuestionKind::Model(_)
        | QuestionKind::Roots
        | QuestionKind::Tool { .. } => None,
    }
}

fn told(task: &Task, (question, confirm): (&Question, &Confirm), how: &'static str, decided: Option<&Decided>) {
    let decided_by = decided.map(|decided| decided.by.to_string());
    tracing::info!(
        event = "approval_decided", task = %task.id, question = %question.id, skill = %confirm.skill,
        by = %task.by.owner(), how, decided_by, "a pending approval was decided"
    );
}

fn word(how: How) -> &'static str {
    match how {
        How::Answered => "approved",
        How::Declined => "declined",
        How::Expired => "expired",
        How::Withdrawn => "withdrawn",
    }
}
