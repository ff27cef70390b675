//! What HTTP repeats of a modern request (2026-07-28, transports): the method, the name, and the arguments that a tool's
//! schema marks with `x-mcp-header`, so that what stands between can route without reading bodies.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use interlingua_core::json::Tree;
use interlingua_core::{Ask, Schema, Skill};

use crate::mcp::definition::server_name;

pub const METHOD: &str = "mcp-method";
pub const NAME: &str = "mcp-name";
pub const VERSION: &str = "mcp-protocol-version";
pub const SESSION: &str = "mcp-session-id";
const PARAM: &str = "mcp-param-";
/// The mark in a schema.
const MARK: &str = "x-mcp-header";
const ENCODED: (&str, &str) = ("=?base64?", "?=");
/// How deep marks are looked for.
const DEEPEST: usize = 32;

/// A value as a header may hold it: as it is when it is plain visible ASCII, else in base64.
pub fn value(text: &str) -> String {
    let visible = text.bytes().all(|byte| (0x20..0x7f).contains(&byte));
    let edges = text.starts_with(' ') || text.ends_with(' ');
    let sentinel = text.starts_with(ENCODED.0) && text.ends_with(ENCODED.1);
    if visible && !edges && !sentinel {
        return text.to_owned();
    }
    format!("{}{}{}", ENCODED.0, STANDARD.encode(text), ENCODED.1)
}

/// Adds the headers of a call.
pub(super) fn of_call(ask: &Ask, skill: &Skill, headers: &mut Vec<(String, String)>) {
    let name = match ask {
        Ask::Invoke { .. } => Some(server_name(&skill.id.skill)),
        Ask::Read { uri, .. } => Some(&**uri),
        Ask::Complete { .. } => None,
    };
    headers.extend(name.map(|name| (NAME.to_owned(), value(name))));
    let Ask::Invoke { input, .. } = ask else { return };
    // Most schemas have no mark: their bytes tell without a tree.
    if !has_marks(&skill.input) {
        return;
    }
    let (Some(args), Ok(marks)) = (&input.args, marks(&skill.input)) else { return };
    for mark in marks {
        let found = mark.path.iter().try_fold(args.tree(), |at, key| at.get(key));
        let text = match found {
            Some(Tree::String(text)) => text.clone(),
            Some(Tree::Bool(value)) => value.to_string(),
            Some(Tree::Number(number)) => number.to_string(),
            Some(Tree::Null | Tree::Array(_) | Tree::Object(_)) | None => continue,
        };
        headers.push((format!("{PARAM}{}", mark.header.to_ascii_lowercase()), value(&text)));
    }
}

fn has_marks(schema: &Schema) -> bool {
    let bytes = schema.0.as_bytes();
    bytes.windows(MARK.len()).any(|window| window == MARK.as_bytes())
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Mark {
    path: Vec<String>,
    header: String,
}

/// Why a tool's marks cannot be followed; the tool is left out, and no other.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadMark {
    #[error("`{MARK}` of `{0}` is not a name for a header")]
    Name(String),
    #[error("`{MARK}` of `{0}` marks something other than text, a whole number or a yes or no")]
    Type(String),
    #[error("`{MARK}` names `{0}` twice")]
    Twice(String),
    #[error("`{MARK}` stands where no argument is certain to be")]
    Place,
}

/// Can the marks of this schema be followed? One without marks is always good.
pub fn check(schema: &Schema) -> Result<(), BadMark> {
    if has_marks(schema) { marks(schema).map(drop) } else { Ok(()) }
}

fn marks(schema: &Schema) -> Result<Vec<Mark>, BadMark> {
    let mut found = Vec::new();
    collect(schema.0.tree(), &mut Vec::new(), &mut found)?;
    for (index, mark) in found.iter().enumerate() {
        if found[..index].iter().any(|other| other.header.eq_ignore_ascii_case(&mark.header)) {
            return Err(BadMark::Twice(mark.header.clone()));
        }
    }
    Ok(found)
}

fn collect(schema: &Tree, path: &mut Vec<String>, found: &mut Vec<Mark>) -> Result<(), BadMark> {
    let Some(members) = schema.as_object() else { return Ok(()) };
    if path.len() > DEEPEST {
        return Err(BadMark::Place);
    }
    if let Some(mark) = members.get(MARK) {
        found.push(read(mark, members.get("type"), path)?);
    }
    for (key, value) in members {
        match (key.as_str(), value) {
            (MARK, _) => {}
            ("properties", Tree::Object(properties)) => {
                for (name, property) in properties {
                    path.push(name.clone());
                    collect(property, path, found)?;
                    path.pop();
                }
            }
            // Examples and defaults are values, not schemas.
            ("const" | "enum" | "default" | "examples", _) => {}
            (_, other) if holds_mark(other, 0) => return Err(BadMark::Place),
            (_, _) => {}
        }
    }
    Ok(())
}

fn holds_mark(value: &Tree, depth: usize) -> bool {
    match value {
        _ if depth > DEEPEST => false,
        Tree::Object(members) => {
            members.contains_key(MARK) || members.values().any(|member| holds_mark(member, depth + 1))
        }
        Tree::Array(items) => items.iter().any(|item| holds_mark(item, depth + 1)),
        Tree::Null | Tree::Bool(_) | Tree::Number(_) | Tree::String(_) => false,
    }
}

fn read(mark: &Tree, kind: Option<&Tree>, path: &[String]) -> Result<Mark, BadMark> {
    let place = path.join("/");
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    let named = mark.as_str().filter(|name| !name.is_empty() && name.len() <= 128 && name.bytes().all(is_token));
    let Some(header) = named.filter(|_| !path.is_empty()) else { return Err(BadMark::Name(place)) };
    match kind.and_then(Tree::as_str) {
        Some("string" | "integer" | "boolean") => Ok(Mark { path: path.to_vec(), header: header.to_owned() }),
        Some(_) | None => Err(BadMark::Type(place)),
    }
}

#[cfg(test)]
mod tests {
    use interlingua_core::{Effects, Input, SkillId, SkillKind, Target};
    use serde_json::json;

    use super::*;

    fn schema(properties: Tree) -> Schema {
        Schema(json!({"type": "object", "properties": properties}).into())
    }

    #[test]
    fn m_07_plain_values_go_as_they_are_and_all_others_in_base64() {
        for plain in ["us-west1", "a b", "", "=?base64?"] {
            assert_eq!(value(plain), plain);
        }
        for (text, encoded) in [
            ("Grüße", "=?base64?R3LDvMOfZQ==?="),
            (" padded ", "=?base64?IHBhZGRlZCA=?="),
            ("a\nb", "=?base64?YQpi?="),
            ("=?base64?x?=", "=?base64?PT9iYXNlNjQ/eD89?="),
        ] {
            assert_eq!(value(text), encoded);
        }
    }

    #[test]
    fn m_35_marked_arguments_are_repeated_and_absent_ones_are_not() {
        let input = schema(json!({
            "region": {"type": "string", "x-mcp-header": "Region"},
            "nested": {"type": "object", "properties": {"n": {"type": "integer", "x-mcp-header": "N"}}},
            "dry": {"type": "boolean", "x-mcp-header": "Dry"},
            "none": {"type": "string", "x-mcp-header": "None"},
        }));
        assert_eq!(check(&input), Ok(()));
        let skill = Skill::new(SkillId::new("p", "run"), SkillKind::Tool, "", input, Effects::unknown());
        let args = json!({"region": "eu", "nested": {"n": 42}, "dry": false, "none": null});
        let ask = Ask::Invoke { target: Target::Skill(skill.id.clone(), None), input: Input::args(args.into()) };
        let mut headers = Vec::new();
        of_call(&ask, &skill, &mut headers);
        headers.sort();
        let expected =
            [("mcp-name", "run"), ("mcp-param-dry", "false"), ("mcp-param-n", "42"), ("mcp-param-region", "eu")];
        assert_eq!(headers, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }

    #[test]
    fn m_35_marks_that_cannot_be_followed_are_refused() {
        for bad in [
            json!({"a": {"type": "number", "x-mcp-header": "A"}}),
            json!({"a": {"type": "object", "x-mcp-header": "A"}}),
            json!({"a": {"x-mcp-header": "A"}}),
            json!({"a": {"type": "string", "x-mcp-header": ""}}),
            json!({"a": {"type": "string", "x-mcp-header": "A B"}}),
            json!({"a": {"type": "string", "x-mcp-header": "A:\r\n"}}),
            json!({"a": {"type": "string", "x-mcp-header": 7}}),
            json!({"a": {"type": "string", "x-mcp-header": "A"}, "b": {"type": "string", "x-mcp-header": "a"}}),
            json!({"a": {"type": "array", "items": {"type": "string", "x-mcp-header": "A"}}}),
            json!({"a": {"oneOf": [{"type": "string", "x-mcp-header": "A"}]}}),
        ] {
            assert!(check(&schema(bad.clone())).is_err(), "{bad}");
        }
        assert_eq!(check(&schema(json!({"a": {"type": "number"}}))), Ok(()));
    }
}
