//! The command line: arguments and exit codes.

use clap::{CommandFactory, Parser};

use super::Exit;
use super::arguments::{Arguments, Command};

#[test]
fn the_definitions_hold_together() {
    Arguments::command().debug_assert();
}

/// A command and all that stand below it.
fn each(command: &clap::Command, visit: &mut impl FnMut(&clap::Command)) {
    visit(command);
    for below in command.get_subcommands() {
        each(below, visit);
    }
}

/// What is shown below the options of a command.
fn examples(command: &clap::Command) -> String {
    command.get_after_help().map(ToString::to_string).unwrap_or_default()
}

#[test]
fn every_command_says_what_it_does_and_shows_it() {
    each(&Arguments::command(), &mut |command| {
        assert!(command.get_about().is_some(), "{} has no text", command.get_name());
        assert!(examples(command).starts_with("Examples:\n"), "{} has no example", command.get_name());
    });
}

#[test]
fn what_the_help_shows_is_not_folded_where_the_width_is_not_known() {
    each(&Arguments::command(), &mut |command| {
        for line in examples(command).lines() {
            assert!(line.chars().count() <= 100, "{}: {line}", command.get_name());
        }
    });
}

/// The first words of help texts. A new verb is added here; a text that starts with a noun is rewritten.
const VERBS: &str = "Add Allow Answer Approve Ask Assume Authenticate Call Cancel Check Configure Connect Continue Convert Create \
                     Decide Delete Deny End Exit Expire Explain Export Give Include Join Keep Limit Listen List Name Offer Open Overwrite \
                     Pass Print Rank Read Redact Refuse Register Remove Replace Report Require Revoke Run Save Send Serve Set Show Skip \
                     Start Talk Trust Unregister Use Verify Watch Write";

fn starts_with_a_verb(text: &str) -> bool {
    let first = text.split([' ', ',']).next().unwrap_or_default();
    VERBS.split(' ').any(|verb| verb == first)
}

#[test]
fn every_help_text_starts_with_a_verb() {
    let mut nouns = Vec::new();
    each(&Arguments::command(), &mut |command| {
        let about = command.get_about().into_iter().map(ToString::to_string);
        let options = command.get_arguments().filter_map(|argument| Some(argument.get_help()?.to_string()));
        let wrong = about.chain(options).filter(|text| !starts_with_a_verb(text));
        nouns.extend(wrong.map(|text| format!("{}: {text}", command.get_name())));
    });
    assert!(nouns.is_empty(), "{}", nouns.join("\n"));
    assert!(!starts_with_a_verb("The access token") && starts_with_a_verb("Show, verify or export it"));
}

/// The words of an example as a shell takes them, up to a pipe, a file, or the remark behind it.
fn typed(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        match (quote, character) {
            (None, '|' | '<' | '>') => break,
            (None, ' ') if characters.peek() == Some(&' ') => break,
            (None, ' ') => words.push(std::mem::take(&mut word)),
            (None, '\'' | '"') => quote = Some(character),
            (Some(open), _) if open == character => quote = None,
            (None | Some(_), _) => word.push(character),
        }
    }
    words.extend((!word.is_empty()).then_some(word));
    words
}

#[test]
fn what_the_help_shows_can_be_typed() {
    let mut seen = 0;
    each(&Arguments::command(), &mut |command| {
        for line in examples(command).lines() {
            let Some((_, arguments)) = line.split_once("interlingua ").filter(|_| line.starts_with("  ")) else {
                continue;
            };
            let words = typed(&format!("interlingua {arguments}"));
            seen += 1;
            assert!(Arguments::try_parse_from(&words).is_ok(), "{}: {words:?}", command.get_name());
        }
    });
    assert!(seen > 80, "{seen}");
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
        "open",
        "health",
        "peers",
        "devices",
        "agents",
        "skills",
        "tasks",
        "sessions",
        "sites",
        "call",
        "ask",
        "chat",
        "run",
        "approve",
        "deny",
        "answer",
        "token",
        "keys",
        "explain",
        "audit",
        "check",
        "import",
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
    use interlingua_model::{FaultKind, Noun};
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
