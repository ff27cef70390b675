//! Decoding errors of a frame.

use interlingua_model::json::BadJson;

/// A refusal of a frame, before anything of it reaches the model. A path is `action_results[3].status`.
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
    #[error("must be one of {known}")]
    Unknown { known: &'static str },
    #[error("is larger than {limit}")]
    TooLarge { limit: usize },
    #[error("{0}")]
    Rule(&'static str),
}

/// It is a frame of a kind that this wire does not have.
pub(super) fn is_of_another_kind(invalid: &Invalid) -> bool {
    invalid.path == "type" && matches!(invalid.problem, Problem::Unknown { .. })
}
