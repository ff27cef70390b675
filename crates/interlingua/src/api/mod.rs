//! The hub's own HTTP interface at `/api`: what it looks like from outside.
//!
//! [`view`] has the JSON, as types of its own made from core's, so that the model can change without breaking programs
//! that use the interface. [`fault`] says which HTTP status a fault has. [`openapi`] describes it all from the same types.

pub mod fault;
pub mod openapi;
pub mod view;
