//! JSON of requests: a call, and the signals that may follow it.

use interlingua_model::Json;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use interlingua_settings::Span;

/// A call. Set exactly one of `skill`, `peer` and `words`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExchangeRequest {
    /// A skill as `peer/skill`, or a capability without a peer: then the hub chooses the best healthy peer. Takes `arguments`,
    /// `text`, or both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skill: Option<String>,
    /// This version of the skill.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// A peer, called in plain words: set `text`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peer: Option<String>,
    /// Call the hub in plain words: it finds the skill.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub words: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    pub arguments: Option<Json>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<String>,
    /// Deadline, such as `30s`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Span>,
    /// Priority from 0 to 9; 5 is normal, 9 the most urgent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 9))]
    pub priority: Option<u8>,
    /// Require an approval, whatever the skill's effects are.
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

/// A signal to a running exchange. Set exactly one of the three.
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

/// An answer to an open question. Which field to set depends on the kind of question.
#[derive(Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnswerRequest {
    pub question: String,
    /// For `input`: an object that obeys the form. For `tool`: what it returned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    pub arguments: Option<Json>,
    /// For `input`: plain text. For `tool`: what it returned, as text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// For `confirm`: approve or deny.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approve: Option<bool>,
    /// For `credential`: the credential.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// For `visit`: the page was opened.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub visited: bool,
    /// Decline to answer.
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

/// A decision about a pending approval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConfirmationRequest {
    pub approve: bool,
    /// The digest of the call that was shown (`call` of the question). A decision about another call is a conflict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
}

/// A question about authorization: may this caller do this, and why?
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
    /// The protocol of the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<String>,
}

/// The decision, and the rules that led to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExplainView {
    pub allowed: bool,
    /// Names of the deciding rules; `owner` and `scopes` are built in. Empty: no rule allows it.
    pub because: Vec<String>,
    /// The link of the chain that was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused_by: Option<String>,
}
