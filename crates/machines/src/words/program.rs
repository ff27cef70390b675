//! Compiled phrases: a pattern as instructions of a small machine, and the words by which a phrase is found.

use std::collections::HashMap;

use super::pattern::{Node, Pattern};

/// A fixed word, by number: two texts are compared once, when the vocabulary is looked up.
pub(super) type WordId = u32;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    Word(WordId),
    /// The first word of a text slot.
    Open(u16),
    /// Inside a text slot: ending it here is tried first, one more word after that.
    More(u16),
    /// A slot of any other kind, longest run first.
    Typed(u16),
    /// Both ways, the first one preferred.
    Split(u16, u16),
    Jump(u16),
    Accept,
}

/// Words by number.
#[derive(Debug, Default)]
pub(super) struct Vocabulary(HashMap<String, WordId>);

impl Vocabulary {
    pub(super) fn intern(&mut self, word: &str) -> WordId {
        if let Some(id) = self.0.get(word) {
            return *id;
        }
        // Bounded by the number and length of patterns, far below the range of the type.
        let id = WordId::try_from(self.0.len()).unwrap_or(WordId::MAX);
        self.0.insert(word.to_owned(), id);
        id
    }

    pub(super) fn get(&self, word: &str) -> Option<WordId> {
        self.0.get(word).copied()
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}

/// The instructions of a pattern. `is_text` says which slots take any words.
pub(super) fn assemble(pattern: &Pattern, is_text: impl Fn(usize) -> bool, words: &mut Vocabulary) -> Vec<Step> {
    let mut assembler = Assembler { code: Vec::new(), is_text, words };
    assembler.sequence(&pattern.nodes);
    assembler.code.push(Step::Accept);
    assembler.code
}

struct Assembler<'a, F> {
    code: Vec<Step>,
    is_text: F,
    words: &'a mut Vocabulary,
}

impl<F: Fn(usize) -> bool> Assembler<'_, F> {
    fn sequence(&mut self, nodes: &[Node]) {
        for node in nodes {
            match node {
                Node::Word(word) => {
                    let id = self.words.intern(word);
                    self.code.push(Step::Word(id));
                }
                Node::Slot(index) => self.slot(*index),
                Node::Either(ways) => self.either(ways),
                Node::Maybe(ways) => {
                    let split = self.hole();
                    self.either(ways);
                    self.code[split] = Step::Split(label(split + 1), label(self.code.len()));
                }
            }
        }
    }

    fn slot(&mut self, index: usize) {
        let slot = label(index);
        match (self.is_text)(index) {
            true => self.code.extend([Step::Open(slot), Step::More(slot)]),
            false => self.code.push(Step::Typed(slot)),
        }
    }

    fn either(&mut self, ways: &[Vec<Node>]) {
        let mut ends = Vec::new();
        for (index, way) in ways.iter().enumerate() {
            if index + 1 == ways.len() {
                self.sequence(way);
                break;
            }
            let split = self.hole();
            self.sequence(way);
            ends.push(self.hole());
            self.code[split] = Step::Split(label(split + 1), label(self.code.len()));
        }
        let end = label(self.code.len());
        ends.into_iter().for_each(|hole| self.code[hole] = Step::Jump(end));
    }

    /// A place filled in when its target is known.
    fn hole(&mut self) -> usize {
        self.code.push(Step::Accept);
        self.code.len() - 1
    }
}

/// A pattern of at most 512 bytes has far fewer instructions than the type can count.
fn label(at: usize) -> u16 {
    u16::try_from(at).unwrap_or(u16::MAX)
}

/// Words of which every text that matches has at least one; the rarest such set. None: some way has no fixed word.
pub(super) fn keys(nodes: &[Node], rarity: &impl Fn(&str) -> usize) -> Option<Vec<String>> {
    let of_node = |node: &Node| match node {
        Node::Word(word) => Some(vec![word.clone()]),
        Node::Slot(_) | Node::Maybe(_) => None,
        Node::Either(ways) => {
            let all: Option<Vec<_>> = ways.iter().map(|way| keys(way, rarity)).collect();
            all.map(|sets| sets.concat())
        }
    };
    let weight = |set: &Vec<String>| set.iter().map(|word| rarity(word)).sum::<usize>();
    nodes.iter().filter_map(of_node).min_by_key(weight)
}
