//! Bodies for a path that takes JSON.

use bytes::Bytes;

use super::{Case, Expected};

/// Levels of nesting that overflow the stack of a parser that recurses without a limit.
pub const DEEP: usize = 200_000;
/// Token submessages that a quadratic echo takes seconds for.
pub const TOKENS: usize = 20_000;
/// The default limit of a body.
pub const BODY_LIMIT: usize = 64 << 20;

const BAD_JSON: Expected = Expected::Refused(&[400]);
const BAD_SHAPE: Expected = Expected::Refused(&[400, 422]);
const TOO_MUCH: Expected = Expected::Refused(&[400, 413, 422]);
const WRONG_TYPE: Expected = Expected::Refused(&[415]);

/// Every case of moderate size.
pub fn cases() -> Vec<Case> {
    [broken(), encodings(), shapes(), depths(), content_types()].into_iter().flatten().collect()
}

fn case(name: &'static str, body: impl Into<Bytes>, expected: Expected) -> Case {
    Case { name, content_type: "application/json", headers: &[], body: body.into(), expected }
}

fn broken() -> Vec<Case> {
    vec![
        case("empty body", "", BAD_JSON),
        case("white space", " \n\t ", BAD_JSON),
        case("not JSON", "hello", BAD_JSON),
        case("cut off in a string", r#"{"format":"text","subformat":"engl"#, BAD_JSON),
        case("cut off in an escape", r#"{"format":"text\u00"#, BAD_JSON),
        case("text after the message", message(r#""x""#) + "{}", BAD_JSON),
        case("NUL after the message", message(r#""x""#) + "\0", BAD_JSON),
        case("trailing comma", r#"{"format":"text","subformat":"english","content":"x",}"#, BAD_JSON),
        case("comment", r#"{"format":"text",/* */"subformat":"english","content":"x"}"#, BAD_JSON),
        case("single quotes", "{'format':'text','subformat':'english','content':'x'}", BAD_JSON),
        case("raw control character in a string", message("\"a\u{1}b\""), BAD_JSON),
        case("NaN", structured(r#"{"n":NaN}"#), BAD_JSON),
        case("Infinity", structured(r#"{"n":-Infinity}"#), BAD_JSON),
        case("leading zero", structured(r#"{"n":012}"#), BAD_JSON),
        case("hexadecimal", structured(r#"{"n":0x10}"#), BAD_JSON),
        case("a number beyond any float", structured(r#"{"n":1e400}"#), Expected::AnsweredOrRefused),
        case(
            "a number of a million digits",
            structured(&format!(r#"{{"n":{}}}"#, "9".repeat(1_000_000))),
            Expected::AnsweredOrRefused,
        ),
        case("lone high surrogate", message(r#""\ud800""#), BAD_SHAPE),
        case("lone low surrogate", message(r#""\udc00x""#), BAD_SHAPE),
        case("surrogates in the wrong order", message(r#""\udc00\ud800""#), BAD_SHAPE),
        case("escaped NUL", message(r#""a\u0000b""#), Expected::AnsweredOrRefused),
    ]
}

fn encodings() -> Vec<Case> {
    let around = |bytes: &[u8]| {
        let mut body = br#"{"format":"text","subformat":"english","content":""#.to_vec();
        body.extend_from_slice(bytes);
        body.extend_from_slice(b"\"}");
        body
    };
    let utf16: Vec<u8> = message(r#""x""#).encode_utf16().flat_map(u16::to_le_bytes).collect();
    let marked = [b"\xEF\xBB\xBF".as_slice(), message(r#""x""#).as_bytes()].concat();
    vec![
        case("bad UTF-8", around(b"\xFF\xFE"), BAD_JSON),
        case("cut UTF-8", around(b"\xE2\x82"), BAD_JSON),
        case("overlong UTF-8", around(b"\xC0\xAF"), BAD_JSON),
        case("a surrogate in UTF-8", around(b"\xED\xA0\x80"), BAD_JSON),
        case("beyond Unicode", around(b"\xF4\x90\x80\x80"), BAD_JSON),
        case("bad UTF-8 in a key", b"{\"form\xFFat\":\"text\"}".to_vec(), BAD_JSON),
        case("UTF-16", utf16, BAD_JSON),
        case("byte order mark", marked, Expected::AnsweredOrRefused),
    ]
}

fn shapes() -> Vec<Case> {
    vec![
        case("an array", "[]", BAD_SHAPE),
        case("a string", r#""text""#, BAD_SHAPE),
        case("a number", "1", BAD_SHAPE),
        case("null", "null", BAD_SHAPE),
        case("an empty object", "{}", BAD_SHAPE),
        case("numeric format", r#"{"format":3,"subformat":"english","content":"x"}"#, BAD_SHAPE),
        case("null format", r#"{"format":null,"subformat":"english","content":"x"}"#, BAD_SHAPE),
        case(
            "keys equal but for their case",
            r#"{"format":"text","Format":"token","subformat":"english","content":"x"}"#,
            BAD_SHAPE,
        ),
        case(
            "the same key twice",
            r#"{"format":"text","format":"text","subformat":"english","content":"x"}"#,
            BAD_SHAPE,
        ),
        case(
            "the same key twice by escape",
            r#"{"format":"text","f\u006Frmat":"text","subformat":"english","content":"x"}"#,
            BAD_SHAPE,
        ),
        case(
            "numeric submessage format",
            with_submessages(r#"[{"format":3,"subformat":"english","content":"x"}]"#),
            BAD_SHAPE,
        ),
        case(
            "null submessage format",
            with_submessages(r#"[{"format":null,"subformat":"english","content":"x"}]"#),
            BAD_SHAPE,
        ),
        case("submessages as an object", with_submessages("{}"), BAD_SHAPE),
        case("a number as submessage", with_submessages("[1]"), BAD_SHAPE),
        case(
            "numeric label",
            with_submessages(r#"[{"format":"text","subformat":"english","content":"x","label":3}]"#),
            BAD_SHAPE,
        ),
        case("base64 that is none", r#"{"format":"binary","subformat":"image/png","content":"%%%"}"#, BAD_SHAPE),
        case(
            "a key of a megabyte",
            format!(r#"{{"{}":1,"format":"text","subformat":"english","content":"x"}}"#, "k".repeat(1 << 20)),
            Expected::AnsweredOrRefused,
        ),
    ]
}

fn depths() -> Vec<Case> {
    let nested = |open: &str, close: &str| format!("{}1{}", open.repeat(DEEP), close.repeat(DEEP));
    vec![
        case("arrays 200,000 deep", structured(&nested("[", "]")), TOO_MUCH),
        case("objects 200,000 deep", structured(&nested(r#"{"a":"#, "}")), TOO_MUCH),
        case("arrays 200,000 deep and never closed", "[".repeat(DEEP), TOO_MUCH),
        case("objects 200,000 deep and never closed", r#"{"a":"#.repeat(DEEP), TOO_MUCH),
        case(
            "deep in a field nobody knows",
            format!(r#"{{"x":{},"format":"text","subformat":"english","content":"x"}}"#, nested("[", "]")),
            TOO_MUCH,
        ),
    ]
}

fn content_types() -> Vec<Case> {
    let typed = |name, content_type| Case { content_type, ..case(name, message(r#""x""#), WRONG_TYPE) };
    let zipped = Case {
        headers: &[("content-encoding", "gzip")],
        ..case("a body said to be gzip", message(r#""x""#), Expected::Refused(&[400, 415]))
    };
    vec![
        typed("text/plain, which a web page may send unasked", "text/plain"),
        typed("a form, which a web page may send unasked", "application/x-www-form-urlencoded"),
        typed("a multipart form", "multipart/form-data; boundary=x"),
        typed("XML", "application/xml"),
        // No page can leave it out without also being told by its Origin, so it is for the server to say.
        Case { expected: Expected::AnsweredOrRefused, ..typed("no content type", "") },
        zipped,
    ]
}

/// Token submessages: legal, and to be answered in time that grows with their number only.
pub fn many_tokens(count: usize) -> Case {
    let tokens: Vec<String> = (0..count)
        .map(|number| format!(r#"{{"format":"token","subformat":"group_{number}","content":"t{number}"}}"#))
        .collect();
    case("very many tokens", with_submessages(&format!("[{}]", tokens.join(","))), Expected::Answered)
}

/// A million small values in one content.
pub fn many_values() -> Case {
    case("a million values", structured(&format!("[{}0]", "0,".repeat(1_000_000))), Expected::AnsweredOrRefused)
}

/// A legal message just below the limit of a body.
pub fn just_below_the_limit() -> Case {
    let room = BODY_LIMIT - message(r#""""#).len();
    case("64 MiB, the limit", message(&format!("\"{}\"", "x".repeat(room))), Expected::AnsweredOrRefused)
}

/// One byte over the limit of a body.
pub fn over_the_limit() -> Case {
    let room = BODY_LIMIT - message(r#""""#).len() + 1;
    case("64 MiB and a byte", message(&format!("\"{}\"", "x".repeat(room))), Expected::Refused(&[413]))
}

/// A text message with `content`, which is JSON itself.
fn message(content: &str) -> String {
    format!(r#"{{"format":"text","subformat":"english","content":{content}}}"#)
}

fn structured(content: &str) -> String {
    format!(r#"{{"format":"structured","subformat":"json","content":{content}}}"#)
}

fn with_submessages(submessages: &str) -> String {
    format!(r#"{{"format":"text","subformat":"english","content":"x","submessages":{submessages}}}"#)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_large_bodies_are_as_large_as_they_say() {
        assert_eq!(just_below_the_limit().body.len(), BODY_LIMIT);
        assert_eq!(over_the_limit().body.len(), BODY_LIMIT + 1);
    }

    #[test]
    fn what_may_be_answered_is_well_formed() {
        for case in [many_tokens(TOKENS), many_values()] {
            assert!(serde_json::from_slice::<serde_json::Value>(&case.body).is_ok(), "{}", case.name);
        }
    }
}
