//! The outside world behind the core's ports.
//!
//! [`store`] keeps what must survive the process, [`keys`] seals what must not be read. Each module depends on the core
//! alone; none knows a protocol.

pub mod keys;
pub mod store;
