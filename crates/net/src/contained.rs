//! Safe serving of untrusted content. Content that somebody else supplied, as it goes to whoever fetches it: bytes, whatever they
//! claim to be.
//!
//! With its own media type a stored page would be one of the hub's origin, and a stored script one that the hub's own pages may
//! load. So no browser is told what it is; a program reads it in a header of the hub's own, and in what the hub says about it.

use http::header::{CONTENT_DISPOSITION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderMap, HeaderName, HeaderValue};

/// What its sender called it.
const MEDIA: HeaderName = HeaderName::from_static("interlingua-media-type");

pub fn contain(headers: &mut HeaderMap, media: Option<&str>) {
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/octet-stream"));
    headers.insert(CONTENT_DISPOSITION, HeaderValue::from_static("attachment"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static("sandbox; default-src 'none'"));
    headers.extend(media.and_then(|media| HeaderValue::from_str(media).ok()).map(|media| (MEDIA, media)));
}
