//! Intent matching without a model: from a person's text to a skill and its arguments, and from a skill to the question for its missing
//! arguments.
//!
//! [`Matcher`] holds the phrases of all skills, compiled once. A phrase matches the whole text or not at all; what no
//! phrase matches is ranked by the full-text index, and [`rank`] decides whether one hit is good enough; what the sentence
//! gives that skill is read by [`given`]. Nothing here guesses: a tie, a weak hit or a value that could be read in two ways
//! ends in a question ([`say`]).
//!
//! Pure and bounded: time is passed in, texts, patterns and the work of one match have limits, and the same text always
//! gives the same answer. What is deliberately absent: a model, stemming, fuzzy matching, and the decision whether a
//! skill may run (policy and confirmation come later, in the hub).
//!
//! A pattern is words and slots:
//!
//! | written | matches |
//! |---|---|
//! | `find flights` | these words, in any case, with or without accents and punctuation |
//! | `{from}` | the words up to the next fixed one; its type is that of the property in the input schema |
//! | `{on:date}` | a date; also `text word path number integer date time email url boolean` |
//! | `{cabin:choice(economy\|business)}` | one of these |
//! | `[on {date}]` | the same, or nothing |
//! | `(find\|search for)` | one of these |
//! | `\{` | the character itself |

pub mod answer;
mod field;
pub mod fill;
mod fold;
pub mod folded;
pub mod given;
mod lexicon;
mod matcher;
pub mod menu;
mod pattern;
mod program;
pub mod rank;
mod run;
pub mod say;
mod token;
mod value;

#[cfg(test)]
mod tests;

pub use field::{choices, form, missing};
pub(crate) use fold::fold;
pub use lexicon::{Language, Locale};
pub use matcher::{BadPhrase, Found, MAX_CANDIDATES, MAX_PHRASES, Match, Matcher, Problem};
pub use pattern::{BadPattern, Flaw, MAX_PATTERN, MAX_SLOTS, sentences};
pub use token::{MAX_TEXT, MAX_TOKENS};
pub use value::Clock;
