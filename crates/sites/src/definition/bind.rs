//! Parameter binding: puts parameters into steps. All errors that can be reported before a browser is used are reported here.

use std::collections::BTreeMap;

use super::redact::{Numbers, Secrets};
use super::session::ARGUMENT;
use super::{Action, Does, Extract, Locator, Parameter, Site, Step, Trouble};
use interlingua_model::address::{Address, Origin};
use interlingua_model::id::Text;
use interlingua_model::json::{Json, Tree};
use interlingua_model::percent;

/// No value is longer.
pub const MAX_VALUE: usize = 8 * 1024;

/// A sequence ready to be played.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    pub site: Text,
    pub action: Text,
    pub origins: Vec<Origin>,
    pub steps: Vec<Bound>,
    pub limit: std::time::Duration,
    /// It may change something: then nothing is pressed that was only guessed.
    pub changes: bool,
    /// The session it is played in; `None` is a fresh context.
    pub session: Option<Text>,
    /// Parameters that no step uses.
    pub ignored: Vec<Text>,
    /// What callers gave as secrets, wherever it is used.
    hidden: Vec<Typed>,
}

impl Plan {
    /// What callers typed as secrets: no model and no trace may hold it.
    pub fn secrets(&self) -> Vec<&str> {
        let typed = self.steps.iter().filter_map(|step| match &step.does {
            Doing::Type { text, .. } | Doing::Select { option: text, .. } => Some(text),
            Doing::Navigate(_) | Doing::Click(_) | Doing::Wait(_) | Doing::Extract(_) => None,
        });
        typed.filter(|typed| typed.secret).chain(&self.hidden).map(|typed| typed.value.as_str()).collect()
    }

    /// A text as it may be told: without secrets, however they are spelled in it.
    pub fn shown(&self, text: &str) -> String {
        Secrets::of(self.secrets()).without(text)
    }

    /// The same for what was read of a page, or noted about it.
    pub fn shown_in(&self, read: Tree, numbers: Numbers) -> Tree {
        Secrets::of(self.secrets()).without_in(read, numbers)
    }
}

/// A step with its values.
#[derive(Debug, Clone, PartialEq)]
pub struct Bound {
    pub does: Doing,
    pub limit: std::time::Duration,
    pub commits: bool,
    pub picture: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Doing {
    Navigate(Address),
    Click(Locator),
    Type { into: Locator, text: Typed },
    Select { from: Locator, option: Typed },
    Wait(Locator),
    Extract(Extract),
}

impl Doing {
    pub fn as_str(&self) -> &'static str {
        match self {
            Doing::Navigate(_) => "navigate",
            Doing::Click(_) => "click",
            Doing::Type { .. } => "type",
            Doing::Select { .. } => "select",
            Doing::Wait(_) => "wait",
            Doing::Extract(_) => "extract",
        }
    }

    pub fn locator(&self) -> Option<&Locator> {
        match self {
            Doing::Navigate(_) => None,
            Doing::Click(at) | Doing::Wait(at) => Some(at),
            Doing::Type { into, .. } => Some(into),
            Doing::Select { from, .. } => Some(from),
            Doing::Extract(extract) => Some(&extract.rows),
        }
    }
}

/// What is put into a page; `Debug` shows no secret.
#[derive(Clone, PartialEq, Eq)]
pub struct Typed {
    pub value: String,
    pub secret: bool,
    /// The parameter it came from: a name for where it is typed.
    pub parameter: Option<Text>,
}

impl std::fmt::Debug for Typed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.secret { "(secret)" } else { &self.value })
    }
}

impl Site {
    /// The sequence of this name with these arguments. The definition itself never changes.
    pub fn bind(&self, action: &str, args: Option<&Json>) -> Result<Plan, Trouble> {
        let action = self.actions.get(action).ok_or_else(|| Trouble::UnknownAction(action.into()))?;
        let empty = serde_json::Map::new();
        let given = match args.map(Json::tree) {
            None | Some(Tree::Null) => &empty,
            Some(Tree::Object(given)) => given,
            Some(Tree::Bool(_) | Tree::Number(_) | Tree::String(_) | Tree::Array(_)) => {
                return Err(Trouble::InvalidParameter { name: "*".into(), problem: "must be an object".into() });
            }
        };
        let values = values(action, given)?;
        let session = self.session_of(given)?;
        let used = |key: &&String| values.contains_key(key.as_str()) || (self.sessions.is_some() && *key == ARGUMENT);
        let ignored: Vec<Text> = given.keys().filter(|key| !used(key)).map(|key| key.as_str().into()).collect();
        if self.strict
            && let Some(name) = ignored.first()
        {
            return Err(Trouble::InvalidParameter { name: name.clone(), problem: "is not one of this action".into() });
        }
        let secret = |name: &str| action.parameters.iter().any(|one| one.secret && &*one.name == name);
        let steps = (1..).zip(&action.steps).map(|(number, step)| self.bound(number, step, &values, &secret));
        let hidden = values.iter().filter(|(name, _)| secret(name));
        let hidden =
            hidden.map(|(name, value)| Typed { value: value.to_string(), secret: true, parameter: Some(name.clone()) });
        Ok(Plan {
            hidden: hidden.collect(),
            site: self.id.clone(),
            action: action.name.clone(),
            origins: self.origins.clone(),
            steps: steps.collect::<Result<_, _>>()?,
            limit: action.limit,
            changes: action.effects.change(),
            session,
            ignored: ignored
                .into_iter()
                .filter(|name| !action.parameters.iter().any(|one| one.name == *name))
                .collect(),
        })
    }

    fn bound(
        &self,
        number: usize,
        step: &Step,
        values: &BTreeMap<Text, Text>,
        secret: &dyn Fn(&str) -> bool,
    ) -> Result<Bound, Trouble> {
        let typed = |template: &super::Template| Typed {
            value: template.fill(values, str::to_owned),
            secret: template.slots().any(|(name, _)| secret(name)),
            parameter: template.slots().next().map(|(name, _)| name.clone()),
        };
        let does = match &step.does {
            Does::Navigate { to } => Doing::Navigate(self.destination(number, to, values, secret)?),
            Does::Click { on } => Doing::Click(on.clone()),
            Does::Type { into, text } => Doing::Type { into: into.clone(), text: typed(text) },
            Does::Select { from, option } => Doing::Select { from: from.clone(), option: typed(option) },
            Does::Wait { until } => Doing::Wait(until.clone()),
            Does::Extract(extract) => Doing::Extract(extract.clone()),
        };
        Ok(Bound { does, limit: step.limit, commits: step.commits, picture: step.picture })
    }

    /// A value that is the whole address must be one this site may open; a value inside one is a component of it.
    fn destination(
        &self,
        step: usize,
        to: &super::Template,
        values: &BTreeMap<Text, Text>,
        secret: &dyn Fn(&str) -> bool,
    ) -> Result<Address, Trouble> {
        let spell = |value: &str| if to.is_slot() { value.to_owned() } else { percent::encoded(value) };
        let text = to.fill(values, spell);
        let hidden = || values.iter().filter(|(name, _)| secret(name)).map(|(_, value)| &**value);
        let blocked = || Trouble::NavigationBlocked {
            step,
            address: Secrets::of(hidden()).without(&text).chars().take(200).collect(),
        };
        let address = self.base.join(&text).map_err(|_| blocked())?;
        if self.origins.contains(&address.origin) { Ok(address) } else { Err(blocked()) }
    }
}

/// Every parameter's value as text, or all that are missing at once.
fn values(action: &Action, given: &serde_json::Map<String, Tree>) -> Result<BTreeMap<Text, Text>, Trouble> {
    let mut values = BTreeMap::new();
    let mut missing = Vec::new();
    for parameter in &action.parameters {
        match given.get(&*parameter.name).filter(|value| !value.is_null()) {
            Some(value) => {
                values.insert(parameter.name.clone(), spelled(parameter, value)?);
            }
            None => match &parameter.default {
                Some(default) => {
                    values.insert(parameter.name.clone(), default.clone());
                }
                None if parameter.required => missing.push(parameter.name.to_string()),
                None => {}
            },
        }
    }
    if missing.is_empty() { Ok(values) } else { Err(Trouble::MissingParameters(missing)) }
}

fn spelled(parameter: &Parameter, value: &Tree) -> Result<Text, Trouble> {
    let invalid = |problem: String| Trouble::InvalidParameter { name: parameter.name.clone(), problem };
    let text = match value {
        Tree::String(text) => text.clone(),
        Tree::Number(number) => number.to_string(),
        Tree::Bool(truth) => truth.to_string(),
        Tree::Null | Tree::Array(_) | Tree::Object(_) => {
            return Err(invalid("must be text, a number or true or false".into()));
        }
    };
    if text.len() > MAX_VALUE {
        return Err(invalid(format!("has more than {MAX_VALUE} bytes")));
    }
    // A line end would press Enter where keys are typed.
    if text.chars().any(char::is_control) {
        return Err(invalid("holds a control character".into()));
    }
    Ok(text.into())
}
