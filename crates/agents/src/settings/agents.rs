//! The section `agents`: for each agent a model, instructions, the skills it may use, and a budget. Each is a peer with the
//! skill `chat`.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;

use interlingua_settings::Span;

use super::On;

#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Agent {
    /// How it works.
    #[serde(default)]
    pub kind: Kind,
    /// The name of one of `models`.
    pub model: String,
    /// The system prompt.
    #[serde(default)]
    pub instructions: String,
    /// Display name.
    pub title: Option<String>,
    /// What it is for. Used when a request comes in plain words.
    pub description: Option<String>,
    /// Skills that it may use, as `peer/skill`; `*` matches any characters. Of a planner: skills that the steps of its plans may
    /// use. Default: none.
    #[serde(default)]
    pub skills: Vec<String>,
    /// Send its calls as routed NLIP messages. Default: the setting of its team, else `nlip.agents`.
    #[serde(rename = "nlip")]
    pub routed: Option<bool>,
    /// How its routed messages are treated.
    #[serde(default)]
    pub router: AgentRouter,
    #[serde(default)]
    pub budget: Budget,
    /// What it may do without an approval, by the effects that a skill declares.
    #[serde(default)]
    pub confirm: Confirm,
    /// A file with a JSON Schema that its answer must obey.
    pub output: Option<PathBuf>,
    #[serde(default)]
    pub context: Context,
    /// How many of its calls, or steps of its plan, may run at the same time.
    #[serde(default = "eight")]
    pub parallel: u16,
    /// Limits of the plans of a planner.
    #[serde(default)]
    pub plan: PlanLimits,
    /// Anyone may call it, without a credential.
    #[serde(default)]
    pub public: bool,
    /// Starts it for each event of a topic.
    pub on: Option<On>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Its model calls skills one after another.
    #[default]
    Chat,
    /// Its model writes a plan of many calls. The hub runs the plan, and the model changes it when a step fails.
    Planner,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PlanLimits {
    /// Maximum steps of one plan.
    pub steps: u32,
}

impl Default for PlanLimits {
    fn default() -> PlanLimits {
        PlanLimits { steps: 50 }
    }
}

impl Agent {
    /// One with this model and nothing else said.
    pub fn of(model: &str) -> Agent {
        Agent {
            kind: Kind::default(),
            model: model.to_owned(),
            instructions: String::new(),
            title: None,
            description: None,
            skills: Vec::new(),
            routed: None,
            router: AgentRouter::default(),
            budget: Budget::default(),
            confirm: Confirm::default(),
            output: None,
            context: Context::default(),
            parallel: eight(),
            plan: PlanLimits::default(),
            public: false,
            on: None,
        }
    }
}

fn eight() -> u16 {
    8
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AgentRouter {
    /// How long a call may take. Default: the setting of `nlip.router`.
    pub default_timeout: Option<Span>,
    /// How many may run at the same time. Default: `parallel`.
    pub max_parallel_calls: Option<u16>,
    /// Whether its answers may be streamed at the routing envelope. Default: the setting of `nlip.router`.
    pub enable_streaming: Option<bool>,
    /// Send its answer whole, even in a stream. Default: the setting of `nlip.router`.
    pub buffer_partial_responses: Option<bool>,
}

/// Budget of one run. At the limit the run ends with what it has; shortly before, the model is asked to finish.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Budget {
    /// Tokens, input and output together. Default: no limit.
    pub tokens: Option<u64>,
    /// In the currency of `price`. Default: no limit.
    pub money: Option<f64>,
    pub time: Span,
    /// Calls of skills. Default: no limit; of a planner 10: its plan, changes of it and questions.
    pub calls: Option<u32>,
    /// Answers of the model.
    pub turns: u32,
}

impl Default for Budget {
    fn default() -> Budget {
        Budget { tokens: None, money: None, time: Span::hours(1), calls: None, turns: 100 }
    }
}

/// Approval rules of an agent. Whatever the rule, a run that has read content of a peer or the web asks before it changes
/// anything (prompt injection).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Confirm {
    /// For skills whose effects no trusted source declares. Default: `ask`, or `allow` if the hub's own
    /// `confirm.unknown` is `allow`.
    pub unknown: Option<Consent>,
    pub writes: Consent,
    pub destroys: Consent,
    pub spends: Consent,
}

impl Default for Confirm {
    fn default() -> Confirm {
        Confirm { unknown: None, writes: Consent::Ask, destroys: Consent::Ask, spends: Consent::Ask }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Consent {
    Allow,
    Ask,
    Deny,
}

/// Context window: how much of a long conversation is sent to the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Context {
    /// Estimated at four bytes a token.
    pub tokens: u64,
    /// Number of last messages that always stay.
    pub keep: u16,
    /// What happens to old messages that do not fit.
    pub fold: Fold,
}

impl Default for Context {
    fn default() -> Context {
        Context { tokens: 100_000, keep: 8, fold: Fold::Leave }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Fold {
    /// Leave them out, with a note.
    Leave,
    /// Let the model summarize them.
    Summarise,
}
