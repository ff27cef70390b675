//! Rule analysis: determines which inputs a rule reads besides principal, action and resource, by walking through its conditions when it is
//! loaded.
//!
//! Cedar's JSON form of a policy is walked because it is the documented one. A rule that would hide what it looks at, by
//! passing the whole `context` on or by computing the name of an argument, is refused.

use std::collections::BTreeSet;

use cedar_policy::Policy;
use serde_json::Value;

/// The names under which a condition finds arguments.
const BAGS: [&str; 3] = ["arguments", "numbers", "decimals"];

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Reads {
    pub(crate) protocol: bool,
    pub(crate) provenance: bool,
    pub(crate) time: bool,
    /// Arguments by name, in each form.
    pub(crate) texts: BTreeSet<String>,
    pub(crate) numbers: BTreeSet<String>,
    pub(crate) decimals: BTreeSet<String>,
}

impl Reads {
    /// An error is what a rule may not do.
    pub(crate) fn of(policy: &Policy) -> Result<Reads, String> {
        let json = policy.to_json().map_err(|error| error.to_string())?;
        let mut reads = Reads::default();
        reads.walk(json.get("conditions").unwrap_or(&Value::Null))?;
        Ok(reads)
    }

    pub(crate) fn arguments(&self) -> bool {
        !(self.texts.is_empty() && self.numbers.is_empty() && self.decimals.is_empty())
    }

    pub(crate) fn join(&mut self, other: &Reads) {
        self.protocol |= other.protocol;
        self.provenance |= other.provenance;
        self.time |= other.time;
        self.texts.extend(other.texts.iter().cloned());
        self.numbers.extend(other.numbers.iter().cloned());
        self.decimals.extend(other.decimals.iter().cloned());
    }

    fn walk(&mut self, tree: &Value) -> Result<(), String> {
        match tree {
            Value::Array(items) => items.iter().try_for_each(|item| self.walk(item)),
            Value::Object(fields) => {
                if is_context(tree) {
                    return Err(
                        "`context` can only be used with the name of what is in it, such as `context.time`".into()
                    );
                }
                if let Some(attribute) = of_context(tree) {
                    return self.look(attribute);
                }
                if let Some((bag, name)) = tag(tree) {
                    return self.argument(bag, name);
                }
                fields.values().try_for_each(|field| self.walk(field))
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
        }
    }

    fn look(&mut self, attribute: &str) -> Result<(), String> {
        match attribute {
            "protocol" => self.protocol = true,
            "provenance" => self.provenance = true,
            "time" => self.time = true,
            bag if BAGS.contains(&bag) => {
                return Err(format!(
                    "`context.{bag}` can only be used with a name, as in `context.{bag}.hasTag(\"amount\")`"
                ));
            }
            // The effects are the skill's. Anything else was refused by the schema.
            _ => {}
        }
        Ok(())
    }

    fn argument(&mut self, bag: &str, name: &Value) -> Result<(), String> {
        let written = name.get("Value").and_then(Value::as_str);
        let name = written.ok_or_else(|| format!("the name of an argument in `context.{bag}` must be written out"))?;
        let names = match bag {
            "numbers" => &mut self.numbers,
            "decimals" => &mut self.decimals,
            _ => &mut self.texts,
        };
        names.insert(name.to_owned());
        Ok(())
    }
}

/// The agents that a condition names in a text, as in `principal.subject == "agent:planner"`.
pub(crate) fn agents_in_texts(policy: &Policy) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    // A policy without that form was refused before.
    let json = policy.to_json().unwrap_or_default();
    let mut open = vec![json.get("conditions").unwrap_or(&Value::Null)];
    while let Some(tree) = open.pop() {
        match tree {
            Value::String(text) => found.extend(text.strip_prefix("agent:").map(str::to_owned)),
            Value::Array(items) => open.extend(items),
            Value::Object(fields) => open.extend(fields.values()),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    found
}

fn is_context(tree: &Value) -> bool {
    tree.get("Var").and_then(Value::as_str) == Some("context")
}

/// `context.NAME`, or `context has NAME`.
fn of_context(tree: &Value) -> Option<&str> {
    let access = tree.get(".").or_else(|| tree.get("has"))?;
    if is_context(access.get("left")?) { access.get("attr")?.as_str() } else { None }
}

/// `context.BAG.hasTag(NAME)` or `getTag`.
fn tag(tree: &Value) -> Option<(&str, &Value)> {
    let access = tree.get("getTag").or_else(|| tree.get("hasTag"))?;
    let bag = of_context(access.get("left")?).filter(|bag| BAGS.contains(bag))?;
    Some((bag, access.get("right")?))
}
