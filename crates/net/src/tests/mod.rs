//! Connections whose other end misbehaves, with a clock that the tests control.

mod patience;
