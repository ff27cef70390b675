//! The outside world behind the core's ports.
//!
//! [`store`] keeps what must survive the process. Each module depends on the core alone; none knows another, and none
//! knows a protocol.

pub mod store;
