//! Tool pinning (rug pull detection): compares definitions with their first version. A changed description or schema of a tool is noticed,
//! so that a tool that a person agreed to use does not silently become another.
//!
//! The setting `changes` decides what follows: nothing, a problem that names the change, or the skill is not offered until the change is
//! accepted.

use std::collections::BTreeMap;

use bytes::Bytes;
use interlingua_model::ports::{Expect, StoreFault};
use interlingua_model::{Fault, Json, Skill, Text};
use interlingua_wire::members::Members;

use super::listing::Kept;
use crate::settings::McpChanges;
use interlingua_hub::Hub;

const KIND: &str = "mcp-pins";
/// How many definitions of one server are remembered.
const MAX_PINS: usize = 20_000;
/// How much of a text is shown.
const SHOWN: usize = 120;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Pins {
    definitions: BTreeMap<String, Json>,
    /// What these were read from. Pins are only stored in place of that: what another hub pinned first stays.
    read: Expect,
}

/// What became of pins that were to be stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pinned {
    Stored,
    /// Others were stored since these were read: they count.
    Overtaken,
}

impl Pins {
    /// The error says why nothing can be compared. It must never be taken for a server that is seen for the first time: its
    /// pins would be overwritten with whatever it offers now. Only `changes: accept` does that, to a record that is damaged.
    pub(super) async fn load(hub: &Hub, kept: &Kept, rule: McpChanges) -> Result<Pins, Text> {
        let closed = |why: &str| Err(format!("its tools are closed: their pinned definitions {why}").into());
        let damaged = |read| match rule {
            McpChanges::Accept => Ok(Pins::none(read)),
            McpChanges::Flag | McpChanges::Refuse => {
                closed("are damaged in the store; `changes: accept` pins what it offers now")
            }
        };
        match hub.records(KIND).get(kept.key()).await {
            Ok(None) => Ok(Pins::none(Expect::Absent)),
            Ok(Some(item)) => {
                let read = Expect::Revision(item.revision);
                match serde_json::from_slice(&item.value) {
                    Ok(definitions) => Ok(Pins { definitions, read }),
                    Err(_) => damaged(read),
                }
            }
            // Its revision cannot be read either.
            Err(StoreFault::Damaged(_)) => damaged(Expect::Anything),
            Err(fault) => closed(&format!("cannot be read: {fault}")),
        }
    }

    fn none(read: Expect) -> Pins {
        Pins { definitions: BTreeMap::new(), read }
    }

    pub(super) async fn keep(&mut self, hub: &Hub, kept: &Kept) -> Result<Pinned, Fault> {
        let bytes = serde_json::to_vec(&self.definitions).map_err(Fault::internal)?;
        match hub.records(KIND).put(kept.key(), Bytes::from(bytes), None, self.read).await {
            Ok(revision) => {
                self.read = Expect::Revision(revision);
                Ok(Pinned::Stored)
            }
            Err(StoreFault::Moved { .. }) => Ok(Pinned::Overtaken),
            Err(fault) => Err(fault.into()),
        }
    }

    /// Compares skills with what was first seen of them; new ones are remembered. Takes out those that are refused, and says
    /// what changed. True when there is something new to keep.
    pub(super) fn compare(&mut self, skills: &mut Vec<Skill>, rule: McpChanges, problems: &mut Vec<Text>) -> bool {
        let mut new = false;
        skills.retain(|skill| {
            let Some(definition) = skill.raw.as_ref().map(|raw| &raw.json) else {
                return true;
            };
            let name = skill.id.skill.as_str();
            match self.definitions.get(name) {
                Some(pinned) if pinned == definition => return true,
                Some(pinned) if rule != McpChanges::Accept => {
                    let what = difference(&Members::of(pinned), &Members::of(definition));
                    let refused = rule == McpChanges::Refuse;
                    let then =
                        if refused { "it is not offered until `changes: accept` takes it" } else { "look at it" };
                    problems
                        .push(format!("`{name}` is not what it was when it was first seen ({what}); {then}").into());
                    return !refused;
                }
                Some(_) | None => {}
            }
            if self.definitions.len() >= MAX_PINS && !self.definitions.contains_key(name) {
                problems.push(format!("`{name}` is not offered: {MAX_PINS} definitions are pinned already").into());
                return false;
            }
            self.definitions.insert(name.to_owned(), definition.clone());
            new = true;
            true
        });
        new
    }
}

/// Which members are new, gone or other, and how a text reads now.
fn difference(old: &Members, new: &Members) -> String {
    let mut found = Vec::new();
    for (key, value) in new.iter() {
        match old.get(key) {
            None => found.push(format!("{key} is new")),
            Some(before) if before != value => found.push(format!("{key}: {} → {}", short(&before), short(&value))),
            Some(_) => {}
        }
    }
    found.extend(old.iter().filter(|(key, _)| !new.has(key)).map(|(key, _)| format!("{key} is gone")));
    found.join("; ")
}

fn short(value: &Json) -> String {
    let text = value.as_str();
    let cut: String = text.chars().take(SHOWN).collect();
    if cut.len() < text.len() { format!("{cut}…") } else { cut }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use interlingua_hub::Settings;
    use interlingua_hub::admission::AdmissionLimits;
    use interlingua_keys::Keyring;
    use interlingua_model::{Effects, Raw, Schema, SkillId, SkillKind, Wire};
    use interlingua_store_sqlite::{Embedded, Options};
    use serde_json::json;

    use super::*;

    fn skill(name: &str, description: &str) -> Skill {
        let definition = json!({"name": name, "description": description, "inputSchema": {"type": "object"}});
        let input = Schema(json!({"type": "object"}).into());
        let mut skill = Skill::new(SkillId::new("p", name), SkillKind::Tool, description, input, Effects::unknown());
        skill.raw = Some(Raw { wire: Wire("mcp/2025-11-25".into()), json: definition.into() });
        skill
    }

    fn compared(pins: &mut Pins, description: &str, rule: McpChanges) -> (usize, Vec<Text>, bool) {
        let (mut skills, mut problems) = (vec![skill("send", description), skill("other", "same")], Vec::new());
        let new = pins.compare(&mut skills, rule, &mut problems);
        (skills.len(), problems, new)
    }

    #[test]
    fn a_changed_definition_is_told_with_what_changed_and_refused_where_configuration_says_so() {
        let mut pins = Pins::none(Expect::Absent);
        assert_eq!(compared(&mut pins, "Sends mail.", McpChanges::Flag), (2, Vec::new(), true));
        assert_eq!(compared(&mut pins, "Sends mail.", McpChanges::Flag), (2, Vec::new(), false));
        let (offered, problems, new) = compared(&mut pins, "Sends mail, and a copy to me.", McpChanges::Flag);
        assert_eq!((offered, new), (2, false));
        assert!(
            problems[0].contains(r#"description: "Sends mail." → "Sends mail, and a copy to me.""#),
            "{problems:?}"
        );
        let (offered, problems, _) = compared(&mut pins, "Sends mail, and a copy to me.", McpChanges::Refuse);
        assert_eq!((offered, problems.len()), (1, 1), "only the one that changed");
        let accepted = compared(&mut pins, "Sends mail, and a copy to me.", McpChanges::Accept);
        assert_eq!(accepted, (2, Vec::new(), true));
        assert_eq!(compared(&mut pins, "Sends mail, and a copy to me.", McpChanges::Refuse), (2, Vec::new(), false));
    }

    #[tokio::test]
    async fn of_two_hubs_that_see_a_server_first_one_pins_and_the_other_compares_with_that() {
        let dir = tempfile::tempdir().expect("a directory");
        let store = Embedded::open(dir.path(), Options::default()).expect("opens");
        let hub = || {
            let keys = Arc::new(Keyring::from_text(&"07".repeat(32)).expect("a key"));
            Hub::new("test".into(), store.ports(), keys, AdmissionLimits::default(), Settings::default())
        };
        let (here, there, kept) = (hub(), hub(), Kept::of("p", "a place"));
        let load = async |hub: &Hub| Pins::load(hub, &kept, McpChanges::Refuse).await.expect("read");
        let (mut first, mut second) = (load(&here).await, load(&there).await);
        assert_eq!(compared(&mut first, "Sends mail.", McpChanges::Refuse), (2, Vec::new(), true));
        assert_eq!(compared(&mut second, "Sends mail, and a copy to me.", McpChanges::Refuse), (2, Vec::new(), true));
        assert_eq!(first.keep(&here, &kept).await.expect("stored"), Pinned::Stored);
        assert_eq!(second.keep(&there, &kept).await.expect("asked"), Pinned::Overtaken);
        // It sees the winner, and what it was offered is not what was pinned.
        let mut second = load(&there).await;
        let (offered, problems, new) = compared(&mut second, "Sends mail, and a copy to me.", McpChanges::Refuse);
        assert_eq!((offered, problems.len(), new), (1, 1, false));
        // The first goes on from what it stored.
        assert_eq!(compared(&mut first, "Sends more.", McpChanges::Accept), (2, Vec::new(), true));
        assert_eq!(first.keep(&here, &kept).await.expect("stored"), Pinned::Stored);
    }
}
