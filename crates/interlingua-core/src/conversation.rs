//! Exchanges that share context.

use serde::{Deserialize, Serialize};

use crate::call::Wire;
use crate::content::Party;
use crate::id::{ConversationId, Text, Time};
use crate::principal::Owner;
use crate::secret::Secret;

/// Its open questions are an index folded from live tasks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Conversation {
    pub id: ConversationId,
    pub owner: Owner,
    /// The hub owns the counter; what a client says is only checked.
    pub turn: u64,
    pub legs: Vec<Leg>,
    pub context: Option<Secret>,
    /// The other side asked who the hub is, so every answer says it.
    #[serde(default)]
    pub identified: bool,
    pub expires: Time,
}

/// One hop, between the hub and one party. Tokens are never copied to another leg.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Leg {
    pub with: Party,
    pub wire: Wire,
    pub tokens: Vec<Token>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Token {
    pub name: Text,
    pub value: Secret,
    pub label: Option<Text>,
    /// Made by this hub.
    pub mine: bool,
}
