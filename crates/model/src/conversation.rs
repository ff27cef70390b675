//! Conversations: exchanges that share context.

use serde::{Deserialize, Serialize};

use crate::id::{ConversationId, Time};
use crate::principal::Owner;

/// Its open questions are an index folded from live tasks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Conversation {
    /// Its id: minted by the hub, or chosen by the caller where the protocol lets it.
    pub id: ConversationId,
    /// Whose it is.
    pub owner: Owner,
    /// The hub owns the counter; what a client says is only checked.
    pub turn: u64,
    /// The other side asked who the hub is, so every answer says it.
    #[serde(default)]
    pub identified: bool,
    /// When the hub removes it; every turn moves this on.
    pub expires: Time,
}
