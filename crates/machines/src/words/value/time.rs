//! Times of day. An hour alone counts only where it can mean one thing: `17`, never `5`.

use jiff::civil::Time;

use super::date::{strip, without_prefixes};
use super::number::spelled;
use crate::words::lexicon::{Lexicon, Locale};

/// `a las 5 y media` is not read, `a las 5 de la tarde` is.
pub(super) const REACH: usize = 6;

#[derive(Clone, Copy)]
enum Half {
    Morning,
    Evening,
}

pub(super) fn time(words: &[&str], locale: Locale) -> Option<Time> {
    let lexicon = locale.language.lexicon();
    let words = without_prefixes(words, lexicon.before_time);
    if let [one] = words
        && let Some((_, hour)) = lexicon.times.iter().find(|(name, _)| name == one)
    {
        return Time::new(*hour, 0, 0, 0).ok();
    }
    let (clock, rest) = words.split_first()?;
    let (clock, glued) = split_glued(clock);
    let (hour, minute) = hour_and_minute(clock, lexicon)?;
    let half = match (half_of(glued), rest) {
        (Some(half), []) => Some(half),
        (None, []) if glued.is_empty() || glued == "h" => None,
        (None, _) if glued.is_empty() => Some(half_said(rest, lexicon)?),
        (Some(_) | None, _) => return None,
    };
    let hour = match (half, hour) {
        (None, 0 | 13..=23) => hour,
        // With minutes it is clock notation, read on 24 hours.
        (None, 1..=12) if minute.is_some() || glued == "h" => hour,
        (Some(Half::Morning), 1..=11) | (Some(Half::Evening), 12) => hour,
        (Some(Half::Morning), 12) => 0,
        (Some(Half::Evening), 1..=11) => hour + 12,
        (Some(_), 13..=23) => hour,
        _ => return None,
    };
    Time::new(hour, minute.unwrap_or(0), 0, 0).ok()
}

/// `5:30pm` is `5:30` and `pm`.
fn split_glued(word: &str) -> (&str, &str) {
    match word.rfind(|c: char| c.is_ascii_digit()) {
        Some(last) => word.split_at(last + 1),
        None => (word, ""),
    }
}

fn half_of(mark: &str) -> Option<Half> {
    match mark {
        "am" | "a.m" | "a" => Some(Half::Morning),
        "pm" | "p.m" | "p" => Some(Half::Evening),
        _ => None,
    }
}

fn half_said(rest: &[&str], lexicon: &Lexicon) -> Option<Half> {
    if let [mark] = rest
        && let Some(half) = half_of(mark)
    {
        return Some(half);
    }
    let said = |list: &[&str]| list.iter().any(|words| strip(rest, words).is_some_and(<[_]>::is_empty));
    match (said(lexicon.am), said(lexicon.pm)) {
        (true, _) => Some(Half::Morning),
        (false, true) => Some(Half::Evening),
        (false, false) => None,
    }
}

/// `17:30`, `17.30`, `17h30`, `17`, `five`.
fn hour_and_minute(clock: &str, lexicon: &Lexicon) -> Option<(i8, Option<i8>)> {
    let figures = |piece: &str| (1..=2).contains(&piece.len()) && piece.bytes().all(|b| b.is_ascii_digit());
    if !clock.starts_with(|c: char| c.is_ascii_digit()) {
        return spelled(&[clock], lexicon).and_then(|hour| i8::try_from(hour).ok()).map(|hour| (hour, None));
    }
    match clock.split_once([':', '.', 'h']) {
        Some((hour, minute)) if figures(hour) && minute.len() == 2 && figures(minute) => {
            Some((hour.parse().ok()?, Some(minute.parse().ok()?)))
        }
        Some(_) => None,
        None => figures(clock).then(|| clock.parse().ok()).flatten().map(|hour| (hour, None)),
    }
}
