//! Hostile input for a server, each with its allowed answers. Large bodies are made here, not stored as files.
//!
//! A hub answers every input with an error in the caller's own protocol or closes cleanly: never with a 5xx, never with silence, never by
//! keeping others waiting. This module only describes; the integration tests send.

pub mod browser;
pub mod cbor;
pub mod frames;
pub mod http;
pub mod json;

use bytes::Bytes;
use serde_json::Value;

use crate::Answer;

/// One body for one path.
#[derive(Debug)]
pub struct Case {
    pub name: &'static str,
    pub content_type: &'static str,
    pub headers: &'static [(&'static str, &'static str)],
    pub body: Bytes,
    pub expected: Expected,
}

/// What may come back.
#[derive(Debug, Clone, Copy)]
pub enum Expected {
    /// An error with one of these statuses.
    Refused(&'static [u16]),
    /// The input is odd but legal: an answer, or an error because a limit says so.
    AnsweredOrRefused,
    /// The input is legal and must be answered.
    Answered,
}

impl Expected {
    /// Why `answer` is not what was expected, if it is not. `shape` is the error shape of the path's protocol.
    pub fn complaint(self, answer: &Answer, shape: Shape) -> Option<String> {
        let status = answer.status;
        let refused = (400..500).contains(&status);
        let fits = match self {
            Self::Refused(statuses) => statuses.contains(&status),
            Self::AnsweredOrRefused => status == 200 || refused,
            Self::Answered => status == 200,
        };
        if !fits {
            return Some(format!("status {status} where {self:?}: {}", excerpt(answer)));
        }
        let reason = if refused { shape.complaint(answer) } else { None };
        reason.map(|reason| format!("status {status}, but {reason}: {}", excerpt(answer)))
    }
}

/// How a protocol spells an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// A message with `messagetype: error` and a text in English (ECMA-432, clause 11).
    Nlip,
    /// A routing envelope whose `control.message_type` is `error`, alone or as the one entry of an array.
    Envelope,
}

impl Shape {
    /// What is wrong with the error's shape, if anything is.
    pub fn complaint(self, answer: &Answer) -> Option<String> {
        let Ok(body) = serde_json::from_slice::<Value>(&answer.body) else {
            return Some("the body is not JSON".into());
        };
        match self {
            Self::Nlip => nlip_complaint(&body),
            Self::Envelope => envelope_complaint(&body),
        }
    }
}

/// Why a JSON value is not an NLIP error, if it is not.
pub fn nlip_complaint(body: &Value) -> Option<String> {
    let Value::Object(fields) = body else { return Some("the body is not an object".into()) };
    let wrong = [("messagetype", "error"), ("format", "text"), ("subformat", "english")]
        .into_iter()
        .find(|(key, value)| fields.get(*key).and_then(Value::as_str) != Some(value));
    if let Some((key, value)) = wrong {
        return Some(format!("`{key}` is not `{value}`"));
    }
    if fields.get("content").and_then(Value::as_str).is_none_or(str::is_empty) {
        return Some("`content` says nothing".into());
    }
    fields.values().any(Value::is_null).then(|| "a field is null".into())
}

fn envelope_complaint(body: &Value) -> Option<String> {
    let message = match body {
        Value::Array(messages) if messages.len() == 1 => &messages[0],
        Value::Array(messages) => return Some(format!("{} messages where one error is due", messages.len())),
        other => other,
    };
    (message["control"]["message_type"] != "error").then(|| "`control.message_type` is not `error`".into())
}

fn excerpt(answer: &Answer) -> String {
    answer.text().chars().take(300).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(status: u16, body: &str) -> Answer {
        let (headers, trailers) = Default::default();
        Answer { status, headers, body: Bytes::copy_from_slice(body.as_bytes()), trailers }
    }

    #[test]
    fn an_nlip_error_is_told_from_anything_else() {
        let good = r#"{"messagetype":"error","format":"text","subformat":"english","content":"Bad."}"#;
        let refused = Expected::Refused(&[400]);
        assert_eq!(refused.complaint(&answer(400, good), Shape::Nlip), None);
        assert!(refused.complaint(&answer(500, good), Shape::Nlip).is_some());
        assert!(refused.complaint(&answer(400, r#"{"detail":"x"}"#), Shape::Nlip).is_some());
        let with_null =
            r#"{"messagetype":"error","format":"text","subformat":"english","content":"Bad.","label":null}"#;
        assert!(refused.complaint(&answer(400, with_null), Shape::Nlip).is_some());
    }

    #[test]
    fn an_envelope_error_may_stand_alone_or_in_an_array() {
        let refused = Expected::Refused(&[400]);
        for body in [r#"{"control":{"message_type":"error"}}"#, r#"[{"control":{"message_type":"error"}}]"#] {
            assert_eq!(refused.complaint(&answer(400, body), Shape::Envelope), None);
        }
        assert!(
            refused.complaint(&answer(400, r#"[{"control":{"message_type":"response"}}]"#), Shape::Envelope).is_some()
        );
    }

    #[test]
    fn names_are_unique_in_every_list() {
        let names =
            json::cases().into_iter().map(|case| case.name).chain(cbor::cases().into_iter().map(|case| case.name));
        let mut names: Vec<&str> = names.collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
