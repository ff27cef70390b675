//! Reads one named sequence and its parameters.

use std::time::Duration;

use super::manners::{effects, phrases, span};
use super::{Aliases, Findings, MAX_STEPS, step};
use crate::definition::template::is_name;
use crate::definition::{Action, Parameter, Step};
use interlingua_model::id::Text;
use interlingua_model::json::Tree;

/// For a whole sequence.
const USUAL: Duration = Duration::from_secs(60);
const LONGEST: Duration = Duration::from_secs(1_800);
/// How long a result may be remembered at most.
const LONGEST_CACHED: Duration = Duration::from_secs(86_400);

pub(super) fn read(name: &str, tree: &Tree, aliases: &Aliases, findings: &mut Findings) -> Option<Action> {
    let at = format!("actions.{name}");
    if name.is_empty()
        || name.len() > 100
        || !name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))
    {
        findings.add(&at, "a name has letters, digits, `_`, `-` and `.`, at most 100");
        return None;
    }
    let said = |key: &str| tree.get(key).filter(|value| !value.is_null());
    let written = match tree {
        Tree::Array(steps) => steps,
        Tree::Object(_) => match said("steps") {
            Some(Tree::Array(steps)) => steps,
            Some(_) | None => {
                findings.add(format!("{at}.steps"), "must be a list of steps");
                return None;
            }
        },
        _ => {
            findings.add(&at, "must be a list of steps, or an object with `steps`");
            return None;
        }
    };
    if written.is_empty() || written.len() > MAX_STEPS {
        findings.add(&at, format!("a sequence has from 1 to {MAX_STEPS} steps"));
        return None;
    }
    let steps: Vec<Option<Step>> = (1..)
        .zip(written)
        .map(|(number, tree)| step::read(&format!("{at}[{number}]"), tree, aliases, findings))
        .collect();
    let steps: Vec<Step> = steps.into_iter().collect::<Option<_>>()?;
    let parameters = parameters(&at, said("parameters"), &steps, findings);
    let limit = bounded(&at, "timeout", said("timeout"), LONGEST, findings).unwrap_or(USUAL);
    Some(Action {
        name: name.into(),
        description: said("description").and_then(Tree::as_str).unwrap_or_default().into(),
        phrases: phrases(&at, name, said("phrases"), &parameters, findings),
        effects: effects(&at, name, said("effects"), &steps, findings),
        capability: said("capability").and_then(Tree::as_str).map(Text::from),
        cached: bounded(&at, "cacheable", said("cacheable"), LONGEST_CACHED, findings),
        parameters,
        limit,
        steps,
    })
}

fn bounded(at: &str, key: &str, said: Option<&Tree>, most: Duration, findings: &mut Findings) -> Option<Duration> {
    let span = span(said?);
    if span.is_none_or(|span| span.is_zero() || span > most) {
        findings.add(format!("{at}.{key}"), format!("must be a time of at most {} s", most.as_secs()));
    }
    span
}

/// The placeholders of all steps in order, each with what `parameters` says of it.
fn parameters(at: &str, said: Option<&Tree>, steps: &[Step], findings: &mut Findings) -> Vec<Parameter> {
    let mut found: Vec<Parameter> = Vec::new();
    let slots = steps.iter().filter_map(|step| step.does.template()).flat_map(|template| template.slots());
    for (name, default) in slots {
        match found.iter_mut().find(|known| known.name == *name) {
            // One placeholder without a default makes it required.
            Some(known) => {
                known.required |= default.is_none();
                known.default = known.default.take().or_else(|| default.cloned()).filter(|_| !known.required);
            }
            None => found.push(Parameter {
                name: name.clone(),
                schema: usual_schema(name),
                required: default.is_none(),
                default: default.cloned(),
                secret: false,
            }),
        }
    }
    match said {
        None => {}
        Some(Tree::Object(all)) => {
            for (name, tree) in all {
                described(at, name, tree, &mut found, findings);
            }
        }
        Some(_) => findings.add(format!("{at}.parameters"), "must be an object"),
    }
    found
}

fn described(at: &str, name: &str, tree: &Tree, found: &mut Vec<Parameter>, findings: &mut Findings) {
    let at = format!("{at}.parameters.{name}");
    let Tree::Object(said) = tree else {
        findings.add(at, "must be an object");
        return;
    };
    if !is_name(name) {
        findings.add(at, "is no name of a parameter");
        return;
    }
    let mut schema = serde_json::Map::new();
    for key in ["type", "description", "format", "enum", "minimum", "maximum", "minLength", "maxLength", "pattern"] {
        if let Some(value) = said.get(key) {
            schema.insert(key.to_owned(), value.clone());
        }
    }
    if !schema.contains_key("type") && !schema.contains_key("enum") {
        schema.insert("type".into(), "string".into());
    }
    let index = found.iter().position(|known| &*known.name == name).unwrap_or_else(|| {
        found.push(Parameter { name: name.into(), schema: Tree::Null, required: false, default: None, secret: false });
        found.len() - 1
    });
    let known = &mut found[index];
    let default = said.get("default").filter(|value| !value.is_null());
    if let Some(default) = default {
        known.default = Some(default.as_str().map_or_else(|| default.to_string(), str::to_owned).into());
        schema.insert("default".into(), default.clone());
    }
    let required = said.get("required").and_then(Tree::as_bool);
    known.required = required.unwrap_or(known.required) && known.default.is_none();
    known.secret = said.get("secret").and_then(Tree::as_bool).unwrap_or(false);
    if known.secret {
        schema.insert("writeOnly".into(), true.into());
    }
    known.schema = Tree::Object(schema);
}

/// What a bare placeholder's name says of its value: dates are spoken of in many ways and meant in one.
fn usual_schema(name: &str) -> Tree {
    let date = name == "date" || name.ends_with("_date") || name == "day";
    match date {
        true => serde_json::json!({"type": "string", "format": "date"}),
        false => serde_json::json!({"type": "string"}),
    }
}
