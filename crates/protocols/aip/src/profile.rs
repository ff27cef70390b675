//! The wider profile: what its description promises of this protocol and the Python implementation lacks. The frames are the same, with
//! more in `metadata` (which server frames then have too) and in `messages`.
//!
//! | frame | member | meaning |
//! |---|---|---|
//! | REGISTER | `metadata.profile` | asks for the profile |
//! | REGISTER | `metadata.resume` | sessions to resume: for each, the COMMANDs that were begun. One that is over is answered with its TASK_END |
//! | REGISTER | `metadata.instance` | names the running program: the same one has forgotten nothing, so that a session it does not name has reached it with no COMMAND |
//! | REGISTER, client DEVICE_INFO_RESPONSE | `metadata.tools` | what the device can do, as its `list_tools` would list it |
//! | server DEVICE_INFO_REQUEST | `response_id` | requests the state of the device |
//! | client DEVICE_INFO_RESPONSE | `prev_response_id`, `metadata.system_info` | the answer; without an id it is a notification |
//! | REGISTER | `metadata.tasks` | the device takes TASKs: it is given the TASK of each session, and does what is told in words by itself |
//! | TASK to a device | `agent_name`, `process_name`, `metadata.assigned` | the task of a session that it works on; it does not ask for it |
//! | COMMAND | `metadata.timeout_ms` | how long the results are awaited |
//! | COMMAND | `metadata.lines` | log lines are taken while it runs |
//! | client HEARTBEAT | `session_id`, `prev_response_id`, `metadata.messages` | log lines of a task or COMMAND that runs |
//! | server TASK_END | `metadata.cancels` | only this COMMAND is over, not the session |
//! | COMMAND_RESULTS | `metadata.messages` | log lines |
//! | server HEARTBEAT | `messages`, `session_id` | log lines and progress of a task |
//! | TASK_END of a device | `session_id`, `status`, `error`, `metadata.result`, `.evaluation`, `.messages` | the task is over, and what came of it |
//! | client TASK_CANCEL | `session_id` | the task is no longer wanted; TASK_END of an orchestrator means the same |
//! | server TASK_END | `metadata.evaluation` | what an evaluator says of the result |
//! | any server frame | `metadata.losses` | what could not be carried |
//! | server TASK_END, ERROR | `metadata.fault` | the kind of the failure, in the hub's words |

use std::collections::BTreeMap;
use std::time::Duration;

use interlingua_model::json::write_string;
use interlingua_model::{FaultKind, Json, Loss, Text};

use super::PROFILE;
use super::wire::{ClientMessage, CommandResult, ServerMessage, Status};
use interlingua_wire::members::{Members, elements};
use interlingua_wire::object::Object;

/// How many sessions a client may ask to take up again, and how many commands of each it may name.
const RESUMED: usize = 256;
/// Bytes of what an evaluator says.
const JUDGED: usize = 64 * 1024;
/// Bytes of the name of a process.
const PROCESS: usize = 256;
/// What an evaluator says, in metadata and as the name of a part.
pub const EVALUATION: &str = "evaluation";

/// What a device says came of a task.
#[derive(Debug, Clone, PartialEq)]
pub struct Reported {
    /// Completed or failed.
    pub status: Status,
    pub error: Option<Text>,
    pub result: Option<Json>,
    /// What an evaluator of the device says of the result.
    pub evaluation: Option<Json>,
    /// Log lines that had not been sent.
    pub lines: Vec<Text>,
    /// How many more there were.
    pub lines_lost: usize,
    /// There was an evaluation, and it was too large.
    pub evaluation_lost: bool,
}

fn metadata(message: &ClientMessage) -> Members {
    message.metadata.as_ref().map_or_else(Members::absent, Members::of)
}

/// Does a REGISTER ask for the profile?
pub fn is_asked(register: &ClientMessage) -> bool {
    metadata(register).text("profile").as_deref() == Some(PROFILE)
}

/// Sessions a client wants to take up again, and the COMMANDs of each that it had begun.
pub fn resumes(register: &ClientMessage) -> BTreeMap<Text, Vec<Text>> {
    let Some(sessions) = metadata(register).object("resume") else { return BTreeMap::new() };
    sessions.iter().take(RESUMED).map(|(session, begun)| (session.into(), texts(&begun))).collect()
}

/// Which running program of a client this is.
pub fn instance(register: &ClientMessage) -> Option<Text> {
    metadata(register).text("instance").filter(|name| !name.is_empty()).map(|name| (&*name).into())
}

/// The other side of [`resumes`].
pub fn write_resumes<'a>(out: &mut Object<'_>, sessions: impl IntoIterator<Item = (&'a str, &'a [Text])>) {
    out.object("resume", |resume| {
        for (session, begun) in sessions {
            resume.array(session, begun, |id, out| write_string(id, out));
        }
    });
}

/// Log lines that came with a frame, and how many more there were than are read.
pub fn lines(message: &ClientMessage) -> (Vec<Text>, usize) {
    let Some(list) = metadata(message).get("messages") else { return (Vec::new(), 0) };
    let lines = texts(&list);
    let left_out = elements(&list).map_or(0, |all| all.len()) - lines.len();
    (lines, left_out)
}

/// Has it log lines of a session?
pub fn has_lines(message: &ClientMessage) -> bool {
    message.session_id.is_some() && metadata(message).has("messages")
}

/// Does a device take TASKs?
pub fn takes_tasks(register: &ClientMessage) -> bool {
    is_asked(register) && metadata(register).bool("tasks") == Some(true)
}

/// The process that a task is about, as whoever asks for it says.
pub fn process(task: &ClientMessage) -> Text {
    metadata(task)
        .text("process_name")
        .filter(|name| name.len() <= PROCESS)
        .map_or_else(|| "".into(), |name| (&*name).into())
}

/// What a device says came of a task; `None` without an outcome.
pub fn report(message: &ClientMessage) -> Option<Reported> {
    match message.status {
        Status::Completed | Status::Failed | Status::Error => {}
        Status::Continue | Status::Ok => return None,
    }
    let told = metadata(message);
    let results = || {
        let results = message.action_results.as_ref()?;
        let value =
            |result: &CommandResult| result.result.as_ref().map_or(serde_json::Value::Null, |it| it.tree().clone());
        Some(Json::from_tree(results.iter().map(value).collect()))
    };
    let evaluation = told.get("evaluation").filter(|given| !given.is_null());
    let fits = |given: &Json| given.as_bytes().len() <= JUDGED;
    let evaluation_lost = evaluation.as_ref().is_some_and(|given| !fits(given));
    let (lines, lines_lost) = lines(message);
    Some(Reported {
        status: message.status,
        error: message.error.clone(),
        result: told.get("result").filter(|given| !given.is_null()).map(|given| given.alone()).or_else(results),
        evaluation: evaluation.filter(fits).map(|given| given.alone()),
        lines,
        lines_lost,
        evaluation_lost,
    })
}

/// What an evaluator says, by the metadata of a TASK_END.
pub fn evaluation(metadata: Option<&Json>) -> Option<Json> {
    Members::of(metadata?).get(EVALUATION).filter(|given| !given.is_null() && given.as_bytes().len() <= JUDGED)
}

/// The tools a device tells of unasked.
pub fn tools(message: &ClientMessage) -> Option<Json> {
    metadata(message).get("tools").filter(|tools| tools.as_str().starts_with('[')).map(|tools| tools.alone())
}

fn texts(list: &Json) -> Vec<Text> {
    let text = |one: &Json| one.tree().as_str().map(Text::from);
    elements(list).unwrap_or_default().iter().take(RESUMED).filter_map(text).collect()
}

fn milliseconds(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

/// `metadata` of a COMMAND.
pub fn command(timeout: Option<Duration>) -> Json {
    Object::json(|out| {
        if let Some(timeout) = timeout {
            out.number("timeout_ms", milliseconds(timeout));
        }
        out.bool("lines", true);
    })
}

/// Are log lines taken while a COMMAND runs?
pub fn takes_lines(metadata: Option<&Json>) -> bool {
    metadata.is_some_and(|metadata| Members::of(metadata).bool("lines") == Some(true))
}

/// `metadata` of a TASK that a device is given.
pub fn assignment(timeout: Option<Duration>) -> Json {
    Object::json(|out| {
        out.bool("assigned", true);
        if let Some(timeout) = timeout {
            out.number("timeout_ms", milliseconds(timeout));
        }
    })
}

/// Was this TASK given to a device, which does not ask for it then?
pub fn is_assigned(metadata: Option<&Json>) -> bool {
    metadata.is_some_and(|metadata| Members::of(metadata).bool("assigned") == Some(true))
}

/// How long a COMMAND's results are awaited, if it says so.
pub fn timeout(metadata: Option<&Json>) -> Option<Duration> {
    Members::of(metadata?).number("timeout_ms").map(Duration::from_millis)
}

/// `metadata` of a TASK_END that ends one COMMAND.
pub fn cancels(response: &str) -> Json {
    Object::json(|out| out.text("cancels", response))
}

/// Which COMMAND a TASK_END is about; `None`: the whole session.
pub fn cancelled(metadata: Option<&Json>) -> Option<Text> {
    Members::of(metadata?).text("cancels").map(|id| (&*id).into())
}

/// `metadata` that tells what could not be carried, what went wrong, and what an evaluator says; `None` when there is none of it.
pub fn told(losses: &[Loss], fault: Option<FaultKind>, evaluation: Option<&Json>) -> Option<Json> {
    let write = |loss: &Loss, out: &mut Vec<u8>| {
        let mut object = Object::open(out);
        object.text("what", &loss.what);
        object.text("kind", loss.kind.as_str());
        object.finish();
    };
    (!losses.is_empty() || fault.is_some() || evaluation.is_some()).then(|| {
        Object::json(|out| {
            if !losses.is_empty() {
                out.array("losses", losses, write);
            }
            if let Some(kind) = fault {
                out.text("fault", kind.as_str());
            }
            if let Some(evaluation) = evaluation {
                out.value(EVALUATION, evaluation);
            }
        })
    })
}

/// What a server says it could not carry.
pub fn losses(frame: &ServerMessage) -> Vec<Loss> {
    let listed = || Members::of(frame.metadata.as_ref()?).get("losses");
    listed().map(|list| Loss::listed(list.tree())).unwrap_or_default()
}

/// What a server says went wrong.
pub fn fault(frame: &ServerMessage) -> Option<FaultKind> {
    FaultKind::named(&Members::of(frame.metadata.as_ref()?).text("fault")?)
}
