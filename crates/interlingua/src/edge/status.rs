//! `/healthz`, `/readyz`, `/metrics` and the page at `/`: the hub seen from outside.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use http::StatusCode;

use super::Shared;

pub fn routes() -> Router<Arc<Shared>> {
    Router::new().route("/", get(page)).route("/healthz", get(alive)).route("/readyz", get(ready))
}

/// Alive is answering at all.
async fn alive() -> &'static str {
    "ok\n"
}

/// Ready until it stops. A peer that is down does not make the hub unready.
async fn ready(State(shared): State<Arc<Shared>>) -> Response {
    if shared.hub.supervisor.stopping().is_cancelled() {
        return (StatusCode::SERVICE_UNAVAILABLE, "stopping\n").into_response();
    }
    "ready\n".into_response()
}

/// Says nothing of peers or tasks: anyone may see it.
async fn page() -> Html<&'static str> {
    Html(include_str!("status.html"))
}
