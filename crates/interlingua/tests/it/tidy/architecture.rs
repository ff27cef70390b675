//! The tables of ARCHITECTURE.md match the code: each is rendered here from the code and must be there word for word.

use std::fs;

use interlingua_a2a::fault::Reason;
use interlingua_a2a::method::Method;
use interlingua_model::{Fault, FaultKind, Feature, Noun, Party, Priority, Retry};
use interlingua_telemetry::meters::Phase;

use super::root_file;

const KINDS: [FaultKind; 25] = [
    FaultKind::Malformed,
    FaultKind::Unsupported(Feature::Operation),
    FaultKind::Unsupported(Feature::Media),
    FaultKind::Unsupported(Feature::SwitchedOff),
    FaultKind::Unauthenticated,
    FaultKind::Denied,
    FaultKind::NotFound(Noun::Skill),
    FaultKind::NotFound(Noun::Task),
    FaultKind::NotFound(Noun::Resource),
    FaultKind::NotFound(Noun::Session),
    FaultKind::InvalidInput,
    FaultKind::Unanswered,
    FaultKind::Conflict,
    FaultKind::AlreadyFinished,
    FaultKind::TooLarge,
    FaultKind::Busy,
    FaultKind::BudgetSpent,
    FaultKind::Loop,
    FaultKind::Unreachable,
    FaultKind::PeerFailed,
    FaultKind::PeerDeclined,
    FaultKind::BadReply,
    FaultKind::OutcomeUnknown,
    FaultKind::Deadline,
    FaultKind::Internal,
];

/// The name of a row, without a wildcard: a new kind must be given one.
fn name(kind: FaultKind) -> &'static str {
    match kind {
        FaultKind::Malformed => "Malformed",
        FaultKind::Unsupported(Feature::Media) => "Unsupported Media",
        FaultKind::Unsupported(Feature::SwitchedOff) => "Unsupported SwitchedOff",
        FaultKind::Unsupported(
            Feature::Operation | Feature::Version | Feature::Extension | Feature::Push | Feature::ExtendedCard,
        ) => "Unsupported Operation, Version, Extension, Push, ExtendedCard",
        FaultKind::Unauthenticated => "Unauthenticated",
        FaultKind::Denied => "Denied",
        FaultKind::NotFound(Noun::Skill) => "NotFound Skill",
        FaultKind::NotFound(Noun::Task) => "NotFound Task",
        FaultKind::NotFound(Noun::Resource) => "NotFound Resource",
        FaultKind::NotFound(Noun::Session) => "NotFound Session",
        FaultKind::InvalidInput => "InvalidInput",
        FaultKind::Unanswered => "Unanswered",
        FaultKind::Conflict => "Conflict",
        FaultKind::AlreadyFinished => "AlreadyFinished",
        FaultKind::TooLarge => "TooLarge",
        FaultKind::Busy => "Busy",
        FaultKind::BudgetSpent => "BudgetSpent",
        FaultKind::Loop => "Loop",
        FaultKind::Unreachable => "Unreachable",
        FaultKind::PeerFailed => "PeerFailed",
        FaultKind::PeerDeclined => "PeerDeclined",
        FaultKind::BadReply => "BadReply",
        FaultKind::OutcomeUnknown => "OutcomeUnknown",
        FaultKind::Deadline => "Deadline",
        FaultKind::Internal => "Internal",
    }
}

fn faults() -> String {
    let mut table =
        String::from("| kind | word | again? | NLIP | `/api` | envelope | exit |\n|---|---|---|---|---|---|---|\n");
    for kind in KINDS {
        let again = match kind.retry() {
            Retry::No => "no",
            Retry::After(_) => "yes, later",
            Retry::IfIdempotent => "if idempotent",
        };
        let of = |status: fn(&Fault) -> u16| {
            let [caller, hub] = [Party::Caller, Party::Hub].map(|origin| status(&Fault::new(kind, origin, "")));
            if caller == hub { caller.to_string() } else { format!("{caller} by the caller's limit, else {hub}") }
        };
        let (nlip, api) =
            (of(interlingua_nlip::fault::status), of(|fault| interlingua_api::fault::status(fault).as_u16()));
        let envelope = match interlingua_envelope::fault::spelling(kind) {
            interlingua_envelope::fault::Spelling::Error(status) => format!("error {status}"),
            interlingua_envelope::fault::Spelling::Outcome => "outcome".to_owned(),
        };
        let word = match (kind.as_str(), interlingua_envelope::fault::code(kind)) {
            (word, code) if word == code => format!("`{word}`"),
            (word, code) => format!("`{word}`, in the envelope `{code}`"),
        };
        let (name, exit) = (name(kind), kind.exit_code());
        table += &format!("| {name} | {word} | {again} | {nlip} | {api} | {envelope} | {exit} |\n");
    }
    table
}

/// What A2A has a name of its own for.
const FEATURES: [(Feature, &str); 5] = [
    (Feature::Operation, "Operation"),
    (Feature::Version, "Version"),
    (Feature::Extension, "Extension"),
    (Feature::Push, "Push"),
    (Feature::ExtendedCard, "ExtendedCard"),
];

fn a2a_faults() -> String {
    let mut table = String::from("| kind | JSON-RPC | HTTP | gRPC | reason |\n|---|---|---|---|---|\n");
    let mut line = |name: &str, kind: FaultKind, method: Option<Method>| {
        let of = |origin| interlingua_a2a::fault::row(&Fault::new(kind, origin, ""), method);
        let (caller, hub) = (of(Party::Caller), of(Party::Hub));
        let either = |one: String, other: String| {
            if one == other { one } else { format!("{one} by the caller's limit, else {other}") }
        };
        let http = either(caller.http.to_string(), hub.http.to_string());
        let grpc = either(caller.grpc.name().to_owned(), hub.grpc.name().to_owned());
        let reason = match caller.reason {
            Reason::Spec(reason) => format!("`{reason}`"),
            Reason::Own(reason) => format!("`{reason}`, ours"),
        };
        table += &format!("| {name} | {} | {http} | {grpc} | {reason} |\n", caller.rpc);
    };
    for kind in KINDS {
        match kind {
            FaultKind::Unsupported(Feature::Operation) => {
                for (feature, name) in FEATURES {
                    line(&format!("Unsupported {name}"), FaultKind::Unsupported(feature), None);
                }
            }
            FaultKind::AlreadyFinished => {
                line("AlreadyFinished", kind, None);
                line("AlreadyFinished, to a cancel", kind, Some(Method::Cancel));
            }
            kind => line(name(kind), kind, None),
        }
    }
    table
}

#[test]
fn the_table_of_a2a_errors_is_what_the_code_says() {
    let expected = a2a_faults();
    assert_eq!(between(&architecture(), "faults-a2a"), expected, "this belongs there:\n{expected}");
}

fn priorities() -> String {
    let levels = (0..=Priority::MAX).map(|level| Priority::new(level).expect("a level"));
    let said =
        levels.map(|level| interlingua_envelope::priority::encode(level).to_string()).collect::<Vec<_>>().join(" | ");
    let heard =
        (0..=10).map(|said| interlingua_envelope::priority::decode(said).level().to_string()).collect::<Vec<_>>();
    format!(
        "| inside | 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 |\n|---|---|---|---|---|---|---|---|---|---|---|\n\
         | said in the envelope | {said} |\n\nThe envelope's 0 to 10 are heard as {}.\n",
        heard.join(", ")
    )
}

fn between<'a>(document: &'a str, mark: &str) -> &'a str {
    let (open, close) = (format!("<!-- {mark} -->\n"), format!("<!-- /{mark} -->"));
    let rest = document.split_once(open.as_str()).unwrap_or_else(|| panic!("no {open}")).1;
    rest.split_once(close.as_str()).unwrap_or_else(|| panic!("no {close}")).0
}

fn architecture() -> String {
    fs::read_to_string(root_file("ARCHITECTURE.md")).expect("ARCHITECTURE.md")
}

#[test]
fn the_table_of_faults_is_what_the_code_says() {
    assert_eq!(between(&architecture(), "faults"), faults(), "this belongs there:\n{}", faults());
}

#[test]
fn the_table_of_priorities_is_what_the_code_does() {
    assert_eq!(between(&architecture(), "priority"), priorities(), "this belongs there:\n{}", priorities());
}

#[test]
fn the_phases_are_told_in_their_order() {
    let document = architecture();
    let life = document.split("## Life of an exchange").nth(1).expect("the chapter").split("\n## ").next().expect("it");
    let told: Vec<&str> = life.lines().filter_map(|line| line.strip_prefix("| ")?.split(" |").next()).skip(1).collect();
    assert_eq!(told, Phase::ALL.map(Phase::as_str));
}

/// In the chapter that walks through the code, a path in backticks is followed by names of functions in that file.
#[test]
fn the_way_of_an_exchange_names_functions_that_are_there() {
    let document = architecture();
    let walk = document.split("## One exchange in each protocol").nth(1).expect("the chapter");
    let walk = walk.split("\n## ").next().expect("it");
    let (mut file, mut source, mut absent, mut seen) = ("", String::new(), Vec::new(), 0);
    for quoted in walk.split('`').skip(1).step_by(2) {
        if quoted.starts_with("crates/") {
            (file, source) = (quoted, fs::read_to_string(root_file(quoted)).expect("the file is there"));
        } else if quoted.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_') {
            seen += 1;
            let declared = ["(", "<"].iter().any(|next| source.contains(&format!("fn {quoted}{next}")));
            absent.extend((!declared).then(|| format!("{file}: {quoted}")));
        }
    }
    assert!(absent.is_empty(), "{}", absent.join("\n"));
    assert!(seen > 60, "{seen} names");
}
