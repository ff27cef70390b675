//! The hub and its program.
//!
//! [`config`] is what can be said in a file or on the command line.

pub mod config;
