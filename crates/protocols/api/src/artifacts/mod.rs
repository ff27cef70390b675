//! `/api/artifacts`: artifacts that agents share and tasks made, for callers that may read them.
//!
//! [`content`] is the bytes, [`range`] selects a part of them.

mod content;
mod range;

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, State};
use axum::response::Response;
use bytes::Bytes;
use http::header::{CONTENT_TYPE, LOCATION};
use http::{HeaderMap, HeaderValue, StatusCode, Uri};
use interlingua_model::percent::encoded;
use interlingua_model::{ArtifactId, Blob, Fault, INLINE_LIMIT, Json, Meta, PeerId, TaskId};

use self::content::Content;
use super::decode::{self, wrong};
use super::page::{self, ArtifactsPaged};
use super::{Answered, Asker, answer, nothing, task_id};
use crate::Endpoint;
use crate::view::{PageView, RelistRequest, ShareRequest, SharedArtifactView};
use interlingua_endpoint::Shared;
use interlingua_hub::artifacts::{Artifact, Made, Sharing, no_such_artifact};
use interlingua_net::body;

const TEXT: &str = "text/plain; charset=utf-8";
const JSON: &str = "application/json";

pub(super) async fn list(State(shared): State<Arc<Endpoint>>, asker: Asker, uri: Uri) -> Answered {
    let query: ArtifactsPaged = page::query(&uri)?;
    if let Some(task) = &query.task {
        let task = task_id(task)?;
        let made = shared.hub.made_by(&asker.by, task).await?;
        let items = made.iter().map(|made| view_of_made(task, made)).collect();
        return answer(StatusCode::OK, &PageView::<SharedArtifactView> { items, next: None });
    }
    let (artifacts, next) = shared.hub.artifacts(&asker.by, query.after.as_deref(), query.limit()).await?;
    answer(StatusCode::OK, &PageView { items: artifacts.iter().map(view).collect(), next })
}

pub(super) async fn share(State(shared): State<Arc<Endpoint>>, asker: Asker, body: Body) -> Answered {
    let bytes = body::read(body, shared.bounds().body).await?;
    let request: ShareRequest = decode::body(bytes, shared.bounds().depth).await?;
    let artifact = shared_by(&shared, &asker.by, request).await?;
    let mut response = answer(StatusCode::CREATED, &view(&artifact))?;
    if let Ok(place) = HeaderValue::from_str(&format!("/api/artifacts/{}", artifact.id)) {
        response.headers_mut().insert(LOCATION, place);
    }
    Ok(response)
}

/// Keeps what somebody shares.
pub(super) async fn shared_by(
    shared: &Shared,
    by: &interlingua_model::Principal,
    request: ShareRequest,
) -> Result<Artifact, Fault> {
    let from = request.created_by.unwrap_or_else(|| by.owner().to_string());
    shared.hub.bus().check_speaker(by, &from.as_str().into())?;
    if request.name.is_empty() {
        return Err(wrong("/name", "is empty"));
    }
    if request.metadata.as_ref().is_some_and(|metadata| !metadata.is_object()) {
        return Err(wrong("/metadata", "is not an object"));
    }
    let (content, usual) = match &request.content {
        None => (None, None),
        Some(content) => match content.tree().as_str() {
            Some(text) => (Some(Bytes::copy_from_slice(text.as_bytes())), Some(TEXT)),
            None => (Some(content.as_bytes().clone()), Some(JSON)),
        },
    };
    let sharing = Sharing {
        kind: request.kind.into(),
        name: request.name.into(),
        media: request.media.as_deref().or(usual).map(Into::into),
        from: PeerId::from(from),
        readers: request.access_control.into_iter().map(Into::into).collect(),
        meta: Meta(request.metadata),
    };
    shared.hub.share_artifact(by, sharing, content, shared.bounds().upload).await
}

pub(super) async fn read(State(shared): State<Arc<Endpoint>>, asker: Asker, Path(id): Path<String>) -> Answered {
    let (mut seen, content) = match of_task(&id) {
        Some((task, id)) => {
            let made = made(&shared, &asker, task, &id).await?;
            (view_of_made(task, &made), Some(Content::of_made(&made)))
        }
        None => {
            let artifact = shared.hub.artifact(&asker.by, &ArtifactId::from(id)).await?;
            (view(&artifact), Content::of_shared(&artifact))
        }
    };
    seen.content = match content {
        Some(content) => small(&shared, &content).await?,
        None => None,
    };
    answer(StatusCode::OK, &seen)
}

/// `task.artifact`.
fn of_task(id: &str) -> Option<(TaskId, ArtifactId)> {
    let (task, artifact) = id.split_once('.')?;
    Some((task.parse().ok()?, ArtifactId::from(artifact)))
}

async fn made(shared: &Shared, asker: &Asker, task: TaskId, id: &ArtifactId) -> Result<Made, Fault> {
    let made = shared.hub.made_by(&asker.by, task).await?;
    made.into_iter().find(|made| made.id == *id).ok_or_else(no_such_artifact)
}

/// Text and JSON that are small enough to stand in an answer. Content that was removed to make room is absent.
async fn small(shared: &Shared, content: &Content) -> Result<Option<Json>, Fault> {
    let media = content.media.as_deref().unwrap_or_default();
    let is_json = media.starts_with(JSON) || media.contains("+json");
    if content.len() > INLINE_LIMIT as u64 || !(is_json || media.starts_with("text/")) {
        return Ok(None);
    }
    let bytes = match &content.bytes {
        Blob::Inline(bytes) => bytes.clone(),
        Blob::Stored { digest, .. } => match shared.hub.blobs().read(*digest, 0, INLINE_LIMIT).await {
            Ok(bytes) => bytes,
            Err(interlingua_model::ports::StoreFault::Missing(_)) => return Ok(None),
            Err(fault) => return Err(fault.into()),
        },
    };
    if is_json && let Ok(json) = Json::parse(bytes.clone()) {
        return Ok(Some(json));
    }
    Ok(std::str::from_utf8(&bytes).ok().map(|text| Json::from_tree(text.into())))
}

pub(super) async fn fetch(
    State(shared): State<Arc<Endpoint>>,
    asker: Asker,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Answered {
    let content = match of_task(&id) {
        Some((task, id)) => Content::of_made(&made(&shared, &asker, task, &id).await?),
        None => {
            let artifact = shared.hub.artifact(&asker.by, &ArtifactId::from(id)).await?;
            Content::of_shared(&artifact).ok_or_else(no_such_artifact)?
        }
    };
    Ok(content.send(shared.hub.blobs().clone(), &headers).await?)
}

/// The bytes of an artifact that waits for them.
pub(super) async fn fill(
    State(shared): State<Arc<Endpoint>>,
    asker: Asker,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, super::Refusal> {
    let (hub, id, room) = (&shared.hub, ArtifactId::from(id), shared.bounds().upload);
    hub.awaits_content(&asker.by, &id).await?;
    let arrived = content::receive(&**hub.blobs(), body, room).await?;
    let media = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).map(Into::into);
    let artifact = hub.fill_artifact(&asker.by, &id, arrived, media, room).await?;
    answer(StatusCode::OK, &view(&artifact))
}

pub(super) async fn relist(
    State(shared): State<Arc<Endpoint>>,
    asker: Asker,
    Path(id): Path<String>,
    body: Body,
) -> Answered {
    let bytes = body::read(body, shared.bounds().body).await?;
    let request: RelistRequest = decode::body(bytes, shared.bounds().depth).await?;
    let readers: Vec<interlingua_model::Text> = request.access_control.into_iter().map(Into::into).collect();
    let change = |list: &mut Vec<interlingua_model::Text>| list.clone_from(&readers);
    let artifact = shared.hub.relist_artifact(&asker.by, &ArtifactId::from(id), change).await?;
    answer(StatusCode::OK, &view(&artifact))
}

pub(super) async fn forget(State(shared): State<Arc<Endpoint>>, asker: Asker, Path(id): Path<String>) -> Answered {
    shared.hub.forget_artifact(&asker.by, &ArtifactId::from(id)).await?;
    Ok(nothing())
}

pub(super) fn view(artifact: &Artifact) -> SharedArtifactView {
    SharedArtifactView {
        artifact_id: artifact.id.to_string(),
        kind: artifact.kind.to_string(),
        name: artifact.name.to_string(),
        content: None,
        content_path: format!("/api/artifacts/{}/content", artifact.id),
        media: artifact.media.as_ref().map(ToString::to_string),
        size: artifact.content.map(|held| held.len),
        sha256: artifact.content.map(|held| held.digest.to_string()),
        created_by: artifact.from.to_string(),
        created_at: artifact.at.to_string(),
        owner: artifact.owner.to_string(),
        access_control: artifact.readers.iter().map(ToString::to_string).collect(),
        metadata: artifact.meta.0.clone(),
        task: None,
    }
}

fn view_of_made(task: TaskId, made: &Made) -> SharedArtifactView {
    let content = Content::of_made(made);
    let header = made.header.as_ref();
    let text = |text: Option<&interlingua_model::Text>| text.map(ToString::to_string);
    let named = header
        .and_then(|header| header.name.as_ref())
        .or_else(|| made.parts.iter().find_map(|part| part.name.as_ref()));
    let id = format!("{task}.{}", made.id);
    SharedArtifactView {
        kind: text(header.and_then(|header| header.kind.as_ref())).unwrap_or_else(|| "data".into()),
        name: text(named).unwrap_or_else(|| made.id.to_string()),
        content: None,
        content_path: format!("/api/artifacts/{}/content", encoded(&id)),
        artifact_id: id,
        size: Some(content.len()),
        sha256: Some(content.digest().to_string()),
        media: content.media,
        created_by: made.by.as_ref().map_or_else(|| "hub".to_owned(), ToString::to_string),
        created_at: made.at.to_string(),
        owner: made.owner.to_string(),
        access_control: header
            .map(|header| header.readers.iter().map(ToString::to_string).collect())
            .unwrap_or_default(),
        metadata: header.and_then(|header| header.meta.0.clone()),
        task: Some(task.to_string()),
    }
}
