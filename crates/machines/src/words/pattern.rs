//! Phrase parser: the written form of a phrase, and its errors. The grammar is in the module above.

use super::token::core;
use super::value::{Kind, Pick};
use interlingua_model::id::Text;
use interlingua_model::json::Tree;

/// Bytes.
pub const MAX_PATTERN: usize = 512;
pub const MAX_SLOTS: usize = 16;
const MAX_DEPTH: usize = 8;

/// Where a pattern cannot be understood, and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("at character {at}: {flaw}")]
pub struct BadPattern {
    pub at: usize,
    pub flaw: Flaw,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Flaw {
    #[error("it is longer than {MAX_PATTERN} bytes")]
    TooLong,
    #[error("groups are nested deeper than {MAX_DEPTH}")]
    TooDeep,
    #[error("it has more than {MAX_SLOTS} slots")]
    TooManySlots,
    #[error("`{0}` is not closed")]
    Unclosed(char),
    #[error("`{0}` has no opening before it")]
    Unexpected(char),
    #[error("a slot or group must be separated from a word by a space")]
    Glued,
    #[error("a slot needs a name of letters, digits, `_` and `-`")]
    BadName,
    #[error("`{0}` is no type of a slot")]
    UnknownType(Text),
    #[error("the slot `{0}` can be filled twice")]
    RepeatedSlot(Text),
    #[error("the slot `{0}` is not in the input of the skill")]
    UnknownSlot(Text),
    #[error("the input of the skill wants another type for `{0}`")]
    TypeMismatch(Text),
    #[error("every way to say it needs at least one fixed word")]
    NoFixedWord,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Node {
    /// A fixed word, folded.
    Word(String),
    /// Index into [`Pattern::slots`].
    Slot(usize),
    Maybe(Vec<Vec<Node>>),
    Either(Vec<Vec<Node>>),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Slot {
    pub(super) name: Text,
    /// None: as the input schema says.
    pub(super) kind: Option<Kind>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Pattern {
    pub(super) nodes: Vec<Node>,
    pub(super) slots: Vec<Slot>,
}

pub(super) fn parse(pattern: &str) -> Result<Pattern, BadPattern> {
    if pattern.len() > MAX_PATTERN {
        return Err(BadPattern { at: 0, flaw: Flaw::TooLong });
    }
    let mut parser = Parser { chars: pattern.chars().collect(), at: 0, slots: Vec::new() };
    let mut ways = parser.alternatives(0)?;
    if let Some(stray) = parser.peek() {
        return Err(parser.flaw(Flaw::Unexpected(stray)));
    }
    let nodes = match ways.len() {
        1 => ways.remove(0),
        _ => vec![Node::Either(ways)],
    };
    let pattern = Pattern { nodes, slots: parser.slots };
    let mut filled = Vec::new();
    match repeated(&pattern.nodes, &pattern.slots, &mut filled) {
        Some(name) => Err(BadPattern { at: 0, flaw: Flaw::RepeatedSlot(name) }),
        None => Ok(pattern),
    }
}

/// How many sentences are spelt out.
const MAX_SENTENCES: usize = 1_000;

/// The sentences of a pattern that fill no slot, as folded words; at most a thousand. None of a pattern that cannot be read.
pub fn sentences(pattern: &str) -> Vec<String> {
    let Ok(pattern) = parse(pattern) else { return Vec::new() };
    let mut all = spelt(&pattern.nodes);
    all.retain(|words| !words.is_empty());
    all.into_iter().map(|words| words.join(" ")).collect()
}

fn spelt(nodes: &[Node]) -> Vec<Vec<String>> {
    let mut all: Vec<Vec<String>> = vec![Vec::new()];
    for node in nodes {
        let next: Vec<Vec<String>> = match node {
            Node::Word(word) => vec![vec![word.clone()]],
            Node::Slot(_) => Vec::new(),
            Node::Either(ways) => ways.iter().flat_map(|way| spelt(way)).collect(),
            Node::Maybe(ways) => ways.iter().flat_map(|way| spelt(way)).chain([Vec::new()]).collect(),
        };
        let longer = all.iter().flat_map(|words| next.iter().map(|more| [words.as_slice(), more].concat()));
        all = longer.take(MAX_SENTENCES).collect();
    }
    all
}

/// A slot that one way through the pattern fills twice. `filled` gains the slots that some way fills.
fn repeated(nodes: &[Node], slots: &[Slot], filled: &mut Vec<Text>) -> Option<Text> {
    for node in nodes {
        match node {
            Node::Word(_) => {}
            Node::Slot(index) => {
                let name = slots.get(*index)?.name.clone();
                if filled.contains(&name) {
                    return Some(name);
                }
                filled.push(name);
            }
            Node::Maybe(ways) | Node::Either(ways) => {
                let before = filled.clone();
                for way in ways {
                    let mut here = before.clone();
                    if let Some(name) = repeated(way, slots, &mut here) {
                        return Some(name);
                    }
                    filled.extend(here.into_iter().skip(before.len()));
                }
            }
        }
    }
    None
}

struct Parser {
    chars: Vec<char>,
    at: usize,
    slots: Vec<Slot>,
}

impl Parser {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn flaw(&self, flaw: Flaw) -> BadPattern {
        BadPattern { at: self.at, flaw }
    }

    fn alternatives(&mut self, depth: usize) -> Result<Vec<Vec<Node>>, BadPattern> {
        if depth > MAX_DEPTH {
            return Err(self.flaw(Flaw::TooDeep));
        }
        let mut ways = vec![self.sequence(depth)?];
        while self.peek() == Some('|') {
            self.at += 1;
            ways.push(self.sequence(depth)?);
        }
        Ok(ways)
    }

    fn sequence(&mut self, depth: usize) -> Result<Vec<Node>, BadPattern> {
        let mut nodes = Vec::new();
        while let Some(c) = self.peek() {
            match c {
                '|' | ']' | ')' => break,
                '}' => return Err(self.flaw(Flaw::Unexpected('}'))),
                _ if c.is_whitespace() => self.at += 1,
                '{' => nodes.push(self.slot()?),
                '[' => nodes.push(Node::Maybe(self.group(']', depth)?)),
                '(' => nodes.push(Node::Either(self.group(')', depth)?)),
                _ => nodes.extend(self.word()?.map(Node::Word)),
            }
        }
        Ok(nodes)
    }

    fn group(&mut self, close: char, depth: usize) -> Result<Vec<Vec<Node>>, BadPattern> {
        let open = self.at;
        self.at += 1;
        let ways = self.alternatives(depth + 1)?;
        self.close(open, close)?;
        Ok(ways)
    }

    fn close(&mut self, open: usize, close: char) -> Result<(), BadPattern> {
        if self.peek() != Some(close) {
            return Err(BadPattern { at: open, flaw: Flaw::Unclosed(self.chars[open]) });
        }
        self.at += 1;
        match self.peek() {
            Some(next) if next.is_alphanumeric() => Err(self.flaw(Flaw::Glued)),
            _ => Ok(()),
        }
    }

    /// A fixed word; None when it is only punctuation, which does not count.
    fn word(&mut self) -> Result<Option<String>, BadPattern> {
        let mut word = String::new();
        while let Some(c) = self.peek() {
            match c {
                _ if c.is_whitespace() => break,
                '|' | ']' | ')' | '}' | '{' | '[' | '(' => break,
                '\\' => {
                    self.at += 1;
                    word.extend(self.peek());
                }
                _ => word.push(c),
            }
            self.at += 1;
        }
        let core = core(&word);
        match self.peek() {
            Some('{' | '[' | '(') if !core.is_empty() => Err(self.flaw(Flaw::Glued)),
            _ => Ok((!core.is_empty()).then_some(core)),
        }
    }

    fn slot(&mut self) -> Result<Node, BadPattern> {
        let open = self.at;
        self.at += 1;
        let name = self.take_while(|c| !matches!(c, ':' | '}'));
        let name = name.trim();
        let named = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'));
        if !named {
            return Err(BadPattern { at: open, flaw: Flaw::BadName });
        }
        let kind = match self.peek() {
            Some(':') => {
                self.at += 1;
                Some(self.kind()?)
            }
            _ => None,
        };
        self.close(open, '}')?;
        if self.slots.len() == MAX_SLOTS {
            return Err(BadPattern { at: open, flaw: Flaw::TooManySlots });
        }
        self.slots.push(Slot { name: name.into(), kind });
        Ok(Node::Slot(self.slots.len() - 1))
    }

    fn kind(&mut self) -> Result<Kind, BadPattern> {
        let at = self.at;
        let spelt = self.take_while(|c| c != '}');
        let unknown = || BadPattern { at, flaw: Flaw::UnknownType(spelt.trim().into()) };
        let options = spelt.trim().strip_prefix("choice(").and_then(|rest| rest.strip_suffix(')'));
        match options {
            None => Kind::named(spelt.trim()).ok_or_else(unknown),
            Some(options) => {
                let pick = |option: &str| Pick::new(option.trim(), Tree::from(option.trim()));
                let picks: Vec<Pick> = options.split('|').map(pick).collect();
                let sayable = picks.iter().all(|pick| pick.words.iter().any(|word| !word.is_empty()));
                if sayable { Ok(Kind::Choice(picks)) } else { Err(unknown()) }
            }
        }
    }

    fn take_while(&mut self, keep: impl Fn(char) -> bool) -> String {
        let taken: String = self.chars[self.at..].iter().copied().take_while(|c| keep(*c)).collect();
        self.at += taken.chars().count();
        taken
    }
}
