//! Connections in, responses out: accept loop, TLS, guard, authentication. Knows no protocol but the shape of its refusals.

pub mod accept;
pub mod access;
pub mod access_settings;
pub mod body;
mod broken;
pub mod connection;
pub(crate) mod contained;
pub(crate) mod counted;
pub(crate) mod descriptors;
pub(crate) mod frames;
mod gate;
pub mod guard;
pub mod issuers;
pub mod keys;
pub mod keys_settings;
pub(crate) mod large;
pub mod lasting;
pub mod owner_token;
mod patience;
pub mod places;
mod purge;
pub mod reload;
pub mod retire;
mod rights;
pub mod room;
pub mod run;
pub mod shape;
pub(crate) mod storage;
#[cfg(test)]
mod tests;
pub mod tls;
pub mod tls_settings;
pub mod tokens;
pub mod upgrade;
