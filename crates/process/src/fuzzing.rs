//! Entry points of the fuzz targets into decoders that are private to this crate. Nothing else calls them.

use bytes::Bytes;

use crate::child::Lines;

/// The lines of a program's output that comes in these pieces.
pub fn lines(pieces: &[&[u8]]) -> Vec<Bytes> {
    let (mut lines, mut read) = (Lines::default(), Vec::new());
    for piece in pieces {
        lines.feed(piece);
        read.extend(std::iter::from_fn(|| lines.next_line()));
    }
    read
}
