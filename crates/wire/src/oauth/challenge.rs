//! `WWW-Authenticate`: the challenge of a server that requires a token.
//!
//! A header may hold several challenges, each a scheme with parameters, all separated by commas (RFC 9110 section 11.6.1). The
//! first one of the scheme `Bearer` counts.

use super::scope::Scopes;

/// A longer header is not read.
const LONGEST: usize = 8_192;

/// What a `Bearer` challenge says (RFC 6750 section 3, RFC 9728 section 5.1).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Challenge {
    pub resource_metadata: Option<String>,
    pub scope: Option<Scopes>,
    pub error: Option<String>,
}

impl Challenge {
    /// `None` when the header holds no `Bearer` challenge, or cannot be read.
    pub fn decode(header: &str) -> Option<Challenge> {
        if header.len() > LONGEST {
            return None;
        }
        let mut rest = header;
        let mut found: Option<Challenge> = None;
        loop {
            rest = rest.trim_start_matches([' ', '\t', ',']);
            if rest.is_empty() {
                return found;
            }
            let (word, after) = token(rest)?;
            let spaced = after.trim_start_matches([' ', '\t']);
            // A parameter is a token and `=`; anything else begins another challenge.
            if let Some(value) = spaced.strip_prefix('=') {
                let (value, after) = parameter(value.trim_start_matches([' ', '\t']))?;
                if let Some(challenge) = &mut found {
                    challenge.take(word, value);
                }
                rest = after;
            } else if found.is_some() {
                return found;
            } else if word.eq_ignore_ascii_case("bearer") {
                found = Some(Challenge::default());
                rest = spaced;
            } else {
                rest = without_token68(spaced);
            }
        }
    }

    fn take(&mut self, name: &str, value: String) {
        match name.to_ascii_lowercase().as_str() {
            "resource_metadata" => self.resource_metadata = Some(value),
            "scope" => self.scope = Some(Scopes::parse(&value)),
            "error" => self.error = Some(value),
            _ => {}
        }
    }

    /// The token is good, but not for this (RFC 6750 section 3.1).
    pub fn wants_more_scopes(&self) -> bool {
        self.error.as_deref() == Some("insufficient_scope")
    }
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

fn token(text: &str) -> Option<(&str, &str)> {
    let end = text.bytes().position(|byte| !is_token(byte)).unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}

/// A token or a quoted text.
fn parameter(text: &str) -> Option<(String, &str)> {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find([',', ' ', '\t']).unwrap_or(text.len());
        let (value, rest) = text.split_at(end);
        return Some((value.to_owned(), rest));
    };
    let mut value = String::new();
    let mut letters = quoted.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return Some((value, &quoted[at + 1..])),
            '\\' => value.push(letters.next()?.1),
            letter => value.push(letter),
        }
    }
    None
}

/// A credential that stands in place of parameters, as other schemes have it.
fn without_token68(text: &str) -> &str {
    let end = text.find([',', ' ']).unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    let is_parameter = word.trim_end_matches('=').contains('=') || rest.trim_start().starts_with('=');
    if is_parameter { text } else { rest }
}
