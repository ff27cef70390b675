//! Conversation memory. What an agent or a team remembers of a conversation: the last turns of it, for as long as the conversation
//! is kept, and how many there were before them.
//!
//! Each turn stores the provenance of its parts, so text that was read from a peer yesterday has a peer's trust today.

use bytes::Bytes;
use interlingua_model::ports::{Expect, StoreFault};
use interlingua_model::{ConversationId, Digest, Fault, Owner, Part, PeerId, Provenance, Role, SkillKind, Turn};
use serde::{Deserialize, Serialize};

use interlingua_hub::Hub;

const KIND: &str = "agent-memory";
/// How many turns of one conversation are kept, and how large they may be together.
const MAX_TURNS: usize = 200;
const MAX_BYTES: usize = 256 * 1024;
/// How often a write is tried again because another run of the same conversation was faster.
const TRIES: usize = 8;

/// What is stored of a conversation.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Kept {
    /// How many older turns did not fit.
    left_out: u64,
    turns: Vec<Turn>,
}

impl Kept {
    /// Earlier releases stored the turns alone.
    pub(crate) fn read(bytes: &[u8]) -> Result<Kept, Fault> {
        let kept = match bytes.first() {
            Some(b'[') => serde_json::from_slice(bytes).map(|turns| Kept { left_out: 0, turns }),
            Some(_) | None => serde_json::from_slice(bytes),
        };
        kept.map_err(Fault::internal)
    }

    /// The turns as a model is shown them: it is told what is missing.
    fn shown(self) -> Vec<Turn> {
        let Kept { left_out, mut turns } = self;
        if left_out > 0 {
            let note = format!("{left_out} earlier messages of this conversation were left out here.");
            turns.insert(0, Turn { role: Role::User, parts: vec![Part::text(note, Provenance::hub())] });
        }
        turns
    }

    fn drop_first(&mut self, count: usize) {
        self.left_out += self.turns.drain(..count.min(self.turns.len())).len() as u64;
    }

    /// The newest turns that fit, in pairs: an answer stays with its question.
    fn fitted(mut self) -> Result<Bytes, Fault> {
        self.drop_first(self.turns.len().saturating_sub(MAX_TURNS).next_multiple_of(2));
        loop {
            let value = serde_json::to_vec(&self).map_err(Fault::internal)?;
            if value.len() <= MAX_BYTES || self.turns.is_empty() {
                return Ok(value.into());
            }
            self.drop_first(2);
        }
    }
}

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
        let kept = found.map(|item| Kept::read(&item.value)).transpose()?;
        Ok(kept.unwrap_or_default().shown())
    }

    /// Adds what was asked and what was answered.
    pub(super) async fn keep(&self, hub: &Hub, asked: &[Part], answered: &[Part]) -> Result<(), Fault> {
        for _ in 0..TRIES {
            let now = hub.now();
            let found = hub.records(KIND).get(&self.key).await?;
            let (mut kept, expect) = match &found {
                None => (Kept::default(), Expect::Absent),
                Some(item) => (Kept::read(&item.value)?, Expect::Revision(item.revision)),
            };
            kept.turns.push(Turn { role: Role::User, parts: asked.to_vec() });
            kept.turns.push(Turn { role: Role::Agent, parts: answered.to_vec() });
            let value = kept.fitted()?;
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

#[cfg(test)]
mod tests {
    use interlingua_model::Body;

    use super::*;

    fn turn(role: Role, text: &str) -> Turn {
        let data = Part::new(Body::Data(serde_json::json!({"n": 1.5}).into()), Provenance::caller());
        Turn { role, parts: vec![Part::text(text, Provenance::caller()), data] }
    }

    #[test]
    fn the_oldest_pairs_go_when_there_is_no_room() {
        let pair = |n: usize| [turn(Role::User, &format!("q{n}")), turn(Role::Agent, &"a".repeat(10_000))];
        let turns: Vec<Turn> = (0..100).flat_map(pair).collect();
        let kept = Kept { left_out: 0, turns };
        let kept = Kept::read(&kept.fitted().expect("bytes")).expect("turns");
        let (left_out, turns) = (kept.left_out, &kept.turns);
        assert!(!turns.is_empty() && turns.len().is_multiple_of(2) && turns.len() < 200, "{}", turns.len());
        assert_eq!(left_out + turns.len() as u64, 200, "what went is counted");
        assert_eq!(turns[0].role, Role::User);
        assert_eq!(turns[turns.len() - 2].parts[0].as_text(), Some("q99"));
        let note = format!("{left_out} earlier messages of this conversation were left out here.");
        assert_eq!(kept.shown()[0].parts[0].as_text(), Some(note.as_str()), "and whoever reads it is told");
    }

    #[test]
    fn what_an_earlier_release_stored_is_read() {
        let turns = vec![turn(Role::User, "q"), turn(Role::Agent, "a")];
        let stored = serde_json::to_vec(&turns).expect("bytes");
        let kept = Kept::read(&stored).expect("turns");
        assert_eq!(kept.shown(), turns, "nothing was left out, and nothing is said of it");
    }
}
