//! The floor: the least an HTTP server in this language can do with an NLIP message.
//!
//! It parses the JSON into a value and writes it back: no tokens, no schema, no limits but the body's, no routing. It has
//! the hub's own allocator, so that the difference is the hub's work and nothing else.

use axum::{Json, Router, extract::DefaultBodyLimit, routing::post};
use serde_json::Value;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let address = std::env::args().nth(1).unwrap_or_else(|| "127.0.0.1:7448".to_owned());
    let listener = tokio::net::TcpListener::bind(address).await?;
    let echo = post(|Json(message): Json<Value>| async { Json(message) });
    let router = Router::new().route("/nlip", echo).layer(DefaultBodyLimit::max(64 << 20));
    axum::serve(listener, router).await
}
