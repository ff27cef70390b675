//! What comes in: a call, and what may follow it.

use interlingua_model::Json;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use interlingua_settings::Span;

/// A call. Exactly one of `skill`, `peer` and `words` says to whom.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExchangeRequest {
    /// `peer/skill`: this one; or a name without a peer: the best healthy peer that offers it. Takes `arguments`, `text`, or
    /// both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skill: Option<String>,
    /// This version of the skill.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// This peer, in plain words: takes `text`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peer: Option<String>,
    /// Plain words to the front door.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub words: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    pub arguments: Option<Json>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<String>,
    /// How long it may take, such as `30s`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Span>,
    /// 0 to 9; 5 is normal, 9 the most urgent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 9))]
    pub priority: Option<u8>,
    /// Ask for a human yes whatever the skill's effects say.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub confirm: bool,
    /// Tools that you run yourself, for an agent with a model: at most 64. It asks you to run one by a question of kind `tool`.
    /// None of them has the name of a skill of the agent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ClientToolView>,
}

/// A tool of the caller's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ClientToolView {
    /// 1 to 64 letters of `a-z`, `A-Z`, `0-9`, `_` and `-`.
    pub name: String,
    #[serde(default)]
    pub description: String,
    /// JSON Schema of its arguments.
    #[serde(default = "Json::empty_object")]
    #[schemars(with = "serde_json::Map<String, serde_json::Value>")]
    pub schema: Json,
}

/// What may follow a call. Exactly one of the three.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SignalRequest {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<AnswerRequest>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub say: Option<SayRequest>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cancel: bool,
}

/// An answer to an open question: what fits depends on its kind.
#[derive(Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnswerRequest {
    pub question: String,
    /// To `input`: an object that fits its form. To `tool`: what it returned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    pub arguments: Option<Json>,
    /// To `input`: words. To `tool`: what it returned, as text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// To `confirm`: yes or no.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approve: Option<bool>,
    /// To `credential`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// To `visit`: it was opened.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub visited: bool,
    /// No answer will come.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub decline: bool,
}

/// Everything but the token.
impl std::fmt::Debug for AnswerRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AnswerRequest")
            .field("question", &self.question)
            .field("arguments", &self.arguments)
            .field("text", &self.text)
            .field("approve", &self.approve)
            .field("token", &self.token.as_ref().map(|_| "…"))
            .field("visited", &self.visited)
            .field("decline", &self.decline)
            .finish()
    }
}

/// More input to a running exchange.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SayRequest {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    pub arguments: Option<Json>,
}

/// A human's yes or no.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConfirmationRequest {
    pub approve: bool,
    /// The digest of the call that was shown, as `call` of the question: a decision about another call is a conflict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
}

/// May somebody do this, and why?
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExplainRequest {
    /// `user:NAME`, `agent:NAME`, `device:ID`, `hub:ID`, `anonymous` or `owner`; joined by `>` when one works for another.
    pub principal: String,
    /// `list`, `call`, `read` or `approve`.
    pub action: String,
    /// A skill, as `peer/skill`.
    pub resource: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Value>")]
    pub arguments: Option<Json>,
    /// What it comes in by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<String>,
}

/// The decision, and what it rests on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExplainView {
    pub allowed: bool,
    /// Rules by name; `owner` and `scopes` are the built-in ones. Empty: no rule says yes.
    pub because: Vec<String>,
    /// The link of the chain that was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused_by: Option<String>,
}
