//! Reads the options of a sequence beyond its steps, and their defaults.

use std::time::Duration;

use super::Findings;
use crate::definition::{Does, Parameter, Step};
use interlingua_model::card::{CardFrom, Effects, Phrase};
use interlingua_model::json::Tree;

/// A number of milliseconds, or a text such as `5s`, `500ms`, `10m`.
pub(super) fn span(tree: &Tree) -> Option<Duration> {
    match tree {
        Tree::Number(number) => number.as_u64().map(Duration::from_millis),
        Tree::String(text) => {
            let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
            let number: u64 = text[..digits].parse().ok()?;
            match &text[digits..] {
                "ms" => Some(Duration::from_millis(number)),
                "s" => Some(Duration::from_secs(number)),
                "m" => Some(Duration::from_secs(number.checked_mul(60)?)),
                "h" => Some(Duration::from_secs(number.checked_mul(3_600)?)),
                _ => None,
            }
        }
        Tree::Null | Tree::Bool(_) | Tree::Array(_) | Tree::Object(_) => None,
    }
}

const LOOKS: [&str; 14] = [
    "search",
    "find",
    "get",
    "list",
    "show",
    "check",
    "look",
    "read",
    "view",
    "lookup",
    "fetch",
    "buscar",
    "ver",
    "consultar",
];
const SPENDS: [&str; 8] = ["book", "buy", "pay", "order", "purchase", "checkout", "comprar", "reservar"];
const DESTROYS: [&str; 6] = ["delete", "remove", "cancel", "drop", "borrar", "eliminar"];

/// What the definition declares, else what can be told from the steps and the name. A sequence that only opens pages and
/// reads them reads; one that clicks reads if it is called a search and ends with what it found; any other may write.
pub(super) fn effects(at: &str, name: &str, said: Option<&Tree>, steps: &[Step], findings: &mut Findings) -> Effects {
    let reads = Effects::reads_only(CardFrom::Configuration);
    let writes = Effects::writes(CardFrom::Configuration);
    match said.map(Tree::as_str) {
        Some(Some("reads")) => return reads,
        Some(Some("writes")) => return writes,
        Some(Some("destroys")) => return Effects { destroys: true, ..writes },
        Some(Some("spends")) => return Effects { spends: true, ..writes },
        Some(_) => findings.add(format!("{at}.effects"), "must be one of reads, writes, destroys, spends"),
        None => {}
    }
    let verb = name.split(['_', '-', '.']).next().unwrap_or_default().to_ascii_lowercase();
    let touches = steps.iter().any(|step| match step.does {
        Does::Click { .. } | Does::Type { .. } | Does::Select { .. } => true,
        Does::Navigate { .. } | Does::Wait { .. } | Does::Extract(_) => step.commits,
    });
    let ends_reading = matches!(steps.last().map(|step| &step.does), Some(Does::Extract(_)));
    let commits = steps.iter().any(|step| step.commits);
    let is = |verbs: &[&str]| verbs.contains(&verb.as_str());
    match () {
        () if is(&SPENDS) => Effects { spends: true, ..writes },
        () if is(&DESTROYS) => Effects { destroys: true, ..writes },
        () if !commits && (!touches || (is(&LOOKS) && ends_reading)) => reads,
        () => writes,
    }
}

/// The words before a parameter of this name, where people agree on them.
fn before(name: &str) -> &'static str {
    match name {
        "origin" | "from" | "departure" | "source" => "from",
        "destination" | "to" | "target" | "arrival" => "to",
        "date" | "day" | "departure_date" => "on",
        "return_date" => "returning on",
        "city" | "place" | "location" => "in",
        "query" | "text" | "term" | "q" | "keywords" => "for",
        _ => "",
    }
}

/// What the definition lists: patterns, or objects with `locale` and `pattern`. Without any, one is made of the name of the
/// action and its parameters: `search flights [from {origin}] [to {destination}] [on {date}]`.
pub(super) fn phrases(
    at: &str,
    name: &str,
    said: Option<&Tree>,
    parameters: &[Parameter],
    findings: &mut Findings,
) -> Vec<Phrase> {
    let listed = match said {
        Some(Tree::Array(listed)) => listed,
        Some(_) => {
            findings.add(format!("{at}.phrases"), "must be a list");
            return Vec::new();
        }
        None => return vec![usual(name, parameters)],
    };
    let mut phrases = Vec::new();
    for (index, tree) in listed.iter().enumerate() {
        let phrase = match tree {
            Tree::String(pattern) => Some(("en", pattern.as_str())),
            Tree::Object(said) => {
                let text = |key: &str| said.get(key).and_then(Tree::as_str);
                text("pattern").map(|pattern| (text("locale").unwrap_or("en"), pattern))
            }
            _ => None,
        };
        match phrase {
            Some((locale, pattern)) => phrases.push(Phrase { locale: locale.into(), pattern: pattern.into() }),
            None => findings.add(format!("{at}.phrases[{}]", index + 1), "must be a pattern, or an object with one"),
        }
    }
    phrases
}

fn usual(name: &str, parameters: &[Parameter]) -> Phrase {
    let mut pattern = name.replace(['_', '-', '.'], " ");
    for parameter in parameters.iter().filter(|parameter| !parameter.secret) {
        let word = match before(&parameter.name) {
            "" => parameter.name.replace('_', " "),
            word => word.to_owned(),
        };
        pattern.push_str(&format!(" [{word} {{{}}}]", parameter.name));
    }
    Phrase { locale: "en".into(), pattern: pattern.into() }
}
