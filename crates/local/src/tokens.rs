//! Byte-pair tokenizer: bytes are spelt as letters and merged pair by pair in the learnt order (byte-pair encoding as GPT-2 has it, with
//! single digits).
//!
//! Control tokens are never parsed from a text: a caller that writes `<|im_end|>` has written ten letters.

use std::collections::HashMap;

use super::gguf::{BadModel, Contents};

#[derive(Debug)]
pub(crate) struct Tokens {
    /// The bytes of each token.
    bytes: Vec<Vec<u8>>,
    /// The tokens of single bytes; those that no text has may be missing.
    single: Vec<Option<u32>>,
    /// When a pair is put together, and to what.
    pairs: HashMap<(u32, u32), (u32, u32)>,
    pub(crate) begins: u32,
    pub(crate) ends: u32,
}

impl Tokens {
    pub(crate) fn read(contents: &Contents) -> Result<Tokens, BadModel> {
        let texts = contents.texts("tokenizer.ggml.tokens")?;
        let numbers: HashMap<&str, u32> = texts.iter().map(String::as_str).zip(0..).collect();
        let number = |text: &str| numbers.get(text).copied();
        let letters = letters();
        let back: HashMap<char, u8> = letters.iter().copied().zip(0..=u8::MAX).collect();
        let single = letters.iter().map(|letter| number(&letter.to_string())).collect();
        let pair = |(rank, merge): (u32, &String)| {
            let (one, other) = merge.split_once(' ')?;
            Some(((number(one)?, number(other)?), (rank, number(&format!("{one}{other}"))?)))
        };
        let pairs = (0..).zip(contents.texts("tokenizer.ggml.merges")?).filter_map(pair).collect();
        let spelt = |text: &String| {
            let known: Option<Vec<u8>> = text.chars().map(|letter| back.get(&letter).copied()).collect();
            known.unwrap_or_else(|| text.as_bytes().to_vec())
        };
        let mark = |text: &str| number(text).ok_or_else(|| BadModel::Missing(format!("the token {text}")));
        Ok(Tokens {
            bytes: texts.iter().map(spelt).collect(),
            single,
            pairs,
            begins: mark("<|im_start|>")?,
            ends: mark("<|im_end|>")?,
        })
    }

    pub(crate) fn of(&self, text: &str) -> Vec<u32> {
        words(text).flat_map(|word| self.word(word)).collect()
    }

    /// Of all pairs that stand side by side, the one that was learnt first is put together, again and again.
    fn word(&self, word: &str) -> Vec<u32> {
        let mut tokens: Vec<u32> = word.bytes().filter_map(|byte| self.single[usize::from(byte)]).collect();
        loop {
            let found = tokens.windows(2).enumerate().filter_map(|(at, pair)| {
                let (rank, token) = self.pairs.get(&(pair[0], pair[1]))?;
                Some((*rank, at, *token))
            });
            let Some((_, at, token)) = found.min() else { return tokens };
            tokens.splice(at..at + 2, [token]);
        }
    }

    pub(crate) fn bytes(&self, token: u32) -> &[u8] {
        self.bytes.get(token as usize).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn count(&self) -> usize {
        self.bytes.len()
    }
}

/// The letter that stands for each byte: itself where it can be seen, one beyond all bytes otherwise.
fn letters() -> Vec<char> {
    let seen = |byte: u8| matches!(byte, b'!'..=b'~' | 0xa1..=0xac | 0xae..=0xff);
    let mut beyond = (0x100..0x200_u32).filter_map(char::from_u32);
    let letter = |byte: u8| if seen(byte) { char::from(byte) } else { beyond.next().unwrap_or(' ') };
    (0..=u8::MAX).map(letter).collect()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Letter,
    Digit,
    Space,
    Other,
}

fn class(letter: char) -> Class {
    if letter.is_alphabetic() {
        Class::Letter
    } else if letter.is_numeric() {
        Class::Digit
    } else if letter.is_whitespace() {
        Class::Space
    } else {
        Class::Other
    }
}

/// The text in pieces that no pair reaches across: words with the space before them, single digits, runs of signs and of spaces.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let length = word_length(rest)?;
        let (word, after) = rest.split_at(length);
        rest = after;
        Some(word)
    })
}

fn word_length(text: &str) -> Option<usize> {
    let first = text.chars().next()?;
    if let Some(short) = ["'s", "'t", "'re", "'ve", "'m", "'ll", "'d"].iter().find(|short| text.starts_with(**short)) {
        return Some(short.len());
    }
    let run = |from: usize, wanted: Class| -> usize {
        let mut letters = text[from..].char_indices();
        letters.find(|(_, letter)| class(*letter) != wanted).map_or(text.len(), |(end, _)| from + end)
    };
    let begins = usize::from(first == ' ');
    let next = text[begins..].chars().next();
    Some(match (class(first), next.map(class)) {
        (Class::Digit, _) => first.len_utf8(),
        (_, Some(kind @ (Class::Letter | Class::Other))) if first == ' ' || class(first) == kind => run(begins, kind),
        (Class::Space, _) => spaces(text, run(0, Class::Space)),
        (kind, _) => run(0, kind),
    })
}

/// The last of several spaces belongs to the word that follows, unless that is a digit or nothing.
fn spaces(text: &str, end: usize) -> usize {
    let last = text[..end].char_indices().next_back().map_or(0, |(at, _)| at);
    let follows = text[end..].chars().next().map(class);
    match follows {
        None | Some(Class::Digit) => end,
        Some(_) if last > 0 => last,
        Some(_) => end,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_parted_where_no_pair_reaches_across() {
        let parted = |text| words(text).collect::<Vec<_>>();
        assert_eq!(parted("Hello, world"), ["Hello", ",", " world"]);
        assert_eq!(parted("in 2024  now\n"), ["in", " ", "2", "0", "2", "4", " ", " now", "\n"]);
        assert_eq!(parted("it's  me "), ["it", "'s", " ", " me", " "]);
        assert_eq!(parted("\n\na"), ["\n", "\n", "a"]);
        assert_eq!(words("").count(), 0);
    }

    #[test]
    fn every_byte_has_a_letter_of_its_own() {
        let letters = letters();
        assert_eq!((letters.len(), letters[usize::from(b'a')], letters[usize::from(b' ')]), (256, 'a', '\u{120}'));
        assert_eq!(letters.iter().collect::<std::collections::HashSet<_>>().len(), 256);
    }
}
