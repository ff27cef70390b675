//! `/healthz`, `/readyz`, `/metrics` and the page at `/`: the hub seen from outside.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use axum::{Extension, Router};
use http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderMap, StatusCode};

use crate::console;
use interlingua_model::ports::Condition;
use metrics_exporter_prometheus::PrometheusHandle;
use tokio::sync::watch;

use interlingua_endpoint::Endpoint;
use interlingua_endpoint::html::{OWN_PAGE, escaped};
use interlingua_net::connection::Connection;

/// What it shows besides what all endpoints share.
#[derive(Debug)]
pub struct Status {
    /// What `/metrics` answers with.
    pub prometheus: PrometheusHandle,
    /// Whether anything can be kept.
    pub condition: watch::Receiver<Condition>,
}

pub fn routes(state: Arc<Endpoint<Status>>) -> Router {
    Router::new()
        .route("/", get(page))
        .route("/healthz", get(alive))
        .route("/readyz", get(ready))
        .route("/metrics", get(metrics))
        .with_state(state)
}

/// Alive is answering at all.
async fn alive() -> &'static str {
    "ok\n"
}

/// Ready while it runs and can store something. A peer that is down does not make the hub unready.
async fn ready(State(shared): State<Arc<Endpoint<Status>>>) -> Response {
    let unready = |why: &'static str| (StatusCode::SERVICE_UNAVAILABLE, why).into_response();
    let condition = *shared.own.condition.borrow();
    match condition {
        Condition::Failed => unready("the store failed: nothing can be stored until the hub is restarted\n"),
        _ if shared.hub.stopping().is_cancelled() => unready("stopping\n"),
        Condition::Full => unready("the store is full: nothing can be stored until there is room\n"),
        Condition::Away => unready("the database cannot be reached: nothing can be stored until it answers\n"),
        Condition::Writable => "ready\n".into_response(),
    }
}

/// The Prometheus text format. Numbers only: no name of a caller, a skill or a peer is a label.
async fn metrics(
    State(shared): State<Arc<Endpoint<Status>>>,
    Extension(connection): Extension<Connection>,
    headers: HeaderMap,
) -> Response {
    if let Err(fault) = shared.authenticate(&connection, &headers, &[]) {
        return shared.default_format().refuse(&fault);
    }
    shared.observe();
    ([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], shared.hub.meters().render(&shared.own.prometheus))
        .into_response()
}

/// Says nothing of peers or tasks: anyone may see it.
async fn page(State(shared): State<Arc<Endpoint<Status>>>, headers: HeaderMap) -> Response {
    if let Some(led) = console::welcome(&shared, &headers) {
        return led;
    }
    let html = include_str!("status.html").replace("{name}", &escaped(&shared.hub.settings().name));
    ([(CONTENT_SECURITY_POLICY, OWN_PAGE), (X_CONTENT_TYPE_OPTIONS, "nosniff")], Html(html)).into_response()
}
