//! Content links: content that is too large for an answer is served at `GET /content/{sealed}`.
//!
//! A link holds everything that is needed, sealed to the caller it was made for. Nothing is stored for it, any process with the hub's keys
//! can serve it, and it cannot be guessed; a link of another caller is answered as not found. The store's retention decides how long the
//! bytes are available.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, State};
use axum::response::Response;
use axum::routing::get;
use axum::{Extension, Router};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::header::CONTENT_LENGTH;
use http::{HeaderMap, HeaderValue};
use interlingua_model::ports::BlobInfo;
use interlingua_model::{Blob, Body as Holds, Digest, Fault, FaultKind, Noun, Part, Principal, Time, Uri};

use super::Shared;
use interlingua_hub::{Hub, pieces};
use interlingua_net::connection::Connection;
use interlingua_net::contained::contain;

const PATH: &str = "/content/";
/// The purpose under which existing links were sealed.
const PURPOSE: &str = "mcp artifact";
/// A longer media type is omitted: an address has to fit into a request.
const MAX_MEDIA: usize = 200;

pub fn routes(shared: Arc<Shared>) -> Router {
    Router::new().route("/content/{sealed}", get(fetch).fallback(not_allowed)).with_state(shared)
}

/// The content of a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    pub digest: Digest,
    pub media: Option<String>,
}

fn bound(hub: &Hub, by: &Principal) -> Vec<u8> {
    let owner = by.owner().to_string();
    Digest::of_fields([hub.id().as_str().as_bytes(), owner.as_bytes()]).0.to_vec()
}

/// The last path segment of a link, for this caller, valid as long as conversations are stored.
pub fn seal(hub: &Hub, by: &Principal, digest: &Digest, media: Option<&str>) -> Option<String> {
    let until = hub.now().after(hub.settings().conversations);
    let media = media.filter(|media| media.len() <= MAX_MEDIA).unwrap_or_default();
    let mut plain = Vec::with_capacity(40 + media.len());
    plain.extend_from_slice(&digest.0);
    plain.extend_from_slice(&until.0.to_be_bytes());
    plain.extend_from_slice(media.as_bytes());
    let sealed = hub.keys().seal(PURPOSE, &bound(hub, by), &plain).ok()?;
    Some(URL_SAFE_NO_PAD.encode(sealed))
}

/// `None`: altered, another caller's, or expired.
pub fn open(hub: &Hub, by: &Principal, sealed: &str) -> Option<Held> {
    let sealed = URL_SAFE_NO_PAD.decode(sealed).ok()?;
    let plain = hub.keys().open(PURPOSE, &bound(hub, by), &sealed).ok()?;
    let (digest, rest) = plain.split_first_chunk::<32>()?;
    let (until, media) = rest.split_first_chunk::<8>()?;
    let media = std::str::from_utf8(media).ok()?;
    let media = (!media.is_empty()).then(|| media.to_owned());
    (hub.now() < Time(u64::from_be_bytes(*until))).then_some(Held { digest: Digest(*digest), media })
}

/// The address at which this caller can fetch stored content; `base` is the hub as the caller reaches it.
pub fn address(hub: &Hub, by: &Principal, base: &str, digest: &Digest, media: Option<&str>) -> Option<Uri> {
    Some(format!("{base}{PATH}{}", seal(hub, by, digest, media)?).into())
}

/// Adds to each stored part the address at which this caller can fetch it.
pub fn link(hub: &Hub, by: &Principal, base: &str, parts: &mut [Part]) {
    for part in parts {
        if let Holds::Blob(Blob::Stored { digest, .. }) = &part.body {
            part.uri = address(hub, by, base, digest, part.media.as_deref());
        }
    }
}

async fn not_allowed(State(shared): State<Arc<Shared>>) -> Response {
    shared.default_format().not_allowed("GET")
}

async fn fetch(
    State(shared): State<Arc<Shared>>,
    Extension(connection): Extension<Connection>,
    Path(sealed): Path<String>,
    headers: HeaderMap,
) -> Response {
    let found = async {
        let by = shared.authenticate(&connection, &headers, &[])?;
        found(&shared.hub, &by, &sealed).await.map_err(|fault| fault.told_to(&by))
    };
    match found.await {
        Ok((info, media)) => respond(&shared.hub, info, media.as_deref()),
        Err(fault) => shared.default_format().refuse(&fault),
    }
}

/// Stored content as a response body that a browser does not show as a page of the hub.
pub fn respond(hub: &Hub, info: BlobInfo, media: Option<&str>) -> Response {
    let mut response = Response::new(Body::from_stream(pieces(hub.blobs().clone(), info.digest)));
    let headers = response.headers_mut();
    contain(headers, media);
    headers.insert(CONTENT_LENGTH, HeaderValue::from(info.len));
    response
}

async fn found(hub: &Hub, by: &Principal, sealed: &str) -> Result<(BlobInfo, Option<String>), Fault> {
    let nothing = || Fault::caller(FaultKind::NotFound(Noun::Resource), "there is no such content");
    let held = open(hub, by, sealed).ok_or_else(nothing)?;
    let info = hub.blobs().info(held.digest).await?.ok_or_else(nothing)?;
    Ok((info, held.media))
}
