//! Questions of an exchange to its caller or to approvers.

use serde::{Deserialize, Serialize};

use crate::card::{Effects, Schema, Skill};
use crate::content::{Input, Part, Party, Turn};
use crate::digest::Digest;
use crate::id::{PeerId, QuestionId, SkillId, Text, Time};
use crate::json::Json;
use crate::secret::Secret;
use crate::visit::WebLink;

/// Something that an exchange needs before it can continue.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Question {
    /// Its task and its number there.
    pub id: QuestionId,
    /// Who may answer.
    pub to: Addressee,
    /// What kind of answer is needed.
    pub kind: QuestionKind,
    /// What is asked, in words for people.
    pub text: Text,
    /// The party that asks: the hub before a call, or the peer during it.
    pub asked_by: Party,
    /// When the exchange continues without an answer.
    pub expires: Time,
    /// The callee's opaque state; goes back with the answer.
    pub resume: Option<Secret>,
    /// The callee's name of it among the questions that it asks together. A wire that names questions keeps the name. Boxed, because it is
    /// rare and every event has space for a question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Box<Text>>,
}

/// Who may answer. Approvers: an answer is accepted by any protocol from a principal that policy lets `approve`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Addressee {
    /// The caller of the exchange.
    Caller,
    /// Every principal that policy lets approve, through any protocol.
    Approvers,
}

/// What can be asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum QuestionKind {
    /// Values for a form.
    Input {
        /// The JSON Schema of the answer.
        form: Schema,
        /// Values to choose from; empty where anything that obeys `form` will do.
        choices: Vec<Choice>,
    },
    /// Boxed for the size of every event.
    Confirm(Box<Confirm>),
    /// A credential for a service that the peer calls.
    Credential {
        /// The scheme of the credential, as the peer names it.
        scheme: Text,
        /// What the credential must allow.
        scopes: Vec<Text>,
    },
    /// Open a page and follow it, such as to sign in or pay.
    Visit {
        /// The page.
        url: WebLink,
    },
    /// An answer of the caller's language model (sampling).
    Model(ModelRequest),
    /// The folders that the caller lets the peer use.
    Roots,
    /// A tool that the caller offered and only the caller can run: what it returns is given as the answer.
    Tool {
        /// Which of the caller's tools ([`crate::ClientTool::name`]).
        name: Text,
        /// As the model wrote them.
        args: Json,
    },
}

/// An answer to a question. One that does not fit the question's kind is `InvalidInput`, and the question stays open.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Answer {
    /// The values, or the model's reply.
    Given(Input),
    /// The approval of exactly the call that was shown.
    Granted,
    /// The credential.
    Token(Secret),
    /// The page was opened; what was done there the peer knows.
    Visited,
    /// No.
    Declined,
    /// Neither yes nor no: the person closed the form.
    Dismissed,
}

impl Question {
    /// In bytes, of what people read and fill in. What a model is asked is bounded like other content.
    pub fn weight(&self) -> usize {
        let json = |json: &Json| json.as_bytes().len();
        self.text.len()
            + match &self.kind {
                QuestionKind::Input { form, choices } => {
                    json(&form.0) + choices.iter().map(|choice| choice.id.len() + choice.text.len()).sum::<usize>()
                }
                QuestionKind::Confirm(confirm) => {
                    confirm.args.as_ref().map_or(0, json) + confirm.parts.iter().map(Part::weight).sum::<usize>()
                }
                QuestionKind::Credential { scheme, scopes } => {
                    scheme.len() + scopes.iter().map(|scope| scope.len()).sum::<usize>()
                }
                QuestionKind::Visit { url } => url.len(),
                QuestionKind::Tool { name, args } => name.len() + json(args),
                QuestionKind::Model(_) | QuestionKind::Roots => 0,
            }
    }
}

impl QuestionKind {
    /// What [`QuestionKind::as_str`] says, of all kinds.
    pub const NAMES: [&str; 7] = ["input", "confirm", "credential", "visit", "model", "roots", "tool"];

    /// Its place in a [`KindSet`].
    pub fn set(&self) -> KindSet {
        match self {
            QuestionKind::Input { .. } => KindSet::INPUT,
            QuestionKind::Confirm(_) => KindSet::CONFIRM,
            QuestionKind::Credential { .. } => KindSet::CREDENTIAL,
            QuestionKind::Visit { .. } => KindSet::VISIT,
            QuestionKind::Model(_) => KindSet::MODEL,
            QuestionKind::Roots => KindSet::ROOTS,
            QuestionKind::Tool { .. } => KindSet::TOOL,
        }
    }

    /// The word in protocols, metrics and lists.
    pub fn as_str(&self) -> &'static str {
        match self {
            QuestionKind::Input { .. } => "input",
            QuestionKind::Confirm(_) => "confirm",
            QuestionKind::Credential { .. } => "credential",
            QuestionKind::Visit { .. } => "visit",
            QuestionKind::Model(_) => "model",
            QuestionKind::Roots => "roots",
            QuestionKind::Tool { .. } => "tool",
        }
    }

    /// The closed list of legal answers for each kind.
    pub fn accepts(&self, answer: &Answer) -> bool {
        use Answer::{Declined, Dismissed, Given, Granted, Token, Visited};
        match self {
            QuestionKind::Input { .. } => matches!(answer, Given(_) | Declined | Dismissed),
            QuestionKind::Confirm(_) => matches!(answer, Granted | Declined),
            QuestionKind::Credential { .. } => matches!(answer, Token(_) | Visited | Declined),
            QuestionKind::Visit { .. } => matches!(answer, Visited | Declined),
            QuestionKind::Model(_) => matches!(answer, Given(_) | Declined),
            QuestionKind::Roots => matches!(answer, Given(_)),
            QuestionKind::Tool { .. } => matches!(answer, Given(_) | Declined),
        }
    }
}

/// A set of question kinds: what a caller's wire can answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct KindSet(pub u8);

impl KindSet {
    /// No kind: the caller cannot be asked.
    pub const NONE: KindSet = KindSet(0);
    /// [`QuestionKind::Input`].
    pub const INPUT: KindSet = KindSet(1);
    /// [`QuestionKind::Confirm`].
    pub const CONFIRM: KindSet = KindSet(2);
    /// [`QuestionKind::Credential`].
    pub const CREDENTIAL: KindSet = KindSet(4);
    /// [`QuestionKind::Visit`].
    pub const VISIT: KindSet = KindSet(8);
    /// [`QuestionKind::Model`].
    pub const MODEL: KindSet = KindSet(16);
    /// [`QuestionKind::Roots`].
    pub const ROOTS: KindSet = KindSet(32);
    /// Tools of the caller's own ([`QuestionKind::Tool`]).
    pub const TOOL: KindSet = KindSet(64);

    /// Both sets together.
    pub const fn with(self, other: KindSet) -> KindSet {
        KindSet(self.0 | other.0)
    }

    /// Is all of `other` in it?
    pub const fn has(self, other: KindSet) -> bool {
        self.0 & other.0 == other.0
    }
}

/// A call that waits for an approval.
///
/// `args` and `parts` are shown to whom is asked. `call`: digest of owner, resolved skill, version, definition, args, parts
/// with blob digests, policy version. A yes is for exactly that, once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Confirm {
    /// The digest that an approval is for.
    pub call: Digest,
    /// The skill that would be called.
    pub skill: SkillId,
    /// Its arguments.
    pub args: Option<Json>,
    /// The content that goes with them.
    pub parts: Box<[Part]>,
    /// What the call would do.
    pub effects: Effects,
    /// Absent where a peer asks, and in journals of hubs that did not write it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub basis: Option<Box<Basis>>,
    /// The question that this one relays: the run of an agent or a team asks its caller about a pending question of its own call. Never
    /// taken from a peer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relays: Option<QuestionId>,
}

/// Why this hub asks for an approval, and what it knew when it did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Basis {
    /// When it was asked.
    pub at: Time,
    /// Every reason there was.
    pub why: Vec<Reason>,
    /// The version of the policy that let the call get here.
    pub policy: Digest,
    /// Of the skill as it was described.
    pub definition: Digest,
}

/// Why a call needs an approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The caller asked for one.
    CallerAsked,
    /// The rules of an agent that led to the call ask for one.
    AgentRule,
    /// The skill deletes or overwrites something.
    Destroys,
    /// The skill costs money.
    Spends,
    /// Plain words led to a skill that writes.
    PlainWords,
    /// No source described the effects of the skill.
    UnknownEffects,
}

impl Reason {
    /// The word in the API and the audit log.
    pub fn as_str(self) -> &'static str {
        match self {
            Reason::CallerAsked => "caller_asked",
            Reason::AgentRule => "agent_rule",
            Reason::Destroys => "destroys",
            Reason::Spends => "spends",
            Reason::PlainWords => "plain_words",
            Reason::UnknownEffects => "unknown_effects",
        }
    }
}

impl Confirm {
    /// What a peer wants approved, by its own description. `shown` is the digest of all of it: an approval is for exactly that. A request
    /// without a skill is valid too.
    pub fn asked_by(peer: &PeerId, shown: Digest, skill: Option<&str>, args: Option<Json>) -> Confirm {
        let named = skill.and_then(|skill| skill.parse().ok());
        Confirm {
            call: Digest::of_fields([peer.as_str().as_bytes(), &shown.0]),
            skill: named.unwrap_or_else(|| SkillId::new(peer.as_str(), "unnamed")),
            args,
            parts: Box::default(),
            effects: Effects::unknown(),
            basis: None,
            relays: None,
        }
    }
}

/// One value to choose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    /// The value that is answered.
    pub id: Text,
    /// How people read it.
    pub text: Text,
}

/// What a peer asks the caller's language model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelRequest {
    /// The conversation, the oldest turn first.
    pub messages: Vec<Turn>,
    /// Tools that the model may call.
    pub tools: Vec<Skill>,
    /// The longest reply, in tokens.
    pub max_tokens: u32,
    /// Everything that the request says, as it was written: preferences of models, temperature, stop sequences.
    pub hints: Json,
}
