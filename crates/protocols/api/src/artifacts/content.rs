//! The bytes of an artifact: streamed from the store and into it, whole or a part.

use std::sync::Arc;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use http::header::{ACCEPT_RANGES, CONTENT_LENGTH, CONTENT_RANGE, ETAG};
use http::{HeaderMap, HeaderValue, StatusCode};
use interlingua_model::ports::Blobs;
use interlingua_model::{Blob, Digest, Fault, FaultKind, Noun, Part};

use super::range::{Wanted, wanted};
use crate::view::PartView;
use interlingua_hub::artifacts::{Arrived, Artifact, Made, StoredContent};
use interlingua_hub::between;
use interlingua_net::body;
use interlingua_net::contained::contain;

/// Bytes, at hand or in the store.
#[derive(Debug, Clone)]
pub(super) struct Content {
    pub(super) bytes: Blob,
    pub(super) media: Option<String>,
}

impl Content {
    pub(super) fn of_shared(artifact: &Artifact) -> Option<Content> {
        let StoredContent { digest, len } = artifact.content?;
        let media = artifact.media.as_deref().map(str::to_owned);
        Some(Content { bytes: Blob::Stored { digest, len }, media })
    }

    /// One part is its own bytes; several are a list of them.
    pub(super) fn of_made(made: &Made) -> Content {
        let media = |part: &Part, usual: &str| Some(part.media.as_deref().unwrap_or(usual).to_owned());
        match made.parts.as_slice() {
            [part] => match &part.body {
                interlingua_model::Body::Blob(blob) => {
                    Content { bytes: blob.clone(), media: media(part, "application/octet-stream") }
                }
                interlingua_model::Body::Text { text, .. } => {
                    Content { bytes: inline(text.as_bytes()), media: media(part, "text/plain; charset=utf-8") }
                }
                interlingua_model::Body::Data(data) => {
                    Content { bytes: inline(data.as_bytes()), media: media(part, "application/json") }
                }
                interlingua_model::Body::Link
                | interlingua_model::Body::Code { .. }
                | interlingua_model::Body::Place { .. }
                | interlingua_model::Body::Other { .. } => Content::listed(&made.parts),
            },
            parts => Content::listed(parts),
        }
    }

    fn listed(parts: &[Part]) -> Content {
        let views: Vec<PartView> = parts.iter().map(PartView::from).collect();
        // Views hold text, numbers and checked JSON: writing them has no way to fail.
        let bytes = serde_json::to_vec(&views).unwrap_or_default();
        Content { bytes: inline(&bytes), media: Some("application/json".into()) }
    }

    pub(super) fn len(&self) -> u64 {
        match &self.bytes {
            Blob::Inline(bytes) => bytes.len() as u64,
            Blob::Stored { len, .. } => *len,
        }
    }

    pub(super) fn digest(&self) -> Digest {
        match &self.bytes {
            Blob::Inline(bytes) => Digest::of(bytes),
            Blob::Stored { digest, .. } => *digest,
        }
    }

    /// As much of it as is wanted. Whatever it is, a browser does not run it.
    pub(super) async fn send(&self, blobs: Arc<dyn Blobs>, asked: &HeaderMap) -> Result<Response, Fault> {
        if let Blob::Stored { digest, .. } = self.bytes
            && blobs.info(digest).await?.is_none()
        {
            let text = "the content was removed to make room";
            return Err(Fault::caller(FaultKind::NotFound(Noun::Resource), text));
        }
        let (len, etag) = (self.len(), format!("\"{}\"", self.digest()));
        let wanted = wanted(asked, &etag, len);
        let (status, first, last) = match wanted {
            Wanted::Whole => (StatusCode::OK, 0, len),
            Wanted::Part(first, last) => (StatusCode::PARTIAL_CONTENT, first, last),
            Wanted::Beyond => (StatusCode::RANGE_NOT_SATISFIABLE, 0, 0),
            Wanted::Nothing => (StatusCode::NOT_MODIFIED, 0, 0),
        };
        let mut response = Response::new(self.body(blobs, first, last));
        *response.status_mut() = status;
        let headers = response.headers_mut();
        let value = |text: String| HeaderValue::from_str(&text).ok();
        headers.extend(value(etag).map(|etag| (ETAG, etag)));
        headers.insert(ACCEPT_RANGES, HeaderValue::from_static("bytes"));
        contain(headers, self.media.as_deref());
        let range = match wanted {
            Wanted::Part(first, last) => Some(format!("bytes {first}-{}/{len}", last.saturating_sub(1))),
            Wanted::Beyond => Some(format!("bytes */{len}")),
            Wanted::Whole | Wanted::Nothing => None,
        };
        headers.extend(range.and_then(value).map(|range| (CONTENT_RANGE, range)));
        if wanted != Wanted::Nothing {
            headers.insert(CONTENT_LENGTH, HeaderValue::from(last - first));
        }
        Ok(response)
    }

    fn body(&self, blobs: Arc<dyn Blobs>, first: u64, last: u64) -> Body {
        match &self.bytes {
            Blob::Inline(bytes) => {
                let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX).min(bytes.len());
                Body::from(bytes.slice(place(first)..place(last)))
            }
            Blob::Stored { digest, .. } => Body::from_stream(between(blobs, *digest, first, last)),
        }
    }
}

fn inline(bytes: &[u8]) -> Blob {
    Blob::Inline(Bytes::copy_from_slice(bytes))
}

/// Streams a body into the store.
pub(super) async fn receive(blobs: &dyn Blobs, mut body: Body, limit: u64) -> Result<Arrived, Fault> {
    let mut writer = blobs.create().await?;
    let mut len = 0;
    while let Some(piece) = body::next(&mut body).await? {
        len += piece.len() as u64;
        if len > limit {
            return Err(body::too_large(limit));
        }
        writer.write(piece).await?;
    }
    Ok(Arrived { writer, len })
}
