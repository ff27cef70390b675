//! Entry points of the fuzz targets into decoders that are private to this crate. Nothing else calls them.

use bytes::Bytes;
use interlingua_wire::jwk::WebKey;

use crate::issuers;

/// A set of an issuer's keys.
pub fn issuer_keys(bytes: &[u8]) -> Option<Vec<WebKey>> {
    issuers::read_set(Bytes::copy_from_slice(bytes))
}
