//! Hooks (policy callouts): an external party is asked before a call goes to its peer, and informed after it came back, of pending
//! approvals and of notifications.
//!
//! A hook before a call may refuse it or change its arguments; it runs before the approval, so that what is approved is what is sent. A
//! hook after a call may withhold the result, or convert it. Streamed output has been seen by then. Programs and addresses of the
//! configuration are hooks (crate `interlingua-hooks`), and so is anything that implements [`Hook`].
//!
//! Deliberately absent: hooks that see tokens or messages as they were on the wire.

use std::fmt;
use std::future::ready;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use interlingua_model::{
    Call, Effects, Fault, FaultKind, Finished, Json, Outcome, Output, Part, Principal, QuestionId, Skill, SkillId,
    TaskId, Text, Time, glob,
};

use super::Hub;
use super::audit::AuditLine;
use super::prepared::Ready;

/// The answer of a hook.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// The call proceeds unchanged.
    Pass,
    /// Why, for the caller to read.
    Refuse(Text),
    /// Other arguments, which must fit the skill's schema. Only before the dispatch.
    Arguments(Json),
    /// Another result, which must fit the skill's output schema if it has one. Only after the dispatch.
    Result(Json),
}

/// The future of [`Hook::ask`]. `Err` is a hook that could not be asked.
pub type PendingVerdict<'a> = Pin<Box<dyn Future<Output = Result<Verdict, Fault>> + Send + 'a>>;

/// An external party that is asked about calls.
pub trait Hook: Send + Sync {
    /// Asks about one call. The hub waits for it at most [`Attached::timeout`].
    fn ask(&self, told: HookCall) -> PendingVerdict<'_>;

    /// Informs it of a notification. What it answers decides nothing.
    fn inform(&self, _told: HookNote) -> PendingVerdict<'_> {
        Box::pin(ready(Ok(Verdict::Pass)))
    }
}

/// What a hook receives of a notification that a caller sent to its session.
#[derive(Debug, Clone)]
pub struct HookNote {
    /// The hook's own name.
    pub hook: Text,
    /// The owner, as the audit writes it.
    pub by: String,
    /// The protocol by which it arrived.
    pub wire: &'static str,
    /// The session, as its caller names it.
    pub session: Option<Text>,
    /// The caller's id of the message.
    pub message: Text,
    /// What it says; `None` where that is too large to be stored.
    pub content: Option<Json>,
}

/// What a hook receives of a call.
#[derive(Debug, Clone)]
pub struct HookCall {
    /// The hook's own name.
    pub hook: Text,
    /// At which moment it is asked.
    pub when: When,
    /// The exchange.
    pub task: TaskId,
    /// The owner, as the audit writes it.
    pub by: String,
    /// The protocol by which the call arrived; `None` for calls that the hub makes.
    pub wire: Option<String>,
    /// The skill that is called.
    pub skill: SkillId,
    /// What the skill does, as far as is known.
    pub effects: Effects,
    /// As they go to the peer.
    pub arguments: Option<Json>,
    /// What was said in words beside them.
    pub text: Option<String>,
    /// How it ended, for a hook after.
    pub finished: Option<Box<Finished>>,
    /// The question to a person, for a hook that is informed of approvals.
    pub waiting: Option<PendingApproval>,
}

/// An approval that is pending.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PendingApproval {
    /// The question that is open.
    pub question: QuestionId,
    /// When it expires.
    pub until: Time,
}

/// The moment at which a hook is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// Before the call goes to its peer. The hook may refuse it or change its arguments.
    Before,
    /// After it came back. The hook may withhold the result, or give another.
    After,
    /// An approval is pending. The hook is informed and decides nothing.
    Confirm,
    /// A caller sent a notification to its session. The hook is informed and decides nothing.
    Notification,
}

impl When {
    /// Its key and value in the configuration.
    pub fn moment(self) -> (&'static str, &'static str) {
        match self {
            When::Before => ("before", "dispatch"),
            When::After => ("after", "dispatch"),
            When::Confirm => ("on", "confirm"),
            When::Notification => ("on", "notification"),
        }
    }
}

/// What happens to a call whose hook cannot be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnFailure {
    /// The call is refused.
    Refuse,
    /// The call proceeds as if there were no hook.
    Pass,
}

/// A hook, and when it is asked.
pub struct Attached {
    /// The name by which the log and the audit log know it.
    pub name: Text,
    /// At which moment it is asked.
    pub when: When,
    /// The skills it applies to; `*` matches any characters.
    pub skills: Vec<String>,
    /// How long the hub waits for its answer.
    pub timeout: Duration,
    /// What happens to a call when the hook does not answer.
    pub on_failure: OnFailure,
    /// The hook.
    pub hook: Arc<dyn Hook>,
}

impl fmt::Debug for Attached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Attached").field("name", &self.name).field("when", &self.when).finish_non_exhaustive()
    }
}

impl Attached {
    pub(super) async fn verdict(&self, told: HookCall) -> Result<Verdict, Fault> {
        self.in_time(self.hook.ask(told)).await
    }

    pub(super) async fn informed(&self, told: HookNote) -> Result<Verdict, Fault> {
        self.in_time(self.hook.inform(told)).await
    }

    /// One that cannot be asked is a refusal or none, as configured; its cause is for the log.
    async fn in_time(&self, asked: PendingVerdict<'_>) -> Result<Verdict, Fault> {
        let late = || Fault::hub(FaultKind::Deadline, "it took too long");
        let asked = tokio::time::timeout(self.timeout, asked).await;
        let fault = match asked.unwrap_or_else(|_| Err(late())) {
            Ok(verdict) => return Ok(verdict),
            Err(fault) => fault,
        };
        tracing::warn!(event = "hook_failed", hook = %self.name, error = %fault, cause = ?fault.source, "a hook did not answer; its `on_failure` decides whether the call passes");
        match self.on_failure {
            OnFailure::Pass => Ok(Verdict::Pass),
            OnFailure::Refuse => {
                Err(Fault::hub(FaultKind::Unreachable, format!("the hook '{}' could not be asked", self.name)))
            }
        }
    }

    fn refusal(&self, what: &str, why: &str) -> Fault {
        Fault::caller(FaultKind::Denied, format!("the hook '{}' refused {what}: {why}", self.name))
    }
}

/// All hooks, in the order in which they are asked.
#[derive(Debug, Clone, Default)]
pub struct Hooks(pub Vec<Arc<Attached>>);

impl Hooks {
    /// These with `new` in place of `old`: hooks that are not among `old` were added by the program that embeds the hub, and stay.
    #[must_use]
    pub fn replaced(&self, old: &Hooks, new: &Hooks) -> Hooks {
        let is_own = |hook: &&Arc<Attached>| !old.0.iter().any(|one| Arc::ptr_eq(one, hook));
        Hooks(new.0.iter().chain(self.0.iter().filter(is_own)).cloned().collect())
    }

    pub(super) fn of(&self, when: When, skill: &SkillId) -> Vec<Arc<Attached>> {
        if self.0.is_empty() {
            return Vec::new();
        }
        let name = skill.to_string();
        let about = |hook: &&Arc<Attached>| {
            hook.when == when && hook.skills.iter().any(|pattern| glob::matches(pattern, &name))
        };
        self.0.iter().filter(about).cloned().collect()
    }
}

impl Hooks {
    pub(super) fn of_notifications(&self) -> Vec<Arc<Attached>> {
        self.0.iter().filter(|hook| hook.when == When::Notification).cloned().collect()
    }
}

/// Everything but the hook's own name, when, and how it ended.
pub(super) fn told(by: &Principal, call: &Call, task: TaskId, skill: &Skill, args: Option<&Json>) -> HookCall {
    let words = call.input().map(|input| input.words().into_owned()).filter(|words| !words.is_empty());
    HookCall {
        hook: "".into(),
        when: When::Before,
        task,
        by: by.owner().to_string(),
        wire: call.origin.wire().map(|wire| wire.0.to_string()),
        skill: skill.id.clone(),
        effects: skill.effects,
        arguments: args.cloned(),
        text: words,
        finished: None,
        waiting: None,
    }
}

impl Hub {
    /// Asks the hooks before the dispatch, one after the other.
    pub(super) async fn before_dispatch(
        &self,
        by: &Principal,
        call: &Call,
        task: TaskId,
        ready: &mut Ready,
    ) -> Result<(), Fault> {
        let hooks = self.hooks.load();
        let asked = hooks.of(When::Before, &ready.skill.id);
        drop(hooks);
        for hook in asked {
            let told = told(by, call, task, &ready.skill, ready.args.as_ref());
            match hook.verdict(HookCall { hook: hook.name.clone(), ..told }).await {
                Ok(Verdict::Pass | Verdict::Result(_)) => {}
                Ok(Verdict::Arguments(args)) => self.replace_arguments(&hook, ready, args)?,
                Ok(Verdict::Refuse(why)) => {
                    self.write_refusal(&hook, by.owner().to_string(), &ready.skill.id, task);
                    return Err(hook.refusal("the call", &why));
                }
                Err(fault) => {
                    self.write_refusal(&hook, by.owner().to_string(), &ready.skill.id, task);
                    return Err(fault);
                }
            }
        }
        Ok(())
    }

    fn replace_arguments(&self, hook: &Attached, ready: &mut Ready, args: Json) -> Result<(), Fault> {
        let schema = &ready.skill.input;
        self.schemas.check(schema.0.digest(), schema, &args).map_err(|fault| {
            let text = format!("the hook '{}' made arguments that do not fit: {}", hook.name, fault.public);
            Fault::hub(FaultKind::InvalidInput, text)
        })?;
        ready.args = Some(args);
        Ok(())
    }

    /// Tells the hooks after the dispatch how it ended. One of them may withhold a result, or convert it; the next is told the new one.
    pub(super) async fn after_dispatch(
        &self,
        asked: Vec<Arc<Attached>>,
        call: HookCall,
        mut finished: Finished,
    ) -> Finished {
        for hook in asked {
            let (name, ended) = (hook.name.clone(), Some(Box::new(finished.clone())));
            let told = HookCall { hook: name, when: When::After, finished: ended, ..call.clone() };
            let fault = match hook.verdict(told).await {
                Ok(Verdict::Pass | Verdict::Arguments(_)) => continue,
                Ok(Verdict::Refuse(why)) => hook.refusal("the result", &why),
                Ok(Verdict::Result(_)) if finished.outcome != Outcome::Completed => continue,
                Ok(Verdict::Result(result)) => match self.converted(&hook, &call.skill, result) {
                    Ok(output) => {
                        finished.output = output;
                        continue;
                    }
                    Err(fault) => fault,
                },
                Err(fault) => fault,
            };
            // What has failed has nothing to withhold.
            if finished.outcome == Outcome::Completed {
                self.write_refusal(&hook, call.by.clone(), &call.skill, call.task);
                finished = Finished { usage: finished.usage, ..Finished::failed(fault) };
            }
        }
        finished
    }

    /// The output that a hook made. A skill that promises a form keeps its promise.
    fn converted(&self, hook: &Attached, skill: &SkillId, result: Json) -> Result<Output, Fault> {
        let catalogue = self.registry.catalogue();
        if let Some(skill) = catalogue.skill(skill, None) {
            self.schemas.check_output(skill, Some(&result)).map_err(|fault| {
                let text = format!("the hook '{}' made a result that does not fit: {}", hook.name, fault.public);
                Fault::hub(FaultKind::BadReply, text)
            })?;
        }
        Ok(Output { structured: Some(result), ..Output::default() })
    }

    fn write_refusal(&self, hook: &Attached, by: String, skill: &SkillId, task: TaskId) {
        let on = format!("{skill} by {}", hook.name);
        self.audit.write(AuditLine::new("hook", by).on(on).task(task).refused(FaultKind::Denied));
    }
}

/// The text of a result.
pub fn words(finished: &Finished) -> Option<String> {
    let texts: Vec<&str> = finished.output.parts.iter().filter_map(Part::as_text).collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}
