//! Commands about trust: `token` (callers and their credentials), `keys` (the hub's own), `explain` (why a call is allowed or refused),
//! `audit` (the audit log).

pub mod arguments;
mod audit;
mod explain;
mod keys;
mod token;

pub(super) use audit::audit;
pub(super) use explain::explain;
pub(super) use keys::keys;
pub(super) use token::{for_client, token};
