//! Reads a message in one pass over its bytes.
//!
//! Two rules that the seed leaves open: null is the same as absent, for every member; a member that the schema does not know is skipped and
//! reported as a loss. What cannot be understood is refused and never guessed: unknown message types, encodings, compressions, content
//! types and versions, negative numbers, and whatever exceeds a limit.

use bytes::Bytes;
use interlingua_model::json::{DEFAULT_DEPTH, Kind, Reader};
use interlingua_model::{Carried, Json, Loss, LossKind, Secret, Text};

use super::native::Call;
use super::{Control, Format, Message, MessageType, SCHEMA_VERSION, Status, Token, ToolCall, ToolResult};
use crate::invalid::Invalid;

/// Longer names and ids are refused.
pub(super) const SHORT: usize = 1024;
/// Longer credentials are refused.
const CREDENTIAL: usize = 16 * 1024;
/// More unknown members than this are told as one loss.
const LOSSES: usize = 16;

/// What one message may weigh. Sizes are in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    pub bytes: usize,
    pub depth: usize,
    pub content: usize,
    /// Of one call.
    pub parameters: usize,
    /// In one message; also the limit of `tool_results`.
    pub tool_calls: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            bytes: 64 * 1024 * 1024,
            depth: DEFAULT_DEPTH,
            content: 16 * 1024 * 1024,
            parameters: 4 * 1024 * 1024,
            tool_calls: 64,
        }
    }
}

/// As much of a message as an answer to it repeats, however little could be read.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Head {
    pub format: Format,
    pub message_id: Option<Text>,
    pub token: Token,
}

/// A refused message, with what is needed to answer it.
#[derive(Debug, Clone, PartialEq)]
pub struct Rejected {
    pub invalid: Invalid,
    pub head: Head,
}

/// Reads one message. Losses are members the schema does not know.
pub fn read(frame: &Bytes, limits: &Limits) -> Result<Carried<Message>, Box<Rejected>> {
    let mut draft = Draft::default();
    match draft.fill(frame, limits).and_then(|()| draft.check()) {
        Ok(message_type) => Ok(draft.into_message(message_type)),
        Err(invalid) => Err(Box::new(Rejected { invalid, head: draft.head() })),
    }
}

/// A message half read.
#[derive(Default)]
struct Draft {
    format: Format,
    message_type: Option<MessageType>,
    message_id: Option<Text>,
    correlation_id: Option<Text>,
    timestamp: Option<Text>,
    priority: u8,
    timeout: Option<u32>,
    retry_count: u32,
    auth_token: Option<Secret>,
    token: Token,
    content: Option<Json>,
    tool_calls: Option<Vec<ToolCall>>,
    tool_results: Option<Vec<ToolResult>>,
    metadata: Option<Json>,
    losses: Vec<Loss>,
}

impl Draft {
    fn fill(&mut self, frame: &Bytes, limits: &Limits) -> Result<(), Invalid> {
        if frame.len() > limits.bytes {
            return Err(Invalid::TooLarge { path: "the message".to_owned(), limit: limits.bytes });
        }
        let mut source = Source { frame, limits };
        let mut reader = Reader::new(frame, limits.depth)?;
        if reader.kind()? != Kind::Object {
            return Err(Invalid::field("the message", "must be an object"));
        }
        reader.object(|key, reader| self.member(&key, reader, &mut source))?;
        reader.end().map_err(Invalid::from)
    }

    fn member(&mut self, key: &str, reader: &mut Reader<'_>, source: &mut Source<'_>) -> Result<(), Invalid> {
        match key {
            "format" => members(reader, "format", |key, reader| self.format_member(key, reader)),
            "control" => members(reader, "control", |key, reader| self.control_member(key, reader)),
            "token" => members(reader, "token", |key, reader| self.token_member(key, reader)),
            "content" => {
                self.content = source.object(reader, "content", source.limits.content)?;
                Ok(())
            }
            "tool_calls" => {
                self.tool_calls =
                    source.list(reader, "tool_calls", |index, reader| self.tool_call(index, reader, source))?;
                Ok(())
            }
            "tool_results" => {
                self.tool_results =
                    source.list(reader, "tool_results", |_, reader| self.tool_result(reader, source))?;
                Ok(())
            }
            "metadata" => {
                self.metadata = source.object(reader, "metadata", source.limits.content)?;
                Ok(())
            }
            _ => self.unknown("", key, reader),
        }
    }

    fn format_member(&mut self, key: &str, reader: &mut Reader<'_>) -> Result<(), Invalid> {
        let format = &mut self.format;
        match key {
            "content_type" => keep(&mut format.content_type, text(reader, "format.content_type", SHORT)?),
            "encoding" => keep(&mut format.encoding, text(reader, "format.encoding", SHORT)?),
            "schema_version" => keep(&mut format.schema_version, text(reader, "format.schema_version", SHORT)?),
            "compression" => format.compression = text(reader, "format.compression", SHORT)?,
            _ => self.unknown("format.", key, reader)?,
        }
        Ok(())
    }

    fn control_member(&mut self, key: &str, reader: &mut Reader<'_>) -> Result<(), Invalid> {
        match key {
            "message_type" => {
                if let Some(name) = text(reader, "control.message_type", SHORT)? {
                    self.message_type = Some(MessageType::parse(&name).ok_or(Invalid::Unknown {
                        path: "control.message_type",
                        known: "request, response, notification or error",
                    })?);
                }
            }
            "message_id" => self.message_id = text(reader, "control.message_id", SHORT)?,
            "correlation_id" => self.correlation_id = text(reader, "control.correlation_id", SHORT)?,
            "timestamp" => self.timestamp = text(reader, "control.timestamp", SHORT)?,
            "priority" => keep(&mut self.priority, whole(reader, "control.priority", 10, "must be 0 to 10")?),
            "timeout" => {
                self.timeout = whole(reader, "control.timeout", u32::MAX, "must be a number of seconds")?;
            }
            "retry_count" => {
                keep(&mut self.retry_count, whole(reader, "control.retry_count", u32::MAX, "is too large")?);
            }
            "auth_token" => {
                self.auth_token = text(reader, "control.auth_token", CREDENTIAL)?.map(|token| Secret::new(&*token));
            }
            _ => self.unknown("control.", key, reader)?,
        }
        Ok(())
    }

    fn token_member(&mut self, key: &str, reader: &mut Reader<'_>) -> Result<(), Invalid> {
        let secret = |token: Option<Text>| token.map(|token| Secret::new(&*token));
        let token = &mut self.token;
        match key {
            "session_id" => token.session_id = text(reader, "token.session_id", SHORT)?,
            "context_token" => token.context_token = secret(text(reader, "token.context_token", CREDENTIAL)?),
            "state_token" => token.state_token = secret(text(reader, "token.state_token", CREDENTIAL)?),
            "conversation_turn" => {
                keep(&mut token.conversation_turn, whole(reader, "token.conversation_turn", u64::MAX, "is too large")?);
            }
            _ => self.unknown("token.", key, reader)?,
        }
        Ok(())
    }

    fn tool_call(&mut self, index: usize, reader: &mut Reader<'_>, source: &Source<'_>) -> Result<ToolCall, Invalid> {
        let mut call = Call::default();
        members(reader, "the call", |key, reader| {
            call.member(key, reader, source, &mut |parent, key, reader| self.unknown(parent, key, reader))
        })?;
        call.into_call(index)
    }

    fn tool_result(&mut self, reader: &mut Reader<'_>, source: &Source<'_>) -> Result<ToolResult, Invalid> {
        let (mut id, mut name, mut status, mut error, mut result, mut metadata) = (None, None, None, None, None, None);
        members(reader, "the result", |key, reader| {
            match key {
                "tool_id" => id = text(reader, "tool_id", SHORT)?,
                "tool_name" => name = text(reader, "tool_name", SHORT)?,
                "status" => status = text(reader, "status", SHORT)?,
                "error" => error = text(reader, "error", source.limits.content)?,
                "result" => result = Some(source.any(reader, "result")?).filter(|result| !result.is_null()),
                "metadata" => metadata = source.object(reader, "metadata", source.limits.content)?,
                _ => self.unknown("tool_results.", key, reader)?,
            }
            Ok(())
        })?;
        let status = required(status, "status")?;
        Ok(ToolResult {
            tool_id: required(id, "tool_id")?,
            tool_name: required(name, "tool_name")?,
            status: Status::parse(&status)
                .ok_or_else(|| Invalid::field("status", "must be success, error or pending"))?,
            result,
            error,
            metadata: metadata.unwrap_or_else(Json::empty_object),
        })
    }

    /// Passes over a member nobody knows, and says so.
    fn unknown(&mut self, parent: &str, key: &str, reader: &mut Reader<'_>) -> Result<(), Invalid> {
        reader.skip()?;
        match self.losses.len() {
            0..LOSSES => {
                let name: String = key.chars().take(64).collect();
                self.losses.push(Loss::new(format!("message.{parent}{name}"), LossKind::Dropped));
            }
            LOSSES => self.losses.push(Loss::new("message: more unknown members", LossKind::Dropped)),
            _ => {}
        }
        Ok(())
    }

    /// What the members must be together; the message type when all is well.
    fn check(&self) -> Result<MessageType, Invalid> {
        let message_type = required(self.message_type, "control.message_type")?;
        match &self.message_id {
            None => return Err(Invalid::field("control.message_id", "is missing")),
            Some(id) if id.is_empty() => return Err(Invalid::field("control.message_id", "is empty")),
            Some(_) => {}
        }
        let unknown = |path, known| Err(Invalid::Unknown { path, known });
        if &*self.format.schema_version != SCHEMA_VERSION {
            return unknown("format.schema_version", "only 1.0 is");
        }
        if !is_json(&self.format.content_type) {
            return unknown("format.content_type", "only application/json is");
        }
        if !["utf-8", "utf8"].iter().any(|known| self.format.encoding.eq_ignore_ascii_case(known)) {
            return unknown("format.encoding", "only utf-8 is");
        }
        match self.format.compression.as_deref() {
            None | Some("none" | "identity") => Ok(message_type),
            Some(_) => unknown("format.compression", "only none is"),
        }
    }

    fn head(self) -> Head {
        Head { format: self.format, message_id: self.message_id, token: self.token }
    }

    fn into_message(self, message_type: MessageType) -> Carried<Message> {
        let control = Control {
            message_type,
            // `check` has seen that there is one.
            message_id: self.message_id.unwrap_or_default(),
            correlation_id: self.correlation_id,
            timestamp: self.timestamp,
            priority: self.priority,
            timeout: self.timeout,
            retry_count: self.retry_count,
            auth_token: self.auth_token,
        };
        let message = Message {
            format: self.format,
            control,
            token: self.token,
            content: self.content.unwrap_or_else(Json::empty_object),
            tool_calls: self.tool_calls,
            tool_results: self.tool_results,
            metadata: self.metadata.unwrap_or_else(Json::empty_object),
        };
        Carried { value: message, losses: self.losses }
    }
}

/// `application/json`, perhaps with parameters.
fn is_json(content_type: &str) -> bool {
    content_type.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
}

/// The frame and what may be taken from it.
pub(super) struct Source<'a> {
    frame: &'a Bytes,
    limits: &'a Limits,
}

impl Source<'_> {
    fn any(&self, reader: &mut Reader<'_>, path: &str) -> Result<Json, Invalid> {
        let span = reader.skip()?;
        if span.1 - span.0 > self.limits.content {
            return Err(Invalid::TooLarge { path: path.to_owned(), limit: self.limits.content });
        }
        Ok(Json::slice(self.frame, span))
    }

    fn object(&self, reader: &mut Reader<'_>, path: &str, limit: usize) -> Result<Option<Json>, Invalid> {
        if !expect(reader, Kind::Object, path, "must be an object")? {
            return Ok(None);
        }
        let span = reader.skip()?;
        if span.1 - span.0 > limit {
            return Err(Invalid::TooLarge { path: path.to_owned(), limit });
        }
        Ok(Some(Json::slice(self.frame, span)))
    }

    /// An object; or its JSON as a string, once or twice, as models write arguments.
    pub(super) fn parameters(&self, reader: &mut Reader<'_>) -> Result<Option<Json>, Invalid> {
        if reader.kind()? != Kind::String {
            return self.object(reader, "parameters", self.limits.parameters);
        }
        let once = self.unquote(&reader.string()?)?;
        let json = if once.as_str().starts_with('"') {
            let mut inner = Reader::new(once.as_bytes(), 1)?;
            self.unquote(&inner.string()?)?
        } else {
            once
        };
        if !json.is_object() {
            return Err(Invalid::field("parameters", "must be an object"));
        }
        Ok(Some(json))
    }

    fn unquote(&self, text: &str) -> Result<Json, Invalid> {
        if text.len() > self.limits.parameters {
            return Err(Invalid::TooLarge { path: "parameters".to_owned(), limit: self.limits.parameters });
        }
        // As an object it stands in a call in a list in a message: three levels down.
        let depth = self.limits.depth.saturating_sub(3);
        Json::parse_within(Bytes::copy_from_slice(text.as_bytes()), depth)
            .map_err(|_| Invalid::field("parameters", "must be an object, or the JSON of one"))
    }

    fn list<T>(
        &self,
        reader: &mut Reader<'_>,
        path: &'static str,
        mut each: impl FnMut(usize, &mut Reader<'_>) -> Result<T, Invalid>,
    ) -> Result<Option<Vec<T>>, Invalid> {
        if !expect(reader, Kind::Array, path, "must be a list")? {
            return Ok(None);
        }
        let mut items = Vec::new();
        reader.array(|index, reader| {
            if index >= self.limits.tool_calls {
                return Err(Invalid::TooLarge { path: path.to_owned(), limit: self.limits.tool_calls });
            }
            items.push(each(index, reader).map_err(|invalid| invalid.within(path, index))?);
            Ok(())
        })?;
        Ok(Some(items))
    }
}

/// False when there is null instead.
fn expect(reader: &mut Reader<'_>, kind: Kind, path: &str, problem: &'static str) -> Result<bool, Invalid> {
    match reader.kind()? {
        Kind::Null => {
            reader.null()?;
            Ok(false)
        }
        found if found == kind => Ok(true),
        _ => Err(Invalid::field(path, problem)),
    }
}

pub(super) fn members(
    reader: &mut Reader<'_>,
    path: &str,
    mut each: impl FnMut(&str, &mut Reader<'_>) -> Result<(), Invalid>,
) -> Result<(), Invalid> {
    if expect(reader, Kind::Object, path, "must be an object")? {
        reader.object(|key, reader| each(&key, reader))?;
    }
    Ok(())
}

pub(super) fn text(reader: &mut Reader<'_>, path: &str, limit: usize) -> Result<Option<Text>, Invalid> {
    if !expect(reader, Kind::String, path, "must be a string")? {
        return Ok(None);
    }
    let text = reader.string()?;
    if text.len() > limit {
        return Err(Invalid::TooLarge { path: path.to_owned(), limit });
    }
    Ok(Some(text.into()))
}

pub(super) fn bool(reader: &mut Reader<'_>, path: &str) -> Result<Option<bool>, Invalid> {
    if !expect(reader, Kind::Bool, path, "must be true or false")? {
        return Ok(None);
    }
    Ok(Some(reader.bool()?))
}

/// A whole number that is not negative and at most `max`.
fn whole<N>(reader: &mut Reader<'_>, path: &str, max: N, problem: &'static str) -> Result<Option<N>, Invalid>
where
    N: std::str::FromStr + PartialOrd,
{
    if !expect(reader, Kind::Number, path, "must be a number")? {
        return Ok(None);
    }
    let digits = reader.number()?;
    if digits.starts_with('-') {
        return Err(Invalid::field(path, "must not be negative"));
    }
    if digits.contains(['.', 'e', 'E']) {
        return Err(Invalid::field(path, "must be a whole number"));
    }
    match digits.parse::<N>() {
        Ok(number) if number <= max => Ok(Some(number)),
        Ok(_) | Err(_) => Err(Invalid::field(path, problem)),
    }
}

pub(super) fn required<T>(value: Option<T>, path: &str) -> Result<T, Invalid> {
    value.ok_or_else(|| Invalid::field(path, "is missing"))
}

/// Absent leaves the default.
pub(super) fn keep<T>(place: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *place = value;
    }
}
