//! NLIP: ECMA-430 (messages), 431 (HTTP), 432 (WebSocket), first edition, December 2025, and the first draft where its peers still speak
//! it. Clause numbers in comments are ECMA-430's unless another is named.
//!
//! [`json`] and [`cbor`] read and write a [`Message`]; [`decode()`] converts a request to a call, [`encode`] converts an outcome to a
//! message; [`client`] does both for agents that the hub calls. [`upload`] is the exchange of clause 6.4, [`discover`] the answer to "what
//! can you do", [`terms`] that to questions about limits, policies, formats, languages and addresses.
//!
//! The endpoints are HTTP and WebSocket, inbound and outbound.

mod draft;
#[doc(hidden)]
pub mod fuzzing;
mod part;
mod render;

#[cfg(any(test, feature = "arbitrary"))]
pub mod arbitrary;
pub mod cbor;
pub mod client;
pub mod decode;
pub mod discover;
pub mod encode;
pub mod fault;
pub mod invalid;
pub mod json;
pub mod labels;
pub mod phrases;
pub mod terms;
pub mod tokens;
pub mod topic;
pub mod upload;
pub mod wire;

pub use decode::{Addressed, Context, Incoming, Meaning, Own, decode};
pub use invalid::{Class, Invalid, Problem};
pub use json::Keys;
pub use wire::{Content, Format, Limits, Message, Submessage};

#[cfg(test)]
mod tests;

/// What metrics call it.
pub const PROTOCOL: &str = "nlip";

pub mod inbound;
pub mod outbound;
mod protocol;
pub mod refusal;
pub mod settings;
mod switch;
pub mod uploads;

pub use protocol::Nlip;
pub use switch::Switch;

/// The HTTP side of NLIP.
pub type Endpoint = interlingua_endpoint::Endpoint<Switch>;
