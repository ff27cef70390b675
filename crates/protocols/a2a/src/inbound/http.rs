//! HTTP with JSON (section 11): an operation for each path below an agent's address. Those of 0.3 are below `v1/`.

use std::sync::Arc;

use crate::fault::Error;
use crate::invalid::{Invalid, Problem};
use crate::json::{Dialect, write};
use crate::request::{NoRoute, Route, read_http, route};
use crate::wire::{Answer, Update};
use crate::{MEDIA, Version};
use axum::body::Body;
use axum::extract::Query;
use axum::response::Response;
use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, WWW_AUTHENTICATE};
use http::{HeaderValue, Method as Verb};
use interlingua_model::{Blob, Body as Content, Digest, Fault, FaultKind, Feature, Noun, Part, TaskId};

use super::links::Links;
use super::sse::{self, Wrap};
use super::{Arrived, Asking, Reply};
use interlingua_endpoint::error_format;
use interlingua_net::body;
use interlingua_net::contained::contain;
use interlingua_net::large;
use interlingua_telemetry::meters::Phase;

pub(super) async fn respond(arrived: Arrived, verb: Verb, body: Body) -> Response {
    let mut version = Version::V1;
    let answer = answered(&arrived, &verb, body, &mut version).await;
    let mut response = answer.unwrap_or_else(|error| refuse(&error, version));
    arrived.confirm(version, &mut response);
    response
}

async fn answered(arrived: &Arrived, verb: &Verb, body: Body, version: &mut Version) -> Result<Response, Error> {
    let path = arrived.below.trim_matches('/');
    if let (&Verb::GET, Some((task, digest))) = (verb, Links::read(path)) {
        return fetched(arrived, task, digest).await.map_err(|fault| Error::of(&fault, None));
    }
    let route = routed(verb, path)?;
    *version = route.version;
    let frame = body::read(body, arrived.shared.bounds().body).await;
    let frame = frame.map_err(|fault| Error::of(&fault, Some(route.method)))?;
    let meters = arrived.shared.hub.meters();
    let mut laps = meters.laps();
    let invalid = |wrong: Invalid| arrived.invalid(&wrong);
    arrived.speaks(route.version).map_err(invalid)?;
    let query =
        Query::<Vec<(String, String)>>::try_from_uri(&arrived.uri).map(|Query(query)| query).unwrap_or_default();
    let decoding = || read_http(&route, &query, &frame, arrived.shared.bounds().depth);
    let asked = large::worked(frame.len(), decoding).await.map_err(invalid)?;
    laps.done(Phase::Decode);
    let reply = arrived.perform(route.version, route.method, asked).await?;
    let mut laps = meters.laps();
    let response = match reply {
        Reply::Stream(feed) => sse::stream(*feed, Bare(route.version)),
        Reply::Whole(answer) => whole(arrived, &answer, route.version),
    };
    laps.done(Phase::Encode);
    Ok(response)
}

fn routed<'p>(verb: &Verb, path: &'p str) -> Result<Route<'p>, Error> {
    route(verb.as_str(), path).map_err(|none| match none {
        NoRoute::NotFound => Error::invalid(&Invalid::whole(Problem::Path)),
        NoRoute::NotAllowed(allowed) => {
            let kind = FaultKind::Unsupported(Feature::Operation);
            let mut error = Error::of(&Fault::caller(kind, format!("only {allowed} is taken here")), None);
            error.row.http = 405;
            error
        }
    })
}

/// In the media type the client speaks itself.
fn whole(arrived: &Arrived, answer: &Answer, version: Version) -> Response {
    let mut response = error_format::json(200, write::answer(answer, Dialect::of_http(version)));
    let asked = [CONTENT_TYPE, ACCEPT].into_iter().any(|name| {
        arrived.headers.get(name).and_then(|value| value.to_str().ok()).is_some_and(|text| text.contains(MEDIA))
    });
    if asked && version == Version::V1 {
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(MEDIA));
    }
    response
}

fn refuse(error: &Error, version: Version) -> Response {
    let mut response = error_format::json(error.row.http, error.http(version));
    let headers = response.headers_mut();
    if error.row.http == 401 {
        headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    if let Some(after) = error.retry {
        headers.insert(http::header::RETRY_AFTER, HeaderValue::from(after.as_secs().max(1)));
    }
    response
}

/// An event is what it is.
struct Bare(Version);

impl Wrap for Bare {
    fn update(&self, update: &Update) -> Bytes {
        write::update(update, Dialect::of_http(self.0))
    }

    fn error(&self, error: &Error) -> Bytes {
        error.http(self.0)
    }
}

/// Content of a task, for whoever may see the task.
async fn fetched(arrived: &Arrived, task: TaskId, digest: Digest) -> Result<Response, Fault> {
    let asking = arrived.asking(Version::V1, None)?;
    let media = media_of(&asking, task, digest).await.map_err(|fault| fault.told_to(&asking.by))?;
    let blobs = arrived.shared.hub.blobs().clone();
    let mut response = Response::new(Body::from_stream(interlingua_hub::pieces(blobs, digest)));
    contain(response.headers_mut(), media.as_deref());
    Ok(response)
}

/// The media type of what the task holds under this digest; what it does not hold is not there.
async fn media_of(asking: &Asking<'_>, task: TaskId, digest: Digest) -> Result<Option<Arc<str>>, Fault> {
    let task = asking.own_task(task).await?;
    let folded = asking.shared().hub.task(&asking.by, task).await?;
    let is = |part: &&Part| matches!(&part.body, Content::Blob(Blob::Stored { digest: held, .. }) if *held == digest);
    let chunks = folded.artifacts.values().flatten().flat_map(|chunk| &chunk.parts);
    let said = folded.messages.iter().flat_map(|spoken| &spoken.parts);
    let returned = folded.finished().into_iter().flat_map(|finished| &finished.output.parts);
    let given = folded.call.input().into_iter().flat_map(|input| &input.parts);
    let held = chunks.chain(said).chain(returned).chain(given).chain(folded.pieces.values().flatten()).find(is);
    let nothing = || Fault::caller(FaultKind::NotFound(Noun::Resource), "the task holds nothing of this name");
    held.map(|part| part.media.clone()).ok_or_else(nothing)
}
