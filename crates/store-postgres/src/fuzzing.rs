//! Entry points of the fuzz targets into decoders that are private to this crate. Nothing else calls them.

use super::bounded::Count;
use super::tls::binding_digest;

/// How many bytes of the current answer were counted after these pieces; `None` when the connection is ended.
pub fn answer(pieces: &[&[u8]]) -> Option<u64> {
    let mut count = Count::default();
    pieces.iter().try_for_each(|piece| count.add(piece)).ok().map(|()| count.answer())
}

/// Whether a certificate has a digest to bind a channel by.
pub fn binds(certificate: &[u8]) -> bool {
    binding_digest(certificate).is_some()
}
