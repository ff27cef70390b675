//! The section `teams`: agents that work on the same question, see each other's answers without names, improve and vote.

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Deserialize;

use interlingua_settings::Span;

use super::On;

#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Team {
    /// Members: agents, peers that can be called in plain words, or one skill of a peer, as `PEER/SKILL`: an agent of another hub,
    /// an A2A agent, an NLIP agent. Their order decides ties.
    pub agents: Vec<String>,
    /// Display name.
    pub title: Option<String>,
    /// What it is for. Used when a request comes in plain words.
    pub description: Option<String>,
    #[serde(default)]
    pub strategy: Strategy,
    /// How the winner's answer becomes the result.
    #[serde(default)]
    pub ending: Ending,
    /// The share of the work of each member, by name; for `strategy: decompose`.
    #[serde(default)]
    pub shares: IndexMap<String, String>,
    /// The member that combines the shares. Default: the last member.
    pub presenter: Option<String>,
    /// Finish when every member has answered, without a vote.
    #[serde(default)]
    pub skip_voting: bool,
    /// Maximum answers of one member; afterwards it may only vote. Default: no limit.
    pub answers_each: Option<u32>,
    /// Maximum answers of all members together; afterwards they may only vote. Default: no limit.
    pub answers_all: Option<u32>,
    /// A member that may only vote waits until all others have answered.
    #[serde(default)]
    pub defer_voting: bool,
    /// How different a new answer must be from the existing ones.
    #[serde(default)]
    pub novelty: Novelty,
    /// How many answers a member may be ahead of the slowest; 0: no limit.
    #[serde(default = "two")]
    pub lead: u32,
    /// When a working member receives the answers of others.
    #[serde(default)]
    pub updates: Updates,
    /// How members that are not agents of this hub are informed of what they may decide.
    #[serde(default)]
    pub verbs: Verbs,
    #[serde(default)]
    pub times: Times,
    /// How often the winner may restart the team.
    #[serde(default)]
    pub restarts: u32,
    #[serde(default)]
    pub budget: Purse,
    /// The workspace of the members' file tools.
    #[serde(default)]
    pub workspaces: Workspaces,
    /// Send the calls of its members as routed NLIP messages, unless a member overrides it. Default: `nlip.agents`.
    #[serde(rename = "nlip")]
    pub routed: Option<bool>,
    /// Anyone may call it, without a credential.
    #[serde(default)]
    pub public: bool,
    /// Starts it for each event of a topic.
    pub on: Option<On>,
}

fn two() -> u32 {
    2
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Strategy {
    /// All members work on the whole question, and vote.
    #[default]
    Vote,
    /// Each member works on its share.
    Decompose,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Ending {
    /// The winner presents its answer once more, in final form.
    #[default]
    Present,
    /// The answer is used as it is.
    Reuse,
    /// The winner combines all answers into one.
    Synthesize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Novelty {
    /// Any difference.
    #[default]
    Lenient,
    /// At most 70 % of the words in common with an existing answer.
    Balanced,
    /// At most 50 % of the words in common with an existing answer.
    Strict,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Updates {
    /// After a tool result, at most two answers.
    #[default]
    Midstream,
    /// Its round is restarted with all of them.
    Restart,
    /// When its round has ended.
    Never,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Verbs {
    /// In words.
    #[default]
    Words,
    /// In words, and as a structured part with the schema of each verb.
    Structured,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Workspaces {
    /// Each member has its own directory. Others can read the files of an answer. `tools.workspace` is
    /// readable for all, and writable for the member that presents.
    #[default]
    Own,
    /// All members share `tools.workspace`.
    Shared,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Times {
    /// Time limit of the whole run; at the limit the best answer so far is the result.
    pub whole: Span,
    /// Time after which a member in its first round is asked to finish. Default: never.
    pub first_round: Option<Span>,
    /// Time after which a member in a later round is asked to finish. Default: never.
    pub later_round: Option<Span>,
    /// Grace period after that request; then the member may only answer or vote.
    pub grace: Span,
    /// Time that a member that is not an agent of this hub has for one reply; then it is out.
    pub reply: Span,
}

impl Default for Times {
    fn default() -> Times {
        Times {
            whole: Span::seconds(1800),
            first_round: None,
            later_round: None,
            grace: Span::seconds(120),
            reply: Span::seconds(120),
        }
    }
}

/// Budget of the whole team; at the limit the best answer so far is the result.
#[derive(Debug, Clone, Copy, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Purse {
    /// Tokens, input and output together. Default: no limit.
    pub tokens: Option<u64>,
    /// In the currency of `price`. Default: no limit.
    pub money: Option<f64>,
}
