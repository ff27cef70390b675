//! The headers of Streamable HTTP 2026-07-28 that repeat parts of the body, so that intermediaries can route without reading it:
//! `Mcp-Method`, `Mcp-Name` and `Mcp-Param-*`. The hub checks them against the body; a header that differs is refused before anything is
//! begun.
//!
//! Values that no header can carry are written in base64 between `=?base64?` and `?=`.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use interlingua_model::Json;
use serde_json::Value;

use interlingua_wire::rpc;

/// The code of an error that says that a header and the body differ.
pub const HEADER_MISMATCH: i64 = -32020;

pub const PROTOCOL_VERSION: &str = "mcp-protocol-version";
pub const METHOD: &str = "mcp-method";
pub const NAME: &str = "mcp-name";
pub const SESSION: &str = "mcp-session-id";
/// What every header for a parameter begins with.
pub const PARAM: &str = "mcp-param-";

const OPEN: &str = "=?base64?";
const CLOSE: &str = "?=";

/// How deep a schema is searched for parameters with a header.
const MAX_DEPTH: usize = 16;
/// How many parameters of one tool may have a header.
const MAX_PARAMS: usize = 64;
/// The largest whole number that every reader of JSON agrees on.
const SAFE: i64 = (1 << 53) - 1;

/// What a header says; `None` when it is no text, or its base64 is broken.
pub fn decode(value: &str) -> Option<Cow<'_, str>> {
    let value = value.trim_matches([' ', '\t']);
    if let Some(inner) = value.strip_prefix(OPEN).and_then(|rest| rest.strip_suffix(CLOSE)) {
        let bytes = STANDARD.decode(inner).ok()?;
        return String::from_utf8(bytes).ok().map(Cow::Owned);
    }
    let plain = |byte: u8| byte == b'\t' || (b' '..=b'~').contains(&byte);
    value.bytes().all(plain).then_some(Cow::Borrowed(value))
}

/// A value as a header carries it.
pub fn encode(value: &str) -> Cow<'_, str> {
    let plain = value.bytes().all(|byte| (b' '..=b'~').contains(&byte));
    let edges = value.starts_with(' ') || value.ends_with(' ');
    let looks_encoded = value.starts_with(OPEN) && value.ends_with(CLOSE);
    if plain && !edges && !looks_encoded {
        return Cow::Borrowed(value);
    }
    Cow::Owned(format!("{OPEN}{}{CLOSE}", STANDARD.encode(value)))
}

pub fn mismatch(text: impl Into<interlingua_model::Text>) -> rpc::Error {
    rpc::Error::new(HEADER_MISMATCH, text)
}

/// Does a header that must be there say what the body says?
pub fn check(header: &str, given: Option<&str>, body: &str) -> Result<(), rpc::Error> {
    let Some(given) = given else { return Err(mismatch(format!("the header {header} is missing"))) };
    match decode(given) {
        Some(value) if *value == *body => Ok(()),
        Some(_) => Err(mismatch(format!("the header {header} does not say what the body says"))),
        None => Err(mismatch(format!("the header {header} cannot be read"))),
    }
}

/// A parameter that a header repeats.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Param {
    /// In lower case, with the prefix.
    pub header: String,
    /// The chain of `properties` that leads to it.
    pub path: Vec<String>,
}

/// Why a tool's `x-mcp-header` marks cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadParam {
    #[error("x-mcp-header must be a header's name")]
    Name,
    #[error("two parameters have the same x-mcp-header")]
    Twice,
    #[error("x-mcp-header stands at a parameter that is no text, integer or boolean")]
    Kind,
    #[error("x-mcp-header stands where no chain of properties leads")]
    Place,
    #[error("too many parameters have an x-mcp-header")]
    TooMany,
}

/// The parameters of a tool that headers repeat, found in its input schema.
pub fn params(schema: &Json) -> Result<Vec<Param>, BadParam> {
    // Most schemas have none, and their text says so.
    if !schema.as_str().contains("x-mcp-header") {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    let mut path = Vec::new();
    let marked = walk(schema.tree(), &mut path, &mut found)?;
    if marked != count(schema.tree(), 0) {
        return Err(BadParam::Place);
    }
    Ok(found)
}

/// Follows `properties` alone; returns how many marks it met.
fn walk(schema: &Value, path: &mut Vec<String>, found: &mut Vec<Param>) -> Result<usize, BadParam> {
    let Some(properties) = schema["properties"].as_object().filter(|_| path.len() < MAX_DEPTH) else { return Ok(0) };
    let mut marked = 0;
    for (name, property) in properties {
        path.push(name.clone());
        if let Some(mark) = property.get("x-mcp-header") {
            marked += 1;
            found.push(Param { header: header_name(mark)?, path: path.clone() });
            check_kind(property)?;
            if found.len() > MAX_PARAMS {
                return Err(BadParam::TooMany);
            }
            let last = found.len() - 1;
            if found[..last].iter().any(|earlier| earlier.header == found[last].header) {
                return Err(BadParam::Twice);
            }
        }
        marked += walk(property, path, found)?;
        path.pop();
    }
    Ok(marked)
}

fn header_name(mark: &Value) -> Result<String, BadParam> {
    let name = mark.as_str().filter(|name| !name.is_empty() && name.len() <= 128).ok_or(BadParam::Name)?;
    let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    if !name.bytes().all(token) {
        return Err(BadParam::Name);
    }
    Ok(format!("{PARAM}{}", name.to_ascii_lowercase()))
}

fn check_kind(property: &Value) -> Result<(), BadParam> {
    match property["type"].as_str() {
        Some("string" | "integer" | "boolean") => Ok(()),
        Some(_) | None => Err(BadParam::Kind),
    }
}

/// All marks of a schema, wherever they stand.
fn count(value: &Value, depth: usize) -> usize {
    if depth > 2 * MAX_DEPTH {
        return 0;
    }
    match value {
        Value::Object(object) => {
            let here = usize::from(object.contains_key("x-mcp-header") && !is_property_list(object));
            here + object.values().map(|value| count(value, depth + 1)).sum::<usize>()
        }
        Value::Array(items) => items.iter().map(|item| count(item, depth + 1)).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

/// A parameter may itself be called so; then its value is a schema.
fn is_property_list(object: &serde_json::Map<String, Value>) -> bool {
    object.get("x-mcp-header").is_some_and(Value::is_object)
}

/// The value of a parameter as its header spells it; `None` when the call does not bring it.
pub fn value(args: Option<&Json>, param: &Param) -> Option<String> {
    let mut at = args?.tree();
    for name in &param.path {
        at = at.get(name)?;
    }
    match at {
        Value::String(text) => Some(text.clone()),
        Value::Bool(value) => Some(value.to_string()),
        Value::Number(number) => number.as_i64().filter(|number| number.abs() <= SAFE).map(|number| number.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Do the headers of a call repeat its arguments? `header` looks one up by its name in lower case.
pub fn check_params<'a>(
    params: &[Param],
    args: Option<&Json>,
    header: impl Fn(&str) -> Option<&'a str>,
) -> Result<(), rpc::Error> {
    for param in params {
        let body = value(args, param);
        match (header(&param.header), body) {
            (None, None) => {}
            (None, Some(_)) => return Err(mismatch(format!("the header {} is missing", param.header))),
            (Some(_), None) => {
                return Err(mismatch(format!("the header {} says what the body does not", param.header)));
            }
            (Some(given), Some(body)) => match decode(given) {
                Some(value) if same(&value, &body) => {}
                Some(_) | None => {
                    return Err(mismatch(format!("the header {} does not say what the body says", param.header)));
                }
            },
        }
    }
    Ok(())
}

/// Whole numbers are compared as numbers.
fn same(header: &str, body: &str) -> bool {
    header == body || matches!((header.parse::<i64>(), body.parse::<i64>()), (Ok(a), Ok(b)) if a == b)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn m_07_values_no_header_can_carry_are_encoded_and_decoded() {
        for (value, header) in [
            ("us-west1", "us-west1"),
            ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
            (" padded ", "=?base64?IHBhZGRlZCA=?="),
            ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
            ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
        ] {
            assert_eq!(encode(value), header);
            assert_eq!(decode(header).as_deref(), Some(value));
        }
        assert_eq!(decode("  find  ").as_deref(), Some("find"));
        for broken in ["=?base64?AA?=", "=?base64?A*==?=", "caf\u{e9}"] {
            assert_eq!(decode(broken), None, "{broken}");
        }
        assert_eq!(decode("=?BASE64?QQ==?=").as_deref(), Some("=?BASE64?QQ==?="), "the markers are lower case");
    }

    #[test]
    fn m_07_a_header_must_be_there_and_say_the_same() {
        assert!(check(NAME, Some(" find "), "find").is_ok());
        for (given, body) in [(None, "find"), (Some("FIND"), "find"), (Some("=?base64?AA?="), "find")] {
            assert_eq!(check(NAME, given, body).expect_err("refused").code, HEADER_MISMATCH);
        }
    }

    fn schema(properties: Value) -> Json {
        json!({"type": "object", "properties": properties}).into()
    }

    #[test]
    fn m_07_parameters_are_compared_with_their_headers() {
        let schema = schema(json!({
            "region": {"type": "string", "x-mcp-header": "Region"},
            "page": {"type": "object", "properties": {"n": {"type": "integer", "x-mcp-header": "Page"}}},
        }));
        let params = params(&schema).expect("usable");
        let checked = |args: Value, headers: &[(&str, &'static str)]| {
            let header = |name: &str| headers.iter().find(|(given, _)| *given == name).map(|(_, value)| *value);
            check_params(&params, Some(&args.into()), header).is_ok()
        };
        assert!(checked(json!({"region": "a"}), &[("mcp-param-region", "a")]));
        assert!(checked(json!({"page": {"n": 7}}), &[("mcp-param-page", "07")]));
        assert!(checked(json!({"region": null}), &[]));
        assert!(!checked(json!({"region": "a"}), &[]), "left out");
        assert!(!checked(json!({"region": "a"}), &[("mcp-param-region", "b")]), "another value");
        assert!(!checked(json!({}), &[("mcp-param-region", "b")]), "not in the body");
        assert!(!checked(json!({"region": "a"}), &[("mcp-param-region", "=?base64?YQ=?=")]), "broken base64");
    }

    #[test]
    fn m_35_marks_that_cannot_be_used_are_named() {
        for (properties, bad) in [
            (json!({"a": {"type": "string", "x-mcp-header": ""}}), BadParam::Name),
            (json!({"a": {"type": "string", "x-mcp-header": "a b"}}), BadParam::Name),
            (json!({"a": {"type": "string", "x-mcp-header": 1}}), BadParam::Name),
            (json!({"a": {"type": "number", "x-mcp-header": "A"}}), BadParam::Kind),
            (json!({"a": {"type": "array", "items": {"type": "string", "x-mcp-header": "A"}}}), BadParam::Place),
            (
                json!({"a": {"type": "string", "x-mcp-header": "A"}, "b": {"type": "string", "x-mcp-header": "a"}}),
                BadParam::Twice,
            ),
        ] {
            assert_eq!(params(&schema(properties.clone())), Err(bad), "{properties}");
        }
        assert_eq!(params(&schema(json!({"a": {"type": "string"}}))), Ok(Vec::new()));
    }
}
