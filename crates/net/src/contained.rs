//! Safe serving of untrusted content: content that somebody else supplied is served as plain bytes, whatever type it claims.
//!
//! With its own media type a stored page would run in the hub's origin, and a stored script could be loaded by the hub's own pages. So
//! browsers never receive the media type; programs read it in a header of the hub's own, and in the hub's description of the content.

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
