//! JSON-RPC 2.0 for the protocols built on it: requests, notifications and responses, alone or in a batch.
//!
//! A frame is read in one pass; `params` and `result` are opened one level deep ([`Members`]), everything else stays as bytes. Ids are
//! preserved verbatim: `1`, `1.0` and `"1"` are three ids, and each is answered as it was written.
//!
//! Deliberately absent: what a method means, HTTP, and whether a wire takes batches.

use bytes::Bytes;
use interlingua_model::json::{BadJson, Kind, Reader, write_string};
use interlingua_model::{Json, Text};

use crate::members::Members;
use crate::object::Object;

pub const PARSE_ERROR: i64 = -32700;
pub const INVALID_REQUEST: i64 = -32600;
pub const METHOD_NOT_FOUND: i64 = -32601;
pub const INVALID_PARAMS: i64 = -32602;
pub const INTERNAL_ERROR: i64 = -32603;

/// How many messages one batch may have.
pub const MAX_BATCH: usize = 128;
/// How long an id may be: it is echoed, and stands in tables.
const MAX_ID: usize = 512;

/// The id of a request, as it was written: text, a number, or `null` where the other side could not tell.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Id(Bytes);

impl Id {
    pub const NULL: Id = Id(Bytes::from_static(b"null"));

    pub fn number(number: u64) -> Id {
        Id(number.to_string().into())
    }

    pub fn text(text: &str) -> Id {
        let mut id = Vec::with_capacity(text.len() + 2);
        write_string(text, &mut id);
        Id(id.into())
    }

    /// A JSON value used as an id; `None` when it cannot be one.
    pub fn of(json: &Json) -> Option<Id> {
        let bytes = json.as_bytes();
        let known = matches!(bytes.first(), Some(b'"' | b'-' | b'n' | b'0'..=b'9'));
        (known && bytes.len() <= MAX_ID).then(|| Id(normal(bytes)))
    }

    pub fn is_null(&self) -> bool {
        &self.0[..] == b"null"
    }

    /// Its JSON spelling.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or("null")
    }

    pub fn json(&self) -> Json {
        Json::slice(&self.0, (0, self.0.len()))
    }

    /// The number of an id that this side made with [`Id::number`].
    pub fn as_number(&self) -> Option<u64> {
        self.as_str().parse().ok()
    }
}

/// Text has one spelling, so that equal ids are equal; a number is left as it was written.
fn normal(bytes: &Bytes) -> Bytes {
    if !bytes.contains(&b'\\') {
        return bytes.clone();
    }
    let text = Reader::new(bytes, 0).and_then(|mut reader| reader.string().map(std::borrow::Cow::into_owned));
    text.map_or_else(|_| bytes.clone(), |text| Id::text(&text).0)
}

#[derive(Debug, Clone)]
pub enum Message {
    Request(Request),
    Notification(Notification),
    Response(Response),
}

impl Message {
    /// What a method is asked or told with.
    pub fn params(&self) -> Option<&Members> {
        match self {
            Message::Request(request) => Some(&request.params),
            Message::Notification(notification) => Some(&notification.params),
            Message::Response(_) => None,
        }
    }
}

#[derive(Debug, Clone)]
pub struct Request {
    pub id: Id,
    pub method: Text,
    pub params: Members,
}

#[derive(Debug, Clone)]
pub struct Notification {
    pub method: Text,
    pub params: Members,
}

#[derive(Debug, Clone)]
pub struct Response {
    pub id: Id,
    pub outcome: Result<Members, Error>,
}

/// What a response carries when there is no result.
#[derive(Debug, Clone, PartialEq)]
pub struct Error {
    pub code: i64,
    pub message: Text,
    pub data: Option<Json>,
}

impl Error {
    pub fn new(code: i64, message: impl Into<Text>) -> Error {
        Error { code, message: message.into(), data: None }
    }

    pub fn with(mut self, data: Json) -> Error {
        self.data = Some(data);
        self
    }
}

/// What one frame holds.
#[derive(Debug, Clone)]
pub enum Frame {
    One(Message),
    /// Each stands for itself: one that is wrong leaves the others as they are.
    Batch(Vec<Result<Message, Invalid>>),
}

/// Why something is no message, and whose request it would have been.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub struct Invalid {
    pub id: Option<Id>,
    pub problem: Problem,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    #[error("not JSON: {0}")]
    Json(#[from] BadJson),
    #[error("not a JSON-RPC 2.0 message: {0}")]
    Shape(&'static str),
}

impl From<BadJson> for Invalid {
    fn from(bad: BadJson) -> Invalid {
        Invalid { id: None, problem: Problem::Json(bad) }
    }
}

impl Invalid {
    pub fn shape(id: Option<Id>, what: &'static str) -> Invalid {
        Invalid { id, problem: Problem::Shape(what) }
    }

    pub fn error(&self) -> Error {
        let code = match self.problem {
            Problem::Json(_) => PARSE_ERROR,
            Problem::Shape(_) => INVALID_REQUEST,
        };
        Error::new(code, self.problem.to_string())
    }
}

/// Reads one frame, in which `depth` levels of nesting are allowed.
pub fn decode(frame: &Bytes, depth: usize) -> Result<Frame, Invalid> {
    let mut reader = Reader::new(frame, depth)?;
    let decoded = match reader.kind()? {
        Kind::Array => Frame::Batch(batch(frame, &mut reader)?),
        Kind::Object => Frame::One(message(frame, &mut reader)??),
        Kind::Null | Kind::Bool | Kind::Number | Kind::String => {
            reader.skip()?;
            return Err(Invalid::shape(None, "an object is wanted"));
        }
    };
    reader.end()?;
    Ok(decoded)
}

fn batch(frame: &Bytes, reader: &mut Reader<'_>) -> Result<Vec<Result<Message, Invalid>>, Invalid> {
    let mut messages = Vec::new();
    reader.array::<Invalid>(|index, reader| {
        if index >= MAX_BATCH {
            return Err(Invalid::shape(None, "too many messages in one batch"));
        }
        messages.push(match reader.kind()? {
            Kind::Object => message(frame, reader)?,
            Kind::Null | Kind::Bool | Kind::Number | Kind::String | Kind::Array => {
                reader.skip()?;
                Err(Invalid::shape(None, "an object is wanted"))
            }
        });
        Ok(())
    })?;
    if messages.is_empty() {
        return Err(Invalid::shape(None, "an empty batch"));
    }
    Ok(messages)
}

/// The members of one message, as they came.
#[derive(Default)]
struct Parts {
    version: bool,
    id: Option<Json>,
    method: Option<Text>,
    params: Option<Members>,
    result: Option<Members>,
    error: Option<Json>,
    wrong: Option<&'static str>,
}

/// The outer error is one of JSON, which spoils the frame; the inner one is of this message.
fn message(frame: &Bytes, reader: &mut Reader<'_>) -> Result<Result<Message, Invalid>, BadJson> {
    let mut parts = Parts::default();
    reader.object::<BadJson>(|key, reader| {
        match &*key {
            "jsonrpc" if reader.kind()? == Kind::String => parts.version = reader.string()? == "2.0",
            "id" => parts.id = Some(Json::slice(frame, reader.skip()?)),
            "method" if reader.kind()? == Kind::String => parts.method = Some((&*reader.string()?).into()),
            "method" => {
                reader.skip()?;
                parts.wrong = Some("`method` must be text");
            }
            "params" => parts.params = Some(Members::read(frame, reader)?),
            "result" => parts.result = Some(Members::read(frame, reader)?),
            "error" => parts.error = Some(Json::slice(frame, reader.skip()?)),
            _ => drop(reader.skip()?),
        }
        Ok(())
    })?;
    Ok(parts.message())
}

impl Parts {
    fn message(self) -> Result<Message, Invalid> {
        let id = match self.id.as_ref().map(Id::of) {
            Some(None) => return Err(Invalid::shape(None, "`id` must be text or a number")),
            Some(Some(id)) => Some(id),
            None => None,
        };
        if let Some(what) = self.wrong {
            return Err(Invalid::shape(id, what));
        }
        if !self.version {
            return Err(Invalid::shape(id, "`jsonrpc` must be \"2.0\""));
        }
        if self.params.as_ref().and_then(Members::json).is_some_and(is_scalar) {
            return Err(Invalid::shape(id, "`params` must be an object or a list"));
        }
        let params = self.params.unwrap_or(Members::absent());
        match (self.method, id, self.result, self.error) {
            (Some(method), Some(id), None, None) => Ok(Message::Request(Request { id, method, params })),
            (Some(method), None, None, None) => Ok(Message::Notification(Notification { method, params })),
            (None, Some(id), Some(result), None) => Ok(Message::Response(Response { id, outcome: Ok(result) })),
            (None, id, None, Some(error)) => match self::error(&error) {
                Some(error) => Ok(Message::Response(Response { id: id.unwrap_or(Id::NULL), outcome: Err(error) })),
                None => Err(Invalid::shape(id, "`error` needs a `code` and a `message`")),
            },
            (_, id, _, _) => {
                Err(Invalid::shape(id, "a request has a `method`, a response has a `result` or an `error`"))
            }
        }
    }
}

fn is_scalar(json: &Json) -> bool {
    !matches!(json.as_bytes().first(), Some(b'{' | b'['))
}

fn error(json: &Json) -> Option<Error> {
    let members = Members::of(json);
    let code = members.number("code")?;
    let message = members.text("message")?;
    Some(Error { code, message: (&*message).into(), data: members.get("data") })
}

/// Writes a request; `params` writes the value, when there is one.
pub fn write_request(id: &Id, method: &str, params: Option<&Json>, out: &mut Vec<u8>) {
    let mut object = open(out);
    object.value("id", &id.json());
    object.text("method", method);
    if let Some(params) = params {
        object.value("params", params);
    }
    object.finish();
}

pub fn write_notification(method: &str, params: Option<&Json>, out: &mut Vec<u8>) {
    let mut object = open(out);
    object.text("method", method);
    if let Some(params) = params {
        object.value("params", params);
    }
    object.finish();
}

/// Writes a response whose result `write` appends: one JSON value.
pub fn write_result(id: &Id, out: &mut Vec<u8>, write: impl FnOnce(&mut Vec<u8>)) {
    let mut object = open(out);
    object.value("id", &id.json());
    write(object.key("result"));
    object.finish();
}

/// Writes an error response; `None` where it could not be told whose request it was.
pub fn write_error(id: Option<&Id>, error: &Error, out: &mut Vec<u8>) {
    let mut object = open(out);
    object.value("id", &id.unwrap_or(&Id::NULL).json());
    object.object("error", |object| {
        object.key("code").extend_from_slice(error.code.to_string().as_bytes());
        object.text("message", &error.message);
        if let Some(data) = &error.data {
            object.value("data", data);
        }
    });
    object.finish();
}

fn open(out: &mut Vec<u8>) -> Object<'_> {
    let mut object = Object::open(out);
    object.text("jsonrpc", "2.0");
    object
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Frame, Invalid> {
        decode(&Bytes::copy_from_slice(text.as_bytes()), 16)
    }

    fn one(text: &str) -> Message {
        match read(text) {
            Ok(Frame::One(message)) => message,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn a_message_is_what_its_members_say_in_whatever_order() {
        let Message::Request(request) = one(r#"{"params":{"name":"x"},"id":1.0,"method":"a/b","jsonrpc":"2.0","z":1}"#)
        else {
            panic!("a request")
        };
        assert_eq!((request.id.as_str(), &*request.method), ("1.0", "a/b"));
        assert_eq!(request.params.text("name").as_deref(), Some("x"));
        let Message::Notification(notification) = one(r#"{"jsonrpc":"2.0","method":"n"}"#) else { panic!("one") };
        assert!(notification.params.is_absent());
        let Message::Response(response) = one(r#"{"jsonrpc":"2.0","id":"a","result":[1]}"#) else { panic!("one") };
        assert_eq!(response.outcome.expect("a result").json().map(Json::as_str), Some("[1]"));
        let Message::Response(response) =
            one(r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"no","data":{}}}"#)
        else {
            panic!("one")
        };
        assert_eq!(response.outcome.expect_err("an error").code, -32001);
    }

    #[test]
    fn text_ids_are_equal_when_they_mean_the_same_and_numbers_when_they_are_written_the_same() {
        let id = |text: &str| match one(&format!(r#"{{"jsonrpc":"2.0","id":{text},"method":"m"}}"#)) {
            Message::Request(request) => request.id,
            other => panic!("{other:?}"),
        };
        assert_eq!(id(r#""\u0061""#), id(r#""a""#));
        assert_ne!(id("1"), id("1.0"));
        assert_ne!(id("1"), id("\"1\""));
    }

    #[test]
    fn what_is_wrong_is_told_to_whom_it_concerns() {
        for (text, code, id) in [
            ("{", PARSE_ERROR, None),
            (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"m"}"#, PARSE_ERROR, None),
            (r#"{"jsonrpc":"2.0","id":1,"method":"m"} x"#, PARSE_ERROR, None),
            ("7", INVALID_REQUEST, None),
            ("[]", INVALID_REQUEST, None),
            (r#"{"jsonrpc":"1.0","id":7,"method":"m"}"#, INVALID_REQUEST, Some("7")),
            (r#"{"jsonrpc":"2.0","id":7,"method":1}"#, INVALID_REQUEST, Some("7")),
            (r#"{"jsonrpc":"2.0","id":7,"method":"m","params":1}"#, INVALID_REQUEST, Some("7")),
            (r#"{"jsonrpc":"2.0","id":{},"method":"m"}"#, INVALID_REQUEST, None),
            (r#"{"jsonrpc":"2.0","id":7}"#, INVALID_REQUEST, Some("7")),
        ] {
            let invalid = read(text).expect_err(text);
            assert_eq!((invalid.error().code, invalid.id.as_ref().map(Id::as_str)), (code, id), "{text}");
        }
    }

    #[test]
    fn one_bad_message_of_a_batch_leaves_the_others() {
        let Ok(Frame::Batch(messages)) = read(r#"[{"jsonrpc":"2.0","method":"n"}, 1, {"jsonrpc":"2.0","id":1}]"#)
        else {
            panic!("a batch")
        };
        assert!(messages[0].is_ok() && messages[1].is_err() && messages[2].is_err());
        assert!(read(&format!("[{}]", vec!["1"; MAX_BATCH + 1].join(","))).is_err());
    }

    #[test]
    fn what_is_written_is_read_again() {
        let mut out = Vec::new();
        write_request(&Id::number(3), "m", Some(&Json::empty_object()), &mut out);
        assert!(
            matches!(one(&String::from_utf8(out).expect("UTF-8")), Message::Request(request) if request.id == Id::number(3))
        );
        let mut out = Vec::new();
        write_error(None, &Error::new(INVALID_PARAMS, "a \"b\"").with(Json::null()), &mut out);
        assert_eq!(out, br#"{"jsonrpc":"2.0","id":null,"error":{"code":-32602,"message":"a \"b\"","data":null}}"#);
        let mut out = Vec::new();
        write_result(&Id::text("x"), &mut out, |out| out.extend_from_slice(b"{}"));
        assert_eq!(out, br#"{"jsonrpc":"2.0","id":"x","result":{}}"#);
    }
}
