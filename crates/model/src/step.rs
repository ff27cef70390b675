//! Steps of the work on an answer: a call by an agent, a tool that its caller runs for it, a turn of a member of a team.

use serde::{Deserialize, Serialize};

use crate::card::Effects;
use crate::content::{Body, Part, Provenance, cut, head};
use crate::id::{SkillId, StepId, Text};
use crate::json::Json;

/// Bytes of a step's arguments, and of its result: both are in every stream and in the journal.
pub const MAX_STEP: usize = 16 * 1024;
/// Bytes of what a step is called.
const MAX_TITLE: usize = 256;

/// Every event of a step says all that is known of it then: the last one counts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// The same in every event of this step, also after a restart.
    pub id: StepId,
    /// The step as part of which it is done: a member's turn, the call of another agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<StepId>,
    /// The called skill; none for a member's turn and for a tool of the caller's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skill: Option<SkillId>,
    /// For people: the skill, or the member.
    pub title: Text,
    /// By the effects of the skill.
    pub kind: StepKind,
    /// Its state with this event.
    pub state: StepState,
    /// Without secrets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<Json>,
    /// Its result, once it has ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Part>,
}

/// What a step does, as far as the effects of its skill say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepKind {
    /// It changes nothing.
    Read,
    /// It writes.
    Edit,
    /// It destroys something.
    Delete,
    /// Reasoning of another party: an agent, a team, a member.
    Think,
    /// No source described its effects.
    Other,
}

/// The state of a step. Each ends once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepState {
    /// Not begun: it waits for an approval, a slot, or its executor.
    Pending,
    /// It was sent, or the member has its turn.
    Running,
    /// It completed.
    Done,
    /// It failed or was refused.
    Failed,
    /// Nobody waits for it any more.
    Cancelled,
}

impl StepKind {
    /// The kind of a call of a skill with these effects.
    pub fn of(effects: Effects) -> StepKind {
        match effects {
            Effects { calls: true, .. } => StepKind::Think,
            Effects { destroys: true, .. } => StepKind::Delete,
            Effects { unknown: true, .. } => StepKind::Other,
            Effects { writes: true, .. } => StepKind::Edit,
            Effects { reads: true, .. } => StepKind::Read,
            Effects { .. } => StepKind::Other,
        }
    }

    /// As interfaces spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            StepKind::Read => "read",
            StepKind::Edit => "edit",
            StepKind::Delete => "delete",
            StepKind::Think => "think",
            StepKind::Other => "other",
        }
    }
}

impl StepState {
    /// Is it over?
    pub fn is_over(self) -> bool {
        match self {
            StepState::Pending | StepState::Running => false,
            StepState::Done | StepState::Failed | StepState::Cancelled => true,
        }
    }

    /// As interfaces spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            StepState::Pending => "pending",
            StepState::Running => "running",
            StepState::Done => "done",
            StepState::Failed => "failed",
            StepState::Cancelled => "cancelled",
        }
    }
}

impl Step {
    /// The same step within another one: its texts and results are for readers of that run, and not for the reader of this one.
    #[must_use]
    pub fn within(&self, parent: &StepId) -> Step {
        let parent = self.parent.clone().unwrap_or_else(|| parent.clone());
        Step { parent: Some(parent), args: None, parts: Vec::new(), ..self.clone() }
    }

    /// One line for a wire that has progress and no steps. Steps within a step, or of a member, are not in it.
    pub fn note(&self) -> Option<String> {
        let skill = self.skill.as_ref().filter(|_| self.parent.is_none())?;
        match self.state {
            StepState::Running => Some(format!("calls {skill}")),
            StepState::Failed => Some(format!("{skill} failed")),
            StepState::Pending | StepState::Done | StepState::Cancelled => None,
        }
    }

    /// Truncates it to the size that is sent, and marks it. Files are not changed.
    pub fn bounded(&mut self) {
        if self.title.len() > MAX_TITLE {
            self.title = format!("{}…", head(&self.title, MAX_TITLE)).into();
        }
        let long = self.args.as_ref().map(|args| args.as_bytes().len()).filter(|long| *long > MAX_STEP);
        if let Some(long) = long {
            self.args = Some(Json::from_tree(format!("[{long} bytes]").into()));
        }
        let parts = std::mem::take(&mut self.parts);
        let shown: Vec<Part> = parts.iter().filter(|part| !matches!(part.body, Body::Blob(_))).cloned().collect();
        let files = parts.len() - shown.len();
        self.parts = cut(shown, MAX_STEP);
        if files > 0 {
            self.parts.push(Part::text(format!("Files are left out: {files}."), Provenance::hub()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::Blob;

    fn step() -> Step {
        Step {
            id: "s".into(),
            parent: None,
            skill: Some(SkillId::new("web", "read")),
            title: "web/read".into(),
            kind: StepKind::Read,
            state: StepState::Running,
            args: Some(Json::from_tree("x".repeat(MAX_STEP).into())),
            parts: vec![Part::text("é".repeat(MAX_STEP), Provenance::peer("web".into()))],
        }
    }

    #[test]
    fn a_step_travels_cut_and_says_so() {
        let mut long = step();
        long.parts.insert(0, Part::new(Body::Blob(Blob::Inline(vec![0; 9].into())), Provenance::hub()));
        long.title = "t".repeat(1_000).into();
        long.bounded();
        assert_eq!(long.args.as_ref().and_then(|args| args.tree().as_str()), Some("[16386 bytes]"));
        let texts: Vec<&str> = long.parts.iter().filter_map(Part::as_text).collect();
        assert!(texts[0].len() <= MAX_STEP && texts[0].starts_with('é'), "{}", texts[0].len());
        assert!(texts[1].contains("the rest is left out") && texts[2] == "Files are left out: 1.", "{texts:?}");
        assert!(long.title.len() < 300 && long.weight() < 3 * MAX_STEP);
        let mut short = Step { args: Some(Json::empty_object()), parts: Vec::new(), ..step() };
        short.bounded();
        assert_eq!(short, Step { args: Some(Json::empty_object()), parts: Vec::new(), ..step() });
    }

    #[test]
    fn within_another_nothing_is_told_of_what_was_said_there() {
        let inner = step().within(&"outer".into());
        assert_eq!((inner.parent.as_ref().map(StepId::as_str), inner.args, inner.parts), (Some("outer"), None, vec![]));
        let deeper = step().within(&"inner".into()).within(&"outer".into());
        assert_eq!(deeper.parent.as_ref().map(StepId::as_str), Some("inner"), "it stays where it was done");
        assert_eq!(deeper.note(), None);
        assert_eq!(step().note().as_deref(), Some("calls web/read"));
    }

    #[test]
    fn what_a_step_does_is_what_its_skill_does() {
        let of = |names: &[&str]| StepKind::of(Effects::claimed(names));
        assert_eq!(of(&["reads"]), StepKind::Read);
        assert_eq!(of(&["reads", "writes"]), StepKind::Edit);
        assert_eq!(of(&["writes", "destroys"]), StepKind::Delete);
        assert_eq!(of(&["reads", "calls"]), StepKind::Think);
        assert_eq!(StepKind::of(Effects::unknown()), StepKind::Other);
    }
}
