//! Model client: sends requests to models behind the port of `machines`, with retries, timeouts, and a rate limit for each provider.
//!
//! [`scripted`] reads its replies from a file. The pure code decides about a stream; this module only has timers and waiting.

mod ask;
mod gate;
pub mod scripted;
#[cfg(test)]
mod tests;

pub use ask::ask;
pub use gate::{Gate, Pass};
pub use scripted::{BadScript, Scripted};
