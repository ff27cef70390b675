//! Conversation memory of an agent: the last turns of a conversation, for as long as the conversation is stored.
//!
//! Each turn stores the provenance of its parts, so text that was read from a peer yesterday has a peer's trust today.

use bytes::Bytes;
use interlingua_model::ports::{Expect, StoreFault};
use interlingua_model::{ConversationId, Digest, Fault, Owner, Part, PeerId, Role, SkillKind, Turn};

use interlingua_hub::Hub;

const KIND: &str = "agent-memory";
/// How many turns of one conversation are kept, and how large they may be together.
const MAX_TURNS: usize = 200;
const MAX_BYTES: usize = 256 * 1024;
/// How often a write is tried again because another run of the same conversation was faster.
const TRIES: usize = 8;

/// Where one agent's memory of one conversation of this owner is.
#[derive(Debug, Clone)]
pub(super) struct Memory {
    key: String,
}

impl Memory {
    pub(super) fn of(agent: &PeerId, owner: &Owner, conversation: &ConversationId) -> Memory {
        let owner = owner.to_string();
        let fields = [agent.as_str().as_bytes(), owner.as_bytes(), conversation.as_str().as_bytes()];
        Memory { key: Digest::of_fields(fields).to_string() }
    }

    pub(super) async fn recall(&self, hub: &Hub) -> Result<Vec<Turn>, Fault> {
        let found = hub.records(KIND).get(&self.key).await?;
        let turns = found.map(|item| serde_json::from_slice(&item.value)).transpose();
        turns.map(Option::unwrap_or_default).map_err(Fault::internal)
    }

    /// Adds what was asked and what was answered.
    pub(super) async fn keep(&self, hub: &Hub, asked: &[Part], answered: &[Part]) -> Result<(), Fault> {
        for _ in 0..TRIES {
            let now = hub.now();
            let found = hub.records(KIND).get(&self.key).await?;
            let (mut turns, expect) = match &found {
                None => (Vec::new(), Expect::Absent),
                Some(item) => {
                    let turns: Vec<Turn> = serde_json::from_slice(&item.value).map_err(Fault::internal)?;
                    (turns, Expect::Revision(item.revision))
                }
            };
            turns.push(Turn { role: Role::User, parts: asked.to_vec() });
            turns.push(Turn { role: Role::Agent, parts: answered.to_vec() });
            let value = fitted(turns)?;
            let expires = now.after(hub.settings().conversations);
            let put = hub.records(KIND).put(&self.key, value, Some(expires), expect);
            match put.await {
                Ok(_) => return Ok(()),
                Err(StoreFault::Moved { .. }) => {}
                Err(fault) => return Err(fault.into()),
            }
        }
        Ok(())
    }
}

/// Removes what the agents of this hub remember of a conversation; whether there was anything.
pub async fn forget(hub: &Hub, owner: &Owner, conversation: &ConversationId) -> Result<bool, Fault> {
    let catalogue = hub.catalogue();
    let agents = catalogue.newest().filter(|skill| skill.kind == SkillKind::Agent).map(|skill| &skill.id.peer);
    let mut found = false;
    for agent in agents {
        let Memory { key } = Memory::of(agent, owner, conversation);
        found |= hub.records(KIND).take(&key).await?.is_some();
    }
    Ok(found)
}

/// The newest turns that fit, in pairs: an answer stays with its question.
fn fitted(mut turns: Vec<Turn>) -> Result<Bytes, Fault> {
    let surplus = turns.len().saturating_sub(MAX_TURNS);
    turns.drain(..surplus.next_multiple_of(2));
    loop {
        let value = serde_json::to_vec(&turns).map_err(Fault::internal)?;
        if value.len() <= MAX_BYTES || turns.is_empty() {
            return Ok(value.into());
        }
        turns.drain(..2.min(turns.len()));
    }
}

#[cfg(test)]
mod tests {
    use interlingua_model::Provenance;

    use super::*;

    fn turn(role: Role, text: &str) -> Turn {
        Turn { role, parts: vec![Part::text(text, Provenance::caller())] }
    }

    #[test]
    fn the_oldest_pairs_go_when_there_is_no_room() {
        let pair = |n: usize| [turn(Role::User, &format!("q{n}")), turn(Role::Agent, &"a".repeat(10_000))];
        let turns: Vec<Turn> = (0..100).flat_map(pair).collect();
        let kept: Vec<Turn> = serde_json::from_slice(&fitted(turns).expect("bytes")).expect("turns");
        assert!(!kept.is_empty() && kept.len().is_multiple_of(2) && kept.len() < 200, "{}", kept.len());
        assert_eq!(kept[0].role, Role::User);
        assert_eq!(kept[kept.len() - 2].parts[0].as_text(), Some("q99"));
    }
}
