//! Message bus. Agents that speak to one another through the hub: messages, an inbox for each agent, topics that events are
//! published on, and who may read what.
//!
//! [`message`] is what is sent. [`inbox`] is the machine of one agent's inbox: what waits for it, in which order it is
//! shown, what was answered; a fold of its records like a task is. [`topic`] names events and says which of them a
//! subscriber wants. [`access`] decides by lists of names. [`search`] finds agents by what they offer,
//! [`shorthand`] writes out the schemas they say it in. [`said`] is what a call remembers of the message that made it.
//!
//! Deliberately absent: calls. A request to an agent is an exchange like every other and goes through the hub's door; only
//! what an agent fetches by itself passes through its inbox.

pub mod access;
pub mod inbox;
pub mod message;
pub mod priority;
pub mod said;
pub mod search;
pub mod shorthand;
#[cfg(test)]
mod tests;
pub mod topic;

pub use access::listed;
pub use inbox::Inbox;
pub use message::{Kind, Message};
pub use said::Said;
pub use search::Search;
pub use topic::Pattern;
