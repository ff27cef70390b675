//! Fields of an input schema: their types, which of them are missing, and the form that asks for those.
//!
//! Only what plain words need is read: `properties`, `required`, `type`, `format`, `enum`, `const`, `description`, behind
//! references within the schema and without the `null` that makes a property optional. Whether the whole input is valid is
//! decided later by the schema itself.

use super::value::{Kind, Pick, Wanted};
use interlingua_model::card::Schema;
use interlingua_model::id::Text;
use interlingua_model::json::{Json, Tree};

/// A property as plain words see it.
#[derive(Debug, Clone)]
pub(super) struct Field {
    pub(super) kind: Kind,
    pub(super) wanted: Wanted,
}

/// None: the schema names its properties, and this is not one.
pub(super) fn field(schema: &Schema, name: &str) -> Option<Field> {
    let Some(properties) = schema.0.get("properties").and_then(Tree::as_object) else {
        return Some(Field { kind: Kind::Text, wanted: Wanted::Anything });
    };
    properties.get(name).map(|property| of_property(behind(schema.0.tree(), property)))
}

/// References and alternatives that are followed for one property.
const MAX_STEPS: usize = 8;

/// What a property is: the schema behind references, and beside a `null` the one other alternative.
pub(super) fn behind<'s>(schema: &'s Tree, property: &'s Tree) -> &'s Tree {
    let mut found = property;
    for _ in 0..MAX_STEPS {
        match nearer(schema, found) {
            Some(next) => found = next,
            None => break,
        }
    }
    found
}

fn nearer<'s>(schema: &'s Tree, property: &'s Tree) -> Option<&'s Tree> {
    if let Some(reference) = property.get("$ref").and_then(Tree::as_str) {
        return schema.pointer(reference.strip_prefix('#')?);
    }
    let ways = ["anyOf", "oneOf", "allOf"].into_iter().find_map(|key| property.get(key)?.as_array())?;
    let mut ways = ways.iter().filter(|way| way.get("type").and_then(Tree::as_str) != Some("null"));
    ways.next().filter(|_| ways.next().is_none())
}

fn of_property(property: &Tree) -> Field {
    let wanted = wanted(property);
    let format = property.get("format").and_then(Tree::as_str).unwrap_or_default();
    let kind = match (options(property), wanted, format) {
        (Some(picks), ..) => Kind::Choice(picks),
        (None, Wanted::Integer, _) => Kind::Integer,
        (None, Wanted::Number, _) => Kind::Number,
        (None, Wanted::Boolean, _) => Kind::Boolean,
        (None, _, "date") => Kind::Date,
        (None, _, "time") => Kind::Time,
        (None, _, "date-time") => Kind::Moment,
        (None, _, "email") => Kind::Email,
        (None, _, "uri" | "url") => Kind::Url,
        (None, Wanted::Text | Wanted::FullTime | Wanted::List | Wanted::Anything, _) => Kind::Text,
    };
    Field { kind, wanted }
}

fn wanted(property: &Tree) -> Wanted {
    let named = match property.get("type") {
        Some(Tree::String(name)) => Some(name.as_str()),
        Some(Tree::Array(names)) => names.iter().filter_map(Tree::as_str).find(|name| *name != "null"),
        _ => None,
    };
    match named {
        Some("string") if property.get("format").and_then(Tree::as_str) == Some("time") => Wanted::FullTime,
        Some("string") => Wanted::Text,
        Some("integer") => Wanted::Integer,
        Some("number") => Wanted::Number,
        Some("boolean") => Wanted::Boolean,
        Some("array") => Wanted::List,
        _ => Wanted::Anything,
    }
}

/// The values of an `enum`, or of a `const`, that can be said.
fn options(property: &Tree) -> Option<Vec<Pick>> {
    let values = match property.get("enum") {
        Some(values) => values.as_array()?.as_slice(),
        None => std::slice::from_ref(property.get("const")?),
    };
    let spelt = |value: &Tree| match value {
        Tree::String(text) => Some(Pick::new(&text.replace('_', " "), value.clone())),
        Tree::Number(number) => Some(Pick::new(&number.to_string(), value.clone())),
        Tree::Null | Tree::Bool(_) | Tree::Array(_) | Tree::Object(_) => None,
    };
    let picks: Vec<Pick> = values.iter().filter_map(spelt).collect();
    (!picks.is_empty()).then_some(picks)
}

/// Texts of enumerations, by which a skill can be found: at most so many, and no long ones.
pub fn choices(schema: &Schema, most: usize) -> impl Iterator<Item = &str> {
    const LONGEST: usize = 64;
    let properties = schema.0.get("properties").and_then(Tree::as_object);
    let listed = properties.into_iter().flat_map(|properties| properties.values());
    let values = listed.filter_map(|property| behind(schema.0.tree(), property).get("enum")?.as_array()).flatten();
    values.filter_map(Tree::as_str).filter(|value| value.len() <= LONGEST).take(most)
}

impl Field {
    /// The type a pattern gives this slot, if the property can take what such a slot reads.
    pub(super) fn with_kind(self, kind: Kind) -> Option<Field> {
        let kind = match (kind, self.wanted) {
            (Kind::Number, Wanted::Integer) => Kind::Integer,
            (kind, _) => kind,
        };
        let fits = match self.wanted {
            Wanted::Text | Wanted::FullTime | Wanted::List | Wanted::Anything => true,
            Wanted::Integer => matches!(kind, Kind::Integer),
            Wanted::Number => matches!(kind, Kind::Integer | Kind::Number),
            Wanted::Boolean => matches!(kind, Kind::Boolean),
        };
        fits.then_some(Field { kind, wanted: self.wanted })
    }
}

/// The names a schema requires, in its order.
pub(super) fn required(schema: &Schema) -> Vec<Text> {
    let names = schema.0.get("required").and_then(Tree::as_array).map(Vec::as_slice).unwrap_or_default();
    names.iter().filter_map(Tree::as_str).map(Text::from).collect()
}

/// What a skill requires and `args` do not have.
pub fn missing(schema: &Schema, args: &Json) -> Vec<Text> {
    required(schema).into_iter().filter(|name| args.get(name).is_none()).collect()
}

/// A schema of just these fields, all required: what a question asks for.
pub fn form(schema: &Schema, missing: &[Text]) -> Schema {
    let text = || Tree::Object([("type".to_owned(), Tree::from("string"))].into_iter().collect());
    let property =
        |name: &Text| schema.0.get("properties").and_then(|all| all.get(&**name)).cloned().unwrap_or_else(text);
    let properties = missing.iter().map(|name| (name.to_string(), property(name))).collect();
    let required = missing.iter().map(|name| Tree::from(&**name)).collect();
    let mut form = vec![
        ("type".to_owned(), Tree::from("object")),
        ("properties".to_owned(), Tree::Object(properties)),
        ("required".to_owned(), Tree::Array(required)),
        ("additionalProperties".to_owned(), Tree::Bool(false)),
    ];
    // A property may refer to these.
    form.extend(
        ["$defs", "definitions"].into_iter().filter_map(|key| Some((key.to_owned(), schema.0.get(key)?.clone()))),
    );
    Schema(Json::from_tree(Tree::Object(form.into_iter().collect())))
}
