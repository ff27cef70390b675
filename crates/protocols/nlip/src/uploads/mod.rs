//! Out-of-band transfer (ECMA-430 clause 6.4): the addresses where large content is uploaded and downloaded.
//!
//! A control question is answered with an address that is valid for one upload, by the same caller, for an hour. The content is streamed
//! into the blob store and answered with the SHA-256 of what was stored; an incomplete body stores nothing. The same address then stands
//! for the content: its owner may refer to it in a message, or download it.

mod http;
pub(crate) mod multipart;

use std::collections::HashMap;
use std::time::Duration;

use crate::encode::Addresses;
use crate::upload;
use bytes::Bytes;
use interlingua_model::ports::{Expect, Item, Room, StoreFault};
use interlingua_model::{
    ArtifactId, Ask, Blob, Body, Call, Digest, Fault, FaultKind, Finished, INLINE_LIMIT, Noun, Owner, Part, Principal,
    Uri,
};
use serde::{Deserialize, Serialize};

use interlingua_hub::{Hub, entropy};

pub(super) use http::routes;

const KIND: &str = "upload";
/// What they are counted as, in words that their owner may read.
const UPLOADS: &str = "uploads";
/// How long an address waits for its upload.
const OFFERED: Duration = Duration::from_secs(3600);

/// What stands behind an address.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Upload {
    owner: String,
    stored: Option<Stored>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Stored {
    digest: Digest,
    len: u64,
    media: Option<String>,
}

/// An address for one upload.
pub(super) async fn offer(hub: &Hub, base: &str, by: &Principal) -> Result<Uri, Fault> {
    if by.is_anonymous() {
        return Err(Fault::caller(FaultKind::Unauthenticated, "uploads are taken from callers who say who they are"));
    }
    let upload = Upload { owner: by.owner().to_string(), stored: None };
    let id = create(hub, &by.owner(), &upload, OFFERED).await?;
    Ok(address(base, &id))
}

fn address(base: &str, id: &str) -> Uri {
    format!("{base}{}{id}", upload::PATH).into()
}

/// Where this principal can fetch a part whose bytes are stored, as long as conversations are kept. `None` for any other part.
pub async fn link(hub: &Hub, base: &str, by: &Principal, part: &Part) -> Result<Option<Uri>, Fault> {
    let Part { body: Body::Blob(Blob::Stored { digest, len }), media, .. } = part else { return Ok(None) };
    let stored = Stored { digest: *digest, len: *len, media: media.as_deref().map(str::to_owned) };
    let upload = Upload { owner: by.owner().to_string(), stored: Some(stored) };
    let id = create(hub, &by.owner(), &upload, hub.settings().conversations).await?;
    Ok(Some(address(base, &id)))
}

/// A new address.
async fn create(hub: &Hub, owner: &Owner, upload: &Upload, kept: Duration) -> Result<String, Fault> {
    let id = format!("{:032x}", entropy::bits());
    let value = Bytes::from(serde_json::to_vec(upload).map_err(Fault::internal)?);
    let now = hub.now();
    let item = Item::new(id.as_str(), value, Some(now.after(kept)));
    hub.records(KIND).put_within(room(hub, owner, 0), item).await?;
    Ok(id)
}

/// Addresses, and the content that was uploaded, count in the bytes of whoever asked for them.
fn room(hub: &Hub, owner: &Owner, beside: u64) -> Room {
    let bytes = hub.settings().bytes_of(owner);
    Room { of: UPLOADS, owner: owner.to_string().into(), most: u64::MAX, bytes, beside }
}

/// Takes room for what came, before it is kept; the revision that the upload has now.
async fn reserve(hub: &Hub, by: &Principal, id: &str, upload: &Upload, revision: u64, len: u64) -> Result<u64, Fault> {
    let value = Bytes::from(serde_json::to_vec(upload).map_err(Fault::internal)?);
    let now = hub.now();
    let item = Item { key: id.into(), revision, value, expires: Some(now.after(OFFERED)) };
    match hub.records(KIND).put_within(room(hub, &by.owner(), len), item).await {
        Err(StoreFault::Moved { .. }) => Err(used()),
        put => Ok(put?),
    }
}

/// The upload behind an address, with the revision it has, if it is theirs.
async fn find(hub: &Hub, by: &Principal, id: &str) -> Result<(Upload, u64), Fault> {
    let found = hub.records(KIND).get(id).await?.ok_or_else(nothing)?;
    let upload: Upload = serde_json::from_slice(&found.value).map_err(Fault::internal)?;
    let theirs = by.is_hub_owner() || upload.owner == by.owner().to_string();
    if theirs { Ok((upload, found.revision)) } else { Err(nothing()) }
}

fn nothing() -> Fault {
    Fault::caller(FaultKind::NotFound(Noun::Resource), "there is no such upload: it was never offered, or has expired")
}

/// Marks an address as used, unless somebody was faster.
async fn fill(hub: &Hub, id: &str, filled: &Upload, revision: u64) -> Result<(), Fault> {
    let value = serde_json::to_vec(filled).map_err(Fault::internal)?;
    let now = hub.now();
    let until = Some(now.after(hub.settings().conversations));
    let put = hub.records(KIND).put(id, Bytes::from(value), until, Expect::Revision(revision));
    match put.await {
        Ok(_) => Ok(()),
        Err(StoreFault::Moved { .. }) => Err(used()),
        Err(fault) => Err(fault.into()),
    }
}

fn used() -> Fault {
    Fault::caller(FaultKind::Conflict, "something was uploaded to this address already")
}

/// Links to uploads of this principal become what was uploaded, and what is too large for the journal is stored.
pub(super) async fn resolve(hub: &Hub, by: &Principal, call: &mut Call) -> Result<(), Fault> {
    let Ask::Invoke { input, .. } = &mut call.ask else { return Ok(()) };
    for part in &mut input.parts {
        if let Body::Blob(Blob::Inline(bytes)) = &part.body
            && bytes.len() > INLINE_LIMIT
        {
            part.body = Body::Blob(hub.stored(bytes.clone()).await?);
            continue;
        }
        let referred = part.uri.as_deref().filter(|_| part.body == Body::Link).and_then(upload::referred);
        let Some(id) = referred else { continue };
        let (upload, _) = find(hub, by, id).await?;
        let Stored { digest, len, media } = upload.stored.ok_or_else(nothing)?;
        part.body = Body::Blob(Blob::Stored { digest, len });
        part.media = media.map(Into::into);
    }
    Ok(())
}

/// Where the stored parts of an answer can be fetched.
#[derive(Debug, Default)]
pub(super) struct Known(HashMap<Digest, Uri>);

impl Addresses for Known {
    fn artifact(&self, _: &ArtifactId) -> Option<Uri> {
        None
    }

    fn blob(&self, digest: &Digest) -> Option<Uri> {
        self.0.get(digest).cloned()
    }
}

/// Addresses for what answers hold by reference.
pub(super) async fn addresses<'a>(
    hub: &Hub,
    base: &str,
    by: &Principal,
    answers: impl Iterator<Item = &'a Finished>,
) -> Result<Known, Fault> {
    let mut known = Known::default();
    for part in answers.flat_map(|finished| &finished.output.parts) {
        if let Body::Blob(Blob::Stored { digest, .. }) = &part.body
            && let Some(uri) = link(hub, base, by, part).await?
        {
            known.0.insert(*digest, uri);
        }
    }
    Ok(known)
}
