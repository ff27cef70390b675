//! Commands about trust: `token` (callers and their credentials), `explain` (why something is allowed or not), `audit` (the
//! record of decisions).

pub mod arguments;
mod audit;
mod explain;
mod token;

pub(super) use audit::audit;
pub(super) use explain::explain;
pub(super) use token::token;
