//! Inbound NLWeb: `/ask`, `/await`, `/sites`, `/who`, and `/agents/{peer}/ask` for one peer. Every peer of the hub is a site. `/llms.txt`
//! names these endpoints for discovery.
//!
//! A request is answered in the generation it is written in. A whole answer that takes longer than two seconds becomes a promise if the
//! generation has them; a stream continues with comments in between. A question is an elicitation; the next request that brings its token
//! back answers it.

mod ask;
mod pending;
mod promise;
mod request;
mod sites;
mod stream;
mod summing;

use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};

use crate::refusal::NlwebErrors;
use interlingua_endpoint::Shared;
use interlingua_endpoint::error_format::ErrorFormat;

pub fn routes(shared: Arc<Shared>) -> Router {
    let ask = get(request::front).post(request::front).fallback(not_allowed);
    Router::new()
        .route("/ask", ask.clone())
        .route("/ask/", ask)
        .route("/agents/{peer}/ask", get(request::one_peer).post(request::one_peer).fallback(not_allowed))
        .route("/await", post(request::wait).fallback(only_post))
        .route("/sites", get(sites::list))
        .route("/who", get(request::who))
        .route("/llms.txt", get(sites::about))
        .with_state(shared)
}

async fn not_allowed() -> axum::response::Response {
    NlwebErrors.not_allowed("GET, POST")
}

async fn only_post() -> axum::response::Response {
    NlwebErrors.not_allowed("POST")
}
