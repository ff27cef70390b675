//! Chat template and greedy decoding: the most likely token is always chosen, so the same question has the same answer. Recent tokens get a
//! small penalty, which keeps small models from repeating themselves.

use std::path::Path;
use std::sync::Arc;

use super::gguf::{BadModel, Contents};
use super::llama::{Llama, Read};
use super::tokens::Tokens;

/// A larger file is no model that this program is meant for.
const MAX_BYTES: u64 = 4 << 30;
/// How much of a conversation is read: what is remembered of each token takes memory.
const MAX_READ: usize = 2_048;
/// How many tokens are read at once; between them it is seen whether anyone still listens.
const AT_ONCE: usize = 32;
const LATELY: usize = 64;
const LESS_LIKELY: f32 = 1.1;

#[derive(Debug)]
pub struct Model {
    tokens: Tokens,
    llama: Llama,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaker {
    System,
    User,
    Model,
}

/// One message of a conversation.
#[derive(Debug, Clone, Copy)]
pub struct Turn<'a> {
    pub by: Speaker,
    pub text: &'a str,
}

/// Why it stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopReason {
    Done,
    /// There was no room for more.
    Length,
    /// Nobody listens any more.
    Left,
}

/// What became of it, counted in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Said {
    pub read: u64,
    pub written: u64,
    pub ended: StopReason,
}

impl Model {
    /// Reads a file of weights. Blocks.
    pub fn open(path: &Path) -> Result<Model, BadModel> {
        if std::fs::metadata(path)?.len() > MAX_BYTES {
            return Err(BadModel::Unsupported("a file of more than 4 GiB".into()));
        }
        Model::read(std::fs::read(path)?.into())
    }

    pub fn read(file: Arc<[u8]>) -> Result<Model, BadModel> {
        let contents = Contents::read(&file)?;
        let tokens = Tokens::read(&contents)?;
        let llama = Llama::read(&file, &contents, tokens.count())?;
        Ok(Model { tokens, llama })
    }

    /// Answers a conversation; `hear` is given each piece, and now and then nothing, and says whether to go on. Blocks.
    pub fn answer(&self, turns: &[Turn<'_>], most: usize, mut hear: impl FnMut(&str) -> bool) -> Said {
        let prompt = self.prompt(turns, most);
        let mut read = self.llama.nothing_read();
        let left = Said { read: prompt.len() as u64, written: 0, ended: StopReason::Left };
        let Some(mut state) = self.take_in(&mut read, &prompt, &mut hear) else { return left };
        let (mut said, mut unfinished): (Vec<u32>, Vec<u8>) = Default::default();
        let ended = loop {
            if said.len() >= most || read.tokens >= self.room() {
                break StopReason::Length;
            }
            let next = likeliest(&self.llama.scores(&state), &said);
            if next == self.tokens.ends || next == 0 {
                break StopReason::Done;
            }
            said.push(next);
            unfinished.extend(self.tokens.bytes(next));
            if !hear(&whole_letters(&mut unfinished)) {
                break StopReason::Left;
            }
            state = self.llama.take_in(&mut read, &[next]);
        };
        if !unfinished.is_empty() && ended != StopReason::Left {
            hear(&String::from_utf8_lossy(&unfinished));
        }
        Said { written: said.len() as u64, ended, ..left }
    }

    /// Which of these the model would rather say next, after the beginning of an answer. None when nobody listens, or of none.
    pub fn choose(
        &self,
        turns: &[Turn<'_>],
        beginning: &str,
        choices: &[&str],
        mut hear: impl FnMut(&str) -> bool,
    ) -> Option<usize> {
        let longest = choices.iter().map(|choice| choice.len()).max().unwrap_or(0);
        let mut prompt = self.prompt(turns, beginning.len() + longest);
        prompt.extend(self.tokens.of(beginning));
        let mut read = self.llama.nothing_read();
        let state = self.take_in(&mut read, &prompt, &mut hear)?;
        let likely = choices.iter().map(|choice| self.likelihood(&read, &state, choice));
        let best = likely.enumerate().max_by(|(_, one), (_, other)| one.total_cmp(other));
        best.map(|(number, _)| number)
    }

    /// How likely this text follows, for each of its tokens.
    fn likelihood(&self, read: &Read, state: &[f32], text: &str) -> f32 {
        let (tokens, mut read, mut state) = (self.tokens.of(text), read.clone(), state.to_vec());
        let mut sum = 0.0;
        for token in &tokens {
            let scores = self.llama.scores(&state);
            let best = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let all: f32 = scores.iter().map(|score| (score - best).exp()).sum();
            sum += scores.get(*token as usize).map_or(f32::NEG_INFINITY, |score| score - best - all.ln());
            state = self.llama.take_in(&mut read, &[*token]);
        }
        sum / tokens.len().max(1) as f32
    }

    /// The conversation as it was taught, up to where the model is to speak. What is too long loses its middle.
    fn prompt(&self, turns: &[Turn<'_>], most: usize) -> Vec<u32> {
        let mut prompt = Vec::new();
        for turn in turns {
            let by = match turn.by {
                Speaker::System => "system",
                Speaker::User => "user",
                Speaker::Model => "assistant",
            };
            prompt.push(self.tokens.begins);
            prompt.extend(self.tokens.of(&format!("{by}\n{}", turn.text)));
            prompt.push(self.tokens.ends);
            prompt.extend(self.tokens.of("\n"));
        }
        prompt.push(self.tokens.begins);
        prompt.extend(self.tokens.of("assistant\n"));
        let room = self.room().saturating_sub(most).max(self.room() / 2);
        if prompt.len() > room {
            let (head, tail) = (room / 4, room - room / 4);
            prompt.drain(head..prompt.len() - tail);
        }
        prompt
    }

    fn room(&self) -> usize {
        self.llama.window.clamp(AT_ONCE, MAX_READ)
    }

    fn take_in(&self, read: &mut Read, tokens: &[u32], hear: &mut impl FnMut(&str) -> bool) -> Option<Vec<f32>> {
        let mut state = Vec::new();
        for some in tokens.chunks(AT_ONCE) {
            if !hear("") {
                return None;
            }
            state = self.llama.take_in(read, some);
        }
        Some(state)
    }
}

fn likeliest(scores: &[f32], said: &[u32]) -> u32 {
    let lately = &said[said.len().saturating_sub(LATELY)..];
    let lowered = |(token, score): (u32, &f32)| {
        let lately = lately.contains(&token);
        let score = match (lately, *score > 0.0) {
            (false, _) => *score,
            (true, true) => *score / LESS_LIKELY,
            (true, false) => *score * LESS_LIKELY,
        };
        (token, score)
    };
    let best = (0..).zip(scores).map(lowered).max_by(|(_, one), (_, other)| one.total_cmp(other));
    best.map_or(0, |(token, _)| token)
}

/// What of these bytes is text already; the beginning of a letter stays.
fn whole_letters(bytes: &mut Vec<u8>) -> String {
    let end = match std::str::from_utf8(bytes) {
        Ok(_) => bytes.len(),
        Err(error) if error.error_len().is_none() => error.valid_up_to(),
        Err(_) => bytes.len(),
    };
    String::from_utf8_lossy(&bytes.drain(..end).collect::<Vec<u8>>()).into_owned()
}
