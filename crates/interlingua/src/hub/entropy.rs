//! Randomness for ids and tokens, from the operating system through the one crypto library.

use interlingua_core::{ConversationId, MessageId, TaskId};

/// 128 random bits.
///
/// The system's generator does not fail after start-up on any platform the hub runs on; were it to, an id of zeroes would be
/// refused as a duplicate by the journal rather than reused.
pub fn bits() -> u128 {
    let mut bytes = [0; 16];
    if aws_lc_rs::rand::fill(&mut bytes).is_err() {
        tracing::error!("the system's random generator failed");
    }
    u128::from_be_bytes(bytes)
}

pub fn task_id() -> TaskId {
    TaskId(bits())
}

pub fn message_id() -> MessageId {
    MessageId::from(format!("{:032x}", bits()))
}

pub fn conversation_id() -> ConversationId {
    ConversationId::from(format!("{:032x}", bits()))
}
