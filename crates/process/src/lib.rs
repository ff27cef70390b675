//! Child processes.
//!
//! [`child`] is a program that is spoken to line by line for as long as it runs, [`programs`] says which file a program's name means,
//! [`machine`] is what this machine says of itself. [`exchange`] is work that runs as an exchange of the hub, [`waiting`] a bounded
//! queue for a turn. Each depends on the model alone.

pub mod child;
pub mod exchange;
#[doc(hidden)]
pub mod fuzzing;
pub mod machine;
pub mod programs;
pub mod waiting;
