//! Values with placeholders, parsed once when a definition is read. Inserted values are never parsed again, so a value that holds braces of
//! its own is only text.

use std::collections::BTreeMap;

use interlingua_model::id::Text;

/// `{name}`, `{name=default}`, and `{{` and `}}` for the braces themselves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    pub pieces: Vec<Piece>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    Text(Text),
    Slot { name: Text, default: Option<Text> },
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadTemplate {
    #[error("the `{{` at character {0} is not closed")]
    Open(usize),
    #[error("the `}}` at character {0} closes nothing; write `}}}}` for the character itself")]
    Close(usize),
    #[error("`{0}` is no name of a parameter: letters, digits and underscores")]
    Name(String),
    #[error("it has more than {MAX_PIECES} placeholders")]
    TooMany,
}

const MAX_PIECES: usize = 200;

impl Template {
    pub fn parse(text: &str) -> Result<Template, BadTemplate> {
        let mut pieces = Vec::new();
        let mut plain = String::new();
        let mut chars = text.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            match c {
                '{' if chars.next_if(|(_, next)| *next == '{').is_some() => plain.push('{'),
                '}' if chars.next_if(|(_, next)| *next == '}').is_some() => plain.push('}'),
                '}' => return Err(BadTemplate::Close(at)),
                '{' => {
                    let close = text[at..].find('}').ok_or(BadTemplate::Open(at))?;
                    if !plain.is_empty() {
                        pieces.push(Piece::Text(std::mem::take(&mut plain).into()));
                    }
                    pieces.push(slot(&text[at + 1..at + close])?);
                    while chars.next_if(|(next, _)| *next <= at + close).is_some() {}
                }
                c => plain.push(c),
            }
            if pieces.len() > MAX_PIECES {
                return Err(BadTemplate::TooMany);
            }
        }
        if !plain.is_empty() {
            pieces.push(Piece::Text(plain.into()));
        }
        Ok(Template { pieces })
    }

    /// The placeholders, in order, with their defaults.
    pub fn slots(&self) -> impl Iterator<Item = (&Text, Option<&Text>)> {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Slot { name, default } => Some((name, default.as_ref())),
            Piece::Text(_) => None,
        })
    }

    /// Is it one placeholder and nothing else?
    pub fn is_slot(&self) -> bool {
        matches!(self.pieces.as_slice(), [Piece::Slot { .. }])
    }

    /// Fills the placeholders, each value as `spell` writes it. A name without a value is left empty: whoever binds has
    /// made sure that there is none.
    pub fn fill(&self, values: &BTreeMap<Text, Text>, spell: impl Fn(&str) -> String) -> String {
        let mut filled = String::new();
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => filled.push_str(text),
                Piece::Slot { name, default } => {
                    if let Some(value) = values.get(name).or(default.as_ref()) {
                        filled.push_str(&spell(value));
                    }
                }
            }
        }
        filled
    }
}

fn slot(inside: &str) -> Result<Piece, BadTemplate> {
    let (name, default) = inside.split_once('=').map_or((inside, None), |(name, default)| (name, Some(default)));
    if !is_name(name) {
        return Err(BadTemplate::Name(inside.chars().take(40).collect()));
    }
    Ok(Piece::Slot { name: name.into(), default: default.map(Text::from) })
}

pub(super) fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.len() <= 64
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
