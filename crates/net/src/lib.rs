//! Network connections, inbound and outbound. Nothing here knows a protocol.
//!
//! In: [`accept`] (the accept loop), [`tls`] and [`tls_settings`], [`connection`] (facts about one), [`connection_limits`] (connection
//! limits), [`descriptors`] (the file descriptor limit), [`stall_timeout`] (stall timeouts), [`body`], [`body_budget`] and [`large`]
//! (bodies within a memory budget), [`upgrade`], [`frames`] and [`counted`] (WebSockets within the same bounds), [`contained`] (content
//! that a browser must not run). Out: [`client`].

pub mod accept;
pub mod body;
pub mod body_budget;
pub mod client;
pub mod connection;
pub mod connection_limits;
pub mod contained;
pub mod counted;
pub mod descriptors;
pub mod frames;
#[doc(hidden)]
pub mod fuzzing;
pub mod large;
pub mod stall_timeout;
#[cfg(test)]
mod tests;
pub mod tls;
pub mod tls_settings;
pub mod upgrade;
