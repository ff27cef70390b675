//! Stored exchanges as tasks (extension `io.modelcontextprotocol/tasks`): a receipt instead of a result, and the state of the task.

use interlingua_model::{Outcome, Question, TaskId, Time};

use super::{Beside, Encoder, write_input_requests};
use interlingua_wire::object::Object;
use interlingua_wire::rpc;

/// Where a task stands.
#[derive(Debug)]
pub struct Standing<'a> {
    pub id: TaskId,
    pub created: Time,
    pub updated: Time,
    /// How long it is kept from its creation.
    pub ttl_ms: Option<u64>,
    pub note: Option<&'a str>,
    pub state: State<'a>,
}

#[derive(Debug)]
pub enum State<'a> {
    Working,
    Waiting(&'a [Question]),
    /// The result that the call would have had.
    Completed(&'a [u8]),
    Failed(&'a rpc::Error),
    Cancelled,
}

/// How often it is worth asking.
const POLL_MS: u64 = 500;

impl State<'_> {
    fn as_str(&self) -> &'static str {
        match self {
            State::Working => "working",
            State::Waiting(_) => "input_required",
            State::Completed(_) => "completed",
            State::Failed(_) => "failed",
            State::Cancelled => "cancelled",
        }
    }
}

/// What a list of tasks would say of an outcome that is no result.
pub fn is_cancelled(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Cancelled { .. })
}

impl Encoder<'_> {
    /// The receipt: the call goes on.
    pub fn task_created(&self, standing: &Standing<'_>, out: &mut Vec<u8>) {
        self.result("task", &Beside::default(), out, |result| head(standing, result));
    }

    /// `tasks/get`.
    pub fn task(&self, standing: &Standing<'_>, out: &mut Vec<u8>) {
        self.result("complete", &Beside::default(), out, |result| {
            head(standing, result);
            match standing.state {
                State::Working | State::Cancelled => {}
                State::Waiting(questions) => write_input_requests(questions, self.version, result),
                State::Completed(bytes) => result.key("result").extend_from_slice(bytes),
                State::Failed(error) => result.object("error", |object| {
                    object.key("code").extend_from_slice(error.code.to_string().as_bytes());
                    object.text("message", &error.message);
                    if let Some(data) = &error.data {
                        object.value("data", data);
                    }
                }),
            }
        });
    }
}

fn head(standing: &Standing<'_>, result: &mut Object<'_>) {
    result.text("taskId", &standing.id.to_string());
    result.text("status", standing.state.as_str());
    if let Some(note) = standing.note {
        result.text("statusMessage", note);
    }
    result.text("createdAt", &standing.created.to_string());
    result.text("lastUpdatedAt", &standing.updated.to_string());
    match standing.ttl_ms {
        Some(ttl) => result.number("ttlMs", ttl),
        None => result.null("ttlMs"),
    }
    result.number("pollIntervalMs", POLL_MS);
}
