//! Stored content on its way out, whoever it goes to: read as it is sent, so a slow reader holds one piece.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::stream::{Stream, try_unfold};
use interlingua_core::Digest;
use interlingua_core::ports::{Blobs, StoreFault};

/// How much is read at once.
const PIECE: usize = 256 * 1024;

pub(super) fn pieces(blobs: Arc<dyn Blobs>, digest: Digest) -> impl Stream<Item = Result<Bytes, StoreFault>> + Send {
    try_unfold(0_u64, move |offset| {
        let blobs = blobs.clone();
        async move {
            let piece = blobs.read(digest, offset, PIECE).await?;
            let next = offset + piece.len() as u64;
            Ok((!piece.is_empty()).then_some((piece, next)))
        }
    })
}
