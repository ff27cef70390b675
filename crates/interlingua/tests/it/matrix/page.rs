//! `docs/matrix.md`: the result of every cell.
//!
//! The page is made of sections, and each test owns one: it compares its own with what it saw, or writes it (`MATRIX=write`). So no test
//! needs to run before another.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;

use interlingua_testkit::root;

use super::behaviour::Behaviour;
use super::callees::Callee;
use super::callers::Caller;
use super::reasons::{self, Reason};

/// What stands beside a tick.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Word {
    Whole,
    Elsewhere,
    Less,
    Ours,
    HubAsks,
    AsText,
    Hidden,
    Closed,
}

impl Word {
    const ALL: [Word; 8] =
        [Word::Whole, Word::Elsewhere, Word::HubAsks, Word::Less, Word::AsText, Word::Hidden, Word::Closed, Word::Ours];

    fn spelled(self) -> &'static str {
        match self {
            Word::Whole => "whole",
            Word::Elsewhere => "elsewhere",
            Word::Less => "less",
            Word::Ours => "ours",
            Word::HubAsks => "hub asks",
            Word::AsText => "as text",
            Word::Hidden => "hidden",
            Word::Closed => "closed",
        }
    }

    fn means(self) -> &'static str {
        match self {
            Word::Whole => "what the callee says in pieces, the caller gets in one",
            Word::Elsewhere => "what is asked on the way is answered in another way than the caller's protocol",
            Word::HubAsks => "the question is the hub's own, for a yes to the call; the callee asks nothing",
            Word::Less => "part of the result has no place on the caller's wire, and the answer declares the loss",
            Word::AsText => {
                "the bytes arrive in base64, in a text or a JSON value, because the callee has nothing else"
            }
            Word::Hidden => "the caller hears that it failed and of whom, and not the callee's words",
            Word::Closed => "the callee cannot be told: it sees its connection closed",
            Word::Ours => "it needs an extension of the hub's own: a client that knows only the protocol cannot say it",
        }
    }
}

/// What a cell says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Mark {
    Tick(Vec<(Word, Reason)>),
    /// It was tried, and cannot be.
    Never(Reason),
}

impl Mark {
    pub(super) fn tick() -> Mark {
        Mark::Tick(Vec::new())
    }

    pub(super) fn never(reason: Reason) -> Mark {
        Mark::Never(reason)
    }

    pub(super) fn with(self, word: Word, reason: Reason) -> Mark {
        match self {
            Mark::Tick(mut words) => {
                words.push((word, reason));
                Mark::Tick(words)
            }
            never @ Mark::Never(_) => never,
        }
    }

    pub(super) fn is_tick(&self) -> bool {
        matches!(self, Mark::Tick(_))
    }

    fn spelled(&self) -> String {
        match self {
            Mark::Never(reason) => format!("– [{}]", reason.number()),
            Mark::Tick(words) => {
                let word = |(word, reason): &(Word, Reason)| format!("{} [{}]", word.spelled(), reason.number());
                let words: Vec<String> = words.iter().map(word).collect();
                if words.is_empty() { "✓".to_owned() } else { format!("✓ {}", words.join(", ")) }
            }
        }
    }
}

/// One cell that was played.
#[derive(Debug, Clone)]
pub(super) struct Cell {
    pub(super) callee: Callee,
    pub(super) on: Behaviour,
    pub(super) mark: Mark,
    pub(super) losses: Vec<String>,
}

/// The rows of one caller.
pub(super) fn calls(caller: Caller, cells: &[Cell]) -> String {
    let mut losses: BTreeMap<String, usize> = BTreeMap::new();
    let mut table = String::from("\n| |");
    for callee in Callee::ALL {
        write!(table, " {} |", callee.title()).expect("a string takes everything");
    }
    table += "\n|---|";
    table += &"---|".repeat(Callee::ALL.len());
    table.push('\n');
    for on in Behaviour::ALL {
        write!(table, "| {} |", on.title()).expect("a string takes everything");
        for callee in Callee::ALL {
            let cell = cells.iter().find(|cell| (cell.callee, cell.on) == (callee, on));
            let cell = cell.unwrap_or_else(|| panic!("{caller:?} {callee:?} {on:?} was not played"));
            let mut text = cell.mark.spelled();
            for loss in &cell.losses {
                let next = losses.len();
                text.push(' ');
                text.push(letter(*losses.entry(loss.clone()).or_insert(next)));
            }
            write!(table, " {text} |").expect("a string takes everything");
        }
        table.push('\n');
    }
    if !losses.is_empty() {
        let mut listed: Vec<(String, usize)> = losses.into_iter().collect();
        listed.sort_by_key(|(_, number)| *number);
        let listed: Vec<String> = listed
            .into_iter()
            .map(|(loss, number)| {
                let (what, how) = loss.split_once(' ').unwrap_or((&loss, ""));
                format!("{} `{what}` {how}", letter(number))
            })
            .collect();
        writeln!(table, "\nDeclared lost: {}.", listed.join(", ")).expect("a string takes everything");
    }
    table
}

fn letter(number: usize) -> char {
    ('a'..='z').nth(number).expect("fewer kinds of losses than letters")
}

/// The sections in their order. What is before the first is the head.
fn titles() -> Vec<String> {
    let callers = Caller::ALL.map(|caller| format!("{} calls", caller.title()));
    let mut titles = vec!["How many cells".to_owned(), "Whose programs these are".to_owned()];
    titles.extend(callers);
    titles.extend(["Reasons", "The richest message", "From hub to hub"].map(str::to_owned));
    titles
}

const PAGE: &str = "docs/matrix.md";
const WRITE: &str = "MATRIX=write cargo nextest run --workspace -E 'test(/^matrix::calls/) | test(/^matrix::page/)'";

fn text() -> String {
    std::fs::read_to_string(root().join(PAGE)).unwrap_or_default()
}

/// A section as it stands on the page, without its title.
fn section(page: &str, title: &str) -> String {
    let mut inside = false;
    let mut text = String::new();
    for line in page.lines() {
        if let Some(other) = line.strip_prefix("## ") {
            inside = other == title;
        } else if inside {
            text.push_str(line);
            text.push('\n');
        }
    }
    text.trim_matches('\n').to_owned()
}

/// Compares a section of the page with what it has to be, or writes it.
pub(super) fn holds(title: &str, content: &str) {
    let content = content.trim_matches('\n');
    if std::env::var("MATRIX").is_ok_and(|word| word == "write") {
        write_section(title, content);
    }
    let stands = section(&text(), title);
    let differs = stands.lines().zip(content.lines()).find(|(old, new)| old != new);
    assert!(stands == content, "{PAGE}, “{title}”, is not what was seen ({differs:?}): look, then {WRITE}");
}

/// Tests of several processes may write at the same time: each holds the page for itself.
fn write_section(title: &str, content: &str) {
    let lock = File::create(root().join("target/matrix.lock")).expect("target is there");
    lock.lock().expect("a file can be locked");
    let page = text();
    let mut whole = head();
    for known in titles() {
        let inner = if known == title { content.to_owned() } else { section(&page, &known) };
        write!(whole, "\n## {known}\n\n{inner}\n").expect("a string takes everything");
    }
    std::fs::write(root().join(PAGE), whole).expect("the page can be written");
}

fn head() -> String {
    let (callers, callees, behaviours) = (Caller::ALL.len(), Callee::ALL.len(), Behaviour::ALL.len());
    let mut head = format!(
        "# Who can call whom, and what of it arrives\n\n\
         {callers} callers, {callees} callees, {behaviours} behaviours: {} cells. `make test` plays every one over real sockets, those that cannot be\n\
         too: then what was tried must not arrive. Each section is written by the test that plays it (`{WRITE}`).\n\n\
         | a row | ✓ means |\n|---|---|\n",
        callers * callees * behaviours
    );
    for on in Behaviour::ALL {
        writeln!(head, "| {} | {} |", on.title(), on.means()).expect("a string takes everything");
    }
    head += "\n| a cell | means |\n|---|---|\n| ✓ | as the row says, in the terms of both protocols |\n";
    for word in Word::ALL {
        writeln!(head, "| ✓ {} | {} |", word.spelled(), word.means()).expect("a string takes everything");
    }
    head += "| – | it cannot be: it was tried and did not arrive |\n\n\
             A number in brackets is the reason, below. A letter is what the hub declares lost in translation.\n";
    head
}

/// Every tick and every dash, counted on the page itself.
fn counts(page: &str) -> String {
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    for caller in Caller::ALL {
        let table = section(page, &format!("{} calls", caller.title()));
        let rows = table
            .lines()
            .filter(|line| Behaviour::ALL.iter().any(|on| line.starts_with(&format!("| {} |", on.title()))));
        for cell in rows.flat_map(|row| row.split('|').skip(2).map(str::trim).filter(|cell| !cell.is_empty())) {
            *kinds.entry(kind(cell)).or_default() += 1;
        }
    }
    let mut text = String::from("| a cell | how many |\n|---|---|\n");
    for (kind, count) in kinds {
        writeln!(text, "| {kind} | {count} |").expect("a string takes everything");
    }
    text
}

/// A cell without its reasons and losses.
fn kind(cell: &str) -> String {
    let words: Vec<&str> =
        Word::ALL.into_iter().map(Word::spelled).filter(|word| cell.contains(&format!("{word} ["))).collect();
    let tick = if cell.starts_with('✓') { "✓" } else { "–" };
    format!("{tick} {}", words.join(", ")).trim().to_owned()
}

fn programs() -> String {
    let mut text = String::from("| | |\n|---|---|\n");
    for caller in Caller::ALL {
        writeln!(text, "| {} calls | {} |", caller.title(), caller.program()).expect("a string takes everything");
    }
    for callee in Callee::ALL {
        writeln!(text, "| {} is called | {} |", callee.title(), callee.program()).expect("a string takes everything");
    }
    text + "\nThe section “The richest message” is not played by these callers: there every message is written by the tests themselves, byte by\n\
            byte as each wire has it. The callees are the same.\n"
}

const HUBS: &str = "\
What another hub says was lost behind it is told on to the caller, by whichever protocol the two speak. The hubs that a call has
passed go with it to every peer that is a hub; a COMMAND to a device of AIP has a tool's name and its arguments, and no place for
them: a device is where a way ends.
";

/// What is on the page beside what was played: head, programs, reasons, counts; and every reason is used.
#[test]
fn page_says_what_the_code_says() {
    let listed = |(number, reason): (usize, &Reason)| format!("{}. {}\n", number + 1, reason.written());
    holds("Reasons", &reasons::ALL.iter().enumerate().map(listed).collect::<String>());
    holds("Whose programs these are", &programs());
    holds("From hub to hub", HUBS);
    holds("How many cells", &counts(&text()));
    let page = text();
    assert!(page.starts_with(&head()), "the head of {PAGE} is not what the code says: {WRITE}");
    for number in 1..=reasons::ALL.len() {
        let cell = format!("[{number}]");
        assert!(page.contains(&cell), "no cell has reason {number}: {}", reasons::ALL[number - 1].why);
    }
}
