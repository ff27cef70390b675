//! NLWeb: websites that are asked in natural language and answer with schema.org objects. `ask` and `await`, over HTTP, in
//! five generations that differ in almost every name; each request says by its shape which one its sender speaks.
//!
//! Reading order: [`wire`] (generations, and what a request and an answer are in all of them), [`decode`] (a request of
//! anyone's), [`encode`] (an answer in the words of the request), [`fault`] (the closed list in this protocol's codes),
//! [`client`] (the other side: requests of ours, answers of anyone's), [`discover`] (lists of sites).
//!
//! Pure: no connection, no clock, no model. What is deliberately absent: ranking (the hub's), decontextualisation, and the
//! keys that the first generation streams to browsers.
//!
//! NLWeb where it meets HTTP: the hub asked like a site ([`inbound`]), and sites that are asked ([`outbound`]).

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
