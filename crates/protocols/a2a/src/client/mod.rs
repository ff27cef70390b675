//! The client side: messages to an agent, and its answers.
//!
//! For an agent's card ([`crate::discover`]), [`vouch`] verifies its signature, and [`skills`] makes skills of it. [`encode`] writes calls
//! and answers as messages, [`request`] puts an operation on the wire of a binding, [`decode`] reads its answer, [`call`] reads a gRPC
//! response, and [`follow`] folds an agent's reports of a task into events. [`fault`] reads the table of errors.
//!
//! Deliberately absent: connections, the order in which interfaces are tried, and everything that waits.

pub mod call;
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

pub use fault::Refusal;
pub use follow::{Following, Told};
pub use request::Ask;
