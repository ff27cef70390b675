//! Parse errors of a plan: where, and what. They never repeat the input.

use interlingua_model::json::BadJson;

/// A refusal of a plan. A path is `tasks[a].tips`.
pub type Invalid = interlingua_wire::invalid::InvalidAt<Problem>;

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
