//! JSON of the state of exchanges: an answer, a task, a conversation, a line of the audit log; and a page of any of them.

use interlingua_machines::task::{State, Task};
use interlingua_model::Conversation;
use interlingua_model::ports::TaskRow;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::event::{FinishedView, LossView, RouteView, StepEventView};
use super::question::QuestionView;
use interlingua_hub::audit::AuditLine;

/// A page of a list. `next` is the cursor of the next page: send it as `after`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "PageOf{T}")]
pub struct PageView<T> {
    pub items: Vec<T>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// The whole answer to a call that was not streamed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExchangeView {
    /// The task id, if the exchange is stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// `completed`, `failed`, `cancelled`, `waiting` for an answer, or `accepted` if the caller does not wait.
    pub state: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub route: Option<RouteView>,
    /// The open questions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<QuestionView>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished: Option<FinishedView>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub losses: Vec<LossView>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TaskView {
    pub id: String,
    /// `accepted`, `running`, `waiting`, `completed`, `failed` or `cancelled`.
    pub state: String,
    pub owner: String,
    /// `peer/skill`, once it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skill: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    pub created: String,
    pub updated: String,
    /// Number of the last event; absent in lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub route: Option<RouteView>,
    /// Why it is being cancelled; present until the peer has stopped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancelling: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<QuestionView>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<String>,
    /// What was done on the way, as it stands now: the last thousand; not in lists.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<StepEventView>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished: Option<FinishedView>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub losses: Vec<LossView>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ConversationView {
    pub id: String,
    pub owner: String,
    /// Number of exchanges.
    pub turn: u64,
    pub expires: String,
}

/// One line of the audit log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AuditView {
    pub seq: u64,
    pub at: String,
    /// Who asked.
    pub who: String,
    /// The action: `authorize`, `confirm`, `dispatch` and `return` of a call, a `signal` to a task, …
    pub action: String,
    /// The object: a skill, a peer, a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on: Option<String>,
    /// `allowed`, another outcome, or the kind of a fault.
    pub outcome: String,
    /// The protocol it came in by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wire: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// The trace it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<String>,
    /// The arguments, as far as `audit.arguments` has them stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<serde_json::Value>,
    /// What could not be carried from one protocol to another.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub losses: Vec<String>,
    /// How often the same was refused again since the previous line; `at` is the last time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<u64>,
    /// When it was first refused again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<String>,
}

/// Records of the audit log as they were written, for verification.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct AuditPagesView {
    /// The current signing key, on the first page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<AuditKeyView>,
    /// Earlier signing keys, newest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub older: Vec<AuditKeyView>,
    /// The newest checkpoint that is stored beside the records, on the first page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Value>")]
    pub checkpoint: Option<interlingua_machines::audit::Checkpoint>,
    pub items: Vec<AuditRecordView>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AuditRecordView {
    pub record: u64,
    /// Its lines, or a checkpoint, and the digest of the previous record; absent if it cannot be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Value>")]
    pub page: Option<interlingua_machines::audit::Page>,
}

/// A public key. Its id is the SHA-256 of its bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AuditKeyView {
    pub id: String,
    /// Ed25519, in hexadecimal.
    pub public: String,
}

/// The caller whose lines are redacted, as the audit log names it: `user:ann`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AuditForgetRequest {
    pub who: String,
}

/// Number of redacted lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AuditForgottenView {
    pub forgotten: u64,
}

impl AuditView {
    pub fn new(seq: u64, line: &AuditLine) -> AuditView {
        AuditView {
            seq,
            at: line.at.to_string(),
            who: line.by.clone(),
            action: line.action.to_string(),
            on: line.on.clone(),
            outcome: line.outcome.to_string(),
            wire: line.wire.as_deref().map(str::to_owned),
            task: line.task.map(|task| task.to_string()),
            trace: line.trace.clone(),
            arguments: line.arguments.as_ref().map(|arguments| arguments.tree().clone()),
            losses: line.losses.clone(),
            times: line.times,
            first: line.first.map(|first| first.to_string()),
        }
    }
}

impl From<&TaskRow> for TaskView {
    fn from(row: &TaskRow) -> TaskView {
        TaskView {
            id: row.task.to_string(),
            state: row.state.as_str().into(),
            owner: row.owner.to_string(),
            skill: row.skill.as_ref().map(ToString::to_string),
            conversation: row.conversation.as_ref().map(ToString::to_string),
            parent: row.parent.map(|parent| parent.to_string()),
            created: row.created.to_string(),
            updated: row.updated.to_string(),
            seq: None,
            route: None,
            cancelling: None,
            questions: Vec::new(),
            artifacts: Vec::new(),
            steps: Vec::new(),
            finished: None,
            losses: Vec::new(),
        }
    }
}

impl From<&Task> for TaskView {
    fn from(task: &Task) -> TaskView {
        let finished = match &task.state {
            State::Done(finished) => Some(FinishedView::from(finished.as_ref())),
            State::Accepted | State::Running | State::Waiting => None,
        };
        let route = task.route.as_ref().map(RouteView::from);
        TaskView {
            id: task.id.to_string(),
            state: task.phase().as_str().into(),
            owner: task.by.owner().to_string(),
            skill: route
                .as_ref()
                .map(|route| route.skill.clone())
                .or_else(|| task.call.names().map(ToString::to_string)),
            conversation: task.call.conversation.as_ref().map(ToString::to_string),
            parent: task.call.parent.map(|parent| parent.to_string()),
            created: task.created.to_string(),
            updated: task.updated.to_string(),
            seq: Some(task.seq),
            route,
            cancelling: task.cancelling.map(|cancelling| cancelling.why.as_str().into()),
            questions: task.open.values().map(|question| QuestionView::within(task, question)).collect(),
            artifacts: task.artifacts.keys().map(ToString::to_string).collect(),
            steps: task.steps.iter().map(StepEventView::from).collect(),
            finished,
            losses: task.losses.iter().map(LossView::from).collect(),
        }
    }
}

impl From<&Conversation> for ConversationView {
    fn from(conversation: &Conversation) -> ConversationView {
        ConversationView {
            id: conversation.id.to_string(),
            owner: conversation.owner.to_string(),
            turn: conversation.turn,
            expires: conversation.expires.to_string(),
        }
    }
}
