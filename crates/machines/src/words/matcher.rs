//! Phrase matcher: the phrases of all skills, and which of them a text matches.

use super::field::{Field, field, missing};
use super::lexicon::{Language, Locale};
use super::pattern::{BadPattern, Flaw, Pattern, parse};
use super::program::{Step, Vocabulary, WordId, assemble, keys};
use super::run::{Exhausted, Filled, Machine, Subject};
use super::token::{Token, said, tokens};
use super::value::{Clock, Kind, Reading};
use interlingua_model::card::{Phrase, Schema, Skill};
use interlingua_model::id::{SkillId, Text, Time, Version};
use interlingua_model::json::{Json, Tree};

/// Over all skills. What is beyond is reported and not compiled.
pub const MAX_PHRASES: usize = 20_000;

/// A list longer than this helps nobody choose.
pub const MAX_CANDIDATES: usize = 8;

/// A phrase that was left out, and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("phrase `{pattern}` of {skill}: {problem}")]
pub struct Problem {
    pub skill: SkillId,
    pub pattern: Text,
    pub problem: BadPhrase,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadPhrase {
    #[error(transparent)]
    Pattern(#[from] BadPattern),
    #[error("there are already {MAX_PHRASES} phrases")]
    TooMany,
}

/// What a text was found to be.
#[derive(Debug, Clone, PartialEq)]
pub enum Match {
    One(Found),
    /// Equally good: the speaker must say which.
    Several(Vec<Found>),
    None,
}

/// A skill whose phrase the text is.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    pub skill: SkillId,
    pub version: Version,
    /// One object with what the text said.
    pub args: Json,
    /// What the skill requires and the text did not say.
    pub missing: Vec<Text>,
    /// The pattern that matched.
    pub phrase: Text,
    /// The language of the pattern: questions about it are asked in this one.
    pub locale: Locale,
}

#[derive(Debug)]
struct Known {
    id: SkillId,
    version: Version,
    input: Schema,
}

#[derive(Debug)]
struct Compiled {
    skill: usize,
    pattern: Text,
    locale: Locale,
    code: Vec<Step>,
    /// Name and field of each slot.
    slots: Vec<(Text, Field)>,
}

/// Compiled once from a set of skills; matching only reads it.
#[derive(Debug, Default)]
pub struct Matcher {
    skills: Vec<Known>,
    phrases: Vec<Compiled>,
    vocabulary: Vocabulary,
    /// By word: the phrases that have it as a key.
    found_by: Vec<Vec<u32>>,
}

/// More fixed words first, then fewer words left to free text, then the language that was hinted at.
type Rank = (usize, usize, bool);

/// A phrase that matches, and how.
type Hit<'a> = (Rank, &'a Compiled, Vec<Filled>);

impl Matcher {
    /// A phrase that cannot be used is reported and left out; the others work. Where a skill is given in several versions
    /// the first one given answers.
    pub fn compile<'a>(skills: impl IntoIterator<Item = &'a Skill>) -> (Matcher, Vec<Problem>) {
        let mut matcher = Matcher::default();
        let mut patterns = Vec::new();
        let mut problems = Vec::new();
        for skill in skills.into_iter().filter(|skill| !skill.phrases.is_empty()) {
            let index = matcher.skills.len();
            matcher.skills.push(Known {
                id: skill.id.clone(),
                version: skill.version.clone(),
                input: skill.input.clone(),
            });
            for phrase in &skill.phrases {
                let added = match patterns.len() < MAX_PHRASES {
                    true => matcher.add(index, phrase).map_err(BadPhrase::from),
                    false => Err(BadPhrase::TooMany),
                };
                match added {
                    Ok(pattern) => patterns.push(pattern),
                    Err(problem @ BadPhrase::TooMany) => {
                        problems.push(Problem { skill: skill.id.clone(), pattern: phrase.pattern.clone(), problem });
                        matcher.index(&patterns);
                        return (matcher, problems);
                    }
                    Err(problem @ BadPhrase::Pattern(_)) => {
                        problems.push(Problem { skill: skill.id.clone(), pattern: phrase.pattern.clone(), problem });
                    }
                }
            }
        }
        matcher.index(&patterns);
        (matcher, problems)
    }

    /// How many phrases it knows.
    pub fn len(&self) -> usize {
        self.phrases.len()
    }

    pub fn is_empty(&self) -> bool {
        self.phrases.is_empty()
    }

    fn add(&mut self, skill: usize, phrase: &Phrase) -> Result<Pattern, BadPattern> {
        let pattern = parse(&phrase.pattern)?;
        if keys(&pattern.nodes, &|_| 1).is_none() {
            return Err(BadPattern { at: 0, flaw: Flaw::NoFixedWord });
        }
        let slots = slots(&pattern, &self.skills[skill].input)?;
        let code = assemble(&pattern, |slot| matches!(slots[slot].1.kind, Kind::Text), &mut self.vocabulary);
        // A language not spoken here still has words to compare; its values are read as in English.
        let locale = Locale::of(&phrase.locale).unwrap_or(Locale::ENGLISH);
        self.phrases.push(Compiled { skill, pattern: phrase.pattern.clone(), locale, code, slots });
        Ok(pattern)
    }

    /// Files each phrase under its rarest words, so that a text meets only phrases it could be.
    fn index(&mut self, patterns: &[Pattern]) {
        let mut uses = vec![0_usize; self.vocabulary.len()];
        let words = self.phrases.iter().flat_map(|phrase| &phrase.code);
        for step in words {
            if let Step::Word(word) = step {
                uses[*word as usize] += 1;
            }
        }
        let rarity = |word: &str| self.vocabulary.get(word).map_or(0, |id| uses[id as usize]);
        self.found_by = vec![Vec::new(); self.vocabulary.len()];
        for (index, pattern) in (0_u32..).zip(patterns) {
            let ids = keys(&pattern.nodes, &rarity).unwrap_or_default();
            for word in ids.iter().filter_map(|word| self.vocabulary.get(word)) {
                self.found_by[word as usize].push(index);
            }
        }
    }

    /// The skill whose phrase the whole text is, among those that `may` be called. Courtesy around it (`please`,
    /// `gracias`) does not count. `locale` is a hint: it decides only between equally good phrases.
    pub fn match_words(
        &self,
        text: &str,
        clock: impl Into<Clock>,
        locale: Option<Locale>,
        may: impl Fn(&SkillId) -> bool,
    ) -> Match {
        let Some(tokens) = tokens(text) else { return Match::None };
        let clock = clock.into();
        let whole = self.best(text, &tokens, clock, locale, &may);
        match whole {
            Match::None => match without_courtesy(&tokens) {
                plain if plain.len() < tokens.len() => self.best(text, plain, clock, locale, &may),
                _ => Match::None,
            },
            Match::One(_) | Match::Several(_) => whole,
        }
    }

    /// The patterns of which the whole text is a sentence that fills no slot.
    pub fn spelling(&self, text: &str) -> Vec<Text> {
        let Some(tokens) = tokens(text) else { return Vec::new() };
        let ids: Vec<Option<WordId>> = tokens.iter().map(|token| self.vocabulary.get(&token.core)).collect();
        let found = self.matches(text, &tokens, &ids, Clock::from(Time(0)), None, &|_: &SkillId| true);
        let found = found.unwrap_or_default().into_iter().filter(|(_, _, filled)| filled.is_empty());
        found.map(|(_, phrase, _)| phrase.pattern.clone()).collect()
    }

    fn best(
        &self,
        text: &str,
        tokens: &[Token],
        clock: Clock,
        hint: Option<Locale>,
        may: &impl Fn(&SkillId) -> bool,
    ) -> Match {
        let ids: Vec<Option<WordId>> = tokens.iter().map(|token| self.vocabulary.get(&token.core)).collect();
        let mut ranked = match self.matches(text, tokens, &ids, clock, hint, may) {
            Ok(ranked) => ranked,
            Err(Exhausted) => return Match::None,
        };
        let Some(top) = ranked.iter().map(|(rank, ..)| *rank).max() else { return Match::None };
        ranked.retain(|(rank, ..)| *rank == top);
        let mut found: Vec<Found> = Vec::new();
        for (_, phrase, filled) in ranked {
            let id = &self.skills[phrase.skill].id;
            if found.len() < MAX_CANDIDATES && !found.iter().any(|other| other.skill == *id) {
                found.extend(self.found(text, tokens, clock, phrase, filled));
            }
        }
        match found.len() {
            0 => Match::None,
            1 => found.pop().map_or(Match::None, Match::One),
            _ => Match::Several(found),
        }
    }

    /// Every phrase that matches, in the order in which the phrases were given.
    fn matches(
        &self,
        text: &str,
        tokens: &[Token],
        ids: &[Option<WordId>],
        clock: Clock,
        hint: Option<Locale>,
        may: &impl Fn(&SkillId) -> bool,
    ) -> Result<Vec<Hit<'_>>, Exhausted> {
        let mut machine = Machine::new();
        let mut ranked = Vec::new();
        let reading = Reading { text, clock, locale: hint.unwrap_or(Locale::ENGLISH) };
        let mut subject = Subject { reading, tokens, ids: ids.to_vec() };
        for phrase in self.candidates(ids) {
            if !may(&self.skills[phrase.skill].id) {
                continue;
            }
            subject.reading.locale = spoken(phrase.locale, hint);
            let kinds: Vec<&Kind> = phrase.slots.iter().map(|(_, field)| &field.kind).collect();
            if let Some(filled) = machine.run(&phrase.code, &kinds, &subject)? {
                let taken = |free: bool| -> usize {
                    let chosen = filled.iter().filter(|filled| filled.value.is_none() == free);
                    chosen.map(|filled| filled.end - filled.start).sum()
                };
                let fixed = tokens.len() - taken(true) - taken(false);
                let hinted = hint.is_some_and(|hint| hint.language == phrase.locale.language);
                ranked.push(((fixed, taken(false), hinted), phrase, filled));
            }
        }
        Ok(ranked)
    }

    fn candidates(&self, ids: &[Option<WordId>]) -> impl Iterator<Item = &Compiled> {
        let mut words: Vec<WordId> = ids.iter().flatten().copied().collect();
        words.sort_unstable();
        words.dedup();
        let mut phrases: Vec<u32> = words.iter().flat_map(|word| &self.found_by[*word as usize]).copied().collect();
        phrases.sort_unstable();
        phrases.dedup();
        phrases.into_iter().map(|index| &self.phrases[index as usize])
    }

    /// None: a value does not fit the property it is meant for.
    fn found(
        &self,
        text: &str,
        tokens: &[Token],
        clock: Clock,
        phrase: &Compiled,
        filled: Vec<Filled>,
    ) -> Option<Found> {
        let known = &self.skills[phrase.skill];
        let reading = Reading { text, clock, locale: phrase.locale };
        let argument = |filled: Filled| {
            let (name, field) = &phrase.slots[filled.slot];
            let run = &tokens[filled.start..filled.end];
            let value = filled.value.or_else(|| reading.read(&field.kind, run))?;
            Some((name.to_string(), value.tree(field.wanted, said(text, run), clock)?))
        };
        let args: Option<_> = filled.into_iter().map(argument).collect();
        let args = Json::from_tree(Tree::Object(args?));
        Some(Found {
            skill: known.id.clone(),
            version: known.version.clone(),
            missing: missing(&known.input, &args),
            args,
            phrase: phrase.pattern.clone(),
            locale: spoken(phrase.locale, None),
        })
    }
}

/// The phrase's language with the speaker's regional habits, if they speak the same language.
fn spoken(phrase: Locale, hint: Option<Locale>) -> Locale {
    match hint {
        Some(hint) if hint.language == phrase.language => hint,
        _ => phrase,
    }
}

fn slots(pattern: &Pattern, input: &Schema) -> Result<Vec<(Text, Field)>, BadPattern> {
    let flaw = |flaw| BadPattern { at: 0, flaw };
    let of_slot = |slot: &super::pattern::Slot| {
        let found = field(input, &slot.name).ok_or_else(|| flaw(Flaw::UnknownSlot(slot.name.clone())))?;
        let typed = match &slot.kind {
            None => Some(found),
            Some(kind) => found.with_kind(kind.clone()),
        };
        let typed = typed.ok_or_else(|| flaw(Flaw::TypeMismatch(slot.name.clone())))?;
        Ok((slot.name.clone(), typed))
    };
    pattern.slots.iter().map(of_slot).collect()
}

/// The words without courtesy before and after them, of any language spoken here.
pub(super) fn without_courtesy(mut tokens: &[Token]) -> &[Token] {
    loop {
        let before = longest(tokens, |lexicon| lexicon.before, |tokens, len| &tokens[..len]);
        tokens = &tokens[before..];
        let after = longest(tokens, |lexicon| lexicon.after, |tokens, len| &tokens[tokens.len() - len..]);
        tokens = &tokens[..tokens.len() - after];
        if before + after == 0 {
            return tokens;
        }
    }
}

/// How many words the longest of the listed courtesies takes at that end.
fn longest(
    tokens: &[Token],
    list: impl Fn(&super::lexicon::Lexicon) -> &'static [&'static str],
    end: impl Fn(&[Token], usize) -> &[Token],
) -> usize {
    let taken = |courtesy: &&str| {
        let len = courtesy.split(' ').count();
        let there = len <= tokens.len() && end(tokens, len).iter().map(|token| &*token.core).eq(courtesy.split(' '));
        there.then_some(len)
    };
    let all = Language::ALL.into_iter().flat_map(|language| list(language.lexicon()));
    all.filter_map(taken).max().unwrap_or(0)
}
