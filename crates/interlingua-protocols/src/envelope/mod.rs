//! The routing envelope: a request carries tool calls or a chat, responses carry what became of them.
//!
//! It is the message of the seed document (`format`, `control`, `token`, `content`, `tool_calls`, `tool_results`,
//! `metadata`), served at `/nlip/route`; it is not the Ecma message. The requirements are of the sheet, and
//! where the seed has a hole, its resolutions H-01 to H-24.
//!
//! Reading order: [`wire`] (bytes), [`decode`] (to the model), [`encode`] (back), [`fault`], [`names`] and [`translators`]
//! (what a tool name means), [`priority`],
//! [`ecma`] (to and from the other message).
//!
//! Absent on purpose: sockets, sessions' storage, authentication, and the running of tools.

pub mod decode;
pub mod ecma;
pub mod encode;
pub mod fault;
pub mod names;
pub mod priority;
pub mod translators;
pub mod wire;

#[cfg(test)]
mod tests;
