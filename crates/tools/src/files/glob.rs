//! Path globs: `*` and `?` within a name, `**` over any number of directories, `[a-z]`, `[!a-z]`, `{one,two}`. A leading dot is an ordinary
//! character.
//!
//! Matching remembers one star at a time, so its cost is at most pattern times path, whatever the pattern.

const MAX_PATTERN: usize = 1024;
/// How many patterns the braces of one may stand for.
const MAX_ALTERNATIVES: usize = 64;

#[derive(Debug, Clone)]
pub(crate) struct Glob {
    alternatives: Vec<Vec<Segment>>,
    /// Written without `/` and `**`.
    plain_name: bool,
}

#[derive(Debug, Clone)]
enum Segment {
    /// `**`.
    AnyDepth,
    Name(Vec<Token>),
}

#[derive(Debug, Clone)]
enum Token {
    One(char),
    AnyOne,
    Star,
    Class { negated: bool, ranges: Vec<(char, char)> },
}

impl Glob {
    pub(crate) fn compile(pattern: &str) -> Result<Glob, &'static str> {
        if pattern.is_empty() || pattern.len() > MAX_PATTERN {
            return Err("must have from 1 to 1024 bytes");
        }
        let mut spellings = vec![String::new()];
        expand(pattern, &mut spellings)?;
        let alternatives = spellings.iter().map(|spelling| segments(spelling)).collect();
        Ok(Glob { alternatives, plain_name: !pattern.contains('/') && !pattern.contains("**") })
    }

    /// Does the whole path match?
    pub(crate) fn matches(&self, path: &[String]) -> bool {
        self.alternatives
            .iter()
            .any(|segments| wild(segments, path, &Segment::is_any_depth, &|segment, name| segment.matches(name)))
    }

    /// As an exclusion: a pattern that is one plain name excludes it at any depth.
    pub(crate) fn excludes(&self, path: &[String]) -> bool {
        let last = path.len().saturating_sub(1);
        self.matches(path) || (self.plain_name && self.matches(&path[last..]))
    }
}

impl Segment {
    fn is_any_depth(&self) -> bool {
        matches!(self, Segment::AnyDepth)
    }

    fn matches(&self, name: &str) -> bool {
        match self {
            Segment::AnyDepth => true,
            Segment::Name(tokens) => {
                let characters: Vec<char> = name.chars().collect();
                wild(tokens, &characters, &|token| matches!(token, Token::Star), &Token::matches)
            }
        }
    }
}

impl Token {
    fn matches(&self, character: &char) -> bool {
        match self {
            Token::One(wanted) => wanted == character,
            Token::AnyOne | Token::Star => true,
            Token::Class { negated, ranges } => {
                ranges.iter().any(|(low, high)| (low..=high).contains(&character)) != *negated
            }
        }
    }
}

/// The usual wildcard match: after a mismatch, the last star takes one item more.
fn wild<P, T>(pattern: &[P], items: &[T], is_star: &dyn Fn(&P) -> bool, matches: &dyn Fn(&P, &T) -> bool) -> bool {
    let (mut p, mut i) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while i < items.len() {
        match pattern.get(p) {
            Some(token) if is_star(token) => {
                star = Some((p, i));
                p += 1;
            }
            Some(token) if matches(token, &items[i]) => {
                p += 1;
                i += 1;
            }
            _ => match &mut star {
                None => return false,
                Some((at, taken)) => {
                    *taken += 1;
                    p = *at + 1;
                    i = *taken;
                }
            },
        }
    }
    pattern[p..].iter().all(is_star)
}

/// Writes out `{a,b}`. Braces do not nest; one that is not closed is an ordinary character.
fn expand(pattern: &str, spellings: &mut Vec<String>) -> Result<(), &'static str> {
    let mut rest = pattern;
    while let Some((before, after)) = rest.split_once('{') {
        let Some((choices, behind)) = after.split_once('}') else { break };
        let grown: Vec<String> = spellings
            .iter()
            .flat_map(|spelling| choices.split(',').map(move |choice| format!("{spelling}{before}{choice}")))
            .take(MAX_ALTERNATIVES + 1)
            .collect();
        if grown.len() > MAX_ALTERNATIVES {
            return Err("stands for more than 64 patterns");
        }
        *spellings = grown;
        rest = behind;
    }
    spellings.iter_mut().for_each(|spelling| spelling.push_str(rest));
    Ok(())
}

fn segments(pattern: &str) -> Vec<Segment> {
    pattern
        .split('/')
        .filter(|name| !name.is_empty() && *name != ".")
        .map(|name| if name == "**" { Segment::AnyDepth } else { Segment::Name(tokens(name)) })
        .collect()
}

fn tokens(name: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = name;
    while let Some(character) = rest.chars().next() {
        let after = &rest[character.len_utf8()..];
        let (token, behind) = match character {
            '*' => (Token::Star, after),
            '?' => (Token::AnyOne, after),
            '[' => class(after).unwrap_or((Token::One('['), after)),
            other => (Token::One(other), after),
        };
        tokens.push(token);
        rest = behind;
    }
    tokens
}

/// `None`: not closed, so the bracket is an ordinary character.
fn class(text: &str) -> Option<(Token, &str)> {
    let negated = text.starts_with(['!', '^']);
    let body = if negated { &text[1..] } else { text };
    // A bracket right at the beginning belongs to the class.
    let first = body.chars().next()?;
    let close = first.len_utf8() + body[first.len_utf8()..].find(']')?;
    let members: Vec<char> = body[..close].chars().collect();
    let mut ranges = Vec::new();
    let mut at = 0;
    while at < members.len() {
        match members[at..] {
            [low, '-', high, ..] => {
                ranges.push((low, high));
                at += 3;
            }
            _ => {
                ranges.push((members[at], members[at]));
                at += 1;
            }
        }
    }
    Some((Token::Class { negated, ranges }, &body[close + 1..]))
}
