//! Large content of a peer's answer: stored, so that neither journal nor memory holds it.

use bytes::Bytes;
use interlingua_core::content::INLINE_LIMIT;
use interlingua_core::{Blob, Body, Fault, Part};

use crate::hub::Hub;

/// Puts bytes into the store.
pub(crate) async fn store(hub: &Hub, bytes: Bytes) -> Result<Blob, Fault> {
    let mut writer = hub.blobs().create().await.map_err(Fault::internal)?;
    writer.write(bytes).await.map_err(Fault::internal)?;
    let info = writer.finish().await.map_err(Fault::internal)?;
    Ok(Blob::Stored { digest: info.digest, len: info.len })
}

/// What is too large for the journal is stored; callers fetch it from there.
pub(crate) async fn keep_large(hub: &Hub, parts: &mut [Part]) -> Result<(), Fault> {
    for part in parts {
        if let Body::Blob(Blob::Inline(bytes)) = &part.body
            && bytes.len() > INLINE_LIMIT
        {
            part.body = Body::Blob(store(hub, bytes.clone()).await?);
        }
    }
    Ok(())
}
