//! The client side: the hub calls an MCP server, of either era.
//!
//! [`encode`] writes requests, with the parts that HTTP headers repeat, [`list`] reads what a server offers, [`decode`] reads the result of
//! a call, [`state`] is the stored state of a call that waits for answers or for a task of the server.
//!
//! Deliberately absent: connections, processes, sessions and time; they are in `outbound`.

pub mod decode;
pub mod encode;
pub mod list;
pub mod state;
#[cfg(test)]
mod tests;

pub use decode::{Replied, Task, TaskState};
pub use encode::{Manner, Outgoing, Verb};
