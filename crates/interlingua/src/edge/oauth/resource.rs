//! What the hub says of itself as a server that wants tokens (RFC 9728): at the well-known place, and in the challenge of a 401.
//!
//! Its tokens come from its configuration and are good for the hub alone, so there is no audience to compare and
//! nobody else who gives any: no authorization server is named.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, WWW_AUTHENTICATE};
use http::{HeaderValue, StatusCode};
use interlingua_protocols::object::Object;

use crate::edge::Shared;
use crate::server::shape::Shape;

const PLACE: &str = "/.well-known/oauth-protected-resource";

pub(super) fn routes() -> Router<Arc<Shared>> {
    Router::new().route(PLACE, get(whole)).route("/.well-known/oauth-protected-resource/{*path}", get(part))
}

async fn whole(State(shared): State<Arc<Shared>>) -> Response {
    describe(&shared, "")
}

/// Of the endpoints that ask for tokens by this rule, and of no other path.
async fn part(State(shared): State<Arc<Shared>>, Path(path): Path<String>) -> Response {
    let path = format!("/{path}");
    if Shape::of(&path) == Shape::Mcp { describe(&shared, &path) } else { StatusCode::NOT_FOUND.into_response() }
}

fn describe(shared: &Shared, path: &str) -> Response {
    let Some(base) = shared.hub.sign_ins.reached() else { return StatusCode::SERVICE_UNAVAILABLE.into_response() };
    let text = |item: &str, out: &mut Vec<u8>| interlingua_core::json::write_string(item, out);
    let described = Object::json(|object| {
        object.text("resource", &format!("{base}{path}"));
        object.text("resource_name", &shared.hub.settings.load().name);
        object.array("bearer_methods_supported", ["header"], text);
    });
    let headers = [(CONTENT_TYPE, "application/json"), (CACHE_CONTROL, "max-age=3600")];
    (headers, described.as_bytes().clone()).into_response()
}

/// A 401 names where that is said; one of another endpoint stays as it is.
pub(crate) fn challenge(shared: &Shared, path: &str, response: &mut Response) {
    let Some(base) = shared.hub.sign_ins.reached().filter(|_| response.status() == StatusCode::UNAUTHORIZED) else {
        return;
    };
    if let Ok(value) = HeaderValue::try_from(format!("Bearer resource_metadata=\"{base}{PLACE}{path}\"")) {
        response.headers_mut().insert(WWW_AUTHENTICATE, value);
    }
}
