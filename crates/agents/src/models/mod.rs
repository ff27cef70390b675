//! Model client. Models behind the core's port, and the one way they are asked: with retries, patience, and a pace for each
//! provider.
//!
//! [`scripted`] reads its part from a file. What is decided about a stream is decided in the core; here are the timers and
//! the waiting only.

mod ask;
mod gate;
pub mod scripted;
#[cfg(test)]
mod tests;

pub use ask::ask;
pub use gate::{Gate, Pass};
pub use scripted::{BadScript, Scripted};
