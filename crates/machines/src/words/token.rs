//! Tokenizer: a text as words, each with its position in the original.
//!
//! Words are separated by white space; a quoted text is one word, so that a path or a title can contain spaces. Punctuation around a word
//! is ignored when it is compared, and is left off the ends of a value.

use super::fold::fold;

/// A longer text is not matched against phrases.
pub const MAX_TEXT: usize = 16 * 1024;

/// Nor is one with more words.
pub const MAX_TOKENS: usize = 512;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    /// Byte range in the original text.
    pub(super) start: usize,
    pub(super) end: usize,
    /// Folded, without the punctuation around it. Empty for quoted text: it is a value, never a fixed word.
    pub(super) core: String,
    /// What stands between the quotation marks.
    pub(super) quoted: Option<(usize, usize)>,
}

/// The words of a text, or nothing when it is too long.
pub(super) fn tokens(text: &str) -> Option<Vec<Token>> {
    if text.len() > MAX_TEXT {
        return None;
    }
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = next_start(text, at) {
        if found.len() == MAX_TOKENS {
            return None;
        }
        let token = quoted_at(text, start).unwrap_or_else(|| word_at(text, start));
        at = token.end;
        found.push(token);
    }
    Some(found)
}

fn next_start(text: &str, from: usize) -> Option<usize> {
    let rest = &text[from..];
    rest.find(|c: char| !c.is_whitespace()).map(|skipped| from + skipped)
}

fn word_at(text: &str, start: usize) -> Token {
    let len = text[start..].find(char::is_whitespace).unwrap_or(text.len() - start);
    let end = start + len;
    Token { start, end, core: core(&text[start..end]), quoted: None }
}

/// The folded word without punctuation around it. A sign belongs to its number.
pub(super) fn core(word: &str) -> String {
    let folded = fold(word);
    let trimmed = folded.trim_matches(|c: char| !c.is_alphanumeric());
    let signed = folded.strip_prefix(['-', '+']).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    match signed {
        true => format!("{}{trimmed}", &folded[..1]),
        false => trimmed.to_owned(),
    }
}

fn closing(open: char) -> Option<char> {
    match open {
        '"' => Some('"'),
        '`' => Some('`'),
        '“' | '„' => Some('”'),
        '«' => Some('»'),
        _ => None,
    }
}

/// A quoted run that ends at white space, punctuation or the end of the text.
fn quoted_at(text: &str, start: usize) -> Option<Token> {
    let open = text[start..].chars().next()?;
    let close = closing(open)?;
    let inner = start + open.len_utf8();
    let close_at = inner + text[inner..].find(close)?;
    let after = close_at + close.len_utf8();
    let tail = text[after..].find(char::is_whitespace).unwrap_or(text.len() - after);
    let end = after + tail;
    let only_punctuation = !text[after..end].contains(|c: char| c.is_alphanumeric() || closing(c).is_some());
    (close_at > inner && only_punctuation).then_some(Token {
        start,
        end,
        core: String::new(),
        quoted: Some((inner, close_at)),
    })
}

/// The text that a run of words stands for: quotation marks and punctuation at its ends left off.
pub(super) fn said<'a>(text: &'a str, run: &[Token]) -> &'a str {
    let (Some(first), Some(last)) = (run.first(), run.last()) else { return "" };
    if let ([_], Some((start, end))) = (run, first.quoted) {
        return &text[start..end];
    }
    text[first.start..last.end]
        .trim_start_matches(|c: char| matches!(c, '¿' | '¡' | ',' | ';' | ':') || c.is_whitespace())
        .trim_end_matches(|c: char| matches!(c, '.' | ',' | ';' | ':' | '!' | '?' | '…') || c.is_whitespace())
}
