//! Decoding errors: where a frame or a file is invalid, and why. The text never repeats what was sent.

use std::error::Error;
use std::fmt;

use interlingua_model::json::BadJson;

/// A refusal of a whole message, because of one place in it. The problems are those of each format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidAt<P> {
    /// `action_results[3].status`; empty for the message as a whole.
    pub path: String,
    pub problem: P,
}

impl<P> InvalidAt<P> {
    pub fn at(path: impl Into<String>, problem: P) -> InvalidAt<P> {
        InvalidAt { path: path.into(), problem }
    }

    /// The same, seen from outside of the list element it happened in.
    #[must_use]
    pub fn within(self, list: &str, index: usize) -> InvalidAt<P> {
        let path = match self.path.as_str() {
            "" => format!("{list}[{index}]"),
            inner => format!("{list}[{index}].{inner}"),
        };
        InvalidAt { path, problem: self.problem }
    }
}

impl<P: fmt::Display> fmt::Display for InvalidAt<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.as_str() {
            "" => write!(f, "the message: {}", self.problem),
            path => write!(f, "{path}: {}", self.problem),
        }
    }
}

impl<P: fmt::Debug + fmt::Display> Error for InvalidAt<P> {}

/// Bytes that are not JSON are so as a whole.
impl<P: From<BadJson>> From<BadJson> for InvalidAt<P> {
    fn from(bad: BadJson) -> InvalidAt<P> {
        InvalidAt::at("", bad.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_the_place_from_the_outside_in() {
        let missing = || InvalidAt::at("status", "is required");
        assert_eq!(missing().to_string(), "status: is required");
        assert_eq!(missing().within("results", 3).to_string(), "results[3].status: is required");
        assert_eq!(InvalidAt::at("", "is no text").within("lines", 0).to_string(), "lines[0]: is no text");
        assert_eq!(InvalidAt::at("", "must be an object").to_string(), "the message: must be an object");
    }
}
