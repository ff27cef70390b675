//! Token file: the list of callers in a file of its own. `interlingua token` adds or removes one entry and leaves everything else in the
//! file as it is.
//!
//! Deliberately absent: writing the file, and making tokens.

use std::path::{Path, PathBuf};

use super::AccessToken;
use interlingua_settings::Sources;
use interlingua_settings::document::{Environment, Substitution, Value, decode, parse, parse_list};
use interlingua_settings::unreadable;

/// Which file `access.tokens` of a configuration names, if it names one.
pub fn named_in(file: &Path) -> Result<Option<PathBuf>, String> {
    let text = std::fs::read_to_string(file).map_err(|error| unreadable(file, &error))?;
    let mut root = parse(&text, 0).map_err(|bad| format!("{}: {}", file.display(), bad.message))?;
    let named = root.at_mut(&["access", "tokens"]).and_then(|node| match &node.value {
        Value::Scalar { text, .. } => text.strip_prefix("file:").map(str::to_owned),
        _ => None,
    });
    Ok(named.map(|named| file.parent().unwrap_or(Path::new("")).join(named)))
}

/// The callers of a list.
pub fn callers(text: &str, file: &Path, environment: Environment<'_>) -> Result<Vec<AccessToken>, String> {
    let wrong = |message: &str| format!("{}: {message}", file.display());
    if text.lines().all(|line| line.trim().is_empty() || line.trim_start().starts_with('#')) {
        return Ok(Vec::new());
    }
    let mut sources = Sources::default();
    let source = sources.add(file, "");
    let mut root = parse_list(text, source).map_err(|bad| wrong(&bad.message))?;
    let mut problems = Vec::new();
    let base = file.parent().unwrap_or(Path::new(""));
    Substitution { environment, base, sources: &mut sources, problems: &mut problems }.fill(&mut root, "");
    let decoded = decode::<Vec<AccessToken>>(root, &sources, |_| None);
    match (problems.first(), decoded) {
        (Some(problem), _) => Err(problem.to_string()),
        (None, Ok(callers)) => Ok(callers),
        (None, Err(problems)) => Err(problems.first().map(ToString::to_string).unwrap_or_default()),
    }
}

/// An entry, as it is written at the end of the list.
#[derive(Debug, Clone, Default)]
pub struct Entry<'a> {
    pub name: &'a str,
    pub sha256: &'a str,
    /// None: all.
    pub skills: &'a [String],
    pub roles: &'a [String],
    pub approve: bool,
    pub register: bool,
    pub expires: Option<String>,
}

/// The list with one entry more. JSON's way to write text is YAML's too.
pub fn added(text: &str, entry: &Entry<'_>) -> String {
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let list = |texts: &[String]| format!("[{}]", texts.iter().map(|text| quoted(text)).collect::<Vec<_>>().join(", "));
    let mut lines = vec![format!("- name: {}", quoted(entry.name)), format!("  sha256: {}", entry.sha256)];
    if !entry.skills.is_empty() {
        lines.push(format!("  skills: {}", list(entry.skills)));
    }
    if !entry.roles.is_empty() {
        lines.push(format!("  roles: {}", list(entry.roles)));
    }
    lines.extend(entry.approve.then(|| "  approve: true".to_owned()));
    lines.extend(entry.register.then(|| "  register: true".to_owned()));
    lines.extend(entry.expires.as_ref().map(|expires| format!("  expires: {}", quoted(expires))));
    let ends = text.is_empty() || text.ends_with('\n');
    format!("{text}{}{}\n", if ends { "" } else { "\n" }, lines.join("\n"))
}

/// The list without its entry at this place. `None` when it is not written one entry after another, each beginning with a
/// dash at the start of a line.
pub fn without(text: &str, place: usize) -> Option<String> {
    let starts: Vec<usize> = (text.split_inclusive('\n'))
        .scan(0, |at, line| {
            let start = *at;
            *at += line.len();
            Some((start, line))
        })
        .filter(|(_, line)| *line == "-" || line.starts_with("- ") || line.starts_with("-\n"))
        .map(|(start, _)| start)
        .collect();
    let (start, end) = (*starts.get(place)?, starts.get(place + 1).copied().unwrap_or(text.len()));
    Some(format!("{}{}", &text[..start], &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        let found = callers(text, Path::new("tokens.yaml"), &|_| None).expect("a list");
        found.into_iter().map(|caller| caller.name).collect()
    }

    const DIGEST: &str = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";

    #[test]
    fn an_entry_comes_and_goes_and_the_rest_stays_as_it_was() {
        let first = format!("# ours\n- name: ann\n  sha256: {DIGEST}\n  # she may all\n");
        let skills = ["hotels/*".to_owned()];
        let entry = Entry {
            name: "bob \"x\"",
            sha256: &DIGEST.replace('9', "8"),
            skills: &skills,
            approve: true,
            ..Entry::default()
        };
        let both = added(&first, &entry);
        assert!(both.starts_with(&first));
        assert_eq!(names(&both), ["ann", "bob \"x\""]);
        assert_eq!(without(&both, 1).as_deref(), Some(first.as_str()));
        let bob = without(&both, 0).expect("one less");
        assert!(bob.starts_with("# ours\n- name: \"bob"), "{bob}");
        assert_eq!(names(&bob), ["bob \"x\""]);
        assert_eq!(without(&both, 2), None);
    }

    /// A hundred thousand callers are more than either bound of a configuration.
    #[test]
    fn a_list_of_callers_may_be_longer_than_a_configuration() {
        let many = format!("[{}]", "a, ".repeat(200_001));
        assert!(parse_list(&many, 0).is_ok());
        assert!(parse(&many, 0).is_err_and(|bad| bad.message == "more than 200000 values"));
    }

    #[test]
    fn a_list_may_begin_empty_and_a_mistake_in_it_is_told() {
        assert!(names("").is_empty() && names("# nobody yet\n").is_empty());
        let told = callers("- name: ann\n", Path::new("t.yaml"), &|_| None).expect_err("it needs something to show");
        assert!(told.contains("a caller needs a `token`"), "{told}");
    }
}
