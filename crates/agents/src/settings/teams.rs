//! Teams: agents that work on the same question, see each other's answers without names, improve and vote.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Deserialize;

use interlingua_settings::Span;

#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Team {
    /// Its members: agents, or any peer that can be talked to. Their order decides ties.
    pub agents: Vec<String>,
    /// Its name for people.
    pub title: Option<String>,
    /// What it is for; searched when a request comes in plain words.
    pub description: Option<String>,
    #[serde(default)]
    pub strategy: Strategy,
    /// What becomes of the winner's answer.
    #[serde(default)]
    pub ending: Ending,
    /// Each member's share of the work, by its name; for `strategy: decompose`.
    #[serde(default)]
    pub shares: IndexMap<String, String>,
    /// Who puts the shares together; default the last member.
    pub presenter: Option<String>,
    /// Done when everyone has answered; nobody votes.
    #[serde(default)]
    pub skip_voting: bool,
    /// After so many answers a member may only vote. Default: no limit.
    pub answers_each: Option<u32>,
    /// After so many answers of all together everyone may only vote. Default: no limit.
    pub answers_all: Option<u32>,
    /// Who may only vote waits until everyone else has answered.
    #[serde(default)]
    pub defer_voting: bool,
    /// How different an answer must be from those there are.
    #[serde(default)]
    pub novelty: Novelty,
    /// How many answers a member may be ahead of the slowest; 0 is any number.
    #[serde(default = "two")]
    pub lead: u32,
    /// When a member at work hears of others' answers.
    #[serde(default)]
    pub updates: Updates,
    #[serde(default)]
    pub times: Times,
    /// How often the winner may send everyone back to the start.
    #[serde(default)]
    pub restarts: u32,
    #[serde(default)]
    pub budget: Purse,
    /// Where the file tools of its members work.
    #[serde(default)]
    pub workspaces: Workspaces,
    /// Calls of its members travel as routed NLIP messages, unless a member says otherwise. Default: `nlip.agents`.
    #[serde(rename = "nlip")]
    pub routed: Option<bool>,
    /// Anyone may ask it, without a credential.
    #[serde(default)]
    pub public: bool,
}

fn two() -> u32 {
    2
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Strategy {
    /// All work on the whole, and vote.
    #[default]
    Vote,
    /// Each works on its share.
    Decompose,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Ending {
    /// The winner presents it once more, in its best form.
    #[default]
    Present,
    /// It stands as it was given.
    Reuse,
    /// The winner makes one answer of all.
    Synthesize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Novelty {
    /// Anything but the same.
    #[default]
    Lenient,
    /// At most 70 % of the words in common.
    Balanced,
    /// At most 50 %.
    Strict,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Updates {
    /// After a tool's result, of two answers at most.
    #[default]
    Midstream,
    /// Its round begins again with all of them.
    Restart,
    /// When its round is over.
    Never,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Workspaces {
    /// Each in a directory of its own; the files behind an answer are there for others to read, and `tools.workspace` is
    /// read by all and written by who presents.
    #[default]
    Own,
    /// All in `tools.workspace`.
    Shared,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Times {
    /// Of the whole; then the best answer so far counts.
    pub whole: Span,
    /// After so long in its first round a member is told to come to an end. Default: never.
    pub first_round: Option<Span>,
    /// The same in later rounds. Default: never.
    pub later_round: Option<Span>,
    /// From then on until it may only answer or vote.
    pub grace: Span,
}

impl Default for Times {
    fn default() -> Times {
        Times { whole: Span::seconds(1800), first_round: None, later_round: None, grace: Span::seconds(120) }
    }
}

/// What the whole team may spend; then the best answer so far counts.
#[derive(Debug, Clone, Copy, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Purse {
    /// Read and written together. Default: no limit.
    pub tokens: Option<u64>,
    /// In whatever money `price` is written in. Default: no limit.
    pub money: Option<f64>,
}
