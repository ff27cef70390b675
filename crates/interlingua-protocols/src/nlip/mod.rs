//! NLIP: ECMA-430 (messages), 431 (HTTP), 432 (WebSocket), first edition, December 2025, and the first draft where its
//! peers still speak it. Clause numbers in comments are ECMA-430's unless another is named.

mod draft;

pub mod cbor;
pub mod invalid;
pub mod json;
pub mod wire;

pub use invalid::{Class, Invalid, Problem};
pub use json::Keys;
pub use wire::{Content, Format, Limits, Message, Submessage};

#[cfg(test)]
mod tests;
