//! Content that is too large for a result: a link to it, which its caller can read (`resources/read`). The store's retention decides how
//! long the bytes are available.

use crate::names::ARTIFACTS;
use bytes::BytesMut;
use interlingua_model::ports::StoreFault;
use interlingua_model::{Blob, Body, Digest, Fault, FaultKind, Noun, Part, Principal, Provenance, Uri};

use interlingua_endpoint::content;
use interlingua_hub::Hub;

/// How much is read from the store at once.
const PIECE: usize = 1 << 20;

/// Where this caller can read stored content.
pub(super) fn address(hub: &Hub, by: &Principal, digest: &Digest, media: Option<&str>) -> Option<Uri> {
    Some(format!("{ARTIFACTS}{}", content::seal(hub, by, digest, media)?).into())
}

/// What is behind a link: text where it is text, else bytes; no more than `limit` of it.
pub(super) async fn read(hub: &Hub, by: &Principal, uri: &str, limit: u64) -> Result<Part, Fault> {
    let gone = || Fault::caller(FaultKind::NotFound(Noun::Resource), "Resource not found");
    let sealed = uri.strip_prefix(ARTIFACTS).ok_or_else(gone)?;
    let artifact = content::open(hub, by, sealed).ok_or_else(gone)?;
    let blobs = &hub.blobs();
    let info = blobs.info(artifact.digest).await?.ok_or_else(gone)?;
    if info.len > limit {
        return Err(Fault::caller(FaultKind::TooLarge, "this is larger than one answer may be"));
    }
    let mut bytes = BytesMut::with_capacity(usize::try_from(info.len).unwrap_or_default());
    loop {
        match blobs.read(artifact.digest, bytes.len() as u64, PIECE).await {
            Ok(piece) if piece.is_empty() => break,
            Ok(piece) => bytes.extend_from_slice(&piece),
            Err(StoreFault::Missing(_)) => return Err(gone()),
            Err(fault) => return Err(fault.into()),
        }
    }
    let media = artifact.media.as_deref();
    let mut part = match std::str::from_utf8(&bytes).ok().filter(|_| media.is_some_and(is_text)) {
        Some(text) => Part::text(text, Provenance::hub()),
        None => Part::new(Body::Blob(Blob::Inline(bytes.freeze())), Provenance::hub()),
    };
    part.media = artifact.media.map(Into::into);
    part.uri = Some(uri.into());
    Ok(part)
}

fn is_text(media: &str) -> bool {
    let media = media.split(';').next().unwrap_or_default().trim();
    media.starts_with("text/") || media.ends_with("json") || media.ends_with("xml")
}
