//! Safe display of untrusted text: invisible characters, and characters that change how the rest is displayed, are escaped.
//!
//! A text may hold characters that reverse the order of what follows (U+202E, U+2066), that are invisible (zero widths, tags, fillers), or
//! that pile up over a line. A person who reads such a text decides on something other than what it says (Unicode TR 36, TS 39). They are
//! written as `\u{202e}`. Letters of every script, and the marks that belong to them, are unchanged.

use std::borrow::Cow;
use std::fmt::Write;

/// As many marks as a letter of any living script has over and under it.
const MARKS: usize = 4;

/// The text on as many lines as it has: line breaks and tabs stay.
pub fn visible(text: &str) -> Cow<'_, str> {
    spelt(text, |c| matches!(c, '\n' | '\t').then_some(c))
}

/// The text on one line: what breaks a line is a space.
pub fn visible_line(text: &str) -> Cow<'_, str> {
    spelt(text, |c| matches!(c, '\n' | '\r' | '\t').then_some(' '))
}

/// JSON with the same meaning, in which nothing is hidden: invisible characters in its strings are escaped as JSON escapes them.
pub fn visible_json(json: &str) -> Cow<'_, str> {
    let hidden = |c: char| !c.is_ascii() && stands(c) == Stands::Hidden;
    if !json.contains(hidden) {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        if hidden(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// `kept`: what stands for a control character, where one does.
fn spelt(text: &str, kept: impl Fn(char) -> Option<char>) -> Cow<'_, str> {
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    // A mark at the beginning has nothing to stand on.
    let mut marks = MARKS;
    for c in text.chars() {
        if let Some(kept) = kept(c) {
            out.push(kept);
            marks = MARKS;
            continue;
        }
        match stands(c) {
            Stands::Seen => {
                out.push(c);
                marks = 0;
            }
            Stands::Mark if marks < MARKS => {
                out.push(c);
                marks += 1;
            }
            Stands::Mark | Stands::Hidden => {
                let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
                marks = MARKS;
            }
        }
    }
    Cow::Owned(out)
}

/// How a character stands in a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stands {
    Seen,
    /// Over, under or in the letter before it.
    Mark,
    Hidden,
}

fn stands(c: char) -> Stands {
    if matches!(c, ' '..='~') {
        return Stands::Seen;
    }
    if is_blank(c) {
        return Stands::Hidden;
    }
    // Spaces of any width are seen; separators of lines and paragraphs are not.
    if c.is_whitespace() && !c.is_control() && !matches!(c, '\u{2028}' | '\u{2029}') {
        return Stands::Seen;
    }
    let mut utf8 = [b'a'; 5];
    let end = 1 + c.encode_utf8(&mut utf8[1..]).len();
    // The library escapes all of Cc, Cf, Cs, Co, Cn, Zl and Zp; a mark only where a text begins with it.
    let printable = std::str::from_utf8(&utf8[..end]).is_ok_and(|pair| pair.escape_debug().nth(1) == Some(c));
    let alone = c.escape_debug().next() == Some(c);
    match (printable, alone) {
        (true, true) => Stands::Seen,
        (true, false) => Stands::Mark,
        (false, _) => Stands::Hidden,
    }
}

/// Letters and marks by their category, but nothing to the eye (`Default_Ignorable_Code_Point`, and the blank of Braille).
/// The selectors of text and emoji style are used in earnest; the others hide data.
fn is_blank(c: char) -> bool {
    matches!(c,
        '\u{34f}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{2800}'
        | '\u{3164}' | '\u{fe00}'..='\u{fe0d}' | '\u{ffa0}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_turns_or_hides_text_is_spelt_out() {
        for (hidden, spelt) in [
            ("a\u{202e}b", "a\\u{202e}b"),
            ("\u{2066}x\u{2069}", "\\u{2066}x\\u{2069}"),
            ("a\u{200b}\u{200d}\u{feff}b", "a\\u{200b}\\u{200d}\\u{feff}b"),
            ("\u{e0041}", "\\u{e0041}"),
            ("soft\u{ad}", "soft\\u{ad}"),
            ("\u{2028}\u{2029}", "\\u{2028}\\u{2029}"),
            ("\u{e000}\u{f0000}\u{378}", "\\u{e000}\\u{f0000}\\u{378}"),
            ("\u{3164}\u{2800}\u{fe00}", "\\u{3164}\\u{2800}\\u{fe00}"),
            ("\u{1b}[2J\u{9b}1m\r", "\\u{1b}[2J\\u{9b}1m\\u{d}"),
        ] {
            assert_eq!(visible(hidden), spelt);
        }
    }

    #[test]
    fn letters_of_every_script_stay() {
        for text in [
            "plain {\"a\": 'b\\n'}",
            "año, Zürich",
            "e\u{301}le\u{300}ve",
            "नमस्ते",
            "日本語\u{3000}です",
            "שלום",
            "ไม่",
            "👍\u{fe0f}",
            "1\u{a0}000 €",
        ] {
            assert_eq!(visible(text), text);
        }
        assert_eq!(visible("a\tb\nc"), "a\tb\nc");
        assert_eq!(visible_line("a\tb\r\nc"), "a b  c");
    }

    #[test]
    fn marks_do_not_pile_up() {
        let flood = format!("a{}", "\u{301}".repeat(MARKS + 2));
        assert_eq!(visible(&flood), format!("a{}{}", "\u{301}".repeat(MARKS), "\\u{301}".repeat(2)));
        assert_eq!(visible("\u{301}a"), "\\u{301}a");
    }

    #[test]
    fn json_keeps_its_meaning() {
        let json = "{\"a\":\"x\u{202e}\u{e0041}y\"}";
        let shown = visible_json(json);
        assert_eq!(shown, r#"{"a":"x\u202e\udb40\udc41y"}"#);
        let read = |text: &str| serde_json::from_str::<serde_json::Value>(text).expect("JSON");
        assert_eq!(read(&shown), read(json));
        assert_eq!(visible_json("{\n}"), "{\n}");
    }
}
