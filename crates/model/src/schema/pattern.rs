//! Cost of a regular expression, from its text: the number of states when counted repetitions are written out.
//!
//! A character class is many states: the bytes that its characters begin with, and the bytes that follow. The numbers for classes are their
//! measured memory, in units of the state of a plain letter.

/// A property of characters, such as `\p{L}`: hundreds of ranges.
const PROPERTY: u64 = 256;
/// Any character, or all but a few; a class that is written short, such as `\w`.
const WIDE: u64 = 8;

/// Steps that a string costs at most where an expression looks around or back: those are tried, within a bound of the engine.
pub(super) const TRIED: u64 = 2_000;

/// The states of an expression. Never fewer than one; an expression that is not well formed gets some number.
pub(super) fn states(pattern: &str) -> u64 {
    let mut open: Vec<u64> = Vec::new();
    let (mut sum, mut last) = (0_u64, 0_u64);
    let mut rest = pattern.chars();
    while let Some(c) = rest.next() {
        match c {
            '(' => {
                open.push(sum.saturating_add(last));
                (sum, last) = (0, 0);
            }
            ')' => {
                last = sum.saturating_add(last).saturating_add(1);
                sum = open.pop().unwrap_or(0);
            }
            '[' => {
                (sum, last) = (sum.saturating_add(last), class(&mut rest));
            }
            '{' => last = last.saturating_mul(most(&mut rest)),
            '*' | '+' | '?' => {}
            '\\' => (sum, last) = (sum.saturating_add(last), escaped(&mut rest)),
            '.' => (sum, last) = (sum.saturating_add(last), WIDE),
            _ => (sum, last) = (sum.saturating_add(last), 1),
        }
    }
    open.into_iter().fold(sum.saturating_add(last), u64::saturating_add).max(1)
}

/// What follows a backslash; of a property its name too, which is no repetition.
fn escaped(rest: &mut std::str::Chars<'_>) -> u64 {
    match rest.next() {
        Some('p' | 'P') => {
            let mut ahead = rest.clone();
            if ahead.next() == Some('{') {
                *rest = ahead;
                rest.by_ref().take_while(|c| *c != '}').for_each(drop);
            }
            PROPERTY
        }
        Some(c) if c.is_ascii_alphabetic() => WIDE,
        Some(_) | None => 1,
    }
}

/// Passes over a class of characters.
fn class(rest: &mut std::str::Chars<'_>) -> u64 {
    let mut size = 1;
    while let Some(c) = rest.next() {
        match c {
            ']' => break,
            '^' => size = size.max(WIDE),
            '\\' => size = escaped(rest).saturating_add(size).max(WIDE),
            c if !c.is_ascii() => size += 1,
            _ => {}
        }
    }
    size
}

/// The larger number of a counted repetition.
fn most(rest: &mut std::str::Chars<'_>) -> u64 {
    let text: String = rest.take_while(|c| *c != '}').collect();
    let numbers = text.split(',').filter_map(|number| number.trim().parse().ok());
    numbers.max().unwrap_or(1).max(1)
}

/// Does it look around or back? Then it is tried in all ways, not run in one pass.
pub(super) fn is_tried(pattern: &str) -> bool {
    let around = ["(?=", "(?!", "(?<=", "(?<!", "(?>", "\\k", "\\K", "\\G", "(?("];
    let back = || pattern.as_bytes().windows(2).any(|pair| pair[0] == b'\\' && pair[1].is_ascii_digit());
    around.iter().any(|sign| pattern.contains(sign))
        || back()
        || ["*+", "++", "?+", "}+"].iter().any(|sign| pattern.contains(sign))
}
