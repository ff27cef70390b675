//! Entry points of the fuzz targets into decoders that are private to this crate. Nothing else calls them.

use bytes::Bytes;
use http::HeaderMap;
use interlingua_wire::jwk::WebKey;

use crate::{issuers, sessions};

/// A set of an issuer's keys.
pub fn issuer_keys(bytes: &[u8]) -> Option<Vec<WebKey>> {
    issuers::read_set(Bytes::copy_from_slice(bytes))
}

/// What could be the cookie of a session.
pub fn session_cookies(headers: &HeaderMap) -> Vec<&str> {
    sessions::cookie_values(headers).collect()
}
