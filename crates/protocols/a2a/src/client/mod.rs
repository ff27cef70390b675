//! We call them: what is said to an agent, and what comes back.
//!
//! Of an agent's card ([`crate::discover`]), [`vouch`] says who signed it, and [`skills`] makes skills. [`encode`] writes calls
//! and answers as messages, [`request`] puts an operation on the wire of a binding, [`decode`] reads its answer, [`call`] takes
//! one of gRPC apart, and [`follow`] folds all that an agent tells of a task into events. [`fault`] is the table
//! of errors, read.
//!
//! Deliberately absent: connections, which interface is tried when, and everything that waits.

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
