//! We call them: what an agent says of itself, what is said to it, and what comes back.
//!
//! [`card`] reads an agent's card in either generation, [`vouch`] says who signed it, [`skills`] makes skills of it. [`encode`]
//! writes calls and answers as messages, [`request`] puts an operation on the wire of a binding, [`decode`] reads its answer,
//! [`call`] takes one of gRPC apart, and [`follow`] folds all that an agent tells of a task into events. [`fault`] is the table
//! of errors, read.
//!
//! Deliberately absent: connections, which interface is tried when, and everything that waits.

pub mod call;
pub mod card;
pub mod decode;
pub mod encode;
pub mod fault;
pub mod follow;
pub mod remote;
pub mod request;
pub mod skills;
#[cfg(test)]
mod tests;
pub mod vouch;

pub use card::{AgentCard, Binding, Interface};
pub use fault::Refusal;
pub use follow::{Following, Told};
pub use request::Ask;
