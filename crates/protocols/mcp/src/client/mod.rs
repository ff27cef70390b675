//! The client's side: the hub calls an MCP server, of either era.
//!
//! [`encode`] writes what goes out, with what HTTP must repeat of it, [`list`] reads what a server offers, [`decode`]
//! reads what came of a call, [`state`] is what the hub keeps of a call that waits for answers or for a task of the server.
//!
//! Deliberately absent: connections, processes, sessions and time; they are the edge's.

pub mod decode;
pub mod encode;
pub mod list;
pub mod state;
#[cfg(test)]
mod tests;

pub use decode::{Replied, Task, TaskState};
pub use encode::{Manner, Outgoing, Verb};
