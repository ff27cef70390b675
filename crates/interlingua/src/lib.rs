//! The hub and its program.
//!
//! [`config`] is what can be said in a file or on the command line and [`api`] the hub's own HTTP interface.

pub mod api;
pub mod config;
