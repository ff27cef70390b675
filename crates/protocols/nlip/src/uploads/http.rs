//! `PUT`, `POST` and `GET /nlip/uploads/{id}`.

use std::sync::Arc;

use crate::json::{self, Keys};
use crate::wire::{Message, Submessage};
use axum::body::Body;
use axum::extract::{Path, State};
use axum::response::Response;
use axum::routing::put;
use axum::{Extension, Router};
use bytes::Bytes;
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use interlingua_model::Fault;
use interlingua_model::ports::{BlobInfo, Blobs};

use super::multipart::{Multipart, boundary};
use super::{Stored, Upload, fill, find, nothing, reserve, used};
use crate::Endpoint;
use crate::refusal::NlipErrors;
use interlingua_endpoint::error_format::{self, ErrorFormat};
use interlingua_endpoint::{Shared, content};
use interlingua_hub::artifacts::Arrived;
use interlingua_net::body;
use interlingua_net::connection::Connection;

pub(crate) fn routes() -> Router<Arc<Endpoint>> {
    let methods = put(store).post(store).get(fetch).fallback(not_allowed);
    Router::new().route("/nlip/uploads/{id}", methods)
}

async fn not_allowed() -> Response {
    NlipErrors.not_allowed("PUT, POST, GET")
}

async fn store(
    State(shared): State<Arc<Endpoint>>,
    Extension(connection): Extension<Connection>,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    match stored(&shared, &connection, &id, &headers, body).await {
        Ok(info) => {
            let told = serde_json::json!({"sha256": info.digest.to_string(), "length": info.len});
            let text = format!("Stored {} bytes, SHA-256 {}.", info.len, info.digest);
            let message = Message::text(text).with(Submessage::json(told.into()));
            error_format::json(201, json::encode(&message, Keys::Lower).into())
        }
        Err(fault) => NlipErrors.refuse(&fault),
    }
}

async fn stored(
    shared: &Shared,
    connection: &Connection,
    id: &str,
    headers: &HeaderMap,
    body: Body,
) -> Result<BlobInfo, Fault> {
    let by = shared.authenticate(connection, headers, &[])?;
    let (upload, revision) = find(&shared.hub, &by, id).await.map_err(|fault| fault.told_to(&by))?;
    if upload.stored.is_some() {
        return Err(used());
    }
    let kind = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let blobs = &**shared.hub.blobs();
    let Arrived { writer, len } = match kind.and_then(boundary) {
        Some(boundary) => receive_form(blobs, body, Multipart::new(&boundary), shared.bounds().upload).await?,
        None => receive(blobs, body, shared.bounds().upload).await?,
    };
    let revision = reserve(&shared.hub, &by, id, &upload, revision, len).await?;
    let info = writer.finish().await?;
    let media = kind.filter(|kind| boundary(kind).is_none()).map(str::to_owned);
    let upload = Upload { stored: Some(Stored { digest: info.digest, len: info.len, media }), ..upload };
    fill(&shared.hub, id, &upload, revision).await?;
    shared.hub.audit().line("upload", &by, None, None, None);
    Ok(info)
}

/// The body is the content.
async fn receive(blobs: &dyn Blobs, mut body: Body, limit: u64) -> Result<Arrived, Fault> {
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

/// The body is a form, and one field of it is the content.
async fn receive_form(blobs: &dyn Blobs, mut body: Body, mut form: Multipart, limit: u64) -> Result<Arrived, Fault> {
    let mut writer = blobs.create().await?;
    let (mut length, mut len) = (0, 0);
    while let Some(piece) = body::next(&mut body).await? {
        length += piece.len() as u64;
        if length > limit {
            return Err(body::too_large(limit));
        }
        let content = form.take(&piece)?;
        if !content.is_empty() {
            len += content.len() as u64;
            writer.write(Bytes::from(content)).await?;
        }
    }
    form.end()?;
    Ok(Arrived { writer, len })
}

async fn fetch(
    State(shared): State<Arc<Endpoint>>,
    Extension(connection): Extension<Connection>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Response {
    match opened(&shared, &connection, &id, &headers).await {
        Ok(Stored { digest, len, media }) => content::respond(&shared.hub, BlobInfo { digest, len }, media.as_deref()),
        Err(fault) => NlipErrors.refuse(&fault),
    }
}

async fn opened(shared: &Shared, connection: &Connection, id: &str, headers: &HeaderMap) -> Result<Stored, Fault> {
    let by = shared.authenticate(connection, headers, &[])?;
    let found = find(&shared.hub, &by, id).await.and_then(|(upload, _)| upload.stored.ok_or_else(nothing));
    found.map_err(|fault| fault.told_to(&by))
}
