//! Reads the session settings of a definition: `session: { keep: 30m, default: main, persist: true }`.

use std::collections::BTreeMap;

use super::Findings;
use super::manners::span;
use crate::definition::Action;
use crate::definition::session::{ARGUMENT, LONGEST, Sessions, is_name};
use interlingua_model::id::Text;
use interlingua_model::json::Tree;

const AT: &str = "session";

/// Nothing said is none offered.
pub(super) fn read(source: &Tree, actions: &BTreeMap<Text, Action>, findings: &mut Findings) -> Option<Sessions> {
    let said = match source.get(AT) {
        None | Some(Tree::Null) => return None,
        Some(Tree::Object(said)) => said,
        Some(_) => {
            findings.add(AT, "must be an object with `keep`");
            return None;
        }
    };
    let keep = said.get("keep").and_then(span).filter(|keep| !keep.is_zero() && *keep <= LONGEST);
    if keep.is_none() {
        findings.add(format!("{AT}.keep"), format!("must be a time of at most {} s", LONGEST.as_secs()));
    }
    let usual = match said.get("default") {
        None | Some(Tree::Null) => None,
        Some(Tree::String(name)) if is_name(name) => Some(name.as_str().into()),
        Some(_) => {
            findings.add(format!("{AT}.default"), "is a name of letters, digits, `_`, `-` and `.`, at most 64");
            None
        }
    };
    let persist = match said.get("persist") {
        None | Some(Tree::Null) => false,
        Some(Tree::Bool(persist)) => *persist,
        Some(_) => {
            findings.add(format!("{AT}.persist"), "must be true or false");
            false
        }
    };
    // A word cannot mean both.
    for action in actions.values().filter(|action| action.parameters.iter().any(|one| &*one.name == ARGUMENT)) {
        let reason = "names the session of a call where a definition has sessions: call this parameter otherwise";
        findings.add(format!("actions.{}.parameters.{ARGUMENT}", action.name), reason);
    }
    Some(Sessions { keep: keep?, usual, persist })
}
