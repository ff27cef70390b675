//! The outside world behind the core's ports.
//!
//! [`store`] keeps what must survive the process, [`keys`] seals what must not be read, [`files`] are the text tools of a
//! workspace, [`tools`] are programs of a directory, and [`local`] is both of them as one peer. Each module depends on the
//! core alone; none knows a protocol.

pub mod files;
pub mod keys;
pub mod local;
pub mod store;
pub mod tools;
