//! Trees of JSON values. A number keeps the text it was written in, so that a tree is written back as the same number: with all its digits,
//! the zeros at its end and its exponent.

use serde_json::Number;

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
            // The reader checked the grammar. `Number::from_str` would write `1E5` as `1e+5`.
            Kind::Number => Tree::Number(Number::from_string_unchecked(self.number()?.to_owned())),
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

/// The tree of a checked value.
pub(super) fn tree(checked: &Json) -> Tree {
    Reader::of(checked).tree().unwrap_or(Tree::Null)
}
