//! Commands about trust: `token` (callers and their credentials), `explain` (why something is allowed or not).

pub mod arguments;
mod explain;
mod token;

pub(super) use explain::explain;
pub(super) use token::token;
