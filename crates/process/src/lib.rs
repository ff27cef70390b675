//! Child processes.
//!
//! [`child`] is a program with line-based I/O, [`programs`] finds the file of a program's name, [`machine`] reads information about this
//! machine. [`exchange`] is work that runs as an exchange of the hub, [`waiting`] a bounded queue of waiters. Each depends on the model
//! alone.

pub mod child;
pub mod exchange;
#[doc(hidden)]
pub mod fuzzing;
pub mod machine;
pub mod programs;
pub mod waiting;
