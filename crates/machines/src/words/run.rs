//! Backtracking matcher of one phrase against one text. It never visits the same instruction at the same word twice, so its work is at most
//! instructions times words, whatever the pattern.
//!
//! That is sound because what lies ahead does not depend on how a place was reached: a slot's value is decided by its own
//! words alone.

use super::program::{Step, WordId};
use super::token::Token;
use super::value::{Kind, Reading, Value};

/// Steps one text may cost, over all phrases. What is beyond is not matched at all: half an answer would be a guess.
pub(super) const WORK: usize = 2_000_000;

/// Reading a typed value costs as much as this many steps.
const READ_COST: usize = 8;

/// A filled slot and its words.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Filled {
    pub(super) slot: usize,
    pub(super) start: usize,
    pub(super) end: usize,
    /// None: free text, read when the match stands.
    pub(super) value: Option<Value>,
}

/// A text prepared once for all phrases.
#[derive(Debug)]
pub(super) struct Subject<'a> {
    pub(super) reading: Reading<'a>,
    pub(super) tokens: &'a [Token],
    /// Each word's number, if any phrase has it.
    pub(super) ids: Vec<Option<WordId>>,
}

/// Memory reused from phrase to phrase, and the work left.
#[derive(Debug)]
pub(super) struct Machine {
    seen: Vec<u64>,
    stack: Vec<Branch>,
    trail: Vec<Filled>,
    work: usize,
}

#[derive(Debug)]
struct Branch {
    pc: usize,
    at: usize,
    /// The trail is cut back to this before the branch is taken.
    trail: usize,
    fill: Option<Filled>,
}

/// The work is used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Exhausted;

impl Machine {
    pub(super) fn new() -> Machine {
        Machine { seen: Vec::new(), stack: Vec::new(), trail: Vec::new(), work: WORK }
    }

    /// The preferred way in which the phrase covers the whole text.
    pub(super) fn run(
        &mut self,
        code: &[Step],
        kinds: &[&Kind],
        subject: &Subject<'_>,
    ) -> Result<Option<Vec<Filled>>, Exhausted> {
        let width = subject.tokens.len() + 1;
        let cells = (code.len() * width).div_ceil(64);
        self.spend(1 + cells / 8)?;
        self.seen.clear();
        self.seen.resize(cells, 0);
        self.stack.clear();
        self.trail.clear();
        self.branch(0, 0, None);
        while let Some(Branch { pc, at, trail, fill }) = self.stack.pop() {
            self.spend(1)?;
            let cell = pc * width + at;
            if self.seen[cell / 64] >> (cell % 64) & 1 == 1 {
                continue;
            }
            self.seen[cell / 64] |= 1 << (cell % 64);
            self.trail.truncate(trail);
            self.trail.extend(fill);
            if self.step(code[pc], pc, at, kinds, subject)? {
                return Ok(Some(std::mem::take(&mut self.trail)));
            }
        }
        Ok(None)
    }

    fn spend(&mut self, steps: usize) -> Result<(), Exhausted> {
        self.work = self.work.checked_sub(steps).ok_or(Exhausted)?;
        Ok(())
    }

    fn branch(&mut self, pc: usize, at: usize, fill: Option<Filled>) {
        self.stack.push(Branch { pc, at, trail: self.trail.len(), fill });
    }

    /// True when the phrase is accepted. What is pushed last is tried first.
    fn step(
        &mut self,
        step: Step,
        pc: usize,
        at: usize,
        kinds: &[&Kind],
        subject: &Subject<'_>,
    ) -> Result<bool, Exhausted> {
        let end = subject.tokens.len();
        match step {
            Step::Accept => return Ok(at == end),
            Step::Word(word) => {
                if at < end && subject.ids[at] == Some(word) {
                    self.branch(pc + 1, at + 1, None);
                }
            }
            Step::Jump(to) => self.branch(usize::from(to), at, None),
            Step::Split(first, second) => {
                self.branch(usize::from(second), at, None);
                self.branch(usize::from(first), at, None);
            }
            Step::Open(slot) => {
                if at < end {
                    let fill = Filled { slot: usize::from(slot), start: at, end: at + 1, value: None };
                    self.branch(pc + 1, at + 1, Some(fill));
                }
            }
            Step::More(_) => self.more(pc, at, end),
            Step::Typed(slot) => self.typed(usize::from(slot), pc, at, kinds, subject)?,
        }
        Ok(false)
    }

    /// The open text slot is the last of the trail: it ends here, or takes one more word.
    fn more(&mut self, pc: usize, at: usize, end: usize) {
        if at < end
            && let Some(open) = self.trail.last().cloned()
        {
            let trail = self.trail.len() - 1;
            self.stack.push(Branch { pc, at: at + 1, trail, fill: Some(Filled { end: at + 1, ..open }) });
        }
        self.branch(pc + 1, at, None);
    }

    fn typed(
        &mut self,
        slot: usize,
        pc: usize,
        at: usize,
        kinds: &[&Kind],
        subject: &Subject<'_>,
    ) -> Result<(), Exhausted> {
        let kind = kinds[slot];
        let longest = kind.reach().min(subject.tokens.len() - at);
        for len in 1..=longest {
            self.spend(READ_COST)?;
            if let Some(value) = subject.reading.read(kind, &subject.tokens[at..at + len]) {
                self.branch(pc + 1, at + len, Some(Filled { slot, start: at, end: at + len, value: Some(value) }));
            }
        }
        Ok(())
    }
}
