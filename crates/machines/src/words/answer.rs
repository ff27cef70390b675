//! An answer in words to a question of the hub.
//!
//! An answer to a form is read by the types of its fields; consent must be a yes or no of the language. Text that does not fit is not
//! guessed at: the owner of the question asks again.

use super::field::{Field, field, required};
use super::fold::fold;
use super::lexicon::{Language, Locale};
use super::matcher::without_courtesy;
use super::token::{Token, core, said, tokens};
use super::value::{Clock, Kind, Reading};
use interlingua_model::card::Schema;
use interlingua_model::id::Text;
use interlingua_model::json::{Json, Tree};
use interlingua_model::question::Choice;

/// What a text says to a form.
#[derive(Debug, Clone, PartialEq)]
pub enum FormAnswer {
    /// One object that has every required field.
    Given(Json),
    /// The speaker wants none of it.
    Cancel,
    Unfit,
}

/// What a text says to a question for consent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consent {
    Yes,
    No,
    Cancel,
    Unclear,
}

/// Yes or no of the locale; where none is known, of any language spoken here as long as they agree.
pub fn consent(text: &str, locale: Option<Locale>) -> Consent {
    let Some(said) = normal(text) else { return Consent::Unclear };
    let languages = locale.map_or(Language::ALL.to_vec(), |locale| vec![locale.language]);
    let listed = |list: fn(Language) -> &'static [&'static str]| {
        languages.iter().any(|language| list(*language).contains(&said.as_str()))
    };
    let yes = listed(|language| language.lexicon().yes);
    let no = listed(|language| language.lexicon().no);
    match (yes, no) {
        (true, false) => Consent::Yes,
        (false, true) => Consent::No,
        (true, true) => Consent::Unclear,
        (false, false) if is_cancel(text) => Consent::Cancel,
        (false, false) => Consent::Unclear,
    }
}

/// `cancel`, `cancelar` and their like, in any language spoken here.
pub fn is_cancel(text: &str) -> bool {
    let Some(said) = normal(text) else { return false };
    Language::ALL.into_iter().any(|language| language.lexicon().cancel.contains(&said.as_str()))
}

/// The folded words of a short text, one space between them, courtesy left off.
fn normal(text: &str) -> Option<String> {
    // Nobody says yes or no at greater length.
    const LONGEST: usize = 128;
    let tokens = tokens(text).filter(|_| text.len() <= LONGEST)?;
    let plain = without_courtesy(&tokens);
    Some(plain.iter().map(|token| token.core.as_str()).collect::<Vec<_>>().join(" "))
}

/// Reads a text as an answer to a form. Where there are choices the text must be one of them: its id, its text or its
/// number in the list.
pub fn to_form(
    form: &Schema,
    choices: &[Choice],
    text: &str,
    clock: impl Into<Clock>,
    locale: Option<Locale>,
) -> FormAnswer {
    if is_cancel(text) {
        return FormAnswer::Cancel;
    }
    let locale = locale.unwrap_or_else(|| Locale::detect(None, text));
    let reader = FormReader { form, clock: clock.into(), locale, names: required(form) };
    let given = match (choices, &reader.names[..]) {
        ([], [name]) => reader.one(name, text),
        ([], _) => reader.several(text),
        (choices, _) => reader.chosen(choices, text),
    };
    given.map_or(FormAnswer::Unfit, |fields| {
        FormAnswer::Given(Json::from_tree(Tree::Object(fields.into_iter().collect())))
    })
}

struct FormReader<'a> {
    form: &'a Schema,
    clock: Clock,
    locale: Locale,
    names: Vec<Text>,
}

type Fields = Vec<(String, Tree)>;

impl FormReader<'_> {
    fn field(&self, name: &str) -> Field {
        field(self.form, name).unwrap_or(Field { kind: Kind::Text, wanted: super::value::Wanted::Anything })
    }

    /// The whole text is the value, with or without `name:` before it.
    fn one(&self, name: &Text, text: &str) -> Option<Fields> {
        let value = match text.split_once([':', '=']) {
            Some((label, value)) if same_name(label, name) => value,
            _ => text,
        };
        Some(vec![(name.to_string(), self.value(name, value)?)])
    }

    fn value(&self, name: &str, text: &str) -> Option<Tree> {
        let field = self.field(name);
        let Some(tokens) = tokens(text) else { return long_text(&field, text) };
        let reading = Reading { text, clock: self.clock, locale: self.locale };
        let read = |run: &[Token]| reading.read(&field.kind, run)?.tree(field.wanted, said(text, run), self.clock);
        read(&tokens).or_else(|| read(without_courtesy(&tokens)))
    }

    /// A JSON object; or `name: value` for each field; or the values in the order of the form.
    fn several(&self, text: &str) -> Option<Fields> {
        if text.trim_start().starts_with('{') {
            return self.object(text);
        }
        // One piece more than there are fields is enough to see that they do not fit.
        let limit = self.names.len() + 1;
        let pieces: Vec<&str> =
            text.split([',', ';', '\n']).map(str::trim).filter(|piece| !piece.is_empty()).take(limit).collect();
        if pieces.len() != self.names.len() || pieces.is_empty() {
            return None;
        }
        let labelled = |piece: &str| {
            let (label, value) = piece.split_once([':', '='])?;
            let name = self.names.iter().find(|name| same_name(label, name))?;
            Some((name.to_string(), self.value(name, value)?))
        };
        let by_name: Option<Fields> = pieces.iter().map(|piece| labelled(piece)).collect();
        let in_order = || {
            self.names
                .iter()
                .zip(&pieces)
                .map(|(name, piece)| Some((name.to_string(), self.value(name, piece)?)))
                .collect()
        };
        by_name.filter(|fields| self.complete(fields)).or_else(in_order)
    }

    fn complete(&self, fields: &Fields) -> bool {
        self.names.iter().all(|name| fields.iter().any(|(given, _)| **given == **name))
    }

    fn object(&self, text: &str) -> Option<Fields> {
        let json = Json::parse(bytes::Bytes::copy_from_slice(text.trim().as_bytes())).ok()?;
        let fields: Fields =
            json.tree().as_object()?.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        self.complete(&fields).then_some(fields)
    }

    fn chosen(&self, choices: &[Choice], text: &str) -> Option<Fields> {
        let said = normal(text)?;
        let equal = |choice: &&Choice| same_text(&choice.id, &said) || same_text(&choice.text, &said);
        let numbered = || {
            let number: usize = said.parse().ok()?;
            choices.get(number.checked_sub(1)?)
        };
        // The last part of an id is enough where no other choice ends the same way.
        let short = || {
            let mut ends =
                choices.iter().filter(|choice| choice.id.rsplit('/').next().is_some_and(|end| same_text(end, &said)));
            ends.next().filter(|_| ends.next().is_none())
        };
        let choice = choices.iter().find(equal).or_else(short).or_else(numbered)?;
        let name = self.names.first().map_or("choice", |name| name);
        Some(vec![(name.to_owned(), Tree::from(&*choice.id))])
    }
}

/// A text too long to be taken apart can still be a text.
fn long_text(field: &Field, text: &str) -> Option<Tree> {
    matches!(field.kind, Kind::Text).then(|| Tree::from(text.trim()))
}

/// `Departure date` is `departure_date`.
fn same_name(label: &str, name: &str) -> bool {
    // No name of a property is longer, and a whole text is not worth folding to find that out.
    const LONGEST: usize = 128;
    let spaced = |text: &str| fold(text.trim()).replace(['_', '-'], " ");
    label.len() <= LONGEST && spaced(label) == spaced(name)
}

fn same_text(choice: &str, said: &str) -> bool {
    choice.split_whitespace().map(core).collect::<Vec<_>>().join(" ") == said
}
