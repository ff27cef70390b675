//! Deduplication of refusals in the audit log: equal refusals are one line with a count. A refusal costs its caller nothing, so not every
//! one may cost a line: the first is written at once, further ones are counted, and a line reports their number and time span.
//!
//! The caller chooses what it asks for, so beyond a number of different requests all refusals of a caller count as equal.

use std::collections::HashMap;
use std::time::Duration;

use interlingua_model::Time;

use super::AuditLine;

/// How long refusals are counted before a line says so.
const INTERVAL: Duration = Duration::from_secs(60);
/// Different things of one caller that are told apart in that time.
const MOST_THINGS: u32 = 64;
/// Refusals that are told apart at all.
const MOST: usize = 4_096;

/// What makes two refusals equal: who, what action, on what, and how it was refused.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Same {
    by: String,
    action: String,
    outcome: String,
    on: Option<String>,
}

#[derive(Debug)]
struct Counted {
    /// As it is written again, with its count.
    line: AuditLine,
    since: Time,
    first: Option<Time>,
    times: u64,
}

#[derive(Debug, Default)]
pub(super) struct Refusals {
    counted: HashMap<Same, Counted>,
    /// Different things by whoever asked for them.
    things: HashMap<Same, u32>,
}

impl Refusals {
    /// The line that is written now; `None` of one that is counted instead.
    pub(super) fn pass(&mut self, mut line: AuditLine) -> Option<AuditLine> {
        if !is_merged(&line) {
            return Some(line);
        }
        let mut same = Same {
            by: line.by.clone(),
            action: line.action.to_string(),
            outcome: line.outcome.to_string(),
            on: line.on.clone(),
        };
        if !self.counted.contains_key(&same) {
            let of_caller = Same { on: None, ..same.clone() };
            let things = self.things.entry(of_caller.clone()).or_default();
            *things = things.saturating_add(1);
            if *things > MOST_THINGS {
                (same, line.on) = (of_caller, Some(MANY.to_owned()));
            }
        }
        if let Some(counted) = self.counted.get_mut(&same) {
            counted.times += 1;
            counted.first.get_or_insert(line.at);
            counted.line.at = line.at;
            return None;
        }
        if self.counted.len() < MOST {
            let template = AuditLine { task: None, trace: None, arguments: None, ..line.clone() };
            self.counted.insert(same, Counted { line: template, since: line.at, first: None, times: 0 });
        }
        Some(line)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.counted.is_empty()
    }

    /// Lines of those whose time is over; later ones are counted separately.
    pub(super) fn due(&mut self, now: Time) -> Vec<AuditLine> {
        let over = |counted: &mut Counted| now >= counted.since.after(INTERVAL);
        let lines = self.counted.extract_if(|_, counted| over(counted)).filter_map(|(_, counted)| counted.said());
        let lines = lines.collect();
        if self.counted.is_empty() {
            self.things.clear();
        }
        lines
    }

    /// Lines of everything counted so far, for a reader; counting continues.
    pub(super) fn so_far(&mut self) -> Vec<AuditLine> {
        let said = |counted: &mut Counted| {
            let line = counted.said_so_far();
            (counted.times, counted.first) = (0, None);
            line
        };
        self.counted.values_mut().filter_map(said).collect()
    }
}

/// What stands for things that are not told apart any more.
const MANY: &str = "(many)";

impl Counted {
    fn said_so_far(&self) -> Option<AuditLine> {
        let line = || AuditLine { times: Some(self.times), first: self.first, ..self.line.clone() };
        (self.times > 0).then(line)
    }

    fn said(self) -> Option<AuditLine> {
        self.said_so_far()
    }
}

/// A call that went to its peer leaves a line of its own however it ends, and so does what a person decided.
fn is_merged(line: &AuditLine) -> bool {
    line.refusal && (line.action != "return" || line.on.is_none()) && line.action != "confirm"
}

#[cfg(test)]
mod tests {
    use interlingua_model::FaultKind;

    use super::*;

    fn refusal(by: &str, on: &str, at: u64) -> AuditLine {
        AuditLine { at: Time(at), ..AuditLine::new("authorize", by).on(on).refused(FaultKind::Denied) }
    }

    #[test]
    fn equal_refusals_are_one_line_and_a_count() {
        let mut refusals = Refusals::default();
        assert!(refusals.pass(refusal("eve", "bank/pay", 1)).is_some());
        for at in 2..=1_000 {
            assert!(refusals.pass(refusal("eve", "bank/pay", at)).is_none());
        }
        assert!(refusals.pass(refusal("bob", "bank/pay", 5)).is_some(), "another caller");
        assert!(refusals.pass(refusal("eve", "bank/see", 5)).is_some(), "another thing");
        assert!(refusals.pass(AuditLine::new("authorize", "eve").on("bank/pay")).is_some(), "what was allowed");
        assert!(refusals.due(Time(50_000)).is_empty());
        let due = refusals.due(Time(61_001));
        assert_eq!(due.len(), 1, "{due:?}");
        assert_eq!((due[0].times, due[0].first, due[0].at), (Some(999), Some(Time(2)), Time(1_000)));
        assert!(refusals.pass(refusal("eve", "bank/pay", 70_000)).is_some(), "told anew");
    }

    #[test]
    fn a_caller_who_varies_what_it_asks_for_does_not_get_a_line_for_each() {
        let mut refusals = Refusals::default();
        let written = (0..10_000).filter(|n| refusals.pass(refusal("eve", &format!("x/{n}"), 1)).is_some()).count();
        assert!(written <= 65, "{written}");
        let so_far = refusals.so_far();
        assert_eq!(so_far.iter().filter_map(|line| line.times).sum::<u64>() as usize + written, 10_000);
        assert!(refusals.so_far().is_empty(), "told already");
    }
}
