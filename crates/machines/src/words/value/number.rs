//! Numbers in figures and in words.

use crate::words::lexicon::{Lexicon, Locale};

/// More digits than this are no number a person says.
const LONGEST: usize = 32;

pub(super) fn integer(words: &[&str], locale: Locale) -> Option<i64> {
    let lexicon = locale.language.lexicon();
    match words {
        [one] if one.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+')) => {
            let figures = figures(one, lexicon.decimal_point)?;
            (!figures.contains('.')).then(|| figures.parse().ok()).flatten()
        }
        _ => spelled(words, lexicon).map(i64::from),
    }
}

pub(super) fn number(words: &[&str], locale: Locale) -> Option<serde_json::Number> {
    if let Some(whole) = integer(words, locale) {
        return Some(whole.into());
    }
    let [one] = words else { return None };
    let figures = figures(one, locale.language.lexicon().decimal_point)?;
    serde_json::Number::from_f64(figures.parse().ok()?)
}

/// Figures with a point before the decimals and nothing between thousands.
///
/// Where both separators stand, the later one is decimal. One that repeats separates thousands. A single one before
/// exactly three digits is decimal if the language uses it so, else it separates thousands; before any other count of
/// digits it can only be decimal.
fn figures(word: &str, decimal_point: bool) -> Option<String> {
    if word.len() > LONGEST {
        return None;
    }
    let unsigned = word.strip_prefix(['-', '+']).unwrap_or(word);
    let sign = if word.starts_with('-') { "-" } else { "" };
    let bytes = unsigned.as_bytes();
    if !bytes.first()?.is_ascii_digit() || !bytes.last()?.is_ascii_digit() {
        return None;
    }
    if !bytes.iter().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b',')) {
        return None;
    }
    let decimal = decimal_separator(unsigned, decimal_point);
    let (whole, fraction) = match decimal {
        Some(separator) => unsigned.rsplit_once(separator)?,
        None => (unsigned, ""),
    };
    let whole = joined_thousands(whole, decimal)?;
    Some(match fraction {
        "" => format!("{sign}{whole}"),
        _ => format!("{sign}{whole}.{fraction}"),
    })
}

fn decimal_separator(figures: &str, decimal_point: bool) -> Option<char> {
    let last = figures.rfind(['.', ','])?;
    let separator = if figures.as_bytes()[last] == b'.' { '.' } else { ',' };
    let other = if separator == '.' { ',' } else { '.' };
    if figures.contains(other) {
        return Some(separator);
    }
    if figures.matches(separator).count() > 1 {
        return None;
    }
    let usual = if decimal_point { '.' } else { ',' };
    (separator == usual || figures.len() - last - 1 != 3).then_some(separator)
}

/// The whole part without separators, which must stand before groups of three, and be one and the same.
fn joined_thousands(whole: &str, decimal: Option<char>) -> Option<String> {
    let Some(at) = whole.find(['.', ',']) else { return Some(whole.to_owned()) };
    let separator = if whole.as_bytes()[at] == b'.' { '.' } else { ',' };
    if decimal == Some(separator) || at == 0 || at > 3 {
        return None;
    }
    let grouped =
        whole[at + 1..].split(separator).all(|group| group.len() == 3 && group.bytes().all(|b| b.is_ascii_digit()));
    grouped.then(|| whole.replace(separator, ""))
}

/// A number in words below one hundred.
pub(super) fn spelled(words: &[&str], lexicon: &Lexicon) -> Option<u8> {
    let lookup = |word: &str| lexicon.numbers.iter().find(|(spelling, _)| *spelling == word).map(|(_, n)| *n);
    let sum = |tens: &str, ones: &str| match (lookup(tens)?, lookup(ones)?) {
        (tens @ 20..=90, ones @ 1..=9) if tens % 10 == 0 => Some(tens + ones),
        _ => None,
    };
    match (words, lexicon.and) {
        ([one], _) => lookup(one).or_else(|| one.split_once('-').and_then(|(tens, ones)| sum(tens, ones))),
        ([tens, ones], None) => sum(tens, ones),
        ([tens, and, ones], Some(joint)) if *and == joint => sum(tens, ones),
        _ => None,
    }
}
