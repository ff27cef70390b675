//! Shows a whole call to a person who is asked to approve it.
//!
//! Arguments are shown as they are sent. If they are too long, each long value is replaced in its place by its length and the digest of its
//! bytes, so that the short values beside it are still readable; if that is not enough, whole arguments are replaced. A replacement is
//! written outside the quotation marks of JSON, so no value can imitate one.

use interlingua_model::content::{Blob, Body, Part};
use interlingua_model::digest::Digest;
use interlingua_model::visible::visible_line;

/// In characters: what is shown whole, and what folded text may grow to.
const WHOLE: usize = 2_000;
const LONGEST: usize = 4_000;
/// In characters: a value that is longer is folded where all together is too long.
const VALUE: usize = 200;
/// Parts that are shown one by one.
const PARTS: usize = 16;

/// Of JSON that was checked when it was read.
pub fn arguments(json: &str) -> String {
    let tokens: Vec<&str> = tokens(json).collect();
    let whole = joined(&tokens, usize::MAX);
    if fits(&whole, WHOLE) {
        return whole;
    }
    let folded = joined(&tokens, VALUE);
    if fits(&folded, LONGEST) {
        return folded;
    }
    members(&tokens, json)
}

/// What comes beside the arguments; `None` when nothing does.
pub fn parts(parts: &[Part]) -> Option<String> {
    let (shown, rest) = parts.split_at(parts.len().min(PARTS));
    let mut said: Vec<String> = shown.iter().map(part).collect();
    if !rest.is_empty() {
        let bytes = serde_json::to_vec(rest).unwrap_or_default();
        said.push(fold(&format!("{} more parts, ", rest.len()), &bytes));
    }
    (!said.is_empty()).then(|| said.join(", "))
}

/// A name, on one line.
pub fn name(name: &str) -> String {
    token(name, VALUE)
}

fn part(part: &Part) -> String {
    let said = match &part.body {
        Body::Text { text, .. } => quoted(text),
        Body::Data(json) => arguments(json.as_str()),
        Body::Blob(Blob::Inline(bytes)) => fold("", bytes),
        Body::Blob(Blob::Stored { digest, len }) => format!("⟨{len} bytes, SHA-256 {digest}⟩"),
        Body::Link => String::new(),
        Body::Code { source, language } => format!("{} {}", quoted(language), quoted(source)),
        Body::Place { text, gps } => {
            [text, gps].into_iter().flatten().map(|text| quoted(text)).collect::<Vec<_>>().join(" ")
        }
        Body::Other { namespace, value } => format!("{} {}", quoted(namespace), arguments(value.as_str())),
    };
    let about = [&part.name, &part.media, &part.uri].into_iter().flatten().map(|text| quoted(text));
    std::iter::once(said).chain(about).filter(|said| !said.is_empty()).collect::<Vec<_>>().join(" ")
}

/// A text in quotation marks, which it cannot leave.
pub fn quoted(text: &str) -> String {
    let literal = serde_json::to_string(text).unwrap_or_default();
    token(&literal, WHOLE)
}

/// Arguments one by one: short ones as they are, long ones folded with their names, and the rest of very many in one fold.
fn members(tokens: &[&str], json: &str) -> String {
    let (Some(&"{"), Some(&"}")) = (tokens.first(), tokens.last()) else { return fold("", json.as_bytes()) };
    let members: Vec<&[&str]> = split(&tokens[1..tokens.len() - 1]);
    let mut out = String::from("{");
    for (number, member) in members.iter().enumerate() {
        let [name, _, value @ ..] = member else { continue };
        let shown = joined(value, VALUE);
        let value = if fits(&shown, VALUE) { shown } else { fold("", value.concat().as_bytes()) };
        let said = format!("{}:{value}", token(name, VALUE));
        if !fits(&out, LONGEST.saturating_sub(said.chars().count())) {
            let rest: Vec<String> = members[number..].iter().map(|member| member.concat()).collect();
            out.push_str(&fold(&format!("{} more arguments, ", rest.len()), rest.join(",").as_bytes()));
            break;
        }
        out.push_str(&said);
        out.push(',');
    }
    format!("{}}} ({})", out.trim_end_matches(','), fold("all of it: ", tokens.concat().as_bytes()))
}

/// At the commas between members.
fn split<'a, 't>(tokens: &'a [&'t str]) -> Vec<&'a [&'t str]> {
    let mut depth = 0_usize;
    let at_comma = |token: &&str| {
        match *token {
            "{" | "[" => depth += 1,
            "}" | "]" => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && *token == ","
    };
    tokens.split(at_comma).collect()
}

fn joined(tokens: &[&str], longest: usize) -> String {
    tokens.iter().map(|text| token(text, longest)).collect()
}

/// A string by what it says, a number by how it is written.
fn token(text: &str, longest: usize) -> String {
    let shown = visible_line(text);
    if fits(&shown, longest) {
        return shown.into_owned();
    }
    match serde_json::from_str::<String>(text) {
        Ok(said) => fold("", said.as_bytes()),
        Err(_) => fold("", text.as_bytes()),
    }
}

fn fold(what: &str, bytes: &[u8]) -> String {
    format!("⟨{what}{} bytes, SHA-256 {}⟩", bytes.len(), Digest::of(bytes))
}

fn fits(text: &str, longest: usize) -> bool {
    text.chars().nth(longest).is_none()
}

/// Strings, numbers, words and punctuation, without the space between them.
fn tokens(json: &str) -> impl Iterator<Item = &str> {
    let mut rest = json;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches([' ', '\t', '\n', '\r']);
        let end = match rest.chars().next()? {
            '"' => string_end(rest),
            '{' | '}' | '[' | ']' | ',' | ':' => 1,
            _ => rest.find(['{', '}', '[', ']', ',', ':', '"', ' ', '\t', '\n', '\r']).unwrap_or(rest.len()),
        };
        let (token, after) = rest.split_at(end);
        rest = after;
        Some(token)
    })
}

/// Behind the quotation mark that ends the string at the beginning.
fn string_end(text: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use interlingua_model::content::Provenance;

    use super::*;

    #[test]
    fn short_arguments_are_shown_as_they_are_sent() {
        let json = r#"{"a":1.0,"b":"x, \"y\" {","c":[true,null],"d":12345678901234567890123}"#;
        assert_eq!(arguments(json), json);
        assert_eq!(arguments("{ \"a\" :\n 1 }"), r#"{"a":1}"#, "space does not push anything out of sight");
        assert_eq!(arguments("{\"a\":\"\u{202e}x\"}"), r#"{"a":"\u{202e}x"}"#);
    }

    #[test]
    fn a_long_value_is_folded_and_what_stands_beside_it_is_read() {
        let pad = "x".repeat(5_000);
        let shown = arguments(&format!(r#"{{"memo":"{pad}","to":{{"account":"ALL","deep":["{pad}",7]}}}}"#));
        let fold = fold("", pad.as_bytes());
        assert_eq!(shown, format!(r#"{{"memo":{fold},"to":{{"account":"ALL","deep":[{fold},7]}}}}"#));
        assert!(fold.contains("5000 bytes, SHA-256 "));
    }

    #[test]
    fn very_many_are_named_and_measured() {
        let members: Vec<String> = (0..2_000).map(|number| format!(r#""k{number}":{number}"#)).collect();
        let shown = arguments(&format!("{{{}}}", members.join(",")));
        assert!(shown.starts_with(r#"{"k0":0,"k1":1,"#), "{shown}");
        assert!(shown.contains(" more arguments, ") && shown.contains("⟨all of it: "), "{shown}");
        assert!(fits(&shown, LONGEST + 400), "{}", shown.len());
        let nested = format!(r#"{{"rows":[{}0],"irreversible":true}}"#, "1,".repeat(5_000));
        let shown = arguments(&nested);
        assert!(shown.starts_with(r#"{"rows":⟨10003 bytes, SHA-256 "#), "{shown}");
        assert!(shown.contains(r#""irreversible":true}"#), "{shown}");
    }

    #[test]
    fn parts_are_shown_too() {
        let parts = [
            Part::text("wipe \"all\"", Provenance::caller()),
            Part::new(Body::Blob(Blob::Inline(vec![0; 10].into())), Provenance::caller()),
        ];
        let shown = super::parts(&parts).expect("there are some");
        assert!(shown.starts_with(r#""wipe \"all\"", ⟨10 bytes, SHA-256 "#), "{shown}");
        assert_eq!(super::parts(&[]), None);
    }
}
