//! What can be typed. The help texts are the first documentation a person sees: they say what a command does, and show it.

mod asking;
mod hub;
mod machine;

use clap::{Parser, Subcommand};

pub(crate) use asking::span;
pub use asking::{
    AgentsArguments, AnswerArguments, AskArguments, CallArguments, ChatArguments, DecideArguments, ExchangeArguments,
    ListArguments, RunArguments, SaveArguments, SkillsArguments, TasksArguments,
};
pub use hub::{HubArguments, Token};
pub use machine::{
    CheckArguments, ConnectArguments, DemoArguments, DeviceArguments, DoctorArguments, McpArguments, MigrateArguments,
    ServeArguments,
};

use super::sites::SitesArguments;
use super::trust::arguments::{AuditArguments, ExplainArguments, KeysArguments, TokenArguments};

const EXAMPLES: &str = "\
Examples:
  interlingua doctor                                     can a hub run on this machine?
  interlingua serve                                      run one on 127.0.0.1:7447, without a file
  interlingua skills                                     what can be called through it
  interlingua call local/list_directory '{\"path\":\".\"}'   call one skill
  interlingua ask \"list files in .\"                      say it in plain words
  interlingua check hub.yaml                             is this configuration right?

Every command has examples of its own: interlingua call --help

Exit codes: 0 done, 1 the call failed, 2 usage or bad input, 3 invalid configuration,
4 hub unreachable, 5 input or confirmation needed, 6 deadline, 7 denied, 130 interrupted.";

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
  interlingua mcp                       attaches to the hub of ./data, or is one meanwhile
  interlingua mcp -c hub.yaml           the same for the hub of that configuration
  interlingua connect claude-desktop    what the client must be told, so that it starts this")]
    Mcp(McpArguments),
    /// Join a hub, or another AIP server, as a device that offers the tools of this machine
    #[command(after_help = "\
Examples:
  interlingua device --hub ws://127.0.0.1:7447                 a hub of this program
  interlingua device --hub ws://127.0.0.1:5000/ws --key KEY    another server, in its own frames
  interlingua device --hub wss://hub.example -c device.yaml    with the tools of this configuration
  interlingua device --hub ws://127.0.0.1:7447 --mcp http://127.0.0.1:9001/mcp    and of a server")]
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
  interlingua run plan.yaml --planner critic    this agent may change it after every step

A plan has `tasks` and `dependencies`, as UFO's TaskConstellation writes them. A task has
`description` for words, or `task_data: { skill: PEER/SKILL, arguments: {…} }`; who does it is said
by `target_device_id`, `device_type` or `task_data: { capability: … }`. Ctrl-C cancels the plan.")]
    Run(RunArguments),
    /// Approve a call that waits for it; without an id: all that wait for you
    Approve(DecideArguments),
    /// Deny a call that waits for an approval
    #[command(visible_alias = "reject")]
    Deny(DecideArguments),
    /// Answer what a task asks
    Answer(AnswerArguments),
    /// Give callers tokens, and take them back
    Token(TokenArguments),
    /// Which keys the hub has, and new ones
    Keys(KeysArguments),
    /// Say why a call is allowed or refused
    Explain(ExplainArguments),
    /// Verify, export or redact the record of decisions
    Audit(AuditArguments),
    /// Check a configuration, a website's definition, a tool's manifest or a plan, and say all that is wrong with it
    #[command(after_help = "\
Examples:
  interlingua check hub.yaml            every problem with its line, column and what was meant
  interlingua check airline.yaml        the definition of a website alone
  interlingua check tool.yaml           the manifest of a tool
  interlingua check plan.yaml           a plan for `interlingua run`
  interlingua check --json hub.yaml     the same for programs

Exit code 3 when something is wrong.")]
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
  interlingua doctor -c hub.yaml        with this configuration: are its peers there, too?")]
    Doctor(DoctorArguments),
    /// Tell a desktop client where the hub is
    #[command(after_help = "\
Examples:
  interlingua connect claude-desktop                 prints what to add, and to which file
  interlingua connect cursor --write                 adds it
  interlingua connect vscode -c hub.yaml --write     with this configuration
  interlingua connect claude-code --hub http://127.0.0.1:7447    a hub that runs already")]
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
