//! What a translation could not carry. A loss is data: it travels, is journaled and is shown.

use serde::{Deserialize, Serialize};

use crate::id::Text;

/// A value, and what was lost on the way to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Carried<T> {
    pub value: T,
    pub losses: Vec<Loss>,
}

impl<T> Carried<T> {
    pub fn whole(value: T) -> Self {
        Carried { value, losses: Vec::new() }
    }
}

/// `what` is a path in the model, for example `call.priority`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loss {
    pub what: Text,
    pub kind: LossKind,
}

impl Loss {
    pub fn new(what: impl Into<Text>, kind: LossKind) -> Self {
        Loss { what: what.into(), kind }
    }
}

/// Collecting a stream into one answer is not a loss.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum LossKind {
    Dropped,
    Flattened,
    Approximated,
    AnsweredByHub,
    Unordered,
}

impl LossKind {
    /// The kind of this spelling.
    pub fn named(name: &str) -> Option<LossKind> {
        let all = [
            LossKind::Dropped,
            LossKind::Flattened,
            LossKind::Approximated,
            LossKind::AnsweredByHub,
            LossKind::Unordered,
        ];
        all.into_iter().find(|kind| kind.as_str() == name)
    }

    pub fn as_str(self) -> &'static str {
        match self {
            LossKind::Dropped => "dropped",
            LossKind::Flattened => "flattened",
            LossKind::Approximated => "approximated",
            LossKind::AnsweredByHub => "answered_by_hub",
            LossKind::Unordered => "unordered",
        }
    }
}
