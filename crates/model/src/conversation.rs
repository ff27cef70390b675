//! Conversations: exchanges that share context.

use serde::{Deserialize, Serialize};

use crate::id::{ConversationId, Time};
use crate::principal::Owner;

/// A conversation. Its open questions are an index folded from live tasks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Conversation {
    /// Its id: minted by the hub, or chosen by the caller where the protocol lets it.
    pub id: ConversationId,
    /// The owner of the conversation.
    pub owner: Owner,
    /// The turn number. The hub owns the counter; a client's count is only compared.
    pub turn: u64,
    /// The other side asked for the hub's identity, so every answer includes it.
    #[serde(default)]
    pub identified: bool,
    /// When the hub removes it; every turn moves this on.
    pub expires: Time,
}
