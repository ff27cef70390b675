//! Log lines and traces, seen from where they arrive.

mod collector;
mod lines;
