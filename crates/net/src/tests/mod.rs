//! Connections whose other end misbehaves, on a clock that the tests hold.

mod patience;
