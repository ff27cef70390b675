//! Texts of another program's file as texts of a hub's configuration.
//!
//! A hub fills in `${NAME}` and `file:PATH` when it reads its configuration. A text of an imported file must not make it read a file of
//! this machine, nor name a variable by accident: references are rewritten one by one, everything else is made literal.

/// A reference that this hub's configuration has, too.
enum Reference {
    Variable(String),
    /// With what to use instead of a variable that is not set.
    Or(String, String),
    Text(String),
}

/// A text in which nothing is filled in; `None` where the hub would take it for the name of a file.
pub(super) fn literal(text: &str) -> Option<String> {
    (!text.starts_with("file:")).then(|| text.replace("${", "$${"))
}

/// A text in which references to the environment stay references, in the spelling of a hub: `${NAME}` for `${env:NAME}` (Cursor, VS Code),
/// for `${input:ID}` (VS Code asks for it) and for itself. `None` where the hub would take it for the name of a file.
pub(super) fn with_references(text: &str) -> Option<String> {
    let (mut written, mut bare) = (String::new(), String::new());
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        let (before, after) = (&rest[..start], &rest[start + 2..]);
        written.push_str(before);
        bare.push_str(before);
        let Some(end) = after.find('}') else {
            written.push_str("$${");
            bare.push_str("${");
            rest = after;
            continue;
        };
        let whole = before.is_empty() && written.is_empty() && end + 1 == after.len();
        match reference(&after[..end]) {
            Reference::Variable(name) => written.push_str(&format!("${{{name}}}")),
            // Pieces of a text could be put together to the name of a file; a whole text is what it is.
            Reference::Or(name, other) if whole && literal(&other).as_ref() == Some(&other) => {
                written.push_str(&format!("${{{name}:-{other}}}"));
            }
            Reference::Or(name, _) => written.push_str(&format!("${{{name}}}")),
            Reference::Text(text) => {
                bare.push_str(&text);
                written.push_str(&text);
            }
        }
        rest = &after[end + 1..];
    }
    written.push_str(rest);
    bare.push_str(rest);
    (!bare.starts_with("file:")).then_some(written)
}

fn reference(inner: &str) -> Reference {
    let (name, other) = inner.split_once(":-").map_or((inner, None), |(name, other)| (name, Some(other)));
    let name = name.strip_prefix("env:").unwrap_or(name);
    match (name, other) {
        ("userHome", _) => Reference::Variable("HOME".into()),
        ("workspaceFolder" | "workspaceRoot", _) => Reference::Text(".".into()),
        ("/" | "pathSeparator", _) => Reference::Text("/".into()),
        (name, Some(other)) if is_variable(name) => Reference::Or(name.into(), other.into()),
        (name, None) if is_variable(name) => Reference::Variable(name.into()),
        (name, _) => match name.strip_prefix("input:") {
            Some(id) => Reference::Variable(variable(id)),
            None => Reference::Text(format!("$${{{inner}}}")),
        },
    }
}

fn is_variable(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// The name of a variable for something that has a name of its own.
pub(super) fn variable(name: &str) -> String {
    let letter = |letter: char| if letter.is_ascii_alphanumeric() { letter.to_ascii_uppercase() } else { '_' };
    let name: String = name.chars().take(100).map(letter).collect();
    if name.is_empty() { "SECRET".to_owned() } else { name }
}

/// Does a field of this name hold a credential?
pub(super) fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["token", "key", "secret", "passw", "auth", "credential", "cookie"].iter().any(|word| name.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_to_the_environment_are_written_as_a_hub_writes_them() {
        for (theirs, ours) in [
            ("${env:API_KEY}", "${API_KEY}"),
            ("Bearer ${API_KEY}", "Bearer ${API_KEY}"),
            ("${input:github-token}", "${GITHUB_TOKEN}"),
            ("${BASE:-https://a.example}", "${BASE:-https://a.example}"),
            ("x${BASE:-y}", "x${BASE}"),
            ("${userHome}/notes", "${HOME}/notes"),
            ("${workspaceFolder}/src", "./src"),
            ("${command:pick}", "$${command:pick}"),
            ("50 ${", "50 $${"),
        ] {
            assert_eq!(with_references(theirs).as_deref(), Some(ours), "{theirs}");
        }
        assert_eq!(literal("say ${HOME}").as_deref(), Some("say $${HOME}"));
    }

    #[test]
    fn attack_no_text_makes_the_hub_read_a_file() {
        for text in [
            "file:/etc/shadow",
            "fi${NOTHING}le:/etc/shadow",
            "${NOTHING}file:/etc/shadow",
            "${NOTHING:-x}file:/etc/shadow",
            "fi${NOTHING:-le:}le:/etc/shadow",
        ] {
            assert_eq!(with_references(text), None, "{text}");
        }
        assert_eq!(with_references("${NOTHING:-file:/etc/shadow}").as_deref(), Some("${NOTHING}"));
        assert_eq!(literal("file:/etc/shadow"), None);
    }
}
