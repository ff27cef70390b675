//! Novelty check of an answer: compared as words, and as text without the paths of workspaces.

use std::collections::BTreeSet;

use super::{Refusal, Seat, Team, TeamPlan};

impl Team {
    /// Why this text is not a new answer, if it is not.
    pub(super) fn stale(&self, text: &str) -> Option<Refusal> {
        let latest = || self.seats().filter_map(|seat: Seat| self.answer(seat));
        let neutral = neutralised(&self.plan, text);
        if latest().any(|given| neutralised(&self.plan, &given.text) == neutral) {
            return Some(Refusal::Duplicate);
        }
        let limit = self.plan.rules.novelty.limit()?;
        latest().any(|given| overlap(text, &given.text).above(limit)).then_some(Refusal::NotNovel)
    }
}

/// Two answers that differ only in whose workspace they name are the same.
fn neutralised(plan: &TeamPlan, text: &str) -> String {
    let mut text = text.trim().to_owned();
    for workspace in plan.members.iter().filter_map(|member| member.workspace.as_deref()) {
        if !workspace.is_empty() {
            text = text.replace(workspace, "<workspace>");
        }
    }
    text
}

/// How many of the words of two texts are in both.
struct Overlap {
    common: usize,
    all: usize,
}

impl Overlap {
    fn above(&self, percent: usize) -> bool {
        self.common * 100 > self.all * percent
    }
}

/// Words are lower-cased and parted by white space. Two empty texts are the same, one empty one has nothing in common.
fn overlap(one: &str, other: &str) -> Overlap {
    let words = |text: &str| text.split_whitespace().map(str::to_lowercase).collect::<BTreeSet<_>>();
    let (one, other) = (words(one), words(other));
    if one.is_empty() && other.is_empty() {
        return Overlap { common: 1, all: 1 };
    }
    Overlap { common: one.intersection(&other).count(), all: one.union(&other).count() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlap_is_the_share_of_common_words() {
        let share = |one, other| {
            let overlap = overlap(one, other);
            overlap.common * 100 / overlap.all.max(1)
        };
        assert_eq!(share("A b", "b a"), 100);
        assert_eq!(share("a b c d", "a b e f"), 33);
        assert_eq!(share("", " \n"), 100);
        assert_eq!(share("", "a"), 0);
    }

    #[test]
    fn a_share_of_exactly_the_limit_is_allowed() {
        let half = Overlap { common: 1, all: 2 };
        assert!(!half.above(50));
        assert!(half.above(49));
    }
}
