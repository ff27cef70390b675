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
//! | COMMAND | `metadata.timeout_ms` | how long the results are awaited |
//! | server TASK_END | `metadata.cancels` | only this COMMAND is over, not the session |
//! | COMMAND_RESULTS | `metadata.messages` | log lines |
//! | server HEARTBEAT | `messages`, `session_id` | log lines and progress of a task |
//! | client TASK_END | `session_id` | the task is no longer wanted |
//! | any server frame | `metadata.losses` | what could not be carried |
//! | server TASK_END, ERROR | `metadata.fault` | the kind of the failure, in the hub's words |

use std::collections::BTreeMap;
use std::time::Duration;

use interlingua_model::json::write_string;
use interlingua_model::{FaultKind, Json, Loss, Text};

use super::PROFILE;
use super::wire::{ClientMessage, ServerMessage};
use interlingua_wire::members::{Members, elements};
use interlingua_wire::object::Object;

/// How many sessions a client may ask to take up again, and how many commands of each it may name.
const RESUMED: usize = 256;

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

/// Log lines that came with results.
pub fn lines(results: &ClientMessage) -> Vec<Text> {
    metadata(results).get("messages").map(|list| texts(&list)).unwrap_or_default()
}

/// What a device says of itself.
pub fn system_info(message: &ClientMessage) -> Option<Json> {
    metadata(message).get("system_info").filter(Json::is_object).map(|info| info.alone())
}

/// The tools a device tells of unasked.
pub fn tools(message: &ClientMessage) -> Option<Json> {
    metadata(message).get("tools").filter(|tools| tools.as_str().starts_with('[')).map(|tools| tools.alone())
}

fn texts(list: &Json) -> Vec<Text> {
    let text = |one: &Json| one.tree().as_str().map(Text::from);
    elements(list).unwrap_or_default().iter().take(RESUMED).filter_map(text).collect()
}

/// `metadata` of a COMMAND.
pub fn command(timeout: Duration) -> Json {
    Object::json(|out| out.number("timeout_ms", u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX)))
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

/// `metadata` that tells what could not be carried, and what went wrong; `None` when there is neither.
pub fn told(losses: &[Loss], fault: Option<FaultKind>) -> Option<Json> {
    let write = |loss: &Loss, out: &mut Vec<u8>| {
        let mut object = Object::open(out);
        object.text("what", &loss.what);
        object.text("kind", loss.kind.as_str());
        object.finish();
    };
    (!losses.is_empty() || fault.is_some()).then(|| {
        Object::json(|out| {
            if !losses.is_empty() {
                out.array("losses", losses, write);
            }
            if let Some(kind) = fault {
                out.text("fault", kind.as_str());
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
