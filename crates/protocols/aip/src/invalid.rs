//! Why a frame is not a message. A refusal says where (a path in the message) and what; it never repeats what was sent.

use std::fmt;

use interlingua_model::json::BadJson;

/// A refusal of a frame, before anything of it reaches the model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Invalid {
    /// `action_results[3].status`; empty for the message as a whole.
    pub path: String,
    pub problem: Problem,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    #[error("not JSON: {0}")]
    BadJson(#[from] BadJson),
    #[error("must be an object")]
    NotAnObject,
    #[error("must be a list")]
    NotAList,
    #[error("must be text")]
    NotText,
    #[error("is required")]
    Missing,
    #[error("must be one of {known}")]
    Unknown { known: &'static str },
    #[error("is larger than {limit}")]
    TooLarge { limit: usize },
    #[error("{0}")]
    Rule(&'static str),
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            write!(f, "the message: {}", self.problem)
        } else {
            write!(f, "{}: {}", self.path, self.problem)
        }
    }
}

impl Invalid {
    /// It is a frame of a kind that this wire does not have.
    pub fn is_of_another_kind(&self) -> bool {
        self.path == "type" && matches!(self.problem, Problem::Unknown { .. })
    }

    pub(super) fn at(path: impl Into<String>, problem: Problem) -> Invalid {
        Invalid { path: path.into(), problem }
    }

    /// The same, seen from outside of the list element it happened in.
    pub(super) fn within(self, list: &str, index: usize) -> Invalid {
        let path = match self.path.as_str() {
            "" => format!("{list}[{index}]"),
            inner => format!("{list}[{index}].{inner}"),
        };
        Invalid { path, problem: self.problem }
    }
}

impl From<BadJson> for Invalid {
    fn from(bad: BadJson) -> Invalid {
        Invalid::at("", Problem::BadJson(bad))
    }
}
