//! Writes a message as the seed's schema dumps it: every member, in its order, nulls included.

use bytes::Bytes;

use super::{Control, Format, Message, Token, ToolCall, ToolResult};
use interlingua_wire::object::Object;

impl Message {
    pub fn to_bytes(&self) -> Bytes {
        let mut out = Vec::with_capacity(512 + self.content.as_bytes().len());
        self.write(&mut out);
        out.into()
    }

    /// Appends the message to `out`.
    pub fn write(&self, out: &mut Vec<u8>) {
        let mut message = Object::open(out);
        message.object("format", |format| self.format.write(format));
        message.object("control", |control| self.control.write(control));
        message.object("token", |token| self.token.write(token));
        message.value("content", &self.content);
        list_or_null(&mut message, "tool_calls", self.tool_calls.as_deref(), ToolCall::write);
        list_or_null(&mut message, "tool_results", self.tool_results.as_deref(), ToolResult::write);
        message.value("metadata", &self.metadata);
        message.finish();
    }
}

fn list_or_null<T>(message: &mut Object<'_>, key: &str, items: Option<&[T]>, write: impl Fn(&T, &mut Object<'_>)) {
    match items {
        None => message.null(key),
        Some(items) => message.array(key, items, |item, out| {
            let mut object = Object::open(out);
            write(item, &mut object);
            object.finish();
        }),
    }
}

impl Format {
    pub(crate) fn write(&self, out: &mut Object<'_>) {
        out.text("content_type", &self.content_type);
        out.text("encoding", &self.encoding);
        out.text("schema_version", &self.schema_version);
        out.text_or_null("compression", self.compression.as_deref());
    }
}

impl Control {
    fn write(&self, out: &mut Object<'_>) {
        self.write_public(out);
        if let Some(token) = self.auth_token.as_ref().and_then(|secret| secret.text()) {
            out.text("auth_token", token);
        }
    }

    /// All but the credential.
    pub(crate) fn write_public(&self, out: &mut Object<'_>) {
        out.text("message_type", self.message_type.as_str());
        out.text("message_id", &self.message_id);
        out.text_or_null("correlation_id", self.correlation_id.as_deref());
        out.text_or_null("timestamp", self.timestamp.as_deref());
        out.number("priority", self.priority.into());
        match self.timeout {
            Some(seconds) => out.number("timeout", seconds.into()),
            None => out.null("timeout"),
        }
        out.number("retry_count", self.retry_count.into());
    }
}

impl Token {
    fn write(&self, out: &mut Object<'_>) {
        out.text_or_null("session_id", self.session_id.as_deref());
        out.secret_or_null("context_token", self.context_token.as_ref());
        out.secret_or_null("state_token", self.state_token.as_ref());
        out.number("conversation_turn", self.conversation_turn);
    }
}

impl ToolCall {
    pub(crate) fn write(&self, out: &mut Object<'_>) {
        if let Some(form) = self.form {
            return super::native::write(self, form, out);
        }
        out.text("tool_id", &self.tool_id);
        out.text("tool_name", &self.tool_name);
        out.value("parameters", &self.parameters);
        out.bool("require_confirmation", self.require_confirmation);
    }
}

impl ToolResult {
    pub(crate) fn write(&self, out: &mut Object<'_>) {
        out.text("tool_id", &self.tool_id);
        out.text("tool_name", &self.tool_name);
        out.text("status", self.status.as_str());
        match &self.result {
            Some(result) => out.value("result", result),
            None => out.null("result"),
        }
        out.text_or_null("error", self.error.as_deref());
        out.value("metadata", &self.metadata);
    }
}
