//! A message in CBOR (RFC 8949): the WebSocket binding, one message for each binary frame (ECMA-432 clause 7.1).
//!
//! Byte strings stay slices of the frame. Lengths are compared with what is left of the frame before anything is taken or
//! allocated; tags, trailing bytes, keys that are not text and keys that occur twice are refused. Content other than bytes
//! is held as JSON, so a byte string nested in an array or map has no place.

mod decode;
mod encode;
mod items;

pub use decode::decode;
pub use encode::encode;
