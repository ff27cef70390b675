//! The web console: static documents under `/console/`, the same for everybody. What they show comes from `/api`, with a session.
//!
//! The files are built from `console/` and embedded. A name that carries a digest never changes its content, so it may be kept for
//! ever; the page that names them is never kept.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::response::Response;
use axum::routing::get;
use http::header::{
    ACCEPT, ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName,
    LOCATION, REFERRER_POLICY, VARY, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderMap, HeaderValue, StatusCode};
use interlingua_endpoint::Shared;
use interlingua_endpoint::guard::CONSOLE;
use interlingua_model::{Digest, Fault, FaultKind, Noun};

/// One file, plain and compressed.
struct Document {
    name: &'static str,
    media: &'static str,
    plain: &'static [u8],
    gzip: &'static [u8],
}

#[cfg(feature = "console")]
include!("../assets/console/documents.rs");
#[cfg(not(feature = "console"))]
const DOCUMENTS: &[Document] = &[];

const INDEX: &str = "index.html";
/// Only what this hub serves, no markup made of text, in no frame.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' blob:; \
                      connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types console";
const HEADERS: [(HeaderName, &str); 6] = [
    (CONTENT_SECURITY_POLICY, POLICY),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("permissions-policy"), ""),
];

/// Differs between builds whose consoles differ.
pub fn build() -> String {
    let index = DOCUMENTS.iter().find(|document| document.name == INDEX).map_or(&[][..], |index| index.plain);
    let digest = Digest::of(index).to_string();
    format!("{}-{}", env!("CARGO_PKG_VERSION"), &digest[..12])
}

pub fn routes(shared: Arc<Shared>) -> Router {
    if DOCUMENTS.is_empty() {
        return Router::new();
    }
    Router::new()
        .route(CONSOLE.trim_end_matches('/'), get(bare))
        .route(CONSOLE, get(index))
        .route("/console/{file}", get(file))
        .with_state(shared)
}

/// Leads a browser from `/` to the console, if this hub has one. A program keeps the page that says what this is.
pub fn welcome(shared: &Shared, headers: &HeaderMap) -> Option<Response> {
    let wants = |accept: &HeaderValue| accept.to_str().is_ok_and(|accept| accept.contains("text/html"));
    (is_served(shared) && headers.get(ACCEPT).is_some_and(wants)).then(|| led_to("console/"))
}

fn is_served(shared: &Shared) -> bool {
    !DOCUMENTS.is_empty() && shared.access.session_rules().enabled
}

/// Without the slash at its end the page's own addresses would lead elsewhere.
async fn bare(State(shared): State<Arc<Shared>>) -> Response {
    if is_served(&shared) { led_to("console/") } else { absent(&shared) }
}

async fn index(State(shared): State<Arc<Shared>>, headers: HeaderMap) -> Response {
    served(&shared, INDEX, &headers)
}

async fn file(State(shared): State<Arc<Shared>>, Path(name): Path<String>, headers: HeaderMap) -> Response {
    served(&shared, &name, &headers)
}

fn served(shared: &Shared, name: &str, headers: &HeaderMap) -> Response {
    let found = DOCUMENTS.iter().find(|document| document.name == name).filter(|_| is_served(shared));
    let Some(document) = found else { return absent(shared) };
    let gzip = |accept: &HeaderValue| accept.to_str().is_ok_and(|accept| accept.contains("gzip"));
    let packed = !document.gzip.is_empty() && headers.get(ACCEPT_ENCODING).is_some_and(gzip);
    let mut response = Response::new(Body::from(if packed { document.gzip } else { document.plain }));
    let kept = if name == INDEX { "no-store" } else { "public, max-age=31536000, immutable" };
    let head = response.headers_mut();
    head.insert(CONTENT_TYPE, HeaderValue::from_static(document.media));
    head.insert(CACHE_CONTROL, HeaderValue::from_static(kept));
    head.insert(VARY, HeaderValue::from_static("accept-encoding"));
    if packed {
        head.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    guarded(response)
}

fn led_to(place: &'static str) -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SEE_OTHER;
    response.headers_mut().insert(LOCATION, HeaderValue::from_static(place));
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    guarded(response)
}

fn guarded(mut response: Response) -> Response {
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

fn absent(shared: &Shared) -> Response {
    let nothing = Fault::caller(FaultKind::NotFound(Noun::Resource), "there is nothing at this path");
    guarded(shared.default_format().refuse(&nothing))
}
