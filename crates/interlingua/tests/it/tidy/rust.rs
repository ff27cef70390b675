//! Reads Rust as far as the rules here need it: what is code and what is text, which functions are tests, and what is in them.

/// A function with the attribute of a test.
pub(super) struct Test {
    pub(super) name: String,
    /// What stands between its braces, without comments and without the content of strings.
    pub(super) body: String,
    /// Where its name is, counted from 1.
    pub(super) line: usize,
}

/// The tests of a file. A function without the attribute, a comment and a string make none.
pub(super) fn tests(text: &str) -> Vec<Test> {
    let code = code(text);
    let mut found = Vec::new();
    for (at, _) in code.match_indices("#[") {
        let Some(end) = code[at..].find(']').map(|end| at + end) else { continue };
        let attribute = code[at + 2..end].split('(').next().unwrap_or_default().trim();
        if !matches!(attribute, "test" | "tokio::test") {
            continue;
        }
        let Some(function) = after_attributes(&code[end + 1..]) else { continue };
        let begins = code.len() - function.len();
        let Some(name) = function.split('(').next().filter(|name| !name.is_empty() && !name.starts_with('$')) else {
            continue;
        };
        let line = code[..begins].matches('\n').count() + 1;
        found.push(Test { name: name.to_owned(), body: braces(function).to_owned(), line });
    }
    found
}

/// What follows `fn `, if nothing but further attributes stands before it.
fn after_attributes(mut code: &str) -> Option<&str> {
    loop {
        code = code.trim_start();
        code = match code.strip_prefix("#[") {
            Some(rest) => rest.split_once(']')?.1,
            None => break,
        };
    }
    let code = code.strip_prefix("async ").unwrap_or(code);
    code.strip_prefix("fn ")
}

/// What stands in the first braces and those within.
fn braces(code: &str) -> &str {
    let Some(open) = code.find('{') else { return "" };
    let mut depth = 0_usize;
    for (at, letter) in code[open..].char_indices() {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return &code[open + 1..open + at];
        }
    }
    &code[open + 1..]
}

/// The text with a blank for each letter of a comment, a string or a letter in quotes. Lines stay where they are.
pub(super) fn code(text: &str) -> String {
    blanked(text, true)
}

/// The text with a blank for each letter of a comment. Strings are kept.
pub(super) fn without_comments(text: &str) -> String {
    blanked(text, false)
}

fn blanked(text: &str, strings: bool) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let (length, kept) = match letter {
            '/' if rest.starts_with("//") => (rest.find('\n').unwrap_or(rest.len()), false),
            '/' if rest.starts_with("/*") => (comment(rest), false),
            '"' => (string(rest), !strings),
            'r' | 'b' | 'c' if !code.ends_with(is_word) => (prefixed(rest), !strings),
            '\'' => (quoted(rest), !strings),
            _ => (0, true),
        };
        // One letter of code, or all of a comment or string.
        let (piece, after) = rest.split_at(if length == 0 { letter.len_utf8() } else { length });
        if length == 0 || kept {
            code.push_str(piece);
        } else {
            code.extend(piece.chars().map(|letter| if letter == '\n' { '\n' } else { ' ' }));
        }
        rest = after;
    }
    code
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

/// How long a comment in `/*` is: such comments nest.
fn comment(text: &str) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while at < text.len() {
        let rest = &text[at..];
        if rest.starts_with("/*") {
            (depth, at) = (depth + 1, at + 2);
        } else if rest.starts_with("*/") {
            (depth, at) = (depth - 1, at + 2);
            if depth == 0 {
                break;
            }
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    at
}

/// How long a string is that begins with a quotation mark.
fn string(text: &str) -> usize {
    let mut escaped = false;
    for (at, letter) in text.char_indices().skip(1) {
        match letter {
            '\\' if !escaped => escaped = true,
            '"' if !escaped => return at + 1,
            _ => escaped = false,
        }
    }
    text.len()
}

/// The length of a string literal with a prefix (`r"`, `b"`, `c"`, `br#"`), or 0 if the text does not start with one.
fn prefixed(text: &str) -> usize {
    let letters = text.len() - text.trim_start_matches(['r', 'b', 'c']).len();
    let hashes = text[letters..].len() - text[letters..].trim_start_matches('#').len();
    let opened = letters + hashes;
    if !text[opened..].starts_with('"') || letters > 2 {
        return 0;
    }
    if !text[..letters].ends_with('r') {
        return if hashes == 0 { opened + string(&text[opened..]) } else { 0 };
    }
    let close = format!("\"{}", "#".repeat(hashes));
    text[opened + 1..].find(&close).map_or(text.len(), |at| opened + 1 + at + close.len())
}

/// How long a letter in quotes is; 0 for a lifetime.
fn quoted(text: &str) -> usize {
    let mut letters = text.char_indices().skip(1);
    match letters.next() {
        Some((_, '\\')) => letters.skip(1).find(|(_, letter)| *letter == '\'').map_or(0, |(at, _)| at + 1),
        Some(_) => letters.next().filter(|(_, letter)| *letter == '\'').map_or(0, |(at, _)| at + 1),
        None => 0,
    }
}

#[test]
fn comments_and_strings_are_no_code() {
    let same =
        |text: &str, expected: &str| assert_eq!(code(text).split_whitespace().collect::<Vec<_>>().join(" "), expected);
    same("a // b\nc /* d /* e */ f */ g", "a c g");
    same(r##"a("b\"c", r#"d"e"#, b"f", 'g', '"', '\'', '\u{1F}') + h"##, "a( , , , , , , ) + h");
    same("fn f<'a>(x: &'a str) -> &'a str { \"}\" }", "fn f<'a>(x: &'a str) -> &'a str { }");
    same("let var = bar; r\"x\"; for\"x\"", "let var = bar; ; for");
    assert_eq!(without_comments("a(\"// b\", 'c') // d").trim_end(), "a(\"// b\", 'c')", "strings are kept");
    assert_eq!(code("a\n\"b\nc\"\nd").lines().count(), 4, "lines stay where they are");
}

#[test]
fn a_test_is_a_function_with_the_attribute_of_one() {
    let text = "
        /// #[test] fn in_a_comment() {}
        #[test]
        // Why.
        #[should_panic]
        fn one() { if x { return; } }
        #[tokio::test(flavor = \"multi_thread\")]
        async fn two() {}
        proptest! { #[test] fn three(x in 0..3) { let y = \"#[test] fn in_a_string() {}\"; } }
        fn helper() {}
        #[cfg(test)]
        fn another() {}
        #[test]
        fn $name() {}
    ";
    let found = tests(text);
    let names: Vec<(&str, usize)> = found.iter().map(|test| (test.name.as_str(), test.line)).collect();
    assert_eq!(names, [("one", 6), ("two", 8), ("three", 9)]);
    assert_eq!(found[0].body.trim(), "if x { return; }");
}
