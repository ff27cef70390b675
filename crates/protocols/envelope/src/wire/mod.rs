//! The envelope on the wire: five objects, two lists and no more. Names, defaults and nulls are those of the seed's schema (`format`,
//! `control`, `token`, `content`, `tool_calls`, `tool_results`, `metadata`).
//!
//! [`read()`] is the only decoder and [`Message::to_bytes`] the only encoder. Nothing here knows the purpose of a message; `decode` and
//! `encode` do.

mod native;
mod read;
mod write;

use interlingua_model::{Json, Secret, Text};

pub use read::{Head, Limits, Rejected, read};

/// The one version of the schema there is.
pub const SCHEMA_VERSION: &str = "1.0";

/// A whole message. Tokens are [`Secret`]s, so that no log can show one (H-06).
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    pub format: Format,
    pub control: Control,
    pub token: Token,
    /// Always an object; its form depends on the message type.
    pub content: Json,
    pub tool_calls: Option<Vec<ToolCall>>,
    pub tool_results: Option<Vec<ToolResult>>,
    /// Always an object.
    pub metadata: Json,
}

/// Kept as it was spelt, because an error repeats the format of its request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Format {
    pub content_type: Text,
    pub encoding: Text,
    pub schema_version: Text,
    pub compression: Option<Text>,
}

impl Default for Format {
    fn default() -> Self {
        Format {
            content_type: "application/json".into(),
            encoding: "utf-8".into(),
            schema_version: SCHEMA_VERSION.into(),
            compression: None,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageType {
    Request,
    Response,
    Notification,
    Error,
}

impl MessageType {
    pub const ALL: [MessageType; 4] =
        [MessageType::Request, MessageType::Response, MessageType::Notification, MessageType::Error];

    pub fn as_str(self) -> &'static str {
        match self {
            MessageType::Request => "request",
            MessageType::Response => "response",
            MessageType::Notification => "notification",
            MessageType::Error => "error",
        }
    }

    /// The spelling is exact: lower case.
    pub fn parse(text: &str) -> Option<MessageType> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Control {
    pub message_type: MessageType,
    pub message_id: Text,
    pub correlation_id: Option<Text>,
    /// ISO 8601, carried and never believed: the hub goes by its own clock.
    pub timestamp: Option<Text>,
    /// 0 to 10.
    pub priority: u8,
    /// Seconds.
    pub timeout: Option<u32>,
    pub retry_count: u32,
    /// Who asks. The seed's schema has no such field; it is written only when there is one.
    pub auth_token: Option<Secret>,
}

impl Control {
    pub fn new(message_type: MessageType, message_id: impl Into<Text>) -> Control {
        Control {
            message_type,
            message_id: message_id.into(),
            correlation_id: None,
            timestamp: None,
            priority: 0,
            timeout: None,
            retry_count: 0,
            auth_token: None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Token {
    pub session_id: Option<Text>,
    pub context_token: Option<Secret>,
    pub state_token: Option<Secret>,
    pub conversation_turn: u64,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    pub tool_id: Text,
    pub tool_name: Text,
    /// Always an object.
    pub parameters: Json,
    pub require_confirmation: bool,
    /// The form it was written in; `None`: the envelope's own.
    pub form: Option<NativeForm>,
}

/// The form in which the API of a model writes a tool call and takes its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NativeForm {
    /// OpenAI, chat completions: `{id, type: function, function: {name, arguments}}`.
    OpenAi,
    /// OpenAI, responses: `{type: function_call, call_id, name, arguments}`.
    OpenAiResponses,
    /// Anthropic: `{type: tool_use, id, name, input}`.
    Anthropic,
    /// Gemini: `{functionCall: {id, name, args}}`.
    Gemini,
}

impl NativeForm {
    pub const ALL: [NativeForm; 4] =
        [NativeForm::OpenAi, NativeForm::OpenAiResponses, NativeForm::Anthropic, NativeForm::Gemini];

    /// As `metadata.tool_format` has it.
    pub fn as_str(self) -> &'static str {
        match self {
            NativeForm::OpenAi => "openai",
            NativeForm::OpenAiResponses => "openai_responses",
            NativeForm::Anthropic => "anthropic",
            NativeForm::Gemini => "gemini",
        }
    }

    pub fn parse(text: &str) -> Option<NativeForm> {
        Self::ALL.into_iter().find(|form| form.as_str() == text)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    Success,
    Error,
    Pending,
}

impl Status {
    pub const ALL: [Status; 3] = [Status::Success, Status::Error, Status::Pending];

    pub fn as_str(self) -> &'static str {
        match self {
            Status::Success => "success",
            Status::Error => "error",
            Status::Pending => "pending",
        }
    }

    pub fn parse(text: &str) -> Option<Status> {
        Self::ALL.into_iter().find(|status| status.as_str() == text)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct ToolResult {
    pub tool_id: Text,
    pub tool_name: Text,
    pub status: Status,
    /// `None` is written as null; a null result reads back as none.
    pub result: Option<Json>,
    pub error: Option<Text>,
    /// Always an object.
    pub metadata: Json,
}
