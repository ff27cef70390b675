//! Commands that use a running hub: list, call, follow.

use std::path::PathBuf;

use clap::Args;

use super::hub::HubArguments;
use crate::config::Span;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  interlingua peers
  interlingua peers --json | jq -r '.items[].name'")]
pub struct ListArguments {
    #[command(flatten)]
    pub hub: HubArguments,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  interlingua agents                            list all agents
  interlingua agents --skill search_hotels      list agents that offer exactly this skill
  interlingua agents hotels in Paris            list agents described by all these words
  interlingua agents --register https://agent.example    read its card at this address
  interlingua agents --register card.json       read an A2A card, or that of an agent that fetches
                                                its messages
  interlingua agents --unregister agent_hotel")]
pub struct AgentsArguments {
    /// List only agents whose description contains all these words
    pub query: Vec<String>,
    /// List only agents that offer exactly this skill
    #[arg(long)]
    pub skill: Option<String>,
    /// List only agents that have a skill with this tag
    #[arg(long)]
    pub tag: Option<String>,
    /// List only agents of this organisation
    #[arg(long)]
    pub provider: Option<String>,
    /// Register the agent at this address, or the one whose card is in this file; `-` reads standard input
    #[arg(long, value_name = "URL_OR_FILE", conflicts_with_all = ["query", "skill", "tag", "provider", "unregister"])]
    pub register: Option<PathBuf>,
    /// Unregister one of your agents
    #[arg(long, value_name = "ID", conflicts_with_all = ["query", "skill", "tag", "provider"])]
    pub unregister: Option<String>,
    #[command(flatten)]
    pub hub: HubArguments,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  interlingua skills                    list all skills
  interlingua skills read a file        list the best matches, best first")]
pub struct SkillsArguments {
    /// Rank the skills by these words
    pub query: Vec<String>,
    #[command(flatten)]
    pub hub: HubArguments,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  interlingua tasks                     list tasks, newest first
  interlingua tasks --state waiting     list tasks that wait for an approval or an answer
  interlingua tasks 0123                show one task, what it waits for and its result
  interlingua tasks 0123 --save out     save the images and files of its result in this folder
  interlingua tasks 0123 --cancel       cancel it

Shorten an id to any prefix that no other id has.")]
pub struct TasksArguments {
    /// Show the task with this id; a unique prefix is enough
    pub id: Option<String>,
    /// List only tasks in this state
    #[arg(long, value_parser = ["accepted", "running", "waiting", "completed", "failed", "cancelled"], conflicts_with = "id")]
    pub state: Option<String>,
    /// Include tasks that another task started: rounds of a team, calls of an agent, steps of a plan
    #[arg(long, conflicts_with = "id")]
    pub all: bool,
    /// Cancel the task
    #[arg(long, requires = "id")]
    pub cancel: bool,
    #[command(flatten)]
    pub save: SaveArguments,
    #[command(flatten)]
    pub hub: HubArguments,
}

/// Where the images and files of a result go.
#[derive(Debug, Clone, Default, Args)]
pub struct SaveArguments {
    /// Save images and files of the result in this folder, under sanitized names
    #[arg(long, value_name = "DIR")]
    pub save: Option<PathBuf>,
    /// Overwrite existing files
    #[arg(long, requires = "save")]
    pub force: bool,
}

/// What `call` and `ask` have in common.
#[derive(Debug, Clone, Default, Args)]
pub struct ExchangeArguments {
    /// Print the id of the task and exit without waiting for the result
    #[arg(long)]
    pub detach: bool,
    /// Limit how long the call may take, such as 30s
    #[arg(long, value_name = "SPAN", value_parser = span)]
    pub deadline: Option<Span>,
    /// Set the priority from 0 to 9; 5 is normal, 9 is the most urgent
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(0..=9))]
    pub priority: Option<u8>,
    /// Continue this conversation
    #[arg(long, value_name = "ID")]
    pub conversation: Option<String>,
    /// Require an approval before the call runs
    #[arg(long)]
    pub confirm: bool,
    /// Set an idempotency key: the same key and call replays the result instead of running again
    #[arg(long, value_name = "KEY")]
    pub key: Option<String>,
    /// Print every step of an agent or a team as a line before the outcome (with --json)
    #[arg(long)]
    pub steps: bool,
    #[command(flatten)]
    pub save: SaveArguments,
}

pub(crate) fn span(text: &str) -> Result<Span, &'static str> {
    Span::parse(text).ok_or("expected a span of time, such as `30s` or `5m`")
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  interlingua call local/read_file '{\"path\":\"notes.txt\"}'
  interlingua call local/read_file @arguments.json       read the arguments from a file
  echo '{\"path\":\".\"}' | interlingua call local/list_directory -
  interlingua call concierge/chat --text \"a table for two\"

Press Ctrl-C to cancel the call. Questions are asked on a terminal; without one the exit code is 5.")]
pub struct CallArguments {
    /// Call this skill, written PEER/SKILL
    #[arg(value_name = "PEER/SKILL")]
    pub skill: String,
    /// Pass these arguments: a JSON object, `@FILE`, or `-` for standard input
    #[arg(value_name = "JSON")]
    pub arguments: Option<String>,
    /// Send this text to a skill that takes text
    #[arg(long)]
    pub text: Option<String>,
    #[command(flatten)]
    pub exchange: ExchangeArguments,
    #[command(flatten)]
    pub hub: HubArguments,
}

/// Who is talked to.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  interlingua chat researcher                     talk on the terminal; type /help there
  interlingua chat panel < questions.txt          ask one question per line, print the answers")]
pub struct ChatArguments {
    /// Talk to this peer: an agent, a team, or any peer that understands plain text
    pub peer: String,
    /// Continue this conversation
    #[arg(long, value_name = "TOKEN")]
    pub conversation: Option<String>,
    #[command(flatten)]
    pub save: SaveArguments,
    #[command(flatten)]
    pub hub: HubArguments,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  interlingua ask \"list files in .\"
  interlingua ask lee notas.txt
  interlingua ask --peer concierge \"where can I eat?\"

See standard error for the route that was taken. Nothing that writes runs without an approval.")]
pub struct AskArguments {
    /// Ask for this, in plain words
    #[arg(required = true, value_name = "TEXT")]
    pub words: Vec<String>,
    /// Ask this peer instead of the configured front door
    #[arg(long, value_name = "NAME")]
    pub peer: Option<String>,
    #[command(flatten)]
    pub exchange: ExchangeArguments,
    #[command(flatten)]
    pub hub: HubArguments,
}

#[derive(Debug, Args)]
pub struct RunArguments {
    /// Run this plan, written in YAML or JSON; `-` reads standard input
    #[arg(value_name = "PLAN")]
    pub plan: PathBuf,
    /// Limit how many steps run at once
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub width: Option<u16>,
    /// Ask this peer after every step whether the plan should change
    #[arg(long, value_name = "NAME")]
    pub planner: Option<String>,
    /// Print the id of the task and exit without waiting for the result
    #[arg(long)]
    pub detach: bool,
    /// Limit how long the plan may take; default: one day
    #[arg(long, value_name = "SPAN", value_parser = span)]
    pub deadline: Option<Span>,
    #[command(flatten)]
    pub save: SaveArguments,
    #[command(flatten)]
    pub hub: HubArguments,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  interlingua approve                   show every pending call, and ask y or n for each
  interlingua approve --watch           keep asking as new calls arrive
  interlingua approve 0123              approve one call, by a prefix of its id or of its task's id
  interlingua deny 0123                 deny it
  interlingua approve --json | jq -r '.items[].id'")]
pub struct DecideArguments {
    /// Decide this call; a unique prefix of its id, or of its task's id, is enough. Without an id: all calls pending for you
    pub id: Option<String>,
    /// Skip the prompt on the terminal after the call is shown
    #[arg(long, short, requires = "id")]
    pub yes: bool,
    /// Keep asking as new calls arrive, until Ctrl-C
    #[arg(long, conflicts_with = "id")]
    pub watch: bool,
    #[command(flatten)]
    pub hub: HubArguments,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  interlingua answer                               list the questions that you may answer
  interlingua answer 0123 Vienna                   answer with text, or the number of a choice
  interlingua answer 0123 '{\"order_id\": 1001}'    fill in the fields of a form
  interlingua answer 0123 -                        read standard input, for example a token
  interlingua answer 0123 --decline                refuse to answer")]
pub struct AnswerArguments {
    /// Answer this question; a unique prefix of its id, or of its task's id, is enough. Without it the open questions are listed
    pub id: Option<String>,
    /// Send this answer; without it you are asked on the terminal
    #[arg(value_name = "ANSWER")]
    pub words: Vec<String>,
    /// Refuse to answer
    #[arg(long, conflicts_with = "words", requires = "id")]
    pub decline: bool,
    /// Report that the address was visited
    #[arg(long, conflicts_with_all = ["words", "decline"], requires = "id")]
    pub visited: bool,
    #[command(flatten)]
    pub hub: HubArguments,
}

/// What `open` is started with.
#[derive(Debug, Clone, Args)]
pub struct OpenArguments {
    /// Print the address instead of starting a browser
    #[arg(long)]
    pub print: bool,
    #[command(flatten)]
    pub hub: HubArguments,
}
