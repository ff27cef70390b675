//! NLIP at the edge: HTTP and WebSocket in, HTTP and WebSocket out.

pub mod inbound;
mod uploads;
