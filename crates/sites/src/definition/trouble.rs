//! Failures while a site is driven, and the faults that the hub reports for them.

use interlingua_model::content::Party;
use interlingua_model::fault::{Fault, FaultKind, Noun};
use interlingua_model::id::{PeerId, Text};

/// A closed list. Steps are counted from 1, as a person reads a definition.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Trouble {
    #[error("Action '{0}' not found in interface")]
    UnknownAction(Text),
    #[error("missing parameters: {}", .0.join(", "))]
    MissingParameters(Vec<String>),
    #[error("the parameter {name} {problem}")]
    InvalidParameter { name: Text, problem: String },
    #[error("step {step}: the page could not be opened: {error}")]
    NavigationFailed { step: usize, error: String },
    #[error("step {step}: {address} is not among the addresses this site may use")]
    NavigationBlocked { step: usize, address: String },
    #[error("step {step}: nothing matches {selector} (tried: {})", tried.join("; "))]
    SelectorNotFound { step: usize, selector: String, tried: Vec<String> },
    #[error("step {step}: {selector} cannot be used: {reason}")]
    NotActionable { step: usize, selector: String, reason: String },
    #[error("step {step}: {selector} has no option `{option}`")]
    OptionNotFound { step: usize, selector: String, option: String },
    #[error("step {step} took longer than its time")]
    Timeout { step: usize },
    #[error("the browser stopped at step {step}")]
    BrowserCrashed { step: usize },
    #[error("step {step}: the page took more memory than it may and was ended")]
    PageTooLarge { step: usize },
    #[error("every browser context is in use")]
    PoolExhausted,
    #[error("there are {0} sessions already: end one, or wait until one has rested long enough")]
    TooManySessions(usize),
    #[error("the session was ended while it was used")]
    SessionEnded,
    #[error("step {step}: the field {field} {problem}")]
    ExtractionInvalid { step: usize, field: Text, problem: String },
    #[error("what the page looked like before cannot be read, so nobody can tell whether it has changed")]
    MemoryUnreadable,
    #[error("no browser can be started: {0}")]
    NoBrowser(String),
}

impl Trouble {
    /// The word programs go by.
    pub fn code(&self) -> &'static str {
        match self {
            Trouble::UnknownAction(_) => "unknown_action",
            Trouble::MissingParameters(_) => "missing_parameters",
            Trouble::InvalidParameter { .. } => "invalid_parameter",
            Trouble::NavigationFailed { .. } => "navigation_failed",
            Trouble::NavigationBlocked { .. } => "navigation_blocked",
            Trouble::SelectorNotFound { .. } => "selector_not_found",
            Trouble::NotActionable { .. } => "not_actionable",
            Trouble::OptionNotFound { .. } => "option_not_found",
            Trouble::Timeout { .. } => "timeout",
            Trouble::BrowserCrashed { .. } => "browser_crashed",
            Trouble::PageTooLarge { .. } => "page_too_large",
            Trouble::PoolExhausted => "pool_exhausted",
            Trouble::TooManySessions(_) => "too_many_sessions",
            Trouble::SessionEnded => "session_ended",
            Trouble::ExtractionInvalid { .. } => "extraction_invalid",
            Trouble::MemoryUnreadable => "memory_unreadable",
            Trouble::NoBrowser(_) => "no_browser",
        }
    }

    /// The page it happened on may hang, or be gone: the next call should have another.
    pub fn wears(&self) -> bool {
        matches!(
            self,
            Trouble::Timeout { .. }
                | Trouble::BrowserCrashed { .. }
                | Trouble::PageTooLarge { .. }
                | Trouble::SessionEnded
        )
    }

    /// `committed`: a step that cannot be taken back was begun, so nobody can say what has happened.
    pub fn fault(&self, peer: &PeerId, committed: bool) -> Fault {
        let lost = if committed { FaultKind::OutcomeUnknown } else { FaultKind::Unreachable };
        let (kind, origin) = match self {
            Trouble::UnknownAction(_) => (FaultKind::NotFound(Noun::Skill), Party::Caller),
            Trouble::MissingParameters(_) | Trouble::InvalidParameter { .. } | Trouble::OptionNotFound { .. } => {
                (FaultKind::InvalidInput, Party::Caller)
            }
            Trouble::NavigationBlocked { .. } => (FaultKind::Denied, Party::Hub),
            Trouble::Timeout { .. } if committed => (FaultKind::OutcomeUnknown, Party::Peer(peer.clone())),
            Trouble::Timeout { .. } => (FaultKind::Deadline, Party::Hub),
            Trouble::PoolExhausted | Trouble::TooManySessions(_) => (FaultKind::Busy, Party::Hub),
            Trouble::SessionEnded if committed => (FaultKind::OutcomeUnknown, Party::Hub),
            Trouble::SessionEnded => (FaultKind::NotFound(Noun::Session), Party::Hub),
            Trouble::NavigationFailed { .. } | Trouble::BrowserCrashed { .. } => (lost, Party::Peer(peer.clone())),
            Trouble::PageTooLarge { .. } if committed => (FaultKind::OutcomeUnknown, Party::Peer(peer.clone())),
            Trouble::PageTooLarge { .. } => (FaultKind::PeerFailed, Party::Peer(peer.clone())),
            Trouble::MemoryUnreadable => (FaultKind::Internal, Party::Hub),
            Trouble::NoBrowser(_) => (FaultKind::Unreachable, Party::Hub),
            Trouble::SelectorNotFound { .. } | Trouble::NotActionable { .. } | Trouble::ExtractionInvalid { .. } => {
                (FaultKind::PeerFailed, Party::Peer(peer.clone()))
            }
        };
        let mut fault = Fault::new(kind, origin, self.to_string());
        fault.peer_code = Some(self.code().into());
        match self {
            Trouble::MissingParameters(names) => {
                names.iter().fold(fault, |fault, name| fault.field(name.as_str(), "is missing"))
            }
            Trouble::InvalidParameter { name, problem } => fault.field(name.clone(), problem.as_str()),
            _ => fault,
        }
    }
}
