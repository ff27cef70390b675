//! Inboxes and published events: as a stream, or a page.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream::unfold;
use http::{HeaderMap, StatusCode, Uri};
use interlingua_machines::bus::{Message, Pattern};
use interlingua_model::{Fault, FaultKind, MessageId, PeerId};
use tokio_util::sync::CancellationToken;

use super::super::page::{self, MessagesPaged};
use super::super::{Answered, Asker, answer, decode::wrong, events, nothing};
use super::post::no_such_agent;
use crate::Endpoint;
use crate::view::{MessageView, NumberedMessage, PageView};
use interlingua_endpoint::Shared;
use interlingua_hub::Hub;
use interlingua_hub::bus::{Handle, Reading, Subscription};

pub(in super::super) async fn read(
    State(shared): State<Arc<Endpoint>>,
    asker: Asker,
    headers: HeaderMap,
    uri: Uri,
) -> Answered {
    let query: MessagesPaged = page::query(&uri)?;
    let limit = query.limit();
    match (query.agent, query.topic) {
        (Some(agent), None) => {
            let inbox = inbox(&shared, &asker, &agent)?;
            let reading = inbox.reading();
            match events::wanted(&headers) {
                true => Ok(as_it_comes(Source::Inbox(reading, shared.hub.clone()), &shared)),
                false => answer(StatusCode::OK, &waiting(reading, &shared, limit)),
            }
        }
        (None, Some(topic)) => {
            let after = events::after(&headers, query.after.as_deref())?;
            let wanted = Pattern::parse(&topic)?;
            match events::wanted(&headers) {
                true => {
                    let subscription = shared.hub.subscribe(asker.by, wanted, after).await?;
                    Ok(as_it_comes(Source::Topics(Box::new(subscription)), &shared))
                }
                false => {
                    let subscription = shared.hub.subscribe(asker.by, wanted, Some(after.unwrap_or(0))).await?;
                    answer(StatusCode::OK, &published(subscription, limit).await?)
                }
            }
        }
        (Some(_), Some(_)) | (None, None) => {
            Err(Fault::caller(FaultKind::InvalidInput, "exactly one of 'agent' and 'topic' is needed").into())
        }
    }
}

/// An agent has read what wants no answer.
pub(in super::super) async fn put_aside(
    State(shared): State<Arc<Endpoint>>,
    asker: Asker,
    Path(id): Path<String>,
    uri: Uri,
) -> Answered {
    let query: MessagesPaged = page::query(&uri)?;
    let agent = query.agent.ok_or_else(|| wrong("/agent", "is needed: whose message it is"))?;
    inbox(&shared, &asker, &agent)?.read(MessageId::from(id)).await?;
    Ok(nothing())
}

fn inbox(shared: &Shared, asker: &Asker, name: &str) -> Result<Handle, Fault> {
    let agent = shared.hub.bus().agent(name).filter(|agent| agent.is_of(&asker.by));
    agent.and_then(|agent| agent.inbox.clone()).ok_or_else(|| no_such_agent(&PeerId::from(name)))
}

/// All that waits, up to a number; what is more is there when this was answered.
fn waiting(mut reading: Reading, shared: &Shared, limit: usize) -> PageView<NumberedMessage> {
    let mut items = Vec::new();
    while items.len() < limit
        && let Some((seq, message)) = reading.shown_now(shared.hub.now())
    {
        items.push(NumberedMessage { seq, message: MessageView::from(&message) });
    }
    PageView { items, next: None }
}

async fn published(mut events: Subscription, limit: usize) -> Result<PageView<NumberedMessage>, Fault> {
    let mut items: Vec<NumberedMessage> = Vec::new();
    while items.len() < limit
        && let Some((seq, message)) = events.there_is().await?
    {
        items.push(NumberedMessage { seq, message: MessageView::from(&message) });
    }
    let next = items.last().filter(|_| items.len() == limit).map(|last| last.seq.to_string());
    Ok(PageView { items, next })
}

enum Source {
    Inbox(Reading, Arc<Hub>),
    Topics(Box<Subscription>),
}

impl Source {
    /// Cancel safe, as both are.
    async fn next(&mut self) -> Result<Option<(u64, Message)>, Fault> {
        match self {
            Source::Inbox(reading, hub) => Ok(reading.next(|| hub.now()).await),
            Source::Topics(subscription) => subscription.next().await,
        }
    }
}

fn as_it_comes(source: Source, shared: &Shared) -> Response {
    let stopping = shared.hub.stopping().clone();
    events::respond(unfold((source, stopping), |(mut source, stopping)| async move {
        let frame = frame(&mut source, &stopping).await?;
        Some((frame, (source, stopping)))
    }))
}

async fn frame(source: &mut Source, stopping: &CancellationToken) -> Option<Bytes> {
    let next = tokio::select! {
        next = tokio::time::timeout(events::KEEP_ALIVE, source.next()) => next,
        () = stopping.cancelled() => return None,
    };
    let Ok(next) = next else { return Some(events::COMMENT) };
    let (seq, message) =
        next.inspect_err(|fault| tracing::error!(event = "stream_failed", protocol = "api", error = %fault, "a message stream failed inside the hub")).ok()??;
    // A view holds text and checked JSON: writing it has no way to fail.
    let data = serde_json::to_string(&MessageView::from(&message)).unwrap_or_default();
    Some(events::named("message", Some(seq), &data))
}
