//! Repair proposal: a definition with its repairs, offered as a new version. It never replaces the old definition by itself.

use super::repair::Fingerprint;
use super::{Action, Site};
use interlingua_model::id::Text;
use interlingua_model::json::Tree;

/// A step that worked with another element than the one its selector names.
#[derive(Debug, Clone, PartialEq)]
pub struct Mended {
    /// From 1.
    pub step: usize,
    pub from: String,
    pub to: String,
    pub level: Level,
    pub score: f64,
    /// Of the element that was used.
    pub seen: Option<Fingerprint>,
    /// Selectors of fields, where rows were found again.
    pub fields: Vec<(Text, String)>,
}

/// How far down the ladder it was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// The definition itself names it.
    Alternate,
    /// By what the element looked like when it was last seen.
    Fingerprint,
    /// By what its selector and its parameter call it.
    Name,
    /// Rows: by shape and by the names of their fields.
    Shape,
    /// The selector still matches, but an element that does not look as the one before.
    Drift,
    /// A model chose it from a list.
    Model,
    /// The same, with a picture of the page.
    Sight,
}

impl Level {
    pub fn as_str(self) -> &'static str {
        match self {
            Level::Alternate => "alternate",
            Level::Fingerprint => "fingerprint",
            Level::Name => "name",
            Level::Shape => "shape",
            Level::Drift => "drift",
            Level::Model => "model",
            Level::Sight => "sight",
        }
    }
}

/// The definition with these selectors first; the old ones stay behind them. `None`: nothing would change.
pub fn propose(site: &Site, action: &str, mended: &[Mended]) -> Option<Tree> {
    let known = site.actions.get(action)?;
    let mut source = site.source.clone();
    let mut changed = false;
    for one in mended.iter().filter(|one| one.level != Level::Alternate) {
        changed |= mend(&mut source, known, action, one).is_some();
    }
    if !changed {
        return None;
    }
    source["version"] = next(&site.version).into();
    Some(source)
}

fn mend(source: &mut Tree, known: &Action, action: &str, one: &Mended) -> Option<()> {
    let locator = known.steps.get(one.step.checked_sub(1)?)?.does.locator()?;
    let mut tries: Vec<Tree> = vec![one.to.as_str().into()];
    tries.extend(locator.tries.iter().filter(|old| ***old != *one.to).map(|old| Tree::from(&**old)));
    let steps = match source.get_mut("actions")?.get_mut(action)? {
        Tree::Array(steps) => steps,
        other => other.get_mut("steps")?.as_array_mut()?,
    };
    let step = steps.get_mut(one.step - 1)?;
    let key = if step.get("wait_condition").is_some() { "wait_condition" } else { "selector" };
    if let Some(seen) = &one.seen {
        let seen = Fingerprint { selector: String::new(), ..seen.clone() };
        let metadata = step.as_object_mut()?.entry("metadata").or_insert_with(|| Tree::Object(serde_json::Map::new()));
        metadata.as_object_mut()?.insert("fingerprint".into(), serde_json::to_value(seen).ok()?);
    }
    for (name, selector) in &one.fields {
        let field = step.get_mut("extract_schema")?.get_mut(&**name)?;
        match field {
            Tree::Object(field) => {
                field.insert("selector".into(), selector.as_str().into());
            }
            other => *other = selector.as_str().into(),
        }
    }
    match &locator.alias {
        Some(alias) => source.get_mut("selectors")?.as_object_mut()?.insert(alias.to_string(), Tree::Array(tries)),
        None => step.as_object_mut()?.insert(key.to_owned(), Tree::Array(tries)),
    };
    Some(())
}

/// The version after this one: its last number, one higher.
fn next(version: &str) -> String {
    let digits = version.len() - version.bytes().rev().take_while(u8::is_ascii_digit).count();
    match version[digits..].parse::<u64>() {
        Ok(last) => format!("{}{}", &version[..digits], last.saturating_add(1)),
        Err(_) => format!("{version}.1"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::read;
    use serde_json::json;

    #[test]
    fn w_46_what_was_mended_is_offered_as_a_new_version_that_can_be_read() {
        let source = json!({"interface_id": "s", "name": "S", "base_url": "https://s.example", "description": "d",
            "version": "1.0.9", "selectors": {"go": "#go"},
            "actions": {"find": [{"action_type": "type", "selector": "#q", "value": "{q}"},
                {"action_type": "click", "selector": "@go"},
                {"action_type": "extract", "selector": ".row", "extract_schema": {"a": ".a"}}]}});
        let site = read(source).unwrap();
        let mended = |step, from: &str, to: &str| Mended {
            step,
            from: from.into(),
            to: to.into(),
            level: Level::Fingerprint,
            score: 0.9,
            seen: Some(Fingerprint { id: "x".into(), ..Fingerprint::default() }),
            fields: Vec::new(),
        };
        let rows = Mended { fields: vec![("a".into(), ".b".into())], ..mended(3, ".row", "li.card") };
        let all = [mended(1, "#q", "#x-q"), mended(2, "#go", "#x-go"), rows];
        let proposed = propose(&site, "find", &all).unwrap();
        assert_eq!(proposed["version"], "1.0.10");
        assert_eq!(proposed["actions"]["find"][0]["selector"], json!(["#x-q", "#q"]));
        assert_eq!(proposed["selectors"]["go"], json!(["#x-go", "#go"]));
        assert_eq!(proposed["actions"]["find"][2]["extract_schema"]["a"], ".b");
        let again = read(proposed).unwrap();
        assert_eq!(again.actions["find"].steps[0].does.locator().unwrap().known.as_ref().unwrap().id, "x");
        assert_eq!(propose(&site, "find", &[]), None);
    }
}
