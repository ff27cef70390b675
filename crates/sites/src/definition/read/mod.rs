//! Reads a definition into a [`Site`], or a list of everything that is wrong with it.
//!
//! The keys are those of the format this follows: `interface_id`, `name`, `base_url`, `description`, `actions`, `selectors`, `version`, and
//! `session` of our own; a step has `action_type`, `selector`, `value`, `extract_schema`, `wait_condition`, `metadata`. An action is a list
//! of steps, or an object with `steps` and more. Unknown keys are preserved: definitions are exchanged with other programs, which may know
//! more. The content of a step's `metadata` counts as if it were in the step itself.

mod action;
mod manners;
mod session;
mod step;

use std::collections::BTreeMap;

use super::Site;
use interlingua_model::address::{Address, Origin};
use interlingua_model::digest::Digest;
use interlingua_model::id::Text;
use interlingua_model::json::{Json, Tree};

/// Something wrong, and where: `actions.search_flights[3].selector`, steps counted from 1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{at}: {reason}")]
pub struct Problem {
    pub at: String,
    pub reason: String,
}

const MAX_ACTIONS: usize = 200;
const MAX_STEPS: usize = 200;

/// Aliases, each with the selectors to try.
type Aliases = BTreeMap<String, Vec<Text>>;

/// Collects problems, so that one does not hide the next.
#[derive(Debug, Default)]
struct Findings(Vec<Problem>);

impl Findings {
    fn add(&mut self, at: impl Into<String>, reason: impl Into<String>) {
        self.0.push(Problem { at: at.into(), reason: reason.into() });
    }

    /// A text that must be there.
    fn text(&mut self, tree: &Tree, key: &str) -> Text {
        match tree.get(key) {
            Some(Tree::String(text)) if !text.trim().is_empty() => text.as_str().into(),
            Some(Tree::String(_)) => {
                self.add(key, "must not be empty");
                "".into()
            }
            Some(_) => {
                self.add(key, "must be text");
                "".into()
            }
            None => {
                self.add(key, "is missing");
                "".into()
            }
        }
    }
}

/// Reads a whole definition.
pub fn read(source: Tree) -> Result<Site, Vec<Problem>> {
    let mut findings = Findings::default();
    if !source.is_object() {
        findings.add("(whole)", "a definition is an object");
        return Err(findings.0);
    }
    let id = findings.text(&source, "interface_id");
    let name = findings.text(&source, "name");
    let description = findings.text(&source, "description");
    let base = base(&source, &mut findings);
    let origins = origins(&source, base.as_ref(), &mut findings);
    let aliases = aliases(&source, &mut findings);
    let version = match source.get("version") {
        None | Some(Tree::Null) => "1.0.0".into(),
        Some(Tree::String(version)) => version.as_str().into(),
        Some(other) => other.to_string().into(),
    };
    let flag = |key: &str| source.get(key).and_then(Tree::as_bool).unwrap_or(false);
    let (private, strict) = (flag("private_network"), flag("strict"));
    let actions = match source.get("actions").and_then(Tree::as_object) {
        None => {
            findings.add("actions", "must be an object of named sequences");
            BTreeMap::new()
        }
        Some(actions) if actions.is_empty() || actions.len() > MAX_ACTIONS => {
            findings.add("actions", format!("there must be from 1 to {MAX_ACTIONS}"));
            BTreeMap::new()
        }
        Some(actions) => {
            let read = actions.iter().filter_map(|(name, tree)| action::read(name, tree, &aliases, &mut findings));
            read.map(|action| (action.name.clone(), action)).collect()
        }
    };
    let sessions = session::read(&source, &actions, &mut findings);
    let digest = Json::from_tree(source.clone()).digest();
    match (base, findings.0.is_empty()) {
        (Some(base), true) => Ok(Site {
            id,
            name,
            description,
            version,
            base,
            origins,
            private,
            strict,
            sessions,
            actions,
            digest: Digest(digest.0),
            source,
        }),
        _ => Err(findings.0),
    }
}

fn base(source: &Tree, findings: &mut Findings) -> Option<Address> {
    let text = findings.text(source, "base_url");
    if text.is_empty() {
        return None;
    }
    match Address::parse(&text) {
        Ok(base) => Some(base),
        Err(problem) => {
            findings.add("base_url", problem.to_string());
            None
        }
    }
}

fn origins(source: &Tree, base: Option<&Address>, findings: &mut Findings) -> Vec<Origin> {
    let mut origins: Vec<Origin> = base.map(|base| base.origin.clone()).into_iter().collect();
    let more = match source.get("origins") {
        None | Some(Tree::Null) => return origins,
        Some(Tree::Array(more)) if more.len() <= 100 => more,
        Some(_) => {
            findings.add("origins", "must be a list of at most 100 addresses");
            return origins;
        }
    };
    for (index, origin) in more.iter().enumerate() {
        match origin.as_str().map(Origin::parse) {
            Some(Ok(origin)) => origins.push(origin),
            Some(Err(problem)) => findings.add(format!("origins[{}]", index + 1), problem.to_string()),
            None => findings.add(format!("origins[{}]", index + 1), "must be text"),
        }
    }
    origins
}

fn aliases(source: &Tree, findings: &mut Findings) -> Aliases {
    let named = match source.get("selectors") {
        None | Some(Tree::Null) => return Aliases::new(),
        Some(Tree::Object(named)) => named,
        Some(_) => {
            findings.add("selectors", "must be an object of named selectors");
            return Aliases::new();
        }
    };
    let mut aliases = Aliases::new();
    for (name, tree) in named {
        match step::selectors(tree) {
            Some(tries) => {
                aliases.insert(name.clone(), tries);
            }
            None => findings.add(format!("selectors.{name}"), "must be a selector or a list of selectors"),
        }
    }
    aliases
}
