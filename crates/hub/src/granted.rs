//! Approval history: the last approved call of each skill by each caller, so that an approver sees what differs this time.
//!
//! A record only names the question. The journal of its task holds what was approved, when and by whom, and both are removed together. The
//! record is written after the journal: after a crash between the two, the approval before it is still the last one.

use bytes::Bytes;
use interlingua_model::ports::Expect;
use interlingua_model::{
    Confirm, Digest, Fault, Json, Owner, Question, QuestionId, QuestionKind, SkillId, TaskId, Time,
};

use super::Hub;

const KIND: &str = "granted";

/// How often a question is passed on at most. Calls of calls have a bound of their own; a damaged journal has none.
const MAX_DEPTH: usize = 64;

/// The last approved call of a skill by a caller.
#[derive(Debug, Clone, PartialEq)]
pub struct Granted {
    /// The task of that call.
    pub task: TaskId,
    /// When it was approved.
    pub at: Time,
    /// The approver.
    pub by: Owner,
    /// The arguments that were approved.
    pub arguments: Option<Json>,
}

fn key(owner: &Owner, skill: &SkillId) -> String {
    Digest::of_fields([owner.to_string().as_bytes(), skill.to_string().as_bytes()]).to_string()
}

impl Hub {
    /// Notes approvals that were just written to the journal of this caller's task.
    pub(super) async fn note_granted(&self, owner: &Owner, granted: Vec<(QuestionId, SkillId)>) {
        for (question, skill) in granted {
            let (now, value) = (self.now(), Bytes::from(question.to_string()));
            let until = Some(now.after(self.settings.load().tasks));
            let put = self.store.records.put(KIND, &key(owner, &skill), value, until, Expect::Anything, now).await;
            if let Err(error) = put {
                tracing::warn!(event = "approval_not_stored", question = %question, %error, "an approval is not stored as the last one of its caller and skill");
            }
        }
    }

    /// The last approved call of the same skill by the same caller; none where this is the first.
    pub(super) async fn last_granted(&self, question: &Question) -> Result<Option<Granted>, Fault> {
        let QuestionKind::Confirm(confirm) = &question.kind else { return Ok(None) };
        let Some(owner) = self.owner_of_call(question.id, confirm) else { return Ok(None) };
        let key = key(&owner, &confirm.skill);
        let Some(item) = self.store.records.get(KIND, &key, self.now()).await? else { return Ok(None) };
        let Some(id) = std::str::from_utf8(&item.value).ok().and_then(|id| id.parse::<QuestionId>().ok()) else {
            return Ok(None);
        };
        let Some(ended) = self.ended(id).await? else { return Ok(None) };
        let (QuestionKind::Confirm(shown), Some(decided)) = (ended.question.kind, ended.decided) else {
            return Ok(None);
        };
        let same = decided.granted && shown.skill == confirm.skill;
        Ok(same.then(|| Granted { task: id.0, at: ended.at, by: decided.by, arguments: shown.args }))
    }

    /// The owner of the call: a run that relays a question asks about a call of its own, not of its caller's.
    fn owner_of_call(&self, id: QuestionId, confirm: &Confirm) -> Option<Owner> {
        let (mut id, mut relays) = (id, confirm.relays);
        for _ in 0..MAX_DEPTH {
            let Some(below) = relays.take() else { break };
            id = below;
            let questions = self.live.get(id.0).map(|live| live.questions()).unwrap_or_default();
            relays = questions.into_iter().find(|question| question.id == id).and_then(|question| relayed(&question));
        }
        self.live.get(id.0).map(|live| live.owner.clone())
    }
}

/// The question that this one passes on.
pub(super) fn relayed(question: &Question) -> Option<QuestionId> {
    match &question.kind {
        QuestionKind::Confirm(confirm) => confirm.relays,
        QuestionKind::Input { .. }
        | QuestionKind::Credential { .. }
        | QuestionKind::Visit { .. }
        | QuestionKind::Model(_)
        | QuestionKind::Roots
        | QuestionKind::Tool { .. } => None,
    }
}
