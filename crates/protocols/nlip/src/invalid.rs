//! Decoding errors of a frame. Each says where (a path in the message) and what, and falls into one of three classes, which each binding
//! reports in its own way (`fault`).

use std::fmt;

use interlingua_model::json::{self, BadJson, most_values};

/// A refusal of a frame, before anything of it reaches the model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Invalid {
    /// `submessages[3].format`; empty for the message as a whole.
    pub path: String,
    pub problem: Problem,
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() { write!(f, "{}", self.problem) } else { write!(f, "{}: {}", self.path, self.problem) }
    }
}

impl Invalid {
    pub(super) fn whole(problem: Problem) -> Invalid {
        Invalid { path: String::new(), problem }
    }

    pub fn class(&self) -> Class {
        match self.problem {
            Problem::BadJson(_)
            | Problem::BadCbor { .. }
            | Problem::Tag
            | Problem::NotUtf8
            | Problem::TooDeep
            | Problem::Trailing
            | Problem::SameKeyTwice => Class::Malformed,
            Problem::TooManyBytes { .. } | Problem::TooManySubmessages { .. } | Problem::TooManyValues => {
                Class::TooLarge
            }
            Problem::NotAnObject
            | Problem::Missing
            | Problem::NotAString
            | Problem::NotAnArray
            | Problem::UnknownFormat
            | Problem::BinaryKind
            | Problem::NotBase64
            | Problem::NoJsonForm
            | Problem::BadCall(_)
            | Problem::BadAnswer(_)
            | Problem::BadTask(_)
            | Problem::BadTopic(_)
            | Problem::BadHeader(_) => Class::Schema,
        }
    }
}

/// Malformed: not JSON, not CBOR. Schema: both, but not a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    Malformed,
    Schema,
    TooLarge,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    #[error("not JSON: {0}")]
    BadJson(BadJson),
    #[error("not CBOR at byte {at}")]
    BadCbor { at: usize },
    #[error("CBOR tags are not part of a message")]
    Tag,
    #[error("text is not UTF-8")]
    NotUtf8,
    #[error("nested too deeply")]
    TooDeep,
    #[error("more than {} values", most_values())]
    TooManyValues,
    #[error("something follows the message")]
    Trailing,
    #[error("the same field twice, letter case aside")]
    SameKeyTwice,
    #[error("more than {limit} bytes")]
    TooManyBytes { limit: usize },
    #[error("more than {limit} submessages")]
    TooManySubmessages { limit: usize },
    #[error("must be an object")]
    NotAnObject,
    #[error("is required")]
    Missing,
    #[error("must be a string")]
    NotAString,
    #[error("must be an array")]
    NotAnArray,
    #[error("must be one of text, token, structured, binary, location, generic")]
    UnknownFormat,
    #[error("binary needs a subformat of kind/encoding, the kind being audio, image, video, sensor or generic")]
    BinaryKind,
    #[error("binary content must be base64 text or, in CBOR, a byte string")]
    NotBase64,
    #[error("a byte string or a number that is not finite has no place in structured content")]
    NoJsonForm,
    #[error("not a call: {0}")]
    BadCall(&'static str),
    #[error("not an answer: {0}")]
    BadAnswer(&'static str),
    #[error("not about a task: {0}")]
    BadTask(&'static str),
    #[error("{0}")]
    BadTopic(&'static str),
    #[error("{0}")]
    BadHeader(interlingua_wire::hub_headers::BadHop),
}

impl From<BadJson> for Invalid {
    fn from(bad: BadJson) -> Invalid {
        Invalid::whole(match bad.problem {
            json::Problem::TooMany => Problem::TooManyValues,
            _ => Problem::BadJson(bad),
        })
    }
}
