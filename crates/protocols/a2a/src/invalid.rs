//! Decoding errors of a request, with their position. [`super::fault`] gives them a code.

use std::fmt;

use interlingua_model::json::BadJson;

use interlingua_wire::protobuf::BadProtobuf;

/// Why bytes are no frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadFrame {
    #[error("compressed messages are not taken here")]
    Compressed,
    #[error("the frame of a message is not well formed")]
    Malformed,
    #[error("a message is larger than what is taken here")]
    TooLarge,
}

/// A request that is not one of the protocol's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invalid {
    pub problem: Problem,
    /// The field, as a path of the request: `message.parts[0]`. Empty for the whole of it.
    pub path: String,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    #[error("it is not JSON: {0}")]
    Json(#[from] BadJson),
    #[error("it is not a message of the protocol: {0}")]
    Protobuf(#[from] BadProtobuf),
    #[error("it is not a message of the protocol: {0}")]
    Frame(#[from] BadFrame),
    #[error("it is not a message of the protocol: {0}")]
    Shape(&'static str),
    #[error("must be an object")]
    NotAnObject,
    #[error("must be an array")]
    NotAnArray,
    #[error("must be a string")]
    NotAString,
    #[error("must be true or false")]
    NotABool,
    #[error("must be a whole number, zero or more")]
    NotANumber,
    #[error("must be a time such as 2026-01-31T12:00:00Z")]
    NotATime,
    #[error("must be base64")]
    NotBase64,
    #[error("is none of the known values")]
    UnknownValue,
    #[error("is required")]
    Missing,
    #[error("must not be empty")]
    Empty,
    #[error("must have exactly one of text, raw, url and data, not {0}")]
    OneOf(usize),
    #[error("must be 1 to 100")]
    PageSize,
    #[error("is not a cursor of this list")]
    Cursor,
    #[error("must not contain line ends or other control characters")]
    Control,
    #[error("must be 1 to 10")]
    Priority,
    #[error("the version '{0}' is not spoken here; 1.0 and 0.3 are")]
    Version(String),
    #[error("the method '{0}' belongs to another version than the request; send A2A-Version: {1}")]
    OtherVersion(String, &'static str),
    #[error("there is no method '{0}'")]
    Method(String),
    #[error("there is nothing at this path")]
    Path,
    /// An id that is not one of the hub's is answered like that of somebody else's task.
    #[error("task not found")]
    NoSuchTask,
}

impl Invalid {
    pub fn whole(problem: impl Into<Problem>) -> Invalid {
        Invalid { problem: problem.into(), path: String::new() }
    }

    pub fn at(path: impl Into<String>, problem: impl Into<Problem>) -> Invalid {
        Invalid { problem: problem.into(), path: path.into() }
    }

    pub(super) fn version(text: &str) -> Invalid {
        Invalid::whole(Problem::Version(text.chars().take(32).collect()))
    }

    /// The same, seen from one level further out.
    #[must_use]
    pub fn under(mut self, step: &str) -> Invalid {
        // Bytes that are not JSON are so wherever they stand.
        if !matches!(self.problem, Problem::Json(_)) {
            self.path = match self.path.as_str() {
                "" => step.to_owned(),
                path if path.starts_with('[') => format!("{step}{path}"),
                path => format!("{step}.{path}"),
            };
        }
        self
    }
}

impl From<BadJson> for Invalid {
    fn from(bad: BadJson) -> Invalid {
        Invalid::whole(bad)
    }
}

impl From<BadProtobuf> for Invalid {
    fn from(bad: BadProtobuf) -> Invalid {
        Invalid::whole(bad)
    }
}

impl From<BadFrame> for Invalid {
    fn from(bad: BadFrame) -> Invalid {
        Invalid::whole(bad)
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.as_str() {
            "" => write!(f, "{}", self.problem),
            path => write!(f, "'{path}' {}", self.problem),
        }
    }
}

impl std::error::Error for Invalid {}
