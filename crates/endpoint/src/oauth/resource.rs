//! OAuth protected resource metadata (RFC 9728): the hub as a server that requires tokens, at the well-known path and in the challenge of a
//! 401.
//!
//! Tokens from the hub's own configuration are valid for this hub alone. Trusted issuers (`access.issuers`) are listed here with their
//! usable scopes; a call that one of these scopes would allow is answered with 403 and the name of the scope (RFC 6750 section 3.1),
//! because a caller that may request a scope may know its purpose.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, WWW_AUTHENTICATE};
use http::{HeaderValue, StatusCode};
use interlingua_model::{Link, Principal, Proof, Skill};
use interlingua_wire::object::Object;

use crate::Shared;

const PLACE: &str = "/.well-known/oauth-protected-resource";

pub(super) fn routes() -> Router<Arc<Shared>> {
    Router::new().route(PLACE, get(whole)).route("/.well-known/oauth-protected-resource/{*path}", get(part))
}

async fn whole(State(shared): State<Arc<Shared>>) -> Response {
    describe(&shared, "")
}

/// For the endpoints that require tokens by this rule, and for no other path.
async fn part(State(shared): State<Arc<Shared>>, Path(path): Path<String>) -> Response {
    let path = format!("/{path}");
    if shared.paths.has_metadata(&path) { describe(&shared, &path) } else { StatusCode::NOT_FOUND.into_response() }
}

fn describe(shared: &Shared, path: &str) -> Response {
    let Some(base) = shared.sign_ins.reached() else { return StatusCode::SERVICE_UNAVAILABLE.into_response() };
    let text = |item: &str, out: &mut Vec<u8>| interlingua_model::json::write_string(item, out);
    let described = Object::json(|object| {
        object.text("resource", &format!("{base}{path}"));
        object.text("resource_name", &shared.hub.settings().name);
        object.array("bearer_methods_supported", ["header"], text);
        let rules = shared.access.rules();
        let mut servers: Vec<&str> = rules.issuers.servers().collect();
        if !servers.is_empty() {
            servers.sort_unstable();
            object.array("authorization_servers", servers, text);
        }
        let mut scopes: Vec<&str> = rules.issuers.scopes().map(|(scope, _)| scope).collect();
        if !scopes.is_empty() {
            scopes.sort_unstable();
            scopes.dedup();
            object.array("scopes_supported", scopes, text);
        }
    });
    let headers = [(CONTENT_TYPE, "application/json"), (CACHE_CONTROL, "max-age=3600")];
    (headers, described.as_bytes().clone()).into_response()
}

/// Adds the metadata address to a 401; a 401 of another endpoint is not changed.
pub fn challenge(shared: &Shared, path: &str, response: &mut Response) {
    let Some(base) = shared.sign_ins.reached().filter(|_| response.status() == StatusCode::UNAUTHORIZED) else {
        return;
    };
    if let Ok(value) = HeaderValue::try_from(format!("Bearer resource_metadata=\"{base}{PLACE}{path}\"")) {
        response.headers_mut().insert(WWW_AUTHENTICATE, value);
    }
}

/// The scopes that would let the holder of an issuer's token call this, if only they are missing.
pub fn missing_scopes(shared: &Shared, by: &Principal, skill: &Skill) -> Vec<String> {
    let [link] = by.links() else { return Vec::new() };
    if link.proof != Proof::Jwt || shared.hub.visible(by).calls(skill) {
        return Vec::new();
    }
    let rules = shared.access.rules();
    let helps = |reaches: &[String]| {
        let more = reaches.iter().map(|reach| interlingua_model::Text::from(reach.as_str()));
        let scopes = link.scopes.iter().cloned().chain(more).collect();
        shared.hub.visible(&Principal::new(Link { scopes, ..link.clone() })).calls(skill)
    };
    rules.issuers.scopes().filter(|(_, reaches)| helps(reaches)).map(|(scope, _)| scope.to_owned()).collect()
}

/// Turns an answer into a scope challenge that names the missing scopes.
pub fn wants_scopes(shared: &Shared, path: &str, scopes: &[String], response: &mut Response) {
    let Some(base) = shared.sign_ins.reached() else { return };
    let plain = |scope: &&String| scope.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\');
    let scopes: Vec<&str> = scopes.iter().filter(plain).map(String::as_str).collect();
    let told = format!(
        "Bearer error=\"insufficient_scope\", scope=\"{}\", resource_metadata=\"{base}{PLACE}{path}\"",
        scopes.join(" ")
    );
    if let Ok(value) = HeaderValue::try_from(told) {
        response.headers_mut().insert(WWW_AUTHENTICATE, value);
    }
}
