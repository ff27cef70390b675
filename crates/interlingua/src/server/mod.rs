//! Connections in, responses out: accept loop, TLS, guard, authentication. Knows no protocol.

pub mod accept;
pub mod access;
pub mod access_settings;
pub mod body;
pub mod connection;
pub(crate) mod contained;
pub(crate) mod counted;
pub(crate) mod descriptors;
pub(crate) mod frames;
pub mod issuers;
pub mod keys;
pub mod keys_settings;
pub(crate) mod large;
pub mod owner_token;
mod patience;
mod peers;
pub mod places;
mod ports;
mod purge;
pub mod reload;
mod retire;
mod rights;
pub mod room;
pub mod run;
pub(crate) mod storage;
#[cfg(test)]
mod tests;
pub mod tls;
pub mod tls_settings;
pub mod tokens;
pub mod upgrade;
