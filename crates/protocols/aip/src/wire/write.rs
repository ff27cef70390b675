//! Writes a frame as the Python implementation does: every declared member in its order, compact, nulls included.

use bytes::Bytes;
use interlingua_model::Json;
use interlingua_model::json::write_string;

use super::{ClientMessage, Command, CommandResult, ServerMessage};
use interlingua_wire::object::Object;

impl ClientMessage {
    pub fn encode(&self) -> Bytes {
        let mut out = Vec::with_capacity(512);
        let mut frame = Object::open(&mut out);
        frame.text("type", self.kind.as_str());
        frame.text("status", self.status.as_str());
        frame.text("client_type", self.client_type.as_str());
        frame.text_or_null("session_id", self.session_id.as_deref());
        frame.text_or_null("task_name", self.task_name.as_deref());
        frame.text_or_null("client_id", self.client_id.as_deref());
        frame.text_or_null("target_id", self.target_id.as_deref());
        frame.text_or_null("request", self.request.as_deref());
        list_or_null(&mut frame, "action_results", self.action_results.as_deref(), CommandResult::write);
        frame.text_or_null("timestamp", self.timestamp.as_deref());
        frame.text_or_null("request_id", self.request_id.as_deref());
        frame.text_or_null("prev_response_id", self.prev_response_id.as_deref());
        frame.text_or_null("error", self.error.as_deref());
        value_or_null(&mut frame, "metadata", self.metadata.as_ref());
        frame.finish();
        out.into()
    }
}

impl ServerMessage {
    pub fn encode(&self) -> Bytes {
        let mut out = Vec::with_capacity(512);
        let mut frame = Object::open(&mut out);
        frame.text("type", self.kind.as_str());
        frame.text("status", self.status.as_str());
        frame.text_or_null("user_request", self.user_request.as_deref());
        frame.text_or_null("agent_name", self.agent_name.as_deref());
        frame.text_or_null("process_name", self.process_name.as_deref());
        frame.text_or_null("root_name", self.root_name.as_deref());
        list_or_null(&mut frame, "actions", self.actions.as_deref(), Command::write);
        list_or_null(&mut frame, "messages", self.messages.as_deref(), |line, out| write_string(line, out));
        frame.text_or_null("error", self.error.as_deref());
        frame.text_or_null("session_id", self.session_id.as_deref());
        frame.text_or_null("task_name", self.task_name.as_deref());
        frame.text_or_null("timestamp", self.timestamp.as_deref());
        frame.text_or_null("response_id", self.response_id.as_deref());
        value_or_null(&mut frame, "result", self.result.as_ref());
        if let Some(metadata) = &self.metadata {
            frame.value("metadata", metadata);
        }
        frame.finish();
        out.into()
    }
}

impl Command {
    fn write(&self, out: &mut Vec<u8>) {
        let mut command = Object::open(out);
        command.text("tool_name", &self.tool_name);
        value_or_null(&mut command, "parameters", self.parameters.as_ref());
        command.text("tool_type", self.tool_type.as_str());
        command.text_or_null("call_id", self.call_id.as_deref());
        command.finish();
    }
}

impl CommandResult {
    fn write(&self, out: &mut Vec<u8>) {
        let mut result = Object::open(out);
        result.text("status", self.status.as_str());
        result.text_or_null("error", self.error.as_deref());
        value_or_null(&mut result, "result", self.result.as_ref());
        result.text_or_null("namespace", self.namespace.as_deref());
        result.text_or_null("call_id", self.call_id.as_deref());
        result.finish();
    }
}

fn value_or_null(frame: &mut Object<'_>, key: &str, value: Option<&Json>) {
    match value {
        Some(value) => frame.value(key, value),
        None => frame.null(key),
    }
}

fn list_or_null<T>(frame: &mut Object<'_>, key: &str, items: Option<&[T]>, write: impl Fn(&T, &mut Vec<u8>)) {
    match items {
        Some(items) => frame.array(key, items, write),
        None => frame.null(key),
    }
}
