//! Errors of frames that are not messages, and of messages that cannot be routed. The texts name what and where, and never repeat what was
//! sent. [`super::fault`] maps them to faults.

use interlingua_model::json::BadJson;

/// A refusal of a whole message, before anything of it reaches the hub.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Invalid {
    #[error("the message is not JSON: {0}")]
    Json(#[from] BadJson),
    #[error("{path} {problem}")]
    Field { path: String, problem: &'static str },
    #[error("{path} is not understood: {known}")]
    Unknown { path: &'static str, known: &'static str },
    #[error("{path} is larger than {limit}")]
    TooLarge { path: String, limit: usize },
    #[error("{0}")]
    Rule(#[from] Rule),
}

/// A rule that a well-formed message breaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Rule {
    #[error("a message of type {0} cannot be routed")]
    Unroutable(&'static str),
    #[error("No tool calls found in request")]
    AsksNothing,
    #[error("tool_calls[{0}].tool_id is there twice")]
    SameToolId(usize),
    #[error("metadata.tool_format must be openai, openai_responses, anthropic or gemini")]
    UnknownToolFormat,
    #[error("a message brings an answer or tool calls, not both")]
    AnswerAndCalls,
    #[error("metadata has a confirmation and an answer: send them one by one")]
    TwoAnswers,
    #[error("the id of the question is missing")]
    NoQuestion,
    /// What is not an id of ours names nothing: the same answer as for one nobody knows.
    #[error("no such question is open")]
    UnknownQuestion,
    #[error("metadata.confirmation.approve must be true or false")]
    UnclearApproval,
    #[error("metadata.answer has neither value, token, visited nor declined")]
    EmptyAnswer,
    #[error("content.messages must be a list")]
    NoList,
    #[error("content.messages must end with a message of the user")]
    EndsWithoutUser,
    #[error("content.messages[{0}].role is not understood")]
    UnknownRole(usize),
    #[error("content.messages[{0}].content must be a text or a list")]
    BadTurn(usize),
}

impl Invalid {
    pub(super) fn field(path: &str, problem: &'static str) -> Invalid {
        Invalid::Field { path: path.to_owned(), problem }
    }

    /// The same, seen from outside of the list element it happened in.
    pub(super) fn within(self, list: &str, index: usize) -> Invalid {
        match self {
            Invalid::Field { path, problem } => Invalid::Field { path: format!("{list}[{index}].{path}"), problem },
            Invalid::TooLarge { path, limit } => Invalid::TooLarge { path: format!("{list}[{index}].{path}"), limit },
            Invalid::Json(_) | Invalid::Unknown { .. } | Invalid::Rule(_) => self,
        }
    }
}
