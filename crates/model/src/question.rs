//! What an exchange may ask back.

use serde::{Deserialize, Serialize};

use crate::card::{Effects, Schema, Skill};
use crate::content::{Input, Part, Party, Turn};
use crate::digest::Digest;
use crate::id::{PeerId, QuestionId, SkillId, Text, Time};
use crate::json::Json;
use crate::secret::Secret;
use crate::visit::WebLink;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Question {
    pub id: QuestionId,
    pub to: Addressee,
    pub kind: QuestionKind,
    pub text: Text,
    pub asked_by: Party,
    pub expires: Time,
    /// The callee's opaque state; goes back with the answer.
    pub resume: Option<Secret>,
    /// What the callee calls it among those it asks together. A wire that names questions keeps the name. Boxed, because it
    /// is seldom there and every event has room for a question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Box<Text>>,
}

/// Approvers: an answer is taken through any door from whom policy lets `approve`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Addressee {
    Caller,
    Approvers,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum QuestionKind {
    Input {
        form: Schema,
        choices: Vec<Choice>,
    },
    /// Boxed for the size of every event.
    Confirm(Box<Confirm>),
    Credential {
        scheme: Text,
        scopes: Vec<Text>,
    },
    Visit {
        url: WebLink,
    },
    Model(ModelRequest),
    Roots,
    /// A tool that the caller offered and only the caller can run: what it returns is given as the answer.
    Tool {
        name: Text,
        args: Json,
    },
}

/// One that does not fit the question's kind is `InvalidInput`, and the question stays open.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Answer {
    Given(Input),
    Granted,
    Token(Secret),
    Visited,
    Declined,
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
    pub const NONE: KindSet = KindSet(0);
    pub const INPUT: KindSet = KindSet(1);
    pub const CONFIRM: KindSet = KindSet(2);
    pub const CREDENTIAL: KindSet = KindSet(4);
    pub const VISIT: KindSet = KindSet(8);
    pub const MODEL: KindSet = KindSet(16);
    pub const ROOTS: KindSet = KindSet(32);
    pub const TOOL: KindSet = KindSet(64);

    pub const fn with(self, other: KindSet) -> KindSet {
        KindSet(self.0 | other.0)
    }

    pub const fn has(self, other: KindSet) -> bool {
        self.0 & other.0 == other.0
    }
}

/// `args` and `parts` are shown to whom is asked. `call`: digest of owner, resolved skill, version, definition, args, parts
/// with blob digests, policy version. A yes is for exactly that, once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Confirm {
    pub call: Digest,
    pub skill: SkillId,
    pub args: Option<Json>,
    pub parts: Box<[Part]>,
    pub effects: Effects,
    /// Absent where a peer asks, and in journals of hubs that did not write it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub basis: Option<Box<Basis>>,
    /// The question that this one passes on: the run of an agent or a team asks its caller what a call of its own waits for.
    /// Never taken from a peer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relays: Option<QuestionId>,
}

/// Why this hub asks for an approval, and what it knew when it did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Basis {
    pub at: Time,
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
    Destroys,
    Spends,
    /// Plain words led to a skill that writes.
    PlainWords,
    /// Nobody described what the skill does.
    UnknownEffects,
}

impl Reason {
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
    /// What a peer wants approved, by its own word. `shown` is all that it said of it: an approval is for exactly that. A
    /// request that names no skill is one all the same.
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

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    pub id: Text,
    pub text: Text,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelRequest {
    pub messages: Vec<Turn>,
    pub tools: Vec<Skill>,
    pub max_tokens: u32,
    pub hints: Json,
}
