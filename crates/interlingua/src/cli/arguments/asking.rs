//! Commands that ask a running hub: what there is, to do something, what became of it.

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
  interlingua agents                            all of them
  interlingua agents --skill search_hotels      those that offer exactly this
  interlingua agents hotels in Paris            those that say all of these words of themselves
  interlingua agents --register https://agent.example    its card is read there
  interlingua agents --register card.json       a card of A2A, or of one that fetches its messages
  interlingua agents --unregister agent_hotel")]
pub struct AgentsArguments {
    /// Words they must say of themselves
    pub query: Vec<String>,
    /// Only those that offer exactly this skill
    #[arg(long)]
    pub skill: Option<String>,
    /// Only those with a skill of this tag
    #[arg(long)]
    pub tag: Option<String>,
    /// Only those of this organisation
    #[arg(long)]
    pub provider: Option<String>,
    /// Register the agent at this address, or the one whose card is in this file; `-` is standard input
    #[arg(long, value_name = "URL_OR_FILE", conflicts_with_all = ["query", "skill", "tag", "provider", "unregister"])]
    pub register: Option<PathBuf>,
    /// Unregister an agent of yours
    #[arg(long, value_name = "ID", conflicts_with_all = ["query", "skill", "tag", "provider"])]
    pub unregister: Option<String>,
    #[command(flatten)]
    pub hub: HubArguments,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  interlingua skills                    all of them
  interlingua skills read a file        those that fit best, best first")]
pub struct SkillsArguments {
    /// Words to rank by
    pub query: Vec<String>,
    #[command(flatten)]
    pub hub: HubArguments,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  interlingua tasks                     newest first
  interlingua tasks --state waiting     those that wait for an approval or an answer
  interlingua tasks 0123                one of them, with what it waits for and its result
  interlingua tasks 0123 --save out     the images and files of its result, into this folder
  interlingua tasks 0123 --cancel

The beginning of an id is enough where no other begins so.")]
pub struct TasksArguments {
    /// One task, or the beginning of its id
    pub id: Option<String>,
    /// Only those in this state
    #[arg(long, value_parser = ["accepted", "running", "waiting", "completed", "failed", "cancelled"], conflicts_with = "id")]
    pub state: Option<String>,
    /// Also those that another task led to: rounds of a team, calls of an agent, steps of a plan
    #[arg(long, conflicts_with = "id")]
    pub all: bool,
    /// Cancel it
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
    /// Save images and files of the result into this folder, under clean names
    #[arg(long, value_name = "DIR")]
    pub save: Option<PathBuf>,
    /// Overwrite files that are there already
    #[arg(long, requires = "save")]
    pub force: bool,
}

/// What `call` and `ask` have in common.
#[derive(Debug, Clone, Default, Args)]
pub struct ExchangeArguments {
    /// Do not wait: print the id of the task
    #[arg(long)]
    pub detach: bool,
    /// How long it may take, such as 30s
    #[arg(long, value_name = "SPAN", value_parser = span)]
    pub deadline: Option<Span>,
    /// 0 to 9; 5 is normal, 9 the most urgent
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(0..=9))]
    pub priority: Option<u8>,
    /// Go on in this conversation
    #[arg(long, value_name = "ID")]
    pub conversation: Option<String>,
    /// Ask for a human yes first
    #[arg(long)]
    pub confirm: bool,
    /// A key of your own: the same key and call replays the result instead of running again
    #[arg(long, value_name = "KEY")]
    pub key: Option<String>,
    /// With --json: every step of an agent or a team as a line, before the outcome
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
  interlingua call local/read_file @arguments.json       arguments from a file
  echo '{\"path\":\".\"}' | interlingua call local/list_directory -
  interlingua call concierge/chat --text \"a table for two\"

Ctrl-C cancels the call. A question is asked on a terminal; elsewhere the exit code is 5.")]
pub struct CallArguments {
    /// Which skill, as PEER/SKILL
    #[arg(value_name = "PEER/SKILL")]
    pub skill: String,
    /// Its arguments: a JSON object, `@FILE`, or `-` for standard input
    #[arg(value_name = "JSON")]
    pub arguments: Option<String>,
    /// Words for a skill that takes them
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
  interlingua chat researcher                     a conversation on the terminal; /help there
  interlingua chat panel < questions.txt          a question each line, answers on standard output")]
pub struct ChatArguments {
    /// The peer: an agent, a team, or any peer that understands words
    pub peer: String,
    /// Go on with this conversation
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

The route that was taken is told on standard error. Nothing that writes is done without a yes.")]
pub struct AskArguments {
    /// What you want
    #[arg(required = true, value_name = "TEXT")]
    pub words: Vec<String>,
    /// Ask this peer instead of the front door
    #[arg(long, value_name = "NAME")]
    pub peer: Option<String>,
    #[command(flatten)]
    pub exchange: ExchangeArguments,
    #[command(flatten)]
    pub hub: HubArguments,
}

#[derive(Debug, Args)]
pub struct RunArguments {
    /// The plan, in YAML or JSON; `-` for standard input
    #[arg(value_name = "PLAN")]
    pub plan: PathBuf,
    /// How many steps may run at once
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub width: Option<u16>,
    /// A peer that is asked after every step whether the plan should change
    #[arg(long, value_name = "NAME")]
    pub planner: Option<String>,
    /// Do not wait: print the id of the task
    #[arg(long)]
    pub detach: bool,
    /// How long it may take; default: a day
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
  interlingua approve                   every call that waits for you, y or n for each
  interlingua approve --watch           and those that come
  interlingua approve 0123              one of them, by the beginning of its id or of its task's
  interlingua deny 0123
  interlingua approve --json | jq -r '.items[].id'")]
pub struct DecideArguments {
    /// The call, or its task: the beginning of its id is enough. Without one: all that wait for you
    pub id: Option<String>,
    /// Do not ask on the terminal once the call was shown
    #[arg(long, short, requires = "id")]
    pub yes: bool,
    /// Go on with calls that come, until Ctrl-C
    #[arg(long, conflicts_with = "id")]
    pub watch: bool,
    #[command(flatten)]
    pub hub: HubArguments,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  interlingua answer 0123 Vienna                   words, or the number of a choice
  interlingua answer 0123 '{\"order_id\": 1001}'    the fields of a form
  interlingua answer 0123 -                        from standard input, such as a token
  interlingua answer 0123 --decline

`interlingua tasks --state waiting` lists what is asked.")]
pub struct AnswerArguments {
    /// The question, or its task: the beginning of its id is enough
    pub id: String,
    /// The answer; on a terminal it is asked for where it is left out
    #[arg(value_name = "ANSWER")]
    pub words: Vec<String>,
    /// There will be no answer
    #[arg(long, conflicts_with = "words")]
    pub decline: bool,
    /// The address was visited
    #[arg(long, conflicts_with_all = ["words", "decline"])]
    pub visited: bool,
    #[command(flatten)]
    pub hub: HubArguments,
}
