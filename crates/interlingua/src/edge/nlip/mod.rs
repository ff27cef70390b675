//! NLIP at the edge: HTTP and WebSocket in, HTTP and WebSocket out.

/// What metrics call it.
pub const PROTOCOL: &str = "nlip";

pub mod inbound;
pub mod outbound;
pub mod refusal;
pub(crate) mod uploads;

pub(super) use uploads::routes as upload_routes;
