//! Faults: a closed list of kinds, the origin, whether to retry, a public text for the other side and a private cause for the log.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::content::Party;
use crate::id::Text;
use crate::principal::Principal;

/// A failure, as every protocol encodes it.
#[derive(Clone, Serialize, Deserialize)]
pub struct Fault {
    /// What kind of failure it is; protocols map this to their own codes.
    pub kind: FaultKind,
    /// The party that caused the failure and can fix it.
    pub origin: Party,
    /// May the same call be made again?
    pub retry: Retry,
    /// Safe to show to anyone who may see the exchange.
    pub public: Text,
    /// Which arguments are wrong, for a form or a model that corrects itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<FieldIssue>,
    /// The code by which the peer named the failure, as it wrote it.
    pub peer_code: Option<Text>,
    /// For the log only.
    #[serde(skip)]
    pub source: Option<Arc<dyn std::error::Error + Send + Sync>>,
}

impl Fault {
    /// A fault without a cause, with its kind's usual answer to [`Fault::retry`].
    pub fn new(kind: FaultKind, origin: Party, public: impl Into<Text>) -> Fault {
        Fault {
            kind,
            origin,
            retry: kind.retry(),
            public: public.into(),
            fields: Vec::new(),
            peer_code: None,
            source: None,
        }
    }

    /// A fault of the caller.
    pub fn caller(kind: FaultKind, public: impl Into<Text>) -> Fault {
        Fault::new(kind, Party::Caller, public)
    }

    /// A fault of this hub.
    pub fn hub(kind: FaultKind, public: impl Into<Text>) -> Fault {
        Fault::new(kind, Party::Hub, public)
    }

    /// A failure of our own. The cause goes to the log, never over a wire.
    pub fn internal(cause: impl std::error::Error + Send + Sync + 'static) -> Fault {
        Fault::hub(FaultKind::Internal, "the hub failed to do this; its log has the cause").because(cause)
    }

    /// Nothing more is done here until the hub's next start.
    pub fn shutting_down() -> Fault {
        Fault::hub(FaultKind::Unreachable, "the hub is shutting down")
    }

    /// As [`Fault::shutting_down`], for a reader of an exchange: a stored task continues later.
    pub fn shutting_down_kept() -> Fault {
        Fault::hub(FaultKind::Unreachable, "the hub is shutting down; what is kept goes on after its next start")
    }

    /// The same fault with its cause, for the log.
    pub fn because(mut self, cause: impl std::error::Error + Send + Sync + 'static) -> Fault {
        self.source = Some(Arc::new(cause));
        self
    }

    /// The same fault with one more wrong argument.
    pub fn field(mut self, path: impl Into<Text>, problem: impl Into<Text>) -> Fault {
        self.fields.push(FieldIssue { path: path.into(), problem: problem.into() });
        self
    }

    /// The fault as this caller may see it: an anonymous caller that is refused gets a helpful text, the same whether the requested item
    /// exists or not. Every endpoint phrases its refusals by this, in the one place where it writes them.
    #[must_use]
    pub fn told_to(mut self, by: &Principal) -> Fault {
        const HINT: &str = "you are anonymous here; show a token";
        let refused = matches!(self.kind, FaultKind::NotFound(_) | FaultKind::Denied);
        if refused && self.origin == Party::Caller && by.is_anonymous() && !self.public.ends_with(HINT) {
            self.public = format!("{}; {HINT}", self.public).into();
        }
        self
    }

    /// A failure after the peer had answered: a retry would repeat the work.
    #[must_use]
    pub fn once_answered(self) -> Fault {
        match self.retry {
            Retry::After(_) => self.retry(Retry::IfIdempotent),
            Retry::No | Retry::IfIdempotent => self,
        }
    }

    /// The same fault with another answer to whether to retry.
    pub fn retry(mut self, retry: Retry) -> Fault {
        self.retry = retry;
        self
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind.as_str(), self.public)
    }
}

impl fmt::Debug for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fault")
            .field("kind", &self.kind)
            .field("origin", &self.origin)
            .field("public", &self.public)
            .field("fields", &self.fields)
            .field("source", &self.source.as_ref().map(ToString::to_string))
            .finish_non_exhaustive()
    }
}

impl std::error::Error for Fault {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_deref().map(|cause| cause as &(dyn std::error::Error + 'static))
    }
}

/// The cause is not part of what a fault is.
impl PartialEq for Fault {
    fn eq(&self, other: &Fault) -> bool {
        self.kind == other.kind
            && self.origin == other.origin
            && self.retry == other.retry
            && self.public == other.public
            && self.fields == other.fields
            && self.peer_code == other.peer_code
    }
}

/// What is wrong with one argument.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldIssue {
    /// Where it is: a JSON pointer (RFC 6901) into the arguments, or the name of an argument.
    pub path: Text,
    /// What is wrong with it, in words.
    pub problem: Text,
}

/// May a call that failed be made again?
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Retry {
    /// It would fail again, or must not be repeated.
    No,
    /// Yes, after this time; the caller chooses one where none is given. Nothing was done.
    After(Option<Duration>),
    /// Only where doing it twice does no harm: it may have been done.
    IfIdempotent,
}

/// Every way in which something can go wrong. Each protocol maps all of them, without a wildcard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum FaultKind {
    /// The message does not obey its protocol.
    Malformed,
    /// The hub or the peer does not offer this.
    Unsupported(Feature),
    /// A proof of identity is missing, wrong or expired.
    Unauthenticated,
    /// The caller is known and may not do this, or an approver declined.
    Denied,
    /// Also "not yours".
    NotFound(Noun),
    /// The arguments do not obey the skill's schema, or an answer does not fit its question.
    InvalidInput,
    /// A question stayed without an answer.
    Unanswered,
    /// It conflicts with existing state: the same key with another body, a name that is taken.
    Conflict,
    /// It has ended already.
    AlreadyFinished,
    /// More than a limit allows, in bytes or in number.
    TooLarge,
    /// Too many calls at once, a rate limit, or a full store: later it may work.
    Busy,
    /// The budget of an agent or a team is used up.
    BudgetSpent,
    /// The call came back to a hub it had passed, or passed too many: see [`crate::Via`].
    Loop,
    /// The peer could not be reached. Nothing was done.
    Unreachable,
    /// The peer says that it failed.
    PeerFailed,
    /// The peer says that it will not do this.
    PeerDeclined,
    /// The peer answered with something that its protocol does not allow, or not to the end.
    BadReply,
    /// The call was sent, and whether it was done is not known: a person must check.
    OutcomeUnknown,
    /// The deadline passed first.
    Deadline,
    /// The hub failed. The log has the cause.
    Internal,
}

/// What was not found. A caller that may not see an item gets the same answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Noun {
    /// A skill, or a peer.
    Skill,
    /// A task.
    Task,
    /// A resource, an artifact, an agent, a message.
    Resource,
    /// A session that is over; the caller starts a new one.
    Session,
}

/// What is not offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Feature {
    /// An operation.
    Operation,
    /// A media type, or a kind of content.
    Media,
    /// A version of a protocol.
    Version,
    /// An extension that the message requires.
    Extension,
    /// Push notifications.
    Push,
    /// A card for authenticated callers.
    ExtendedCard,
    /// Something that the configuration switches off.
    SwitchedOff,
}

impl FaultKind {
    /// The whole list.
    pub fn all() -> impl Iterator<Item = FaultKind> {
        const PLAIN: [FaultKind; 18] = [
            FaultKind::Malformed,
            FaultKind::Unauthenticated,
            FaultKind::Denied,
            FaultKind::InvalidInput,
            FaultKind::Unanswered,
            FaultKind::Conflict,
            FaultKind::AlreadyFinished,
            FaultKind::TooLarge,
            FaultKind::Busy,
            FaultKind::BudgetSpent,
            FaultKind::Loop,
            FaultKind::Unreachable,
            FaultKind::PeerFailed,
            FaultKind::PeerDeclined,
            FaultKind::BadReply,
            FaultKind::OutcomeUnknown,
            FaultKind::Deadline,
            FaultKind::Internal,
        ];
        const NOUNS: [Noun; 4] = [Noun::Skill, Noun::Task, Noun::Resource, Noun::Session];
        const FEATURES: [Feature; 7] = [
            Feature::Operation,
            Feature::Media,
            Feature::Version,
            Feature::Extension,
            Feature::Push,
            Feature::ExtendedCard,
            Feature::SwitchedOff,
        ];
        let detailed = NOUNS.map(FaultKind::NotFound).into_iter().chain(FEATURES.map(FaultKind::Unsupported));
        PLAIN.into_iter().chain(detailed)
    }

    /// The kind that is spelt so; of several that are, the first.
    pub fn named(word: &str) -> Option<FaultKind> {
        FaultKind::all().find(|kind| kind.as_str() == word)
    }

    /// The spelling used in logs, metrics and our own extensions of each wire.
    pub fn as_str(self) -> &'static str {
        match self {
            FaultKind::Malformed => "malformed",
            FaultKind::Unsupported(Feature::SwitchedOff) => "disabled",
            FaultKind::Unsupported(_) => "unsupported",
            FaultKind::Unauthenticated => "unauthenticated",
            FaultKind::Denied => "denied",
            FaultKind::NotFound(Noun::Session) => "session_expired",
            FaultKind::NotFound(_) => "not_found",
            FaultKind::InvalidInput => "invalid_input",
            FaultKind::Unanswered => "unanswered",
            FaultKind::Conflict => "conflict",
            FaultKind::AlreadyFinished => "already_finished",
            FaultKind::TooLarge => "too_large",
            FaultKind::Busy => "busy",
            FaultKind::BudgetSpent => "budget_spent",
            FaultKind::Loop => "loop",
            FaultKind::Unreachable => "unreachable",
            FaultKind::PeerFailed => "peer_failed",
            FaultKind::PeerDeclined => "peer_declined",
            FaultKind::BadReply => "bad_reply",
            FaultKind::OutcomeUnknown => "outcome_unknown",
            FaultKind::Deadline => "deadline",
            FaultKind::Internal => "internal",
        }
    }

    /// May the same call be retried, unless the fault itself says otherwise?
    pub fn retry(self) -> Retry {
        match self {
            FaultKind::Busy | FaultKind::Unreachable => Retry::After(None),
            FaultKind::PeerFailed | FaultKind::BadReply | FaultKind::Deadline => Retry::IfIdempotent,
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
            | FaultKind::BudgetSpent
            | FaultKind::Loop
            | FaultKind::PeerDeclined
            | FaultKind::OutcomeUnknown
            | FaultKind::Internal => Retry::No,
        }
    }

    /// The exit code of the command line.
    pub fn exit_code(self) -> u8 {
        match self {
            FaultKind::Malformed
            | FaultKind::Unsupported(_)
            | FaultKind::NotFound(_)
            | FaultKind::InvalidInput
            | FaultKind::Conflict
            | FaultKind::AlreadyFinished
            | FaultKind::TooLarge => 2,
            FaultKind::Unauthenticated | FaultKind::Denied => 7,
            FaultKind::Unanswered => 5,
            FaultKind::Deadline => 6,
            FaultKind::Busy
            | FaultKind::BudgetSpent
            | FaultKind::Loop
            | FaultKind::Unreachable
            | FaultKind::PeerFailed
            | FaultKind::PeerDeclined
            | FaultKind::BadReply
            | FaultKind::OutcomeUnknown
            | FaultKind::Internal => 1,
        }
    }
}
