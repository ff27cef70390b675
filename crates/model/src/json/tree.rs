//! Trees of JSON values. A number that no numeric type can write back unchanged is stored as its text.

use super::reader::{BadJson, Kind, Reader};
use super::{Json, Tree};

impl Reader<'_> {
    /// One value as a tree.
    pub fn tree(&mut self) -> Result<Tree, BadJson> {
        Ok(match self.kind()? {
            Kind::Null => {
                self.null()?;
                Tree::Null
            }
            Kind::Bool => Tree::Bool(self.bool()?),
            Kind::Number => number(self.number()?),
            Kind::String => Tree::String(self.string()?.into_owned()),
            Kind::Array => {
                let mut items = Vec::new();
                self.array::<BadJson>(|_, reader| {
                    items.push(reader.tree()?);
                    Ok(())
                })?;
                Tree::Array(items)
            }
            Kind::Object => {
                let mut map = serde_json::Map::new();
                self.object::<BadJson>(|key, reader| {
                    map.insert(key.into_owned(), reader.tree()?);
                    Ok(())
                })?;
                Tree::Object(map)
            }
        })
    }
}

/// A number that its type can hold exactly enough to be written back the same, else its text.
fn number(text: &str) -> Tree {
    if let Ok(value) = text.parse::<i64>() {
        if text != "-0" {
            return value.into();
        }
    } else if let Ok(value) = text.parse::<u64>() {
        return value.into();
    }
    let digits = significant(text);
    let fractional = text.bytes().any(|byte| matches!(byte, b'.' | b'e' | b'E')) || text == "-0";
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() && fractional && digits <= 17 => Tree::from(value),
        _ => Tree::String(text.to_owned()),
    }
}

/// How many digits of a number count: zeros in front do not.
fn significant(text: &str) -> usize {
    let mantissa = text.bytes().take_while(|byte| !matches!(byte, b'e' | b'E'));
    mantissa.filter(u8::is_ascii_digit).skip_while(|digit| *digit == b'0').count()
}

/// The tree of a checked value.
pub(super) fn tree(checked: &Json) -> Tree {
    Reader::of(checked).tree().unwrap_or(Tree::Null)
}
