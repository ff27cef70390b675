//! The counts that are printed at the end.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

use super::super::callees::Callee;
use super::super::callers::Caller;
use super::super::seen::Seen;
use super::blows::Blow;
use super::calls::Call;
use super::record::Record;
use super::vitals::Vitals;

/// How many of the measurements are told.
const POINTS: usize = 10;

#[derive(Default)]
pub(super) struct Tally {
    calls: BTreeMap<(Caller, Callee), usize>,
    seen: BTreeMap<String, usize>,
    again: BTreeMap<String, usize>,
    blows: BTreeMap<&'static str, usize>,
    /// Tasks that waited for an answer which nobody was there to give, or had hours to go.
    pub(super) called_off: usize,
}

/// What a caller says came of it; who is not sure says that.
fn outcome(seen: &Seen) -> String {
    if seen.unsure { "not told".to_owned() } else { seen.outcome.clone() }
}

impl Tally {
    pub(super) fn call(&mut self, call: &Call, seen: &Seen) {
        *self.calls.entry((call.caller, call.callee)).or_default() += 1;
        *self.seen.entry(outcome(seen)).or_default() += 1;
    }

    pub(super) fn again(&mut self, seen: &Seen) {
        *self.again.entry(outcome(seen)).or_default() += 1;
    }

    pub(super) fn blow(&mut self, blow: Blow) {
        *self.blows.entry(blow.title()).or_default() += 1;
    }

    pub(super) fn shown(&self, seed: u64, took: Duration, record: &Record, vitals: &[Vitals]) -> String {
        let mut out = format!("seed {seed}, {} calls in {} s\n\n", self.calls.values().sum::<usize>(), took.as_secs());
        self.table(&mut out);
        let (ends, told, with_end) = record.counts();
        let tasks: usize = ends.values().sum();
        let mut line = |what: &str, counts: String| {
            let _never_fails = writeln!(out, "{what}: {counts}");
        };
        line("\nwhat happened, in rounds", counts(&self.blows));
        line("what callers saw", counts(&self.seen));
        line("what those saw who asked again", counts(&self.again));
        line("tasks in the hub's record", format!("{tasks} ({})", counts(&ends)));
        line("called off, since their callers were gone", self.called_off.to_string());
        line("told to callers", format!("{told}, {with_end} of them with their end"));
        let _never_fails =
            writeln!(out, "\n{:>8} {:>12} {:>9} {:>9} {:>8}", "seconds", "descriptors", "browser", "children", "MiB");
        for one in points(vitals) {
            let mebibytes = one.resident as f64 / 1_048_576.0;
            let (at, held) = (one.at.as_secs(), (one.descriptors, one.browsers, one.children));
            let _never_fails = writeln!(out, "{at:>8} {:>12} {:>9} {:>9} {mebibytes:>8.1}", held.0, held.1, held.2);
        }
        out
    }

    fn table(&self, out: &mut String) {
        let cells = |name: &str, cells: Vec<String>| format!("{name:<16}{}\n", cells.concat());
        let head = super::CALLERS.map(|caller| format!("{:>7}", caller.title()));
        out.push_str(&cells("", head.to_vec()));
        for callee in Callee::ALL {
            let count = |caller| self.calls.get(&(caller, callee)).copied().unwrap_or(0);
            let row = super::CALLERS.map(|caller| format!("{:>7}", count(caller)));
            out.push_str(&cells(callee.title(), row.to_vec()));
        }
    }
}

fn counts<K: std::fmt::Display>(counts: &BTreeMap<K, usize>) -> String {
    counts.iter().map(|(what, count)| format!("{what} {count}")).collect::<Vec<_>>().join(", ")
}

/// Some of them, evenly, with the first and the last.
fn points(vitals: &[Vitals]) -> Vec<Vitals> {
    let last = vitals.len().saturating_sub(1);
    let mut chosen: Vec<usize> = (0..POINTS).map(|point| point * last / (POINTS - 1)).collect();
    chosen.dedup();
    chosen.into_iter().filter_map(|index| vitals.get(index)).copied().collect()
}

/// Whoever starts a long run wants its counts.
pub(super) fn say(told: &str) {
    let _nobody_listens = std::io::Write::write_all(&mut std::io::stderr(), told.as_bytes());
}
