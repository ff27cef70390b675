//! Promises (task tokens): a token finds a task again for the caller that received it, and `/await` reads it.

use std::sync::Arc;
use std::time::Duration;

use crate::Manner;
use crate::encode::{Envelope, Stand};
use crate::wire::Action;
use axum::response::Response;
use http::HeaderMap;
use interlingua_model::{CancelWhy, Event, Fault, FaultKind, Principal, Signal, TaskId, Text};

use super::ask::{Reader, base, listen, told};
use interlingua_endpoint::Shared;
use interlingua_hub::{Hub, Running};
use interlingua_net::connection::Connection;

/// How long a look waits for the end: one that comes soon spares another look.
const LOOK: Duration = Duration::from_millis(1_000);
/// How long a cancel waits to be confirmed.
const CANCELLING: Duration = Duration::from_secs(15);

/// Keeps an exchange and gives the token that finds it again, and with it how its answer is wanted. Its caller goes on by
/// that.
pub(super) async fn give(hub: &Hub, by: &Principal, running: &mut Running, manner: &Manner) -> Result<String, Fault> {
    let task = running.keep().await?;
    let note = serde_json::to_vec(manner).map_err(Fault::internal)?;
    let token = hub.promise(by, task, &note)?;
    running.told();
    Ok(token)
}

pub(super) async fn answer(
    shared: &Arc<Shared>,
    connection: &Connection,
    headers: &HeaderMap,
    wait: (&str, Action),
    mut envelope: Envelope,
) -> Response {
    let looked = async {
        let by = shared.authenticate(connection, headers, &[])?;
        let reader = Reader { hub: &shared.hub, by: &by, base: base(shared, connection, headers) };
        look(shared, &reader, wait, &mut envelope).await.map_err(|fault| fault.told_to(&by))
    };
    match looked.await {
        Ok(response) => response,
        Err(fault) => told(&envelope, &Stand::Refused(&fault)),
    }
}

async fn look(
    shared: &Arc<Shared>,
    reader: &Reader<'_>,
    (token, action): (&str, Action),
    envelope: &mut Envelope,
) -> Result<Response, Fault> {
    let (hub, by) = (&shared.hub, reader.by);
    let (task, note) = hub.promised(by, token)?;
    let manner: Manner = serde_json::from_slice(&note).unwrap_or_default();
    *envelope = Envelope::again(&manner, envelope.id.clone());
    let known = hub.task(by, task).await?;
    if let Some(conversation) = &known.call.conversation {
        envelope.conversation = Some(hub.conversation_token(by, conversation)?.into());
    }
    let patience = match action {
        Action::CheckIn => LOOK,
        Action::Cancel => {
            match hub.signal(by.clone(), task, Signal::Cancel(CancelWhy::Asked)).await {
                Ok(()) => {}
                // It is over: then that is the answer.
                Err(fault) if fault.kind == FaultKind::AlreadyFinished => {}
                Err(fault) => return Err(fault),
            }
            CANCELLING
        }
    };
    let mut running = hub.follow(by, task, 0).await?;
    let heard = tokio::time::timeout(patience, listen(&mut running, reader)).await;
    // Looking is not owning: to stop looking ends nothing.
    running.told();
    match heard {
        Ok(listened) => {
            let words = known.call.input().map(|input| input.words()).unwrap_or_default();
            let listened = listened?;
            if let Some(note) = listened.pending() {
                return Ok(told(envelope, &Stand::Promised { token, note: Some(&note) }));
            }
            listened.note(hub, by, envelope.dialect);
            Ok(listened.worded(hub, manner.modes, &words).await.told(envelope))
        }
        Err(_) => {
            let note = progress(shared, by, task).await;
            Ok(told(envelope, &Stand::Promised { token, note: note.as_deref() }))
        }
    }
}

/// The last thing a task said of how far it is.
async fn progress(shared: &Arc<Shared>, by: &Principal, task: TaskId) -> Option<Text> {
    let mut reader = shared.hub.watch(by, task, 0).await.ok()?;
    let mut last = None;
    while !reader.is_at_head() {
        let entry = reader.next().await.ok()??;
        let note = match entry.record.event() {
            Some(Event::Progress { note, .. }) => note.clone(),
            Some(Event::Step(step)) => step.note().map(Text::from),
            _ => None,
        };
        last = note.or(last);
    }
    last
}
