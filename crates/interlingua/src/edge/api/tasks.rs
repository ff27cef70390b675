//! `/api/tasks`: kept exchanges, which go on without their caller.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, State};
use axum::response::Response;
use http::{HeaderMap, StatusCode, Uri};
use interlingua_core::ports::{TaskFilter, TaskPhase};
use interlingua_core::{
    Answer, CancelWhy, ConversationId, Fault, FaultKind, Input, Log, Noun, Principal, QuestionId, Signal, TaskId,
};

use super::decode::{self, Follows, Manner};
use super::page::{self, Paged, TasksPaged};
use super::{Answered, Asker, Refusal, answer, events, exchanges, located, nothing, task_id};
use crate::api::view::{NumberedEvent, PageView, SignalRequest, TaskView};
use crate::edge::Shared;
use crate::hub::entropy;
use crate::hub::live::{decoded, no_such_task};
use crate::server::body;

/// Synced before it is answered: an id that was told is never lost.
pub(super) async fn start(State(shared): State<Arc<Shared>>, asker: Asker, headers: HeaderMap, body: Body) -> Answered {
    let (running, _) = exchanges::opened(&shared, &asker, &headers, body, Manner::Receipt).await?;
    let task = running.id();
    Ok(located(answer(StatusCode::ACCEPTED, &seen(&shared, &asker.by, task).await?)?, task))
}

pub(super) async fn list(State(shared): State<Arc<Shared>>, asker: Asker, uri: Uri) -> Answered {
    let query: TasksPaged = page::query(&uri)?;
    let limit = query.limit();
    let unknown =
        || Fault::caller(FaultKind::InvalidInput, "'state' is none of a task's").field("/state", "is unknown");
    let filter = TaskFilter {
        state: query.state.as_deref().map(|state| TaskPhase::parse(state).ok_or_else(unknown)).transpose()?,
        conversation: query.conversation.as_deref().map(ConversationId::from),
        before: query.after.as_deref().map(page::read_task_cursor).transpose()?,
        limit: limit + 1,
        ..TaskFilter::default()
    };
    let rows = shared.hub.rows(&asker.by, filter).await?;
    let (rows, next) = page::cut(rows.into_iter(), limit, |row| page::task_cursor(row.created, row.task));
    answer(StatusCode::OK, &PageView { items: rows.iter().map(TaskView::from).collect(), next })
}

pub(super) async fn read(State(shared): State<Arc<Shared>>, asker: Asker, Path(id): Path<String>) -> Answered {
    let task = shared.hub.task(&asker.by, task_id(&id)?).await?;
    answer(StatusCode::OK, &TaskView::from(&task))
}

pub(super) async fn cancel(
    State(shared): State<Arc<Shared>>,
    asker: Asker,
    Path(id): Path<String>,
) -> Result<Response, Refusal> {
    shared.hub.signal(asker.by, task_id(&id)?, Signal::Cancel(CancelWhy::Asked)).await?;
    Ok(nothing())
}

/// As they come, from after `Last-Event-ID`; or a page of those there are.
pub(super) async fn events(
    State(shared): State<Arc<Shared>>,
    asker: Asker,
    Path(id): Path<String>,
    headers: HeaderMap,
    uri: Uri,
) -> Answered {
    let task = task_id(&id)?;
    let query: Paged = page::query(&uri)?;
    let after = events::after(&headers, query.after.as_deref())?.unwrap_or(0);
    let reader = shared.hub.watch(&asker.by, task, after).await?;
    if events::wanted(&headers) {
        let stopping = shared.hub.supervisor.stopping().clone();
        return Ok(located(events::of_task(reader, stopping), task));
    }
    drop(reader);
    answer(StatusCode::OK, &there_are(&shared, task, after, query.limit()).await?)
}

/// Events in the journal after this one.
async fn there_are(shared: &Shared, task: TaskId, after: u64, limit: usize) -> Result<PageView<NumberedEvent>, Fault> {
    let stored = shared.hub.store.journal.read(Log::Task(task), after, limit).await.map_err(Fault::internal)?;
    let next = stored.last().filter(|_| stored.len() == limit).map(|last| last.seq.to_string());
    let mut items = Vec::with_capacity(stored.len());
    for record in stored {
        let entry = decoded(record)?;
        items.extend(entry.record.event().map(|event| NumberedEvent::new(entry.seq, entry.at, event)));
    }
    Ok(PageView { items, next })
}

pub(super) async fn signal(
    State(shared): State<Arc<Shared>>,
    asker: Asker,
    Path(id): Path<String>,
    body: Body,
) -> Answered {
    let task = task_id(&id)?;
    let bytes = body::read(body, shared.bounds().body).await?;
    let request: SignalRequest = decode::body(bytes, shared.bounds().depth).await?;
    let signal = match decode::signal(request)? {
        Follows::Signal(signal) => signal,
        Follows::Words { question, text } => {
            let answer = in_words(&shared, &asker.by, question, &text)?;
            Signal::Answered { question, message: entropy::message_id(), answer }
        }
    };
    shared.hub.signal(asker.by.clone(), task, signal).await?;
    answer(StatusCode::ACCEPTED, &seen(&shared, &asker.by, task).await?)
}

/// What the words mean to the question they answer.
fn in_words(shared: &Shared, by: &Principal, question: QuestionId, text: &str) -> Result<Answer, Fault> {
    let open = shared.hub.open_questions(by);
    let asked = open.iter().find(|open| open.id == question).ok_or_else(decode::no_such_question)?;
    let unfit = || Fault::caller(FaultKind::InvalidInput, format!("that does not answer: {}", asked.text));
    shared.hub.read_answer(asked, Input::text(text)).ok_or_else(unfit)
}

/// The task as far as this principal may see it: one who answered a question of somebody else's task sees where it stands.
pub(super) async fn seen(shared: &Shared, by: &Principal, task: TaskId) -> Result<TaskView, Fault> {
    match shared.hub.task(by, task).await {
        Ok(task) => Ok(TaskView::from(&task)),
        Err(fault) if fault.kind == FaultKind::NotFound(Noun::Task) => {
            let row = shared.hub.store.journal.task(task).await.map_err(Fault::internal)?.ok_or_else(no_such_task)?;
            Ok(TaskView { conversation: None, parent: None, ..TaskView::from(&row) })
        }
        Err(fault) => Err(fault),
    }
}
