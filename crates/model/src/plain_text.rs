//! Cleaning of text from web pages: invisible characters are removed (prompt injection).

/// The longest text of one value.
pub const MAX_TEXT: usize = 16 * 1024;

/// Removes invisible characters: control characters and zero-width marks would hide words from people and show them to models. Lines stay,
/// runs of blanks become one, ends are trimmed.
pub fn clean(text: &str) -> String {
    let mut cleaned = String::with_capacity(text.len().min(MAX_TEXT));
    for c in visible(text) {
        if cleaned.len() + c.len_utf8() > MAX_TEXT {
            break;
        }
        cleaned.push(c);
    }
    cleaned
}

/// Is the text longer than [`clean`] returns?
pub fn is_cut(text: &str) -> bool {
    text.len() > MAX_TEXT && visible(text).map(char::len_utf8).sum::<usize>() > MAX_TEXT
}

fn visible(text: &str) -> impl Iterator<Item = char> {
    let mut blank = false;
    text.trim().chars().map(|c| if c == '\u{a0}' || c == '\t' { ' ' } else { c }).filter(move |c| {
        if hidden(*c) || (*c == ' ' && blank) {
            return false;
        }
        blank = *c == ' ';
        true
    })
}

fn hidden(c: char) -> bool {
    (c.is_control() && c != '\n')
        || matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fe00}'..='\u{fe0f}')
        || matches!(c, '\u{e0000}'..='\u{e0fff}')
}
