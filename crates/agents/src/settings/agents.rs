//! Agents: a model, what it is told, the skills it may use, and what it may spend. Each is a peer with the skill `chat`.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;

use interlingua_settings::Span;

#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Agent {
    /// One of `models`.
    pub model: String,
    /// What it is told before anything else.
    #[serde(default)]
    pub instructions: String,
    /// Its name for people.
    pub title: Option<String>,
    /// What it is for; searched when a request comes in plain words.
    pub description: Option<String>,
    /// Skills it may use, as `peer/skill`; `*` stands for any letters. Default: none.
    #[serde(default)]
    pub skills: Vec<String>,
    /// Its calls travel as routed NLIP messages. Default: what its team says, else `nlip.agents`.
    #[serde(rename = "nlip")]
    pub routed: Option<bool>,
    /// How its routed messages are treated.
    #[serde(default)]
    pub router: AgentRouter,
    #[serde(default)]
    pub budget: Budget,
    /// What it may do without a human yes, by the effects a skill declares.
    #[serde(default)]
    pub confirm: Confirm,
    /// A file with a JSON Schema: its answer is to be JSON of this form.
    pub output: Option<PathBuf>,
    #[serde(default)]
    pub context: Context,
    /// How many of its calls run at the same time.
    #[serde(default = "eight")]
    pub parallel: u16,
    /// Anyone may talk to it, without a credential.
    #[serde(default)]
    pub public: bool,
}

impl Agent {
    /// One with this model and nothing else said.
    pub fn of(model: &str) -> Agent {
        Agent {
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
            public: false,
        }
    }
}

fn eight() -> u16 {
    8
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AgentRouter {
    /// How long a call may take. Default: what `nlip.router` says.
    pub default_timeout: Option<Span>,
    /// How many run at the same time. Default: `parallel`.
    pub max_parallel_calls: Option<u16>,
}

/// What one run may use up. It ends with what it has; a little before, the model is told to come to an end.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Budget {
    /// Read and written together. Default: no limit.
    pub tokens: Option<u64>,
    /// In whatever money `price` is written in. Default: no limit.
    pub money: Option<f64>,
    pub time: Span,
    /// Calls of skills. Default: no limit.
    pub calls: Option<u32>,
    /// Answers of the model.
    pub turns: u32,
}

impl Default for Budget {
    fn default() -> Budget {
        Budget { tokens: None, money: None, time: Span::hours(1), calls: None, turns: 100 }
    }
}

/// Whatever the rule, a run that has read something of a peer or the world asks before it changes anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Confirm {
    /// Of a skill whose effects nobody who is believed has told. Default: `ask`, or `allow` where the hub's own
    /// `confirm.unknown` says so.
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

/// How much of a long conversation the model is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Context {
    /// As estimated: four bytes a token.
    pub tokens: u64,
    /// The last messages, which always stay.
    pub keep: u16,
    /// What becomes of old messages that no longer fit.
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
    /// They are left out, with a note.
    Leave,
    /// The model sums them up.
    Summarise,
}
