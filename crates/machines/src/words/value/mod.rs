//! Values by type: from some words of a text to JSON.
//!
//! A reader takes a whole run of words or refuses it; it never takes what could be meant in two ways (`5/1` where both
//! orders are usual, `at 5` without morning or evening). The clock is passed in.

mod date;
mod number;
#[cfg(test)]
mod tests;
mod time;

use super::lexicon::{Language, Locale};
use super::token::{Token, said};
use interlingua_model::id::Time;
use interlingua_model::json::Tree;

/// Now, and how far the speaker's wall clock is from UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clock {
    pub now: Time,
    pub offset_minutes: i16,
}

impl From<Time> for Clock {
    fn from(now: Time) -> Clock {
        Clock { now, offset_minutes: 0 }
    }
}

impl Clock {
    /// The date on the speaker's calendar.
    pub(super) fn today(self) -> jiff::civil::Date {
        let millis =
            i64::try_from(self.now.0).unwrap_or(i64::MAX).saturating_add(i64::from(self.offset_minutes) * 60_000);
        let stamp = jiff::Timestamp::from_millisecond(millis).unwrap_or(jiff::Timestamp::MAX);
        jiff::tz::Offset::UTC.to_datetime(stamp).date()
    }

    /// `Z`, or `+02:00`.
    fn suffix(self) -> String {
        let minutes = self.offset_minutes.unsigned_abs();
        match self.offset_minutes {
            0 => "Z".to_owned(),
            1.. => format!("+{:02}:{:02}", minutes / 60, minutes % 60),
            _ => format!("-{:02}:{:02}", minutes / 60, minutes % 60),
        }
    }
}

/// The type of a slot.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    Text,
    Word,
    Path,
    Number,
    Integer,
    Date,
    Time,
    /// A date and a time of day.
    Moment,
    Email,
    Url,
    Boolean,
    Choice(Vec<Pick>),
}

/// One of a choice: how it is said, and the value it stands for.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Pick {
    pub(super) words: Vec<String>,
    pub(super) value: Tree,
}

impl Pick {
    pub(super) fn new(spelling: &str, value: Tree) -> Pick {
        let words = super::token::tokens(spelling).unwrap_or_default().into_iter().map(|token| token.core).collect();
        Pick { words, value }
    }
}

impl Kind {
    /// The kind a pattern names.
    pub(super) fn named(name: &str) -> Option<Kind> {
        Some(match name {
            "text" => Kind::Text,
            "word" => Kind::Word,
            "path" => Kind::Path,
            "number" => Kind::Number,
            "integer" => Kind::Integer,
            "date" => Kind::Date,
            "time" => Kind::Time,
            "datetime" => Kind::Moment,
            "email" => Kind::Email,
            "url" => Kind::Url,
            "boolean" => Kind::Boolean,
            _ => return None,
        })
    }

    /// The most words a value of this kind can have.
    pub(super) fn reach(&self) -> usize {
        match self {
            Kind::Text => super::token::MAX_TOKENS,
            Kind::Word | Kind::Path | Kind::Email | Kind::Url | Kind::Boolean => 1,
            Kind::Number | Kind::Integer => 3,
            Kind::Date => date::REACH,
            Kind::Time => time::REACH,
            Kind::Moment => date::REACH + time::REACH,
            Kind::Choice(options) => options.iter().map(|option| option.words.len()).max().unwrap_or(0),
        }
    }
}

/// What was read.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Text(String),
    Number(serde_json::Number),
    Boolean(bool),
    Date(jiff::civil::Date),
    Time(jiff::civil::Time),
    Moment(jiff::civil::DateTime),
    Chosen(Tree),
}

/// A text with its words, in the language it is read in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reading<'a> {
    pub(super) text: &'a str,
    pub(super) clock: Clock,
    pub(super) locale: Locale,
}

impl Reading<'_> {
    /// The whole run as a value of this kind, read in the locale first and in the other languages after.
    pub(super) fn read(&self, kind: &Kind, run: &[Token]) -> Option<Value> {
        let text = said(self.text, run);
        match kind {
            Kind::Text => free_text(self.text, run).map(Value::Text),
            Kind::Word => single(run).filter(|_| !text.is_empty()).map(|_| Value::Text(text.to_owned())),
            Kind::Path => single(run).and_then(|token| path(self.text, token)),
            Kind::Email => single(run).filter(|_| is_email(text)).map(|_| Value::Text(text.to_owned())),
            Kind::Url => single(run).filter(|_| is_url(text)).map(|_| Value::Text(text.to_owned())),
            Kind::Choice(options) => options
                .iter()
                .find(|option| !option.words.is_empty() && same_words(&option.words, run, self.text))
                .map(|option| Value::Chosen(option.value.clone())),
            Kind::Number | Kind::Integer | Kind::Date | Kind::Time | Kind::Moment | Kind::Boolean => {
                let words: Vec<&str> = run.iter().map(|token| token.core.as_str()).collect();
                self.locales().find_map(|locale| self.read_words(kind, &words, locale))
            }
        }
    }

    fn read_words(&self, kind: &Kind, words: &[&str], locale: Locale) -> Option<Value> {
        match kind {
            Kind::Number => number::number(words, locale).map(Value::Number),
            Kind::Integer => number::integer(words, locale).map(|whole| Value::Number(whole.into())),
            Kind::Date => date::date(words, self.clock, locale).map(Value::Date),
            Kind::Time => time::time(words, locale).map(Value::Time),
            Kind::Moment => self.moment(words, locale).map(Value::Moment),
            Kind::Boolean => boolean(words, locale).map(Value::Boolean),
            Kind::Text | Kind::Word | Kind::Path | Kind::Email | Kind::Url | Kind::Choice(_) => None,
        }
    }

    fn locales(&self) -> impl Iterator<Item = Locale> {
        let own = self.locale;
        let others = Language::ALL.into_iter().filter(move |language| *language != own.language);
        // The order of day and month stays the speaker's: another language's habit must not decide it.
        std::iter::once(own).chain(others.map(move |language| Locale { language, slash: own.slash }))
    }

    /// A date, then a time; or a time, then a date.
    fn moment(&self, words: &[&str], locale: Locale) -> Option<jiff::civil::DateTime> {
        if let [one] = words
            && let Ok(moment) = one.to_ascii_uppercase().parse::<jiff::civil::DateTime>()
            && one.contains('t')
        {
            return Some(moment);
        }
        (1..words.len()).find_map(|cut| {
            let (left, right) = words.split_at(cut);
            let read = |day, hour| Some(date::date(day, self.clock, locale)?.to_datetime(time::time(hour, locale)?));
            read(left, right).or_else(|| read(right, left))
        })
    }
}

/// What was said; where that is nothing but punctuation, the punctuation.
fn free_text(text: &str, run: &[Token]) -> Option<String> {
    let (first, last) = (run.first()?, run.last()?);
    let said = said(text, run);
    Some(if said.is_empty() { &text[first.start..last.end] } else { said }.to_owned())
}

fn single(run: &[Token]) -> Option<&Token> {
    match run {
        [one] => Some(one),
        _ => None,
    }
}

fn same_words(words: &[String], run: &[Token], text: &str) -> bool {
    match run {
        [Token { quoted: Some((start, end)), .. }] => {
            super::token::tokens(&text[*start..*end]).is_some_and(|inner| equal_cores(words, &inner))
        }
        _ => equal_cores(words, run),
    }
}

fn equal_cores(words: &[String], run: &[Token]) -> bool {
    words.len() == run.len() && words.iter().zip(run).all(|(word, token)| *word == token.core)
}

/// A path keeps its dots: `.`, `..` and `src/..` are paths, while the full stop after `notes.txt.` ends a sentence.
fn path(text: &str, token: &Token) -> Option<Value> {
    if let Some((start, end)) = token.quoted {
        return Some(Value::Text(text[start..end].to_owned()));
    }
    let word = text[token.start..token.end].trim_end_matches([',', ';', ':', '!', '?']);
    let path = match word.strip_suffix('.') {
        Some(rest) if !rest.is_empty() && !rest.ends_with(['.', '/', '\\']) => rest,
        _ => word,
    };
    (!path.is_empty()).then(|| Value::Text(path.to_owned()))
}

/// Something, one at-sign, a name with a dot. Whether anyone reads mail there only sending would tell.
fn is_email(text: &str) -> bool {
    let Some((user, host)) = text.split_once('@') else { return false };
    let label = |label: &str| !label.is_empty() && label.chars().all(|c| c.is_alphanumeric() || c == '-');
    !user.is_empty() && !user.contains(['<', '>', ',', ';', '"']) && host.contains('.') && host.split('.').all(label)
}

fn is_url(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once("://") else { return false };
    let scheme_ok = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'));
    scheme_ok && !rest.is_empty() && !rest.contains(['<', '>', '"'])
}

fn boolean(words: &[&str], locale: Locale) -> Option<bool> {
    let [word] = words else { return None };
    let lexicon = locale.language.lexicon();
    let listed = |lists: [&[&str]; 2]| lists.into_iter().any(|list| list.contains(word));
    match (listed([lexicon.yes, lexicon.on]), listed([lexicon.no, lexicon.off])) {
        (true, false) => Some(true),
        (false, true) => Some(false),
        (false, false) | (true, true) => None,
    }
}

/// The JSON type a property asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    Text,
    /// Text that obeys `format: time` (RFC 3339 full-time).
    FullTime,
    Integer,
    Number,
    Boolean,
    List,
    Anything,
}

impl Value {
    /// As JSON of the wanted type; `said` is what was written, for a property that wants text whatever the slot says.
    /// None: it does not fit.
    pub(super) fn tree(self, wanted: Wanted, said: &str, clock: Clock) -> Option<Tree> {
        let tree = match (self, wanted) {
            (Value::Time(time), Wanted::FullTime) => {
                Tree::String(format!("{}{}", time.strftime("%H:%M:%S"), clock.suffix()))
            }
            (Value::Number(_) | Value::Boolean(_), Wanted::Text | Wanted::FullTime) => Tree::String(said.to_owned()),
            (Value::Text(text), Wanted::List) => Tree::Array(split_list(&text)),
            (value, Wanted::List) => Tree::Array(vec![value.plain(clock)]),
            (
                value,
                Wanted::Text | Wanted::FullTime | Wanted::Integer | Wanted::Number | Wanted::Boolean | Wanted::Anything,
            ) => value.plain(clock),
        };
        let fits = match wanted {
            Wanted::Text | Wanted::FullTime => tree.is_string(),
            Wanted::Integer => tree.is_i64() || tree.is_u64(),
            Wanted::Number => tree.is_number(),
            Wanted::Boolean => tree.is_boolean(),
            Wanted::List | Wanted::Anything => true,
        };
        fits.then_some(tree)
    }

    fn plain(self, clock: Clock) -> Tree {
        match self {
            Value::Text(text) => Tree::String(text),
            Value::Number(number) => Tree::Number(number),
            Value::Boolean(flag) => Tree::Bool(flag),
            Value::Date(date) => Tree::String(date.to_string()),
            Value::Time(time) => Tree::String(time.strftime("%H:%M").to_string()),
            Value::Moment(moment) => {
                Tree::String(format!("{}{}", moment.strftime("%Y-%m-%dT%H:%M:%S"), clock.suffix()))
            }
            Value::Chosen(tree) => tree,
        }
    }
}

/// `a, b, c`.
fn split_list(text: &str) -> Vec<Tree> {
    text.split(',').map(str::trim).filter(|item| !item.is_empty()).map(|item| Tree::String(item.to_owned())).collect()
}
