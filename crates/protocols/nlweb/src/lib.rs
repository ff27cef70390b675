//! NLWeb: websites that are asked in natural language and answer with schema.org objects. `ask` and `await`, over HTTP, in five generations
//! that differ in almost every name; the shape of a request shows which one its sender speaks.
//!
//! Reading order: [`wire`] (generations, and what a request and an answer are in all of them), [`decode`] (any request), [`encode`] (an
//! answer in the generation of the request), [`fault`] (faults in this protocol's codes), [`client`] (the hub's requests, and the answers
//! of sites), [`discover`] (lists of sites). These are pure: no connection, no clock, no model.
//!
//! [`inbound`] serves the hub as a site over HTTP, [`outbound`] calls sites. Deliberately absent: ranking (the hub's), decontextualisation,
//! and the keys that the first generation streams to browsers.

pub mod client;
pub mod decode;
pub mod discover;
pub mod encode;
pub mod fault;
mod item;
#[cfg(test)]
mod tests;
pub mod wire;

pub use wire::{Asked, Dialect, Manner, Modes};

/// The id of the question by which a hub asks for approval.
pub const APPROVAL: &str = "confirm";

pub mod inbound;
pub mod outbound;
mod protocol;
pub mod refusal;
pub mod settings;

pub use protocol::Nlweb;

/// What it is called in counts.
pub const PROTOCOL: &str = "nlweb";
