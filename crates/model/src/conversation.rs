//! Exchanges that share context.

use serde::{Deserialize, Serialize};

use crate::id::{ConversationId, Time};
use crate::principal::Owner;

/// Its open questions are an index folded from live tasks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Conversation {
    pub id: ConversationId,
    pub owner: Owner,
    /// The hub owns the counter; what a client says is only checked.
    pub turn: u64,
    /// The other side asked who the hub is, so every answer says it.
    #[serde(default)]
    pub identified: bool,
    pub expires: Time,
}
