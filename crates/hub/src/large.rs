//! Blob offloading: large content goes into the blob store, and the journal holds its name only. Outgoing content is read while it is sent,
//! so a slow reader holds one piece in memory.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::stream::{Stream, try_unfold};
use interlingua_model::ports::Blobs;
use interlingua_model::{Blob, Body, Digest, Fault, INLINE_LIMIT, Part};

use super::Hub;

impl Hub {
    /// Stores content that is too large for the journal; callers fetch it from the store.
    pub async fn store_large(&self, parts: &mut [Part]) -> Result<(), Fault> {
        for part in parts {
            if let Body::Blob(Blob::Inline(bytes)) = &part.body
                && bytes.len() > INLINE_LIMIT
            {
                part.body = Body::Blob(self.stored(bytes.clone()).await?);
            }
        }
        Ok(())
    }

    /// The same for a peer's answer.
    pub async fn store_large_answer(&self, parts: &mut [Part]) -> Result<(), Fault> {
        self.store_large(parts).await.map_err(Fault::once_answered)
    }

    /// Puts bytes into the store.
    pub async fn stored(&self, bytes: Bytes) -> Result<Blob, Fault> {
        let mut writer = self.store.blobs.create().await?;
        writer.write(bytes).await?;
        let info = writer.finish().await?;
        Ok(Blob::Stored { digest: info.digest, len: info.len })
    }
}

/// How much is read at once.
const PIECE: usize = 256 * 1024;

/// Stored content, piece by piece.
pub fn pieces(blobs: Arc<dyn Blobs>, digest: Digest) -> impl Stream<Item = Result<Bytes, Fault>> + Send {
    between(blobs, digest, 0, u64::MAX)
}

/// A range of it, from the first byte up to and without the last.
pub fn between(
    blobs: Arc<dyn Blobs>,
    digest: Digest,
    first: u64,
    last: u64,
) -> impl Stream<Item = Result<Bytes, Fault>> + Send {
    try_unfold(first, move |offset| {
        let blobs = blobs.clone();
        async move {
            let limit = usize::try_from(last.saturating_sub(offset)).unwrap_or(usize::MAX).min(PIECE);
            if limit == 0 {
                return Ok(None);
            }
            let piece = blobs.read(digest, offset, limit).await?;
            let next = offset + piece.len() as u64;
            Ok((!piece.is_empty()).then_some((piece, next)))
        }
    })
}
