//! The command line, as it is typed and as it ends.

use clap::{CommandFactory, Parser};

use super::Exit;
use super::arguments::{Arguments, Command};

#[test]
fn the_definitions_hold_together() {
    Arguments::command().debug_assert();
}

#[test]
fn every_command_says_what_it_does_and_shows_it() {
    let command = Arguments::command();
    for command in command.get_subcommands() {
        assert!(command.get_about().is_some(), "{} has no text", command.get_name());
        assert!(command.get_after_help().is_some(), "{} has no example", command.get_name());
    }
}

#[test]
fn the_help_lists_the_commands_in_their_order() {
    let command = Arguments::command();
    let names: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
    let expected = [
        "serve",
        "demo",
        "mcp",
        "device",
        "peers",
        "agents",
        "skills",
        "tasks",
        "sites",
        "call",
        "ask",
        "chat",
        "run",
        "approve",
        "deny",
        "token",
        "keys",
        "explain",
        "audit",
        "check",
        "migrate",
        "schema",
        "doctor",
        "connect",
        "completions",
    ];
    assert_eq!(names, expected);
}

#[test]
fn exit_codes_are_those_of_the_contract() {
    let codes = [
        Exit::Done,
        Exit::Failed,
        Exit::Usage,
        Exit::Configuration,
        Exit::Unreachable,
        Exit::Needed,
        Exit::Deadline,
        Exit::Denied,
        Exit::Interrupted,
    ]
    .map(Exit::code);
    assert_eq!(codes, [0, 1, 2, 3, 4, 5, 6, 7, 130]);
}

#[test]
fn every_fault_ends_as_its_kind_says() {
    use interlingua_core::{FaultKind, Noun};
    for (kind, exit) in [
        (FaultKind::NotFound(Noun::Skill), Exit::Usage),
        (FaultKind::Unanswered, Exit::Needed),
        (FaultKind::Deadline, Exit::Deadline),
        (FaultKind::Denied, Exit::Denied),
        (FaultKind::PeerFailed, Exit::Failed),
    ] {
        assert_eq!(Exit::of_fault(kind.exit_code()), exit, "{kind:?}");
        assert_eq!(Exit::of_fault(kind.exit_code()).code(), kind.exit_code());
    }
}

#[test]
fn a_call_is_read_as_typed() {
    let typed = ["interlingua", "call", "a/b", "{}", "--deadline", "30s", "--priority", "9", "--hub", "http://x:1"];
    let Command::Call(call) = Arguments::try_parse_from(typed).unwrap().command else { panic!("not a call") };
    assert_eq!((call.skill.as_str(), call.arguments.as_deref()), ("a/b", Some("{}")));
    assert_eq!(call.exchange.deadline.unwrap().0.as_secs(), 30);
    assert_eq!(call.hub.hub.as_deref(), Some("http://x:1"));
    for bad in [
        &["interlingua", "call"][..],
        &["interlingua", "call", "a/b", "--priority", "10"],
        &["interlingua", "call", "a/b", "--deadline", "soon"],
        &["interlingua", "ask"],
        &["interlingua", "tasks", "--cancel"],
        &["interlingua", "nonsense"],
    ] {
        assert!(Arguments::try_parse_from(bad).is_err(), "{bad:?}");
    }
}

#[test]
fn a_token_is_never_printed() {
    let arguments = Arguments::try_parse_from(["interlingua", "peers", "--token", "s3cret"]).unwrap();
    assert!(!format!("{arguments:?}").contains("s3cret"));
}
