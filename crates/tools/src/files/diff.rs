//! A unified diff of two texts, as git writes it: three lines of context around each change.
//!
//! Lines are compared by Myers' algorithm after the common beginning and end are set aside. Texts too different for its
//! bounded table are shown as one change: the diff is then longer than it need be, never wrong.

use std::fmt::Write;

const CONTEXT: usize = 3;
/// The table holds the square of this.
const MAX_CHANGES: usize = 600;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Keep,
    Remove,
    Add,
}

/// Empty when nothing changed.
pub(super) fn unified(path: &str, before: &str, after: &str) -> String {
    if before == after {
        return String::new();
    }
    let old: Vec<&str> = before.split_inclusive('\n').collect();
    let new: Vec<&str> = after.split_inclusive('\n').collect();
    let steps = script(&old, &new);
    let shown = path.trim_start_matches('/');
    let mut out = format!("--- a/{shown}\n+++ b/{shown}\n");
    for (from, to) in hunks(&steps) {
        write_hunk(&mut out, &old, &new, &steps, from, to);
    }
    out
}

fn script(old: &[&str], new: &[&str]) -> Vec<Step> {
    let prefix = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let suffix = old[prefix..].iter().rev().zip(new[prefix..].iter().rev()).take_while(|(a, b)| a == b).count();
    let (old_middle, new_middle) = (&old[prefix..old.len() - suffix], &new[prefix..new.len() - suffix]);
    let middle = myers(old_middle, new_middle).unwrap_or_else(|| {
        let removed = std::iter::repeat_n(Step::Remove, old_middle.len());
        removed.chain(std::iter::repeat_n(Step::Add, new_middle.len())).collect()
    });
    let kept = |count| std::iter::repeat_n(Step::Keep, count);
    kept(prefix).chain(middle).chain(kept(suffix)).collect()
}

/// For each number of changes, how far each diagonal reaches; then the way back. `None`: more changes than the bound.
fn myers(old: &[&str], new: &[&str]) -> Option<Vec<Step>> {
    let bound = (old.len() + new.len()).min(MAX_CHANGES);
    let mut reached = vec![0_usize; 2 * bound + 3];
    let mut trace: Vec<Vec<usize>> = Vec::new();
    // Diagonal k (old index minus new index) lives at index k + bound + 1.
    for changes in 0..=bound {
        trace.push(reached[bound + 1 - changes..=bound + 1 + changes].to_vec());
        for at in (bound + 1 - changes..=bound + 1 + changes).step_by(2) {
            let down = at == bound + 1 - changes || (at != bound + 1 + changes && reached[at - 1] < reached[at + 1]);
            let mut x = if down { reached[at + 1] } else { reached[at - 1] + 1 };
            // Diagonals outside of the grid reach nothing.
            let Some(mut y) = (x + bound + 1).checked_sub(at) else { continue };
            while x < old.len() && y < new.len() && old[x] == new[y] {
                x += 1;
                y += 1;
            }
            reached[at] = x;
            if x >= old.len() && y >= new.len() {
                return Some(way_back(&trace, old.len(), new.len()));
            }
        }
    }
    None
}

/// `trace[d]` holds diagonals -d..=d as they were before round d.
fn way_back(trace: &[Vec<usize>], mut x: usize, mut y: usize) -> Vec<Step> {
    let mut steps = Vec::with_capacity(x + y);
    for (changes, reached) in trace.iter().enumerate().skip(1).rev() {
        // Index of diagonal x - y within this round's slice.
        let at = x + changes - y;
        let down = at == 0 || (at != 2 * changes && reached[at - 1] < reached[at + 1]);
        let from = if down { reached[at + 1] } else { reached[at - 1] };
        let begin = if down { from } else { from + 1 };
        while x > begin {
            steps.push(Step::Keep);
            x -= 1;
            y -= 1;
        }
        steps.push(if down { Step::Add } else { Step::Remove });
        if down { y -= 1 } else { x -= 1 }
    }
    steps.extend(std::iter::repeat_n(Step::Keep, x));
    steps.reverse();
    steps
}

/// Spans of steps, changes with their context; those that touch are one.
fn hunks(steps: &[Step]) -> Vec<(usize, usize)> {
    let mut spans: Vec<(usize, usize)> = Vec::new();
    for (at, _) in steps.iter().enumerate().filter(|(_, step)| **step != Step::Keep) {
        let (from, to) = (at.saturating_sub(CONTEXT), (at + CONTEXT + 1).min(steps.len()));
        match spans.last_mut() {
            Some(last) if from <= last.1 => last.1 = to,
            _ => spans.push((from, to)),
        }
    }
    spans
}

fn write_hunk(out: &mut String, old: &[&str], new: &[&str], steps: &[Step], from: usize, to: usize) {
    let count = |span: &[Step], other: Step| span.iter().filter(|step| **step != other).count();
    let (mut o, mut n) = (count(&steps[..from], Step::Add), count(&steps[..from], Step::Remove));
    let (olds, news) = (count(&steps[from..to], Step::Add), count(&steps[from..to], Step::Remove));
    // By convention an empty side is numbered by the line before it.
    let (first_old, first_new) = (o + usize::from(olds > 0), n + usize::from(news > 0));
    let _ = writeln!(out, "@@ -{first_old},{olds} +{first_new},{news} @@");
    for step in &steps[from..to] {
        let (mark, line) = match step {
            Step::Keep => (' ', old[o]),
            Step::Remove => ('-', old[o]),
            Step::Add => ('+', new[n]),
        };
        o += usize::from(*step != Step::Add);
        n += usize::from(*step != Step::Remove);
        let _ = write!(out, "{mark}{line}");
        if !line.ends_with('\n') {
            out.push_str("\n\\ No newline at end of file\n");
        }
    }
}
