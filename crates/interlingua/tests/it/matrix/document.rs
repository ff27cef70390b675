//! `docs/matrix.md`: what came of every cell.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use interlingua_testkit::root;

use super::behaviour::Behaviour;
use super::callees::Callee;
use super::callers::Caller;
use super::fidelity::Carried;
use super::reasons::Reason;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    Passes,
    Whole(Reason),
    Elsewhere(Reason),
    Lost(Reason),
    Impossible(Reason),
}

#[derive(Debug, Clone)]
pub(super) struct Cell {
    caller: Caller,
    callee: Callee,
    on: Behaviour,
    mark: Mark,
    losses: Vec<String>,
}

impl Cell {
    pub(super) fn new(caller: Caller, callee: Callee, on: Behaviour, mark: Mark, losses: &[String]) -> Cell {
        let mut losses = losses.to_vec();
        losses.sort();
        losses.dedup();
        Cell { caller, callee, on, mark, losses }
    }

    pub(super) fn impossible(caller: Caller, callee: Callee, on: Behaviour, reason: Reason) -> Cell {
        Cell::new(caller, callee, on, Mark::Impossible(reason), &[])
    }
}

const HEAD: &str = "\
# Who can call whom, and what of it arrives

Seven callers, nine callees, eight behaviours: 504 cells, each played over real sockets by `make test`, or impossible for the reason
given. This page is what came of it, written by the test itself (`MATRIX=write cargo nextest run -p interlingua --test it matrix_every`).

| cell | means |
|---|---|
| ✓ | it works; the caller sees all of it |
| ✓ whole | it works; what the callee says in pieces, the caller gets in one |
| ✓ elsewhere | it works; what is asked on the way is asked of somebody else, who answers |
| ✓ less | it works; part of the result has no place on the caller's wire, and the answer says so |
| – | the protocol has no way to say it |

A number in brackets is the reason, below. A letter is what the hub declares lost in translation.
";

const FOOT: &str = "
## From hub to hub

What another hub says was lost behind it is told on to the caller, by whichever protocol the two speak. The hubs that a call has
passed go with it to every peer that is a hub; a COMMAND to a device of AIP has a tool's name and its arguments, and no place for
them: a device is where a way ends.
";

/// Compares the page with what was seen, or writes it.
pub(super) fn document(cells: &[Cell], carried: &[Carried]) {
    let text = written(cells) + &richest(carried) + FOOT;
    let path = root().join("docs/matrix.md");
    if std::env::var("MATRIX").is_ok_and(|word| word == "write") {
        std::fs::write(&path, &text).expect("the page can be written");
    }
    let stands = std::fs::read_to_string(&path).unwrap_or_default();
    let differs = stands.lines().zip(text.lines()).find(|(old, new)| old != new);
    assert!(
        stands == text,
        "docs/matrix.md is not what was seen ({differs:?}): look, then MATRIX=write cargo nextest run -p interlingua --test it matrix_every"
    );
}

/// What of the richest message arrives.
fn richest(carried: &[Carried]) -> String {
    let mut text = String::from(
        "\n## The richest message\n\nAll that a caller can say in one message (text in two languages, a label, data, bytes, a \
         link, code, a place, an extension), to\nthose who tell back what they heard, with bytes and a link beside it where they \
         can. What is missing is declared. Who knows no\nnames chooses a tool by words, which then are not told back.\n\n\
         | from | to | says | does not arrive | does not come back | declared |\n|---|---|---|---|---|---|\n",
    );
    let listed = |list: &[String]| if list.is_empty() { "–".to_owned() } else { list.join(", ") };
    for row in carried {
        let [said, there, back] = [&row.said, &row.missing, &row.missing_back]
            .map(|list| listed(&list.iter().map(ToString::to_string).collect::<Vec<_>>()));
        let declared = listed(&row.losses);
        writeln!(text, "| {} | {} | {said} | {there} | {back} | {declared} |", row.caller, row.callee)
            .expect("a string takes everything");
    }
    text
}

fn written(cells: &[Cell]) -> String {
    let mut notes = Notes::default();
    let mut tables = String::new();
    for on in Behaviour::ALL {
        tables += &table(on, cells, &mut notes);
    }
    let mut page = String::from(HEAD);
    page += "\n## Whose programs these are\n\n| | |\n|---|---|\n";
    for caller in Caller::ALL {
        writeln!(page, "| {} calls | {} |", caller.title(), caller.program()).expect("a string takes everything");
    }
    for callee in Callee::ALL {
        writeln!(page, "| {} is called | {} |", callee.title(), callee.program()).expect("a string takes everything");
    }
    page += &tables;
    page += &notes.written();
    page
}

fn table(on: Behaviour, cells: &[Cell], notes: &mut Notes) -> String {
    let mut table = format!("\n## {}\n\n| |", on.title());
    for callee in Callee::ALL {
        write!(table, " {} |", callee.title()).expect("a string takes everything");
    }
    table += "\n|---|";
    table += &"---|".repeat(Callee::ALL.len());
    table.push('\n');
    for caller in Caller::ALL {
        write!(table, "| {} |", caller.title()).expect("a string takes everything");
        for callee in Callee::ALL {
            let cell = cells.iter().find(|cell| (cell.caller, cell.callee, cell.on) == (caller, callee, on));
            let cell = cell.unwrap_or_else(|| panic!("{caller:?} {callee:?} {on:?} was not played"));
            write!(table, " {} |", notes.spelled(cell)).expect("a string takes everything");
        }
        table.push('\n');
    }
    table
}

/// Reasons and losses, numbered as they come.
#[derive(Default)]
struct Notes {
    reasons: Vec<Reason>,
    losses: BTreeMap<String, usize>,
}

impl Notes {
    fn spelled(&mut self, cell: &Cell) -> String {
        let mut text = match cell.mark {
            Mark::Passes => "✓".to_owned(),
            Mark::Whole(reason) => format!("✓ whole [{}]", self.reason(reason)),
            Mark::Elsewhere(reason) => format!("✓ elsewhere [{}]", self.reason(reason)),
            Mark::Lost(reason) => format!("✓ less [{}]", self.reason(reason)),
            Mark::Impossible(reason) => format!("– [{}]", self.reason(reason)),
        };
        let mut numbers: Vec<usize> = cell.losses.iter().map(|loss| self.loss(loss)).collect();
        numbers.sort_unstable();
        for number in numbers {
            text.push(' ');
            text.push_str(&letter(number));
        }
        text
    }

    fn loss(&mut self, loss: &str) -> usize {
        let next = self.losses.len();
        *self.losses.entry(loss.to_owned()).or_insert(next)
    }

    fn reason(&mut self, reason: Reason) -> usize {
        match self.reasons.iter().position(|known| *known == reason) {
            Some(index) => index + 1,
            None => {
                self.reasons.push(reason);
                self.reasons.len()
            }
        }
    }

    fn written(&self) -> String {
        let mut text = String::from("\n## Reasons\n\n");
        for (index, reason) in self.reasons.iter().enumerate() {
            let line = format!("{}. {} ({})\n", index + 1, reason.why, reason.section);
            text += &line;
        }
        text += "\n## Losses\n\n| | what | how |\n|---|---|---|\n";
        let mut losses: Vec<(&String, &usize)> = self.losses.iter().collect();
        losses.sort_by_key(|(_, number)| **number);
        for (loss, number) in losses {
            let (what, how) = loss.split_once(' ').unwrap_or((loss, ""));
            writeln!(text, "| {} | `{what}` | {how} |", letter(*number)).expect("a string takes everything");
        }
        text
    }
}

fn letter(number: usize) -> String {
    let letters: Vec<char> = ('a'..='z').collect();
    let last = letters[number % letters.len()];
    if number < letters.len() { last.to_string() } else { format!("{}{last}", letters[number / letters.len() - 1]) }
}
