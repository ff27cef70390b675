//! Message bus between agents: messages, an inbox for each agent, topics for published events, and access lists.
//!
//! [`message`] is what is sent. [`inbox`] is the state machine of one agent's inbox: pending messages, their order, and their answers; like
//! a task, it is a fold of its records. [`topic`] names events and matches the patterns of subscribers. [`access`] decides by lists of
//! names. [`sender`] is what an event carries of its publisher. [`search`] finds agents by what they offer, [`shorthand`] expands the short schemas in which they describe it. [`said`] is what a
//! call stores of the message that caused it.
//!
//! Deliberately absent: calls. A request to an agent is an exchange like every other and enters through the hub; only messages that an
//! agent fetches itself pass through its inbox.

pub mod access;
pub mod inbox;
pub mod message;
pub mod priority;
pub mod said;
pub mod search;
pub mod sender;
pub mod shorthand;
#[cfg(test)]
mod tests;
pub mod topic;

pub use access::listed;
pub use inbox::Inbox;
pub use message::{Kind, Message};
pub use said::Said;
pub use search::Search;
pub use sender::Sender;
pub use topic::Pattern;
