//! Constructors of the server's frames.

use std::fmt;

use interlingua_model::{Json, Text, Time, uuid_v4};

use crate::wire::{Command, ServerKind, ServerMessage, Status};
use interlingua_wire::time::stamp;

/// The time, and where fresh ids come from.
pub struct Stamp<'a> {
    pub now: Time,
    pub mint: &'a mut dyn FnMut() -> u128,
}

impl fmt::Debug for Stamp<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stamp").field("now", &self.now).finish_non_exhaustive()
    }
}

impl Stamp<'_> {
    pub fn id(&mut self) -> Text {
        uuid_v4((self.mint)()).into()
    }
}

fn frame(kind: ServerKind, status: Status, by: &mut Stamp<'_>) -> ServerMessage {
    ServerMessage { timestamp: Some(stamp(by.now)), response_id: Some(by.id()), ..ServerMessage::new(kind, status) }
}

/// The answer to REGISTER, HEARTBEAT and TASK alike; only the last has a session.
pub fn ack(session: Option<Text>, by: &mut Stamp<'_>) -> ServerMessage {
    ServerMessage { session_id: session, ..frame(ServerKind::Heartbeat, Status::Ok, by) }
}

pub fn error(text: impl Into<Text>, by: &mut Stamp<'_>) -> ServerMessage {
    ServerMessage { error: Some(text.into()), ..frame(ServerKind::Error, Status::Error, by) }
}

/// What a device is to do next. Names that the Python device looks its tools up by are empty text, not null.
pub fn command(
    session: Text,
    task_name: Text,
    agent: Text,
    actions: Vec<Command>,
    by: &mut Stamp<'_>,
) -> ServerMessage {
    ServerMessage {
        agent_name: Some(agent),
        process_name: Some("".into()),
        root_name: Some("".into()),
        actions: Some(actions),
        session_id: Some(session),
        task_name: Some(task_name),
        ..frame(ServerKind::Command, Status::Continue, by)
    }
}

/// How a session ended.
#[derive(Debug, Clone, PartialEq)]
pub struct End {
    pub status: Status,
    pub error: Option<Text>,
    pub result: Option<Json>,
    pub messages: Option<Vec<Text>>,
    pub metadata: Option<Json>,
}

impl End {
    pub fn failed(error: impl Into<Text>) -> End {
        End {
            status: Status::Failed,
            error: Some(error.into()),
            result: Some(Json::empty_object()),
            messages: None,
            metadata: None,
        }
    }
}

pub fn task_end(session: Text, end: End, by: &mut Stamp<'_>) -> ServerMessage {
    ServerMessage {
        error: end.error,
        result: end.result,
        messages: end.messages,
        metadata: end.metadata,
        session_id: Some(session),
        ..frame(ServerKind::TaskEnd, end.status, by)
    }
}

/// A device is told of a task by its server, and then asks for it itself.
pub fn task(session: Text, task_name: Text, request: Text, by: &mut Stamp<'_>) -> ServerMessage {
    ServerMessage {
        user_request: Some(request),
        session_id: Some(session),
        task_name: Some(task_name),
        ..frame(ServerKind::Task, Status::Continue, by)
    }
}

/// What is known of a device. The asker's `request_id` comes back as `response_id`.
pub fn device_info(request: Option<Text>, result: Json, by: &mut Stamp<'_>) -> ServerMessage {
    ServerMessage {
        response_id: request,
        result: Some(result),
        ..frame(ServerKind::DeviceInfoResponse, Status::Ok, by)
    }
}

/// Asks a device of the wider profile how it is.
pub fn ask_info(by: &mut Stamp<'_>) -> ServerMessage {
    frame(ServerKind::DeviceInfoRequest, Status::Ok, by)
}

/// Log lines and progress of a session, in the wider profile.
pub fn notes(session: Text, lines: Vec<Text>, by: &mut Stamp<'_>) -> ServerMessage {
    ServerMessage { messages: Some(lines), ..ack(Some(session), by) }
}
