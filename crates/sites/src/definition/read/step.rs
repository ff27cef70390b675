//! Reads one step of a sequence.

use std::time::Duration;

use super::{Aliases, Findings};
use crate::definition::extract::{Field, Kind, MAX_ROWS};
use crate::definition::{Does, Extract, Locator, Step, Template};
use interlingua_model::id::Text;
use interlingua_model::json::Tree;

/// What a step may take, unless it says otherwise.
const ACTING: Duration = Duration::from_secs(30);
const WAITING: Duration = Duration::from_secs(10);
const LONGEST: Duration = Duration::from_secs(600);
const MAX_TRIES: usize = 16;
const MAX_SELECTOR: usize = 2_000;
const MAX_FIELDS: usize = 100;
const NO_SLOT: &str = "a selector cannot hold a placeholder: values of callers are only typed or chosen";

pub(super) fn read(at: &str, tree: &Tree, aliases: &Aliases, findings: &mut Findings) -> Option<Step> {
    if !tree.is_object() {
        findings.add(at, "a step is an object");
        return None;
    }
    let mut reading = Reading { at, tree, aliases, findings };
    let does = reading.does()?;
    let usual = if matches!(does, Does::Wait { .. }) { WAITING } else { ACTING };
    let limit = reading.limit().unwrap_or(usual);
    let flag = |key: &str| said(tree, key).and_then(Tree::as_bool).unwrap_or(false);
    Some(Step { does, limit, commits: flag("commits") || flag("submits"), picture: flag("screenshot") })
}

/// A key of the step, or of its `metadata`.
fn said<'a>(tree: &'a Tree, key: &str) -> Option<&'a Tree> {
    tree.get(key).or_else(|| tree.get("metadata")?.get(key)).filter(|value| !value.is_null())
}

struct Reading<'a> {
    at: &'a str,
    tree: &'a Tree,
    aliases: &'a Aliases,
    findings: &'a mut Findings,
}

impl Reading<'_> {
    fn wrong<T>(&mut self, key: &str, reason: impl Into<String>) -> Option<T> {
        let at = if key.is_empty() { self.at.to_owned() } else { format!("{}.{key}", self.at) };
        self.findings.add(at, reason);
        None
    }

    fn does(&mut self) -> Option<Does> {
        let kind = match self.tree.get("action_type").and_then(Tree::as_str) {
            Some(kind) => kind.to_owned(),
            None => return self.wrong("action_type", "is missing"),
        };
        // Both are read before either is given up, so that both problems are told.
        match kind.as_str() {
            "navigate" => Some(Does::Navigate { to: self.template()? }),
            "click" => Some(Does::Click { on: self.locator("selector")? }),
            "type" => {
                let (into, text) = (self.locator("selector"), self.template());
                Some(Does::Type { into: into?, text: text? })
            }
            "select" => {
                let (from, option) = (self.locator("selector"), self.template());
                Some(Does::Select { from: from?, option: option? })
            }
            "wait" => Some(Does::Wait { until: self.locator("wait_condition")? }),
            "extract" => {
                let (rows, fields) = (self.locator("selector"), self.fields());
                let name = said(self.tree, "name").and_then(Tree::as_str).map(Text::from);
                let most =
                    said(self.tree, "max_rows").and_then(Tree::as_u64).and_then(|most| usize::try_from(most).ok());
                let most = most.unwrap_or(MAX_ROWS).min(MAX_ROWS);
                let by_model = said(self.tree, "model").and_then(Tree::as_bool).unwrap_or(false);
                Some(Does::Extract(Extract { rows: rows?, fields: fields?, name, most, by_model }))
            }
            other => {
                let reason = format!(
                    "`{}` is none of navigate, click, type, select, wait, extract",
                    other.chars().take(40).collect::<String>()
                );
                self.wrong("action_type", reason)
            }
        }
    }

    fn template(&mut self) -> Option<Template> {
        let value = match self.tree.get("value") {
            Some(Tree::String(value)) => value.clone(),
            Some(Tree::Number(value)) => value.to_string(),
            None | Some(Tree::Null) => return self.wrong("value", "is missing"),
            Some(_) => return self.wrong("value", "must be text"),
        };
        match Template::parse(&value) {
            Ok(template) => Some(template),
            Err(problem) => self.wrong("value", problem.to_string()),
        }
    }

    fn locator(&mut self, key: &str) -> Option<Locator> {
        let Some(written) = self.tree.get(key).filter(|value| !value.is_null()) else {
            return self.wrong(key, "is missing");
        };
        let Some(named) = selectors(written) else {
            return self.wrong(key, "must be a selector or a list of selectors");
        };
        let (mut tries, mut alias): (Vec<Text>, Option<Text>) = (Vec::new(), None);
        for one in named {
            match alias_of(&one) {
                None => tries.push(one),
                Some(name) => match self.aliases.get(name) {
                    Some(more) => {
                        alias.get_or_insert_with(|| name.into());
                        tries.extend(more.iter().cloned());
                    }
                    None => return self.wrong(key, format!("there is no `{name}` among the selectors")),
                },
            }
        }
        if let Some(more) = said(self.tree, "alternates") {
            match selectors(more) {
                Some(more) => tries.extend(more),
                None => return self.wrong("alternates", "must be a list of selectors"),
            }
        }
        if tries.iter().any(|one| has_slot(one)) {
            return self.wrong(key, NO_SLOT);
        }
        tries.truncate(MAX_TRIES);
        let known = said(self.tree, "fingerprint").and_then(|known| serde_json::from_value(known.clone()).ok());
        Some(Locator { tries, alias, known: known.map(Box::new) })
    }

    fn fields(&mut self) -> Option<Vec<(Text, Field)>> {
        let schema = match self.tree.get("extract_schema") {
            Some(Tree::Object(schema)) if !schema.is_empty() && schema.len() <= MAX_FIELDS => schema.clone(),
            Some(Tree::Object(_)) => {
                return self.wrong("extract_schema", format!("must have from 1 to {MAX_FIELDS} fields"));
            }
            None | Some(Tree::Null) => return self.wrong("extract_schema", "is missing"),
            Some(_) => return self.wrong("extract_schema", "must be an object of fields"),
        };
        let mut fields = Vec::new();
        for (name, tree) in &schema {
            match field(tree) {
                Ok(field) if has_slot(&field.selector) => {
                    return self.wrong(&format!("extract_schema.{name}"), NO_SLOT);
                }
                Ok(field) => fields.push((name.as_str().into(), field)),
                Err(reason) => return self.wrong(&format!("extract_schema.{name}"), reason),
            }
        }
        Some(fields)
    }

    /// Milliseconds, or a text such as `5s` or `500ms`.
    fn limit(&mut self) -> Option<Duration> {
        let limit = super::manners::span(said(self.tree, "timeout")?);
        match limit {
            Some(limit) if !limit.is_zero() && limit <= LONGEST => Some(limit),
            _ => self.wrong("timeout", "must be a time of at most ten minutes, such as `5s`"),
        }
    }
}

/// One selector or several.
pub(super) fn selectors(tree: &Tree) -> Option<Vec<Text>> {
    let one = |tree: &Tree| {
        let text = tree.as_str()?.trim();
        (!text.is_empty() && text.len() <= MAX_SELECTOR).then(|| Text::from(text))
    };
    match tree {
        Tree::Array(all) if !all.is_empty() => all.iter().map(one).collect(),
        Tree::Array(_) => None,
        tree => Some(vec![one(tree)?]),
    }
}

/// `@name` and `${selectors.name}` stand for a named selector.
fn alias_of(selector: &str) -> Option<&str> {
    let inner = selector.strip_prefix("${selectors.").and_then(|rest| rest.strip_suffix('}'));
    inner.or_else(|| selector.strip_prefix('@'))
}

/// No selector has braces; a definition that writes them means a parameter.
fn has_slot(selector: &str) -> bool {
    selector.contains('{') && selector.contains('}')
}

fn field(tree: &Tree) -> Result<Field, String> {
    match tree {
        Tree::String(text) if !text.trim().is_empty() => Ok(Field::parse(text)),
        Tree::Object(said) => {
            let selector = said.get("selector").and_then(Tree::as_str).unwrap_or(".");
            let mut field = Field::parse(selector);
            if let Some(attribute) = said.get("attribute").and_then(Tree::as_str) {
                field.attribute = Some(attribute.into());
            }
            let flag = |key: &str| said.get(key).and_then(Tree::as_bool).unwrap_or(false);
            (field.list, field.required) = (flag("list"), flag("required"));
            if let Some(kind) = said.get("type") {
                let named = Kind::ALL.iter().find(|(name, _)| kind.as_str() == Some(name));
                field.kind = named.map(|(_, kind)| *kind).ok_or("`type` is none of text, number, price, date")?;
            }
            Ok(field)
        }
        _ => Err("must be a selector, or an object with one".to_owned()),
    }
}
