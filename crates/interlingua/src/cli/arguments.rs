//! What can be typed. The help texts are the first documentation a person sees: they say what a command does, and show it.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use super::connect::Client;
use super::sites::SitesArguments;
use super::trust::arguments::{AuditArguments, ExplainArguments, KeysArguments, TokenArguments};
use crate::config::{Listen, Overrides, Span};

const EXAMPLES: &str = "\
Examples:
  interlingua serve                                   run a hub on 127.0.0.1:7447, without a file
  interlingua skills                                  what can be called through it
  interlingua call local/list_directory '{\"path\":\".\"}' call one skill
  interlingua ask \"list files in .\"                   say it in plain words
  interlingua check hub.yaml                          is this configuration right?

Exit codes: 0 done, 1 the call failed, 2 usage or bad input, 3 invalid configuration, 4 hub unreachable,
5 input or confirmation needed, 6 deadline, 7 denied, 130 interrupted.";

/// One hub through which agents, tools, devices and websites of different protocols work together.
#[derive(Debug, Parser)]
#[command(name = "interlingua", version, after_help = EXAMPLES, propagate_version = true, max_term_width = 110)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run the hub
    Serve(ServeArguments),
    /// Watch peers of five protocols plan a journey together
    #[command(after_help = "\
Examples:
  make demo                    in a checkout: builds, installs what the peers need, then this
  interlingua demo             the story; the hub stays up to be tried, until Ctrl-C
  interlingua demo --script    the story, and then the end")]
    Demo(DemoArguments),
    /// Be an MCP server on standard input and output, for a desktop client
    #[command(after_help = "\
Examples:
  interlingua mcp                       attaches to the hub of ./data, or is one until the client leaves
  interlingua mcp -c hub.yaml           the same for the hub of that configuration
  interlingua connect claude            writes the client's snippet")]
    Mcp(McpArguments),
    /// Join a hub, or another AIP server, as a device that offers the tools of this machine
    #[command(after_help = "\
Examples:
  interlingua device --hub ws://127.0.0.1:7447                 a hub of this program
  interlingua device --hub ws://127.0.0.1:5000/ws --key KEY    another server, frame for frame as it speaks
  interlingua device --hub wss://hub.example -c device.yaml    with the tools of this configuration
  interlingua device --hub ws://127.0.0.1:7447 --mcp 'npx -y @modelcontextprotocol/server-filesystem .'")]
    Device(DeviceArguments),
    /// Who can be called through the hub
    Peers(ListArguments),
    /// Who can be sent a message; register an agent, or unregister it
    Agents(AgentsArguments),
    /// What can be called, or what fits some words best
    Skills(SkillsArguments),
    /// Tasks of the hub, or one of them
    Tasks(TasksArguments),
    /// Logins that driven websites keep for you; end one
    Sites(SitesArguments),
    /// Call one skill by name
    Call(CallArguments),
    /// Ask in plain words
    Ask(AskArguments),
    /// Talk to an agent, a team or any peer that understands words
    Chat(ChatArguments),
    /// Work through a plan of many calls, and watch it
    #[command(after_help = "\
Examples:
  interlingua run plan.yaml                     drawn anew with every change
  interlingua run plan.json --json              every event as a line of JSON, for programs
  interlingua run plan.yaml --planner critic    an agent is asked after every step whether the plan should change

A plan has `tasks` and `dependencies`, as UFO's TaskConstellation writes them. A task has `description` for words, or
`task_data: { skill: PEER/SKILL, arguments: {…} }`; `target_device_id`, `device_type` or `task_data: { capability: … }` say
who does it. Ctrl-C cancels the plan.")]
    Run(RunArguments),
    /// Say yes to what waits for a confirmation
    Approve(DecideArguments),
    /// Say no to what waits for a confirmation
    Deny(DecideArguments),
    /// Give callers tokens, and take them back
    Token(TokenArguments),
    /// Which keys the hub has, and new ones
    Keys(KeysArguments),
    /// Say why a call is allowed or refused
    Explain(ExplainArguments),
    /// Verify, export or redact the record of decisions
    Audit(AuditArguments),
    /// Check a configuration file and say all that is wrong with it
    #[command(after_help = "\
Examples:
  interlingua check hub.yaml            prints every problem with file, line, column and what was meant; exit code 3
  interlingua check --json hub.yaml     the same for programs")]
    Check(CheckArguments),
    /// Print a configuration of MassGen as one of a hub
    #[command(after_help = "\
Examples:
  interlingua migrate massgen.yaml > hub.yaml    what is not taken over is told on standard error")]
    Migrate(MigrateArguments),
    /// Print the JSON Schema of the configuration: every key there is
    #[command(after_help = "\
Examples:
  interlingua schema > interlingua.schema.json
  # then, as the first line of your configuration, for editors that know YAML schemas:
  # yaml-language-server: $schema=interlingua.schema.json")]
    Schema,
    /// Look whether a hub can run on this machine
    #[command(after_help = "\
Examples:
  interlingua doctor                    with the defaults
  interlingua doctor -c hub.yaml        with this configuration")]
    Doctor(DoctorArguments),
    /// Tell a desktop client where the hub is
    #[command(after_help = "\
Examples:
  interlingua connect claude-desktop                 prints what to add, and to which file
  interlingua connect cursor --write                 adds it
  interlingua connect vscode -c hub.yaml --write     with this configuration
  interlingua connect claude-code --hub http://127.0.0.1:7447   a hub that runs, instead of starting one")]
    Connect(ConnectArguments),
    /// Print a script that completes commands in your shell
    #[command(after_help = "\
Examples:
  interlingua completions bash > ~/.local/share/bash-completion/completions/interlingua
  interlingua completions zsh > ~/.zfunc/_interlingua
  interlingua completions fish > ~/.config/fish/completions/interlingua.fish")]
    Completions {
        /// Which shell
        shell: clap_complete::Shell,
    },
}

/// What `serve` is started with.
#[derive(Debug, Clone, Default, Args)]
#[command(after_help = "\
Examples:
  interlingua serve                                          no file: embedded store in ./data, built-in tools
  interlingua serve -c hub.yaml                              reads it again when it changes, and on SIGHUP
  interlingua serve --nlip http://127.0.0.1:9003/nlip        with one more peer
  interlingua serve --nlip concierge=http://127.0.0.1:9003/nlip   and its name
  interlingua serve --a2a hotels=http://127.0.0.1:9002       with an A2A agent
  interlingua serve --mcp 'npx -y @modelcontextprotocol/server-filesystem .'   with the tools of an MCP server
  interlingua serve --site airline.yaml                      with a website that a browser drives")]
pub struct ServeArguments {
    /// The configuration file
    #[arg(short, long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Address and port, instead of the file's
    #[arg(long, value_name = "ADDR")]
    pub listen: Option<Listen>,
    /// The data directory, instead of the file's
    #[arg(long, value_name = "DIR", env = "INTERLINGUA_DATA")]
    pub data: Option<PathBuf>,
    /// One more peer that speaks NLIP; may be given several times
    #[arg(long, value_name = "[NAME=]URL")]
    pub nlip: Vec<String>,
    /// One more A2A agent, by its address or that of its card; may be given several times
    #[arg(long, value_name = "[NAME=]URL")]
    pub a2a: Vec<String>,
    /// One more MCP server, by its URL or the command that starts it; may be given several times
    #[arg(long, value_name = "[NAME=]URL|COMMAND")]
    pub mcp: Vec<String>,
    /// One more website, by the file that says how to use it; may be given several times
    #[arg(long, value_name = "[NAME=]FILE")]
    pub site: Vec<String>,
}

impl ServeArguments {
    pub fn overrides(&self) -> Overrides {
        Overrides {
            listen: self.listen,
            data: self.data.clone(),
            nlip: self.nlip.clone(),
            a2a: self.a2a.clone(),
            mcp: self.mcp.clone(),
            site: self.site.clone(),
        }
    }
}

#[derive(Debug, Args)]
pub struct DemoArguments {
    /// End when the story is told
    #[arg(long)]
    pub script: bool,
    /// The script that tells it; default: that of the checkout around this directory or this program
    #[arg(long, value_name = "FILE")]
    pub story: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct McpArguments {
    /// The configuration file
    #[arg(short, long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// The data directory, instead of the file's
    #[arg(long, value_name = "DIR", env = "INTERLINGUA_DATA")]
    pub data: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct DeviceArguments {
    /// The server to join; without a path, that of this program's hubs
    #[arg(long, value_name = "URL", env = "INTERLINGUA_HUB")]
    pub hub: String,
    /// What the device is called; default: the name of this machine
    #[arg(long)]
    pub id: Option<String>,
    /// The server's key, or the device's own
    #[arg(long, value_name = "KEY", env = "INTERLINGUA_DEVICE_KEY", hide_env_values = true)]
    pub key: Option<Token>,
    /// The configuration whose tools are offered
    #[arg(short, long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// The data directory of the device; default: the file's, or ./device-data
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Trust the authorities in this PEM file instead of the machine's own
    #[arg(long, value_name = "FILE")]
    pub ca: Option<PathBuf>,
    /// One more MCP server whose tools are offered, by its URL or the command that starts it; may be given several times
    #[arg(long, value_name = "[NAME=]URL|COMMAND")]
    pub mcp: Vec<String>,
}

#[derive(Debug, Args)]
pub struct CheckArguments {
    /// The configuration file
    pub file: PathBuf,
    /// For programs: one JSON object
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct MigrateArguments {
    /// The file as MassGen reads it
    pub file: PathBuf,
}

#[derive(Debug, Args)]
pub struct DoctorArguments {
    /// The configuration file
    #[arg(short, long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// The data directory, instead of the file's
    #[arg(long, value_name = "DIR", env = "INTERLINGUA_DATA")]
    pub data: Option<PathBuf>,
    /// Address and port, instead of the file's
    #[arg(long, value_name = "ADDR")]
    pub listen: Option<Listen>,
    /// For programs: one JSON object
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct ConnectArguments {
    /// Which client
    pub client: Client,
    /// Put it into the client's file; everything else in there stays as it is
    #[arg(long)]
    pub write: bool,
    /// The configuration the hub is started with
    #[arg(short, long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// The data directory the hub is started with
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// A running hub: the client opens its address instead of starting the program
    #[arg(long, value_name = "URL", conflicts_with_all = ["config", "data"])]
    pub hub: Option<String>,
    /// What the client calls it
    #[arg(long, default_value = "interlingua", value_parser = entry_name)]
    pub name: String,
    /// The client's file, instead of where it usually is
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// For programs: one JSON object
    #[arg(long)]
    pub json: bool,
}

fn entry_name(text: &str) -> Result<String, &'static str> {
    let fits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    fits.then(|| text.to_owned()).ok_or("a name is letters, digits, `-` and `_`")
}

/// Which hub to talk to. Without any of these: the socket in the data directory, else 127.0.0.1:7447.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Hub")]
pub struct HubArguments {
    /// Where the hub is
    #[arg(long, value_name = "URL", env = "INTERLINGUA_HUB")]
    pub hub: Option<String>,
    /// The access token
    #[arg(long, value_name = "TOKEN", env = "INTERLINGUA_TOKEN", hide_env_values = true)]
    pub token: Option<Token>,
    /// The data directory of a hub on this machine
    #[arg(long, value_name = "DIR", env = "INTERLINGUA_DATA")]
    pub data: Option<PathBuf>,
    /// Trust the authorities in this PEM file instead of the machine's own
    #[arg(long, value_name = "FILE")]
    pub ca: Option<PathBuf>,
    /// For programs: JSON instead of tables
    #[arg(long)]
    pub json: bool,
}

/// A token from the command line or the environment; never printed.
#[derive(Clone)]
pub struct Token(pub(super) String);

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(…)")
    }
}

impl std::str::FromStr for Token {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Token, Self::Err> {
        let fits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
        fits.then(|| Token(text.to_owned())).ok_or("a token is printable ASCII without spaces")
    }
}

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
  interlingua agents --register https://agent.example    its card is read there, and it is called as that says
  interlingua agents --register card.json       a card of A2A; or one of an agent that fetches its messages from /api/messages
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
  interlingua tasks --state waiting     those that wait for an answer
  interlingua tasks 0123…               one of them, with what it waits for and its result
  interlingua tasks 0123… --cancel")]
pub struct TasksArguments {
    /// One task
    pub id: Option<String>,
    /// Only those in this state
    #[arg(long, value_parser = ["accepted", "running", "waiting", "completed", "failed", "cancelled"], conflicts_with = "id")]
    pub state: Option<String>,
    /// Cancel it
    #[arg(long, requires = "id")]
    pub cancel: bool,
    #[command(flatten)]
    pub hub: HubArguments,
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
}

pub(super) fn span(text: &str) -> Result<Span, &'static str> {
    Span::parse(text).ok_or("expected a span of time, such as `30s` or `5m`")
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  interlingua call local/read_file '{\"path\":\"notes.txt\"}'
  interlingua call local/read_file @arguments.json       arguments from a file
  echo '{\"path\":\".\"}' | interlingua call local/list_directory -
  interlingua call concierge/chat --text \"a table for two\"

Ctrl-C cancels the call. A question is asked on a terminal; elsewhere the command ends with exit code 5.")]
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
  interlingua chat panel < questions.txt          a question each line, the answers on standard output")]
pub struct ChatArguments {
    /// The peer: an agent, a team, or any peer that understands words
    pub peer: String,
    /// Go on with this conversation
    #[arg(long, value_name = "TOKEN")]
    pub conversation: Option<String>,
    #[command(flatten)]
    pub hub: HubArguments,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  interlingua ask \"list files in .\"
  interlingua ask lee notas.txt
  interlingua ask --peer concierge \"where can I eat?\"

The route that was taken is told on standard error. Nothing that writes is done without a confirmation.")]
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
    pub hub: HubArguments,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  interlingua tasks --state waiting     what waits
  interlingua approve 0123….1           by the id of the confirmation
  interlingua deny 0123…                or of its task")]
pub struct DecideArguments {
    /// The confirmation, or its task
    pub id: String,
    #[command(flatten)]
    pub hub: HubArguments,
}
