//! Slot filling from a sentence: the values in it for a skill that was found by ranking.
//!
//! Nothing is guessed. A value fills a parameter if no other parameter and no other value is possible, or if the parameter's name precedes
//! it; any other value is [`Unclear`], and the speaker is asked. Numbers and quoted texts fill required parameters only. A parameter that
//! holds a secret is never filled: sentences are shown and logged.
//!
//! The work is linear in the sentence and in the schema, and both are bounded.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::field::{Field, behind, field, required};
use super::fold::fold;
use super::lexicon::any_has;
use super::token::{Token, core, said, tokens};
use super::value::{Kind, Wanted};
use crate::audit::arguments::is_secret;
use interlingua_model::card::Skill;
use interlingua_model::id::Text;
use interlingua_model::json::{Json, Tree};

/// A skill with more parameters, or with more values to choose from, is given nothing: part of them would be a guess.
pub const MAX_PARAMETERS: usize = 256;
pub const MAX_VALUES: usize = 20_000;
/// No value that has more words is looked for.
const MAX_WORDS: usize = 6;
/// How many values and parameters a question names.
const MAX_SHOWN: usize = 8;
/// Digits that every reader of JSON takes exactly.
const MAX_DIGITS: usize = 15;

/// What a sentence says of a skill's parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct Given {
    /// One object.
    pub args: Json,
    /// What must be asked first.
    pub unclear: Vec<Unclear>,
}

/// Values and the parameters they could be for: several of one of them at least, or a yes or no that is not clear.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unclear {
    /// As they were said.
    pub said: Vec<Text>,
    pub names: Vec<Text>,
}

/// What the text gives `skill`. `answered` was given otherwise and is not looked for; `meant` is the parameter that a value
/// was said to be for.
pub fn given(skill: &Skill, text: &str, answered: Option<&Json>, meant: Option<&str>) -> Given {
    let nothing = Given { args: Json::empty_object(), unclear: Vec::new() };
    let Some(tokens) = tokens(text).map(|tokens| pairs_apart(text, tokens)) else { return nothing };
    let Some(parameters) = parameters(skill, answered) else { return nothing };
    let mut reader = Reader {
        text,
        taken: vec![false; tokens.len()],
        labels: tokens.iter().map(|token| label(text, token)).collect(),
        tokens,
        filled: vec![None; parameters.len()],
        parameters,
        own: names(&skill.id.skill.0).into_iter().collect(),
        meant,
        unclear: Vec::new(),
    };
    let choices = reader.choices();
    reader.by_name(&choices);
    reader.booleans();
    reader.chosen(&choices);
    reader.numbers(&choices);
    reader.dates();
    reader.quotations();
    reader.finish()
}

#[derive(Debug)]
struct Parameter {
    name: Text,
    words: Vec<String>,
    field: Field,
    required: bool,
}

/// None: there are too many.
fn parameters(skill: &Skill, answered: Option<&Json>) -> Option<Vec<Parameter>> {
    let Some(properties) = skill.input.0.get("properties").and_then(Tree::as_object) else { return Some(Vec::new()) };
    if properties.len() > MAX_PARAMETERS {
        return None;
    }
    let required = required(&skill.input);
    let known = |name: &str| answered.is_some_and(|args| args.get(name).is_some());
    let secret =
        |name: &str, schema: &Tree| is_secret(name, schema) || is_secret(name, behind(skill.input.0.tree(), schema));
    let open = properties.iter().filter(|(name, schema)| !known(name) && !secret(name, schema));
    let parameters: Vec<Parameter> = open
        .filter_map(|(name, _)| {
            Some(Parameter {
                name: name.as_str().into(),
                words: names(name),
                field: field(&skill.input, name)?,
                required: required.iter().any(|required| **required == **name),
            })
        })
        .collect();
    let values = parameters.iter().map(|parameter| match &parameter.field.kind {
        Kind::Choice(picks) => picks.len(),
        _ => 0,
    });
    (values.sum::<usize>() <= MAX_VALUES).then_some(parameters)
}

/// `status=open` is a name and its value.
fn pairs_apart(text: &str, tokens: Vec<Token>) -> Vec<Token> {
    let apart = |token: Token| {
        let cut = text[token.start..token.end].find('=').filter(|_| token.quoted.is_none());
        match cut.map(|cut| token.start + cut) {
            Some(cut) if token.start < cut && cut + 1 < token.end => {
                let half = |start, end| Token { start, end, core: core(&text[start..end]), quoted: None };
                vec![half(token.start, cut), half(cut + 1, token.end)]
            }
            Some(_) | None => vec![token],
        }
    };
    tokens.into_iter().flat_map(apart).collect()
}

/// `orderId` and `order_id` are said `order id`.
fn names(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut small = false;
    for c in name.chars() {
        if !c.is_alphanumeric() || (small && c.is_uppercase()) {
            words.push(String::new());
        }
        small = c.is_lowercase() || c.is_numeric();
        if let Some(word) = words.last_mut().filter(|_| c.is_alphanumeric()) {
            word.push(c);
        }
    }
    words.iter().filter(|word| !word.is_empty()).map(|word| fold(word)).collect()
}

/// The names that a token spells. A quoted token names nothing.
fn label(text: &str, token: &Token) -> Vec<String> {
    if token.quoted.is_some() { Vec::new() } else { names(&text[token.start..token.end]) }
}

/// One of the values of a parameter, where it was said.
#[derive(Debug, Clone)]
struct Said {
    parameter: usize,
    start: usize,
    end: usize,
    value: Tree,
}

impl Said {
    fn is_within(&self, other: &Said) -> bool {
        other.start <= self.start && self.end <= other.end && other.end - other.start > self.end - self.start
    }
}

struct Reader<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    /// Of each token, what it says as a name.
    labels: Vec<Vec<String>>,
    /// Tokens that are a name or a value already.
    taken: Vec<bool>,
    parameters: Vec<Parameter>,
    filled: Vec<Option<Tree>>,
    /// Words of the skill's own name: they say which skill is meant, not what with.
    own: HashSet<String>,
    meant: Option<&'a str>,
    unclear: Vec<Unclear>,
}

impl Reader<'_> {
    /// Every value of a choice that the sentence has, of each parameter the longest.
    fn choices(&self) -> Vec<Said> {
        let runs = self.runs();
        let mut found: Vec<Said> = Vec::new();
        for (index, parameter) in self.parameters.iter().enumerate() {
            let Kind::Choice(picks) = &parameter.field.kind else { continue };
            let mut own: Vec<Said> = Vec::new();
            let mut alike: HashMap<String, usize> = HashMap::new();
            for pick in picks.iter().filter(|pick| !pick.words.is_empty()) {
                let words = pick.words.join(" ");
                let Some(places) = runs.get(&words) else { continue };
                // Two that are spelt alike are enough to see that it is not clear which is meant.
                let count = alike.entry(words).or_default();
                *count += 1;
                if *count <= 2 {
                    let said = |(start, end)| Said { parameter: index, start, end, value: pick.value.clone() };
                    own.extend(places.iter().copied().map(said));
                }
            }
            own.sort_by_key(|said| (said.start, std::cmp::Reverse(said.end)));
            // A longer value hides what stands within it.
            let mut longest: Option<Said> = None;
            for said in own {
                if !longest.as_ref().is_some_and(|longer| said.is_within(longer)) {
                    longest = Some(said.clone());
                    found.push(said);
                }
            }
        }
        found
    }

    /// The places of each run of words.
    fn runs(&self) -> HashMap<String, Vec<(usize, usize)>> {
        let mut runs: HashMap<String, Vec<(usize, usize)>> = HashMap::new();
        for (start, token) in self.tokens.iter().enumerate() {
            if let Some((from, to)) = token.quoted {
                let inner = tokens(&self.text[from..to]).unwrap_or_default();
                let words: Vec<&str> = inner.iter().map(|token| token.core.as_str()).collect();
                runs.entry(words.join(" ")).or_default().push((start, start + 1));
                continue;
            }
            let mut words = String::new();
            let unquoted = self.tokens[start..].iter().take(MAX_WORDS).take_while(|token| token.quoted.is_none());
            for (count, token) in unquoted.enumerate() {
                if count > 0 {
                    words.push(' ');
                }
                words.push_str(&token.core);
                runs.entry(words.clone()).or_default().push((start, start + count + 1));
            }
        }
        runs
    }

    /// Values that stand right behind the name of their parameter. Longer names first: `order id 5` names `order_id`, not `id`.
    fn by_name(&mut self, choices: &[Said]) {
        let at: HashMap<(usize, usize), &Said> =
            choices.iter().rev().map(|said| ((said.parameter, said.start), said)).collect();
        let mut order: Vec<usize> = (0..self.parameters.len()).collect();
        order.sort_by_key(|index| std::cmp::Reverse(self.parameters[*index].words.len()));
        for index in order {
            let mut values: Vec<Said> = Vec::new();
            for (start, end) in self.named(index) {
                values.extend(self.value_at(index, start, end, &at));
            }
            for said in &values {
                self.take(said.start, said.end);
            }
            self.assign(&[index], values);
        }
    }

    /// Where the name of a parameter stands.
    fn named(&self, index: usize) -> Vec<(usize, usize)> {
        let words = &self.parameters[index].words;
        if words.is_empty() {
            return Vec::new();
        }
        let is_name = |start: usize| {
            let free = |end: usize| self.taken.get(start..end).is_some_and(|taken| !taken.contains(&true));
            if free(start + 1) && self.labels[start] == *words {
                return Some((start, start + 1));
            }
            let end = start + words.len();
            let run = self.tokens.get(start..end)?;
            let same = run.iter().zip(words).all(|(token, word)| token.core == *word);
            (same && free(end)).then_some((start, end))
        };
        (0..self.tokens.len()).filter_map(is_name).collect()
    }

    /// The value of a named parameter, with the span of name and value.
    fn value_at(
        &self,
        index: usize,
        start: usize,
        end: usize,
        choices: &HashMap<(usize, usize), &Said>,
    ) -> Option<Said> {
        let parameter = &self.parameters[index];
        let next = self.tokens.get(end).filter(|_| !self.taken[end]);
        let single = |value: Tree| Said { parameter: index, start, end: end + 1, value };
        match &parameter.field.kind {
            Kind::Choice(_) => choices.get(&(index, end)).map(|said| Said { start, ..(*said).clone() }),
            Kind::Integer | Kind::Number => number(&next?.core, parameter.field.wanted).map(single),
            Kind::Date => date(&next?.core).filter(|_| parameter.field.wanted == Wanted::Text).map(single),
            Kind::Boolean => truth(&next?.core).map(Tree::from).map(single),
            Kind::Text if parameter.field.wanted == Wanted::Text => {
                let (from, to) = next?.quoted?;
                Some(single(Tree::from(&self.text[from..to])))
            }
            Kind::Text | Kind::Word | Kind::Path | Kind::Time | Kind::Moment | Kind::Email | Kind::Url => None,
        }
    }

    /// A yes or no whose name is said: a no behind `not`, unclear where something else is negated.
    fn booleans(&mut self) {
        let negated = |token: &Token| any_has(|lexicon| lexicon.negations, &token.core);
        let denies = self.tokens.iter().any(negated);
        for index in 0..self.parameters.len() {
            let parameter = &self.parameters[index];
            let weak = parameter.words.iter().all(|word| self.says_little(word));
            if !matches!(parameter.field.kind, Kind::Boolean) || self.filled[index].is_some() || weak {
                continue;
            }
            let places = self.named(index);
            let Some((start, end)) = places.first().copied() else { continue };
            let before = start.checked_sub(1).is_some_and(|before| negated(&self.tokens[before]));
            match (before, denies) {
                (true, _) => self.filled[index] = Some(Tree::Bool(false)),
                (false, false) => self.filled[index] = Some(Tree::Bool(true)),
                (false, true) => {
                    let names = vec![parameter.name.clone()];
                    self.unclear.push(Unclear { said: Vec::new(), names });
                }
            }
            self.take(start, end);
        }
    }

    /// Values of choices, wherever they stand. Parameters that share a place belong together: what is said there could be for
    /// each of them.
    fn chosen(&mut self, choices: &[Said]) {
        let numbers = self.wants_number();
        let counts = |said: &&Said| self.is_open(said) && !(numbers && said.value.is_number()) && !self.is_weak(said);
        let open: Vec<Said> = choices.iter().filter(counts).cloned().collect();
        let mut leader: Vec<usize> = (0..self.parameters.len()).collect();
        let mut owner: Vec<Option<usize>> = vec![None; self.tokens.len()];
        for said in &open {
            for owned in owner.iter_mut().take(said.end).skip(said.start) {
                let (a, b) = (lead(&leader, said.parameter), lead(&leader, owned.unwrap_or(said.parameter)));
                leader[a.max(b)] = a.min(b);
                *owned = Some(said.parameter);
            }
        }
        let mut groups: BTreeMap<usize, (Vec<usize>, Vec<Said>)> = BTreeMap::new();
        for said in open {
            self.take(said.start, said.end);
            let (group, values) = groups.entry(lead(&leader, said.parameter)).or_default();
            if group.last() != Some(&said.parameter) {
                group.push(said.parameter);
            }
            values.push(said);
        }
        for (group, values) in groups.into_values() {
            self.assign(&group, values);
        }
    }

    /// The one number, for the one required parameter that takes a number.
    fn numbers(&mut self, choices: &[Said]) {
        let mut wanted =
            self.open(|parameter| parameter.required && matches!(parameter.field.kind, Kind::Integer | Kind::Number));
        let Some(first) = wanted.first().copied() else { return };
        let mut values = Vec::new();
        for (at, token) in self.tokens.iter().enumerate().filter(|(at, _)| !self.taken[*at]) {
            if token.quoted.is_some() || !is_figures(&token.core) {
                continue;
            }
            let read = wanted.iter().find_map(|index| number(&token.core, self.parameters[*index].field.wanted));
            // What cannot be read for certain is still a number that was said.
            let value = read.unwrap_or_else(|| Tree::from(self.shown(at, at + 1)));
            values.push(Said { parameter: first, start: at, end: at + 1, value });
        }
        if let [said] = values.as_slice()
            && said.value.is_string()
        {
            return;
        }
        let rivals = choices.iter().filter(|said| said.value.is_number() && self.is_open(said));
        let mut rivals: Vec<usize> = rivals.map(|said| said.parameter).collect();
        rivals.dedup();
        wanted.extend(rivals);
        self.assign(&wanted, values);
    }

    /// The one date in ISO form, for the one parameter that takes a date.
    fn dates(&mut self) {
        let wanted =
            self.open(|parameter| matches!(parameter.field.kind, Kind::Date) && parameter.field.wanted == Wanted::Text);
        let Some(first) = wanted.first().copied() else { return };
        let values = self.tokens.iter().enumerate().filter(|(at, _)| !self.taken[*at]);
        let values = values.filter_map(|(at, token)| {
            Some(Said { parameter: first, start: at, end: at + 1, value: date(&token.core)? })
        });
        self.assign(&wanted, values.collect());
    }

    /// The one quotation, for the one text that is required.
    fn quotations(&mut self) {
        let wanted = self.open(|parameter| {
            let text = matches!(parameter.field.kind, Kind::Text) && parameter.field.wanted == Wanted::Text;
            parameter.required && text
        });
        let Some(first) = wanted.first().copied() else { return };
        let values = self.tokens.iter().enumerate().filter(|(at, _)| !self.taken[*at]);
        let values = values.filter_map(|(at, token)| {
            let (from, to) = token.quoted?;
            Some(Said { parameter: first, start: at, end: at + 1, value: Tree::from(&self.text[from..to]) })
        });
        self.assign(&wanted, values.collect());
    }

    /// Fills the one parameter with the one value; what could go several ways is unclear, unless the speaker said which.
    fn assign(&mut self, wanted: &[usize], mut values: Vec<Said>) {
        let mut seen = HashSet::new();
        values.retain(|said| seen.insert(said.value.to_string()));
        let is_meant = |index: &&usize| self.meant.is_some_and(|meant| *self.parameters[**index].name == *meant);
        let meant = wanted.iter().find(is_meant);
        match (wanted, values.as_slice(), meant) {
            ([], _, _) | (_, [], _) => {}
            ([index], [said], _) | (_, [said], Some(index)) => self.filled[*index] = Some(said.value.clone()),
            (_, several, _) => {
                let mut said: Vec<Text> = Vec::new();
                for value in several.iter().map(|said| self.shown(said.start, said.end)) {
                    if said.len() < MAX_SHOWN && !said.iter().any(|before| **before == *value) {
                        said.push(value.into());
                    }
                }
                let names = wanted.iter().take(MAX_SHOWN).map(|index| self.parameters[*index].name.clone()).collect();
                self.unclear.push(Unclear { said, names });
            }
        }
    }

    fn open(&self, wanted: impl Fn(&Parameter) -> bool) -> Vec<usize> {
        (0..self.parameters.len())
            .filter(|index| self.filled[*index].is_none() && wanted(&self.parameters[*index]))
            .collect()
    }

    fn is_open(&self, said: &Said) -> bool {
        self.filled[said.parameter].is_none() && (said.start..said.end).all(|at| !self.taken[at])
    }

    /// Is a number required that has not been given?
    fn wants_number(&self) -> bool {
        let number = |parameter: &Parameter| matches!(parameter.field.kind, Kind::Integer | Kind::Number);
        !self.open(|parameter| parameter.required && number(parameter)).is_empty()
    }

    /// A choice that is said in passing (`in`, `all`), or names the skill, was not chosen.
    fn is_weak(&self, said: &Said) -> bool {
        let run = &self.tokens[said.start..said.end];
        run.iter().all(|token| token.quoted.is_none() && self.says_little(&token.core))
    }

    fn says_little(&self, word: &str) -> bool {
        self.own.contains(word) || any_has(|lexicon| lexicon.little, word)
    }

    fn take(&mut self, start: usize, end: usize) {
        self.taken[start..end].fill(true);
    }

    /// A value as it stands in the sentence.
    fn shown(&self, start: usize, end: usize) -> &str {
        said(self.text, &self.tokens[start..end])
    }

    fn finish(self) -> Given {
        let filled = self.parameters.iter().zip(self.filled);
        let args = filled.filter_map(|(parameter, value)| Some((parameter.name.to_string(), value?))).collect();
        Given { args: Json::from_tree(Tree::Object(args)), unclear: self.unclear }
    }
}

/// The first parameter of the group that this one belongs to.
fn lead(leader: &[usize], mut index: usize) -> usize {
    while leader[index] != index {
        index = leader[index];
    }
    index
}

/// Figures, with or without separators.
pub(super) fn is_figures(core: &str) -> bool {
    let unsigned = core.strip_prefix(['-', '+']).unwrap_or(core);
    unsigned.starts_with(|c: char| c.is_ascii_digit())
        && unsigned.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b','))
}

/// A number that is read alike in every language: `1.000` and `1,000` are not.
fn number(core: &str, wanted: Wanted) -> Option<Tree> {
    let unsigned = core.strip_prefix(['-', '+']).unwrap_or(core);
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if unsigned.len() > MAX_DIGITS {
        return None;
    }
    if digits(unsigned) {
        return core.strip_prefix('+').unwrap_or(core).parse::<i64>().ok().map(Tree::from);
    }
    let (whole, fraction) = unsigned.split_once('.').filter(|_| wanted == Wanted::Number)?;
    let thousands = fraction.len() == 3 && whole.len() <= 3 && whole != "0";
    let plain = digits(whole) && digits(fraction) && !thousands;
    plain.then(|| core.parse::<f64>().ok())?.and_then(serde_json::Number::from_f64).map(Tree::Number)
}

/// `2026-12-01`.
fn date(core: &str) -> Option<Tree> {
    const SHAPE: &str = "0000-00-00";
    let shaped = core.len() == SHAPE.len()
        && core.bytes().zip(SHAPE.bytes()).all(|(byte, shape)| match shape {
            b'0' => byte.is_ascii_digit(),
            other => byte == other,
        });
    shaped.then(|| core.parse::<jiff::civil::Date>().ok())?.map(|date| Tree::from(date.to_string()))
}

fn truth(core: &str) -> Option<bool> {
    let yes = any_has(|lexicon| lexicon.yes, core) || any_has(|lexicon| lexicon.on, core);
    let no = any_has(|lexicon| lexicon.no, core) || any_has(|lexicon| lexicon.off, core);
    (yes != no).then_some(yes)
}
