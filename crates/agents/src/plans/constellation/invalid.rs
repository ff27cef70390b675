//! Parse errors of a plan: where, and what. They never repeat the input.

use std::fmt;

use interlingua_model::json::BadJson;

/// A refusal of a plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Invalid {
    /// `tasks[a].tips`; empty for the plan as a whole.
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
    pub(super) fn at(path: impl Into<String>, problem: Problem) -> Invalid {
        Invalid { path: path.into(), problem }
    }
}

impl From<BadJson> for Invalid {
    fn from(bad: BadJson) -> Invalid {
        Invalid::at("", Problem::BadJson(bad))
    }
}
