//! The command line grammar. The help texts are the first documentation a person reads: they state what a command does, and
//! show it.

mod asking;
mod hub;
mod machine;

use clap::{Parser, Subcommand};

pub(crate) use asking::span;
pub use asking::{
    AgentsArguments, AnswerArguments, AskArguments, CallArguments, ChatArguments, DecideArguments, ExchangeArguments,
    ListArguments, OpenArguments, RunArguments, SaveArguments, SkillsArguments, TasksArguments,
};
pub use hub::{HubArguments, Token};
pub use machine::{
    CheckArguments, ConnectArguments, DemoArguments, DeviceArguments, DoctorArguments, ImportArguments, McpArguments,
    ServeArguments,
};

use super::devices::DevicesArguments;
use super::sessions::RoutedSessionsArguments;
use super::sites::SitesArguments;
use super::trust::arguments::{AuditArguments, ExplainArguments, KeysArguments, TokenArguments};

const EXAMPLES: &str = "\
Examples:
  interlingua doctor                                     check whether a hub can run on this machine
  interlingua serve                                      run one on 127.0.0.1:7447, without a file
  interlingua skills                                     list what you can call through it
  interlingua call local/list_directory '{\"path\":\".\"}'   call one skill
  interlingua ask \"list files in .\"                      ask in plain words
  interlingua check hub.yaml                             validate this configuration

Run a command with --help to see its examples: interlingua call --help

Exit codes: 0 done, 1 the call failed, 2 usage or bad input, 3 invalid configuration,
4 hub unreachable, 5 input or confirmation needed, 6 deadline, 7 denied, 130 interrupted.";

/// Connect agents, tools, devices and websites that speak different protocols through one hub.
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
  make demo                    build, install what the peers need, run the demo (in a checkout)
  interlingua demo             run the demo; the hub keeps running for you to try, until Ctrl-C
  interlingua demo --script    run the demo and exit")]
    Demo(DemoArguments),
    /// Serve MCP on standard input and output, for a desktop client
    #[command(after_help = "\
Examples:
  interlingua mcp                       connect to the hub running in ./data, or start one for
                                        the session
  interlingua mcp -c hub.yaml           do the same with the hub of this configuration
  interlingua connect claude-desktop    print the client configuration")]
    Mcp(McpArguments),
    /// Join a hub, or another AIP server, as a device that offers the tools of this machine
    #[command(after_help = "\
Examples:
  interlingua device --hub ws://127.0.0.1:7447                 join a hub of this program
  interlingua device --hub ws://127.0.0.1:5000/ws --key KEY    join another server, in its frames
  interlingua device --hub wss://hub.example -c device.yaml    offer the tools of this configuration
  interlingua device --hub ws://127.0.0.1:7447 --mcp http://127.0.0.1:9001/mcp    add its tools")]
    Device(DeviceArguments),
    /// Open the web console in your browser, signed in as you
    #[command(after_help = "\
Examples:
  interlingua open                        open the console of the hub in ./data
  interlingua open --print                print an address that signs a browser in, once
  interlingua open --hub https://hub.example --token TOKEN --print   the same for a remote hub")]
    Open(OpenArguments),
    /// Check whether a running hub is ready, for scripts and the health checks of containers
    #[command(after_help = "\
Examples:
  interlingua health                                ask the hub in ./data
  interlingua health --data /data                   ask the hub of this data directory
  interlingua health --hub https://hub.example      ask a remote hub

Needs no token. Exits with 0 if the hub is ready, 1 if it runs and cannot store anything or is
stopping, 4 if no hub answers.")]
    Health(ListArguments),
    /// List the peers that you can call through the hub
    Peers(ListArguments),
    /// List devices with their state, or show one and its last day
    #[command(after_help = "\
Examples:
  interlingua devices                     what each device is, and how busy
  interlingua devices box                 one device, with charts of its last hour
  interlingua devices box --hours 24      the same of its last day
  interlingua devices box --json          its state and its samples as JSON")]
    Devices(DevicesArguments),
    /// List agents that can be sent messages; register or unregister an agent
    Agents(AgentsArguments),
    /// List the skills that you can call, or those that best match some words
    Skills(SkillsArguments),
    /// List the tasks of the hub, show one, or cancel it
    Tasks(TasksArguments),
    /// List your sessions at the routing envelope, or show one
    Sessions(RoutedSessionsArguments),
    /// List the login sessions that driven websites keep for you, or end one
    Sites(SitesArguments),
    /// Call one skill by name
    Call(CallArguments),
    /// Ask in plain words
    Ask(AskArguments),
    /// Talk to an agent, a team or any peer that understands plain text
    Chat(ChatArguments),
    /// Run a plan of many calls and watch its progress
    #[command(after_help = "\
Examples:
  interlingua run plan.yaml                     redraw the board with every change
  interlingua run plan.json --json              print every event as a line of JSON
  interlingua run plan.yaml --planner critic    let this agent change it after every step

Write a plan with `tasks` and `dependencies`, as in UFO's TaskConstellation. A task has a
`description` in plain words, or `task_data: { skill: PEER/SKILL, arguments: {…} }`. Choose who does
it with `target_device_id`, `device_type` or `task_data: { capability: … }`.
Press Ctrl-C to cancel the plan.")]
    Run(RunArguments),
    /// Approve a pending call; without an id, go through all calls pending for you
    Approve(DecideArguments),
    /// Deny a pending call
    #[command(visible_alias = "reject")]
    Deny(DecideArguments),
    /// Answer a question that a task asks
    Answer(AnswerArguments),
    /// Create, list and revoke access tokens
    Token(TokenArguments),
    /// List, rotate and retire the hub's keys
    Keys(KeysArguments),
    /// Explain why a call is allowed or refused
    Explain(ExplainArguments),
    /// Show, verify, export or redact the audit log
    Audit(AuditArguments),
    /// Check a configuration, a website's definition, a tool's manifest or a plan, and report every problem
    #[command(after_help = "\
Examples:
  interlingua check hub.yaml            report each problem with line, column and a suggestion
  interlingua check airline.yaml        check the definition of a website
  interlingua check tool.yaml           check the manifest of a tool
  interlingua check plan.yaml           check a plan for `interlingua run`
  interlingua check --json hub.yaml     print the problems as JSON

Exits with 3 if there is a problem.")]
    Check(CheckArguments),
    /// Convert a configuration of another program to a hub configuration and print it
    #[command(
        alias = "migrate",
        after_help = "\
Examples:
  interlingua import massgen.yaml > hub.yaml         convert agents and team of MassGen
  interlingua import ~/.cursor/mcp.json -o hub.yaml  convert the MCP servers of an editor
  interlingua connect cursor --write --replace       have the editor use the hub instead of them

Reports what became of every key on stderr. Runs nothing that the file names, and copies no secret.
Exits with 3 if the result needs changes before a hub reads it."
    )]
    Import(ImportArguments),
    /// Print the JSON Schema of the configuration, with every key
    #[command(after_help = "\
Examples:
  interlingua schema > interlingua.schema.json
  # then add this as the first line of your configuration, for editors that know YAML schemas:
  # yaml-language-server: $schema=interlingua.schema.json")]
    Schema,
    /// Check whether a hub can run on this machine
    #[command(after_help = "\
Examples:
  interlingua doctor                    check with the defaults
  interlingua doctor -c hub.yaml        check with this configuration, including its peers")]
    Doctor(DoctorArguments),
    /// Configure a desktop client to use the hub
    #[command(after_help = "\
Examples:
  interlingua connect claude-desktop                 print what to add, and to which file
  interlingua connect cursor --write                 add it to the file
  interlingua connect vscode -c hub.yaml --write     start the hub with this file
  interlingua connect cursor --write --replace       also remove the servers that hub.yaml has
  interlingua connect claude-code --hub http://127.0.0.1:7447    use a running hub")]
    Connect(ConnectArguments),
    /// Print a shell completion script
    #[command(after_help = "\
Examples:
  interlingua completions bash > ~/.local/share/bash-completion/completions/interlingua
  interlingua completions zsh > ~/.zfunc/_interlingua
  interlingua completions fish > ~/.config/fish/completions/interlingua.fish")]
    Completions {
        /// Print the script for this shell
        shell: clap_complete::Shell,
    },
}
