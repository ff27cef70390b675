//! Faults in this protocol, and the HTTP status of a refusal.
//!
//! A failure of the protocol is a message of type `error`; a failure of the tool is a `response` whose one result has the status `error`
//! . Only the public text of a fault is ever written (H-15).

use interlingua_model::{Fault, FaultKind, Feature, Noun};

use super::invalid::{Invalid, Rule};

/// Where a refused call's fault is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spelling {
    /// A message of type `error`, with this HTTP status when it is the whole answer.
    Error(u16),
    /// A `response` with `tool_results[0].status: error`, and HTTP 200.
    Outcome,
}

impl Spelling {
    pub fn http_status(self) -> u16 {
        match self {
            Spelling::Error(status) => status,
            Spelling::Outcome => 200,
        }
    }
}

/// The envelope's column of the fault table. Refusals stay in 4xx: busy is 429 whoever is busy, a loop is 400; only a
/// failure of the hub itself is 500.
pub fn spelling(kind: FaultKind) -> Spelling {
    match kind {
        FaultKind::Malformed | FaultKind::Loop => Spelling::Error(400),
        FaultKind::Unauthenticated => Spelling::Error(401),
        FaultKind::NotFound(Noun::Task | Noun::Resource | Noun::Session) => Spelling::Error(404),
        FaultKind::Conflict | FaultKind::AlreadyFinished => Spelling::Error(409),
        FaultKind::TooLarge => Spelling::Error(413),
        FaultKind::Unsupported(Feature::Media) => Spelling::Error(415),
        FaultKind::Unsupported(
            Feature::Operation
            | Feature::Version
            | Feature::Extension
            | Feature::Push
            | Feature::ExtendedCard
            | Feature::SwitchedOff,
        ) => Spelling::Error(422),
        FaultKind::Busy => Spelling::Error(429),
        FaultKind::Internal => Spelling::Error(500),
        FaultKind::Denied
        | FaultKind::NotFound(Noun::Skill)
        | FaultKind::InvalidInput
        | FaultKind::Unanswered
        | FaultKind::BudgetSpent
        | FaultKind::Unreachable
        | FaultKind::PeerFailed
        | FaultKind::PeerDeclined
        | FaultKind::BadReply
        | FaultKind::OutcomeUnknown
        | FaultKind::Deadline => Spelling::Outcome,
    }
}

/// The code beside the text. The seed's word for a passed deadline is `timeout`.
pub fn code(kind: FaultKind) -> &'static str {
    match kind {
        FaultKind::Deadline => "timeout",
        FaultKind::Malformed
        | FaultKind::Unsupported(_)
        | FaultKind::Unauthenticated
        | FaultKind::Denied
        | FaultKind::NotFound(_)
        | FaultKind::InvalidInput
        | FaultKind::Unanswered
        | FaultKind::Conflict
        | FaultKind::AlreadyFinished
        | FaultKind::TooLarge
        | FaultKind::Busy
        | FaultKind::BudgetSpent
        | FaultKind::Loop
        | FaultKind::Unreachable
        | FaultKind::PeerFailed
        | FaultKind::PeerDeclined
        | FaultKind::BadReply
        | FaultKind::OutcomeUnknown
        | FaultKind::Internal => kind.as_str(),
    }
}

/// The error text of a result: its code, so that a model can tell failures apart, and what happened.
pub fn outcome_text(fault: &Fault) -> String {
    format!("{}: {}", code(fault.kind), fault.public)
}

impl Invalid {
    /// The fault that refuses the message.
    pub fn fault(&self) -> Fault {
        let kind = match self {
            Invalid::Rule(rule) => kind_of(*rule),
            Invalid::Json(_) | Invalid::Field { .. } => FaultKind::Malformed,
            Invalid::Unknown { path: "control.message_type", .. } => FaultKind::Malformed,
            Invalid::Unknown { path: "format.schema_version", .. } => FaultKind::Unsupported(Feature::Version),
            Invalid::Unknown { .. } => FaultKind::Unsupported(Feature::Media),
            Invalid::TooLarge { .. } => FaultKind::TooLarge,
        };
        let fault = Fault::caller(kind, self.to_string());
        match self {
            Invalid::Field { path, problem } => fault.field(path.as_str(), *problem),
            Invalid::Json(_) | Invalid::Unknown { .. } | Invalid::TooLarge { .. } | Invalid::Rule(_) => fault,
        }
    }
}

fn kind_of(rule: Rule) -> FaultKind {
    match rule {
        Rule::UnknownQuestion => FaultKind::NotFound(Noun::Task),
        Rule::Unroutable(_)
        | Rule::AsksNothing
        | Rule::SameToolId(_)
        | Rule::UnknownToolFormat
        | Rule::AnswerAndCalls
        | Rule::TwoAnswers
        | Rule::NoQuestion
        | Rule::UnclearApproval
        | Rule::EmptyAnswer
        | Rule::NoList
        | Rule::EndsWithoutUser
        | Rule::UnknownRole(_)
        | Rule::BadTurn(_) => FaultKind::Malformed,
    }
}
