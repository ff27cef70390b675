//! Dates as people write them. Without a year it is the next such day, today included.

use jiff::ToSpan;
use jiff::civil::{Date, Weekday, date as civil};

use super::Clock;
use super::number::spelled;
use crate::words::lexicon::{Lexicon, Locale, SlashOrder};

/// `on the Friday the 1st of May of 2027`.
pub(super) const REACH: usize = 9;

/// No date lies further ahead than this when it is counted in days or weeks.
const FARTHEST_DAYS: u32 = 36_600;

pub(super) fn date(words: &[&str], clock: Clock, locale: Locale) -> Option<Date> {
    let lexicon = locale.language.lexicon();
    let today = clock.today();
    let words = without_prefixes(words, lexicon.before_date);
    if words.is_empty() {
        return None;
    }
    relative(words, today, lexicon)
        .or_else(|| weekday(words, today, lexicon))
        .or_else(|| within(words, today, lexicon))
        .or_else(|| figures(words, today, locale.slash))
        .or_else(|| named_month(words, today, lexicon))
}

/// Drops whichever of the (possibly several-word) prefixes the words begin with, as often as one does.
pub(super) fn without_prefixes<'w, 's>(mut words: &'w [&'s str], prefixes: &[&str]) -> &'w [&'s str] {
    while let Some(rest) = prefixes.iter().filter_map(|prefix| strip(words, prefix)).min_by_key(|rest| rest.len()) {
        words = rest;
    }
    words
}

/// The words after a prefix of one or more words.
pub(super) fn strip<'w, 's>(words: &'w [&'s str], prefix: &str) -> Option<&'w [&'s str]> {
    let mut rest = words;
    for word in prefix.split(' ') {
        match rest.split_first() {
            Some((first, tail)) if *first == word => rest = tail,
            _ => return None,
        }
    }
    Some(rest)
}

fn relative(words: &[&str], today: Date, lexicon: &Lexicon) -> Option<Date> {
    let (_, days) = lexicon.days.iter().find(|(name, _)| strip(words, name).is_some_and(<[_]>::is_empty))?;
    today.checked_add(i64::from(*days).days()).ok()
}

fn listed<const N: usize>(table: &[&[&str]; N], word: &str) -> Option<usize> {
    table.iter().position(|names| names.contains(&word))
}

fn weekday_of(word: &str, lexicon: &Lexicon) -> Option<Weekday> {
    let index = i8::try_from(listed(&lexicon.weekdays, word)?).ok()?;
    Weekday::from_monday_zero_offset(index).ok()
}

/// `Friday`, `this Friday`: today or the next one. `next Friday`: the first after today.
fn weekday(words: &[&str], today: Date, lexicon: &Lexicon) -> Option<Date> {
    let name = |rest: &[&str]| match rest {
        [one] => weekday_of(one, lexicon),
        _ => None,
    };
    let marked = |marks: &[&str]| {
        marks.iter().find_map(|mark| {
            let before = strip(words, mark).and_then(name);
            let after = || words.split_first().filter(|(_, rest)| strip(rest, mark).is_some_and(<[_]>::is_empty));
            before.or_else(|| after().and_then(|(day, _)| name(&[day])))
        })
    };
    if let Some(day) = marked(lexicon.next) {
        return today.nth_weekday(1, day).ok();
    }
    let day = name(words).or_else(|| marked(lexicon.this))?;
    if today.weekday() == day { Some(today) } else { today.nth_weekday(1, day).ok() }
}

/// `in three days`, `dentro de 2 semanas`.
fn within(words: &[&str], today: Date, lexicon: &Lexicon) -> Option<Date> {
    let rest = lexicon.within.iter().find_map(|prefix| strip(words, prefix))?;
    let (unit, count) = rest.split_last()?;
    let count = match count {
        [figures] if figures.bytes().all(|b| b.is_ascii_digit()) => figures.parse().ok()?,
        spelt => u32::from(spelled(spelt, lexicon)?),
    };
    let days = match (lexicon.day.contains(unit), lexicon.week.contains(unit)) {
        (true, _) => count,
        (false, true) => count.checked_mul(7)?,
        (false, false) => return None,
    };
    // Making a span of more days than a calendar has would panic: it is made only of what is near.
    (days <= FARTHEST_DAYS).then(|| today.checked_add(i64::from(days).days()).ok()).flatten()
}

/// `2026-05-01`, `1/5/2026`, `1/5`.
fn figures(words: &[&str], today: Date, order: SlashOrder) -> Option<Date> {
    let [one] = words else { return None };
    let separator = if one.contains('/') { '/' } else { '-' };
    let pieces: Vec<&str> = one.split(separator).take(4).collect();
    let all_figures =
        pieces.iter().all(|piece| (1..=4).contains(&piece.len()) && piece.bytes().all(|b| b.is_ascii_digit()));
    if !all_figures {
        return None;
    }
    match pieces[..] {
        [year, month, day] if year.len() == 4 => valid(year.parse().ok()?, month.parse().ok()?, day.parse().ok()?),
        [first, second, year] if year.len() == 4 => {
            let (month, day) = ordered(first.parse().ok()?, second.parse().ok()?, order)?;
            valid(year.parse().ok()?, month, day)
        }
        [first, second] if separator == '/' => {
            let (month, day) = ordered(first.parse().ok()?, second.parse().ok()?, order)?;
            upcoming(month, day, today)
        }
        _ => None,
    }
}

/// Month and day of two numbers; None when either could be either.
fn ordered(first: i8, second: i8, order: SlashOrder) -> Option<(i8, i8)> {
    match order {
        SlashOrder::DayFirst => Some((second, first)),
        SlashOrder::MonthFirst => Some((first, second)),
        SlashOrder::Unknown if first > 12 || first == second => Some((second, first)),
        SlashOrder::Unknown if second > 12 => Some((first, second)),
        SlashOrder::Unknown => None,
    }
}

/// `May 1`, `1st of May 2027`, `1 de mayo`, with or without the weekday before it, which must then be right.
fn named_month(words: &[&str], today: Date, lexicon: &Lexicon) -> Option<Date> {
    let said_weekday = words.first().and_then(|word| weekday_of(word, lexicon));
    let words = if said_weekday.is_some() { without_prefixes(&words[1..], lexicon.before_date) } else { words };
    let content: Vec<&str> =
        words.iter().copied().filter(|word| !lexicon.of.contains(word) && *word != "the").collect();
    let (first, second, year) = match content[..] {
        [first, second] => (first, second, None),
        [first, second, year] => (first, second, Some(year)),
        _ => return None,
    };
    let (month, day) = match (month_of(first, lexicon), month_of(second, lexicon)) {
        (Some(month), None) => (month, day_of(second, lexicon)?),
        (None, Some(month)) => (month, day_of(first, lexicon)?),
        (Some(_), Some(_)) | (None, None) => return None,
    };
    let date = match year {
        Some(year) if year.len() == 4 => valid(year.parse().ok()?, month, day)?,
        Some(_) => return None,
        None => upcoming(month, day, today)?,
    };
    said_weekday.is_none_or(|weekday| date.weekday() == weekday).then_some(date)
}

fn month_of(word: &str, lexicon: &Lexicon) -> Option<i8> {
    i8::try_from(listed(&lexicon.months, word)? + 1).ok()
}

fn day_of(word: &str, lexicon: &Lexicon) -> Option<i8> {
    let figures = lexicon.ordinal.iter().find_map(|ending| word.strip_suffix(ending)).unwrap_or(word);
    match figures.bytes().all(|b| b.is_ascii_digit()) {
        true => figures.parse().ok(),
        false => spelled(&[word], lexicon).and_then(|day| i8::try_from(day).ok()),
    }
}

fn valid(year: i16, month: i8, day: i8) -> Option<Date> {
    Date::new(year, month, day).ok()
}

/// The next such day. 29 February may be some years ahead.
fn upcoming(month: i8, day: i8, today: Date) -> Option<Date> {
    // A leap day comes back after eight years at the latest.
    const YEARS: i16 = 8;
    if !(1..=12).contains(&month) || day < 1 || day > civil(2000, month, 1).days_in_month() {
        return None;
    }
    (0..=YEARS).find_map(|ahead| valid(today.year().checked_add(ahead)?, month, day).filter(|date| *date >= today))
}
