//! Content that is too large to stand in a result: a link to it, which the caller it was made for can read (`resources/read`).
//!
//! A link says all there is to know, sealed to its caller. Nothing is written down for it, any process with the hub's keys can
//! serve it, and nobody else's opens. How long the bytes themselves are kept is the store's rule.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::BytesMut;
use interlingua_core::ports::StoreFault;
use interlingua_core::{Blob, Body, Digest, Fault, FaultKind, Noun, Part, Principal, Provenance, Time, Uri};
use interlingua_protocols::mcp::encode::ARTIFACTS;

use crate::hub::Hub;

const PURPOSE: &str = "mcp artifact";
/// How much is read from the store at once.
const PIECE: usize = 1 << 20;

/// What a link leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Artifact {
    digest: Digest,
    until: Time,
    media: Option<String>,
}

fn bound(hub: &Hub, by: &Principal) -> Vec<u8> {
    let owner = by.owner().to_string();
    Digest::of_fields([hub.id.as_str().as_bytes(), owner.as_bytes()]).0.to_vec()
}

/// Where this caller can read stored content.
pub(super) fn address(hub: &Hub, by: &Principal, digest: &Digest, media: Option<&str>) -> Option<Uri> {
    let until = hub.now().after(hub.settings.load().conversations);
    let mut plain = Vec::with_capacity(40 + media.map_or(0, str::len));
    plain.extend_from_slice(&digest.0);
    plain.extend_from_slice(&until.0.to_be_bytes());
    plain.extend_from_slice(media.unwrap_or_default().as_bytes());
    let sealed = hub.keys.seal(PURPOSE, &bound(hub, by), &plain).ok()?;
    Some(format!("{ARTIFACTS}{}", URL_SAFE_NO_PAD.encode(sealed)).into())
}

/// `None`: altered, somebody else's, or too old.
fn opened(hub: &Hub, by: &Principal, sealed: &str) -> Option<Artifact> {
    let sealed = URL_SAFE_NO_PAD.decode(sealed).ok()?;
    let plain = hub.keys.open(PURPOSE, &bound(hub, by), &sealed).ok()?;
    let (digest, rest) = plain.split_first_chunk::<32>()?;
    let (until, media) = rest.split_first_chunk::<8>()?;
    let until = Time(u64::from_be_bytes(*until));
    let media = std::str::from_utf8(media).ok()?;
    let media = (!media.is_empty()).then(|| media.to_owned());
    (hub.now() < until).then_some(Artifact { digest: Digest(*digest), until, media })
}

/// What is behind a link: text where it is text, else bytes; no more than `limit` of it.
pub(super) async fn read(hub: &Hub, by: &Principal, uri: &str, limit: u64) -> Result<Part, Fault> {
    let gone = || Fault::caller(FaultKind::NotFound(Noun::Resource), "Resource not found");
    let sealed = uri.strip_prefix(ARTIFACTS).ok_or_else(gone)?;
    let artifact = opened(hub, by, sealed).ok_or_else(gone)?;
    let blobs = &hub.store.blobs;
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
