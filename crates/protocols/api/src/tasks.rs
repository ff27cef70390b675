//! `/api/tasks`: stored exchanges, which continue without their caller.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, State};
use axum::response::Response;
use http::{HeaderMap, StatusCode, Uri};
use interlingua_model::ports::{TaskFilter, TaskPhase, TaskRow, is_last};
use interlingua_model::{
    Answer, CancelWhy, ConversationId, Fault, FaultKind, Input, Log, Noun, Principal, QuestionId, Signal, TaskId,
};

use super::decode::{self, Follows, Manner};
use super::page::{self, Paged, TasksPaged};
use super::{Answered, Asker, Refusal, answer, events, exchanges, located, nothing, task_id};
use crate::Endpoint;
use crate::view::{NumberedEvent, PageView, QuestionView, SignalRequest, TaskView};
use interlingua_access::sessions::is_session;
use interlingua_endpoint::Shared;
use interlingua_hub::entropy;
use interlingua_hub::live::{decoded, no_such_task};
use interlingua_net::body;

/// Synced before it is answered: an id that was told is never lost.
pub(super) async fn start(
    State(shared): State<Arc<Endpoint>>,
    asker: Asker,
    headers: HeaderMap,
    body: Body,
) -> Answered {
    let (running, _) = exchanges::opened(&shared, &asker, &headers, body, Manner::Receipt).await?;
    let task = running.id();
    Ok(located(answer(StatusCode::ACCEPTED, &seen(&shared, &asker, task).await?)?, task))
}

pub(super) async fn list(State(shared): State<Arc<Endpoint>>, asker: Asker, uri: Uri) -> Answered {
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
    let links = asker.links(&shared);
    answer(
        StatusCode::OK,
        &PageView { items: rows.iter().map(|row| links.within(listed(&shared, row))).collect(), next },
    )
}

/// A line of the list: of one that waits also for what, and what it would call.
fn listed(shared: &Shared, row: &TaskRow) -> TaskView {
    let mut view = TaskView::from(row);
    if row.state == TaskPhase::Waiting
        && let Some(live) = shared.hub.live(row.task)
    {
        view.questions = live.questions().iter().map(QuestionView::from).collect();
        let asked = view.questions.iter().find_map(|question| Some(question.confirm.as_ref()?.skill.clone()));
        view.skill = asked.or(view.skill);
    }
    view
}

pub(super) async fn read(State(shared): State<Arc<Endpoint>>, asker: Asker, Path(id): Path<String>) -> Answered {
    let task = shared.hub.task(&asker.by, task_id(&id)?).await?;
    answer(StatusCode::OK, &asker.links(&shared).within(TaskView::from(&task)))
}

pub(super) async fn cancel(
    State(shared): State<Arc<Endpoint>>,
    asker: Asker,
    Path(id): Path<String>,
) -> Result<Response, Refusal> {
    shared.hub.signal(asker.by, task_id(&id)?, Signal::Cancel(CancelWhy::Asked)).await?;
    Ok(nothing())
}

/// As they come, from after `Last-Event-ID`; or a page of those there are.
pub(super) async fn events(
    State(shared): State<Arc<Endpoint>>,
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
        let stopping = shared.hub.stopping().clone();
        return Ok(located(events::of_task(reader, stopping, asker.links(&shared)), task));
    }
    drop(reader);
    let mut page = there_are(&shared, task, after, query.limit()).await?;
    let links = asker.links(&shared);
    page.items = page.items.into_iter().map(|event| links.within(event)).collect();
    answer(StatusCode::OK, &page)
}

/// Events in the journal after this one.
async fn there_are(shared: &Shared, task: TaskId, after: u64, limit: usize) -> Result<PageView<NumberedEvent>, Fault> {
    let stored = shared.hub.journal().read(Log::Task(task), after, limit).await?;
    let next = stored.last().filter(|_| !is_last(&stored, limit)).map(|last| last.seq.to_string());
    let mut items = Vec::with_capacity(stored.len());
    for record in stored {
        let entry = decoded(record)?;
        items.extend(entry.record.event().map(|event| NumberedEvent::new(entry.seq, entry.at, event)));
    }
    Ok(PageView { items, next })
}

pub(super) async fn signal(
    State(shared): State<Arc<Endpoint>>,
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
            let answer = in_words(&shared, &asker.by, question, &text).await?;
            Signal::Answered { question, message: entropy::message_id(), answer }
        }
    };
    if is_session(&asker.by) && matches!(&signal, Signal::Answered { answer: Answer::Granted, .. }) {
        let text = "a session approves at /api/confirmations/{id}, with the digest of the call that was shown";
        return Err(Fault::caller(FaultKind::InvalidInput, text).into());
    }
    let answered = match &signal {
        Signal::Answered { question, .. } => Some(*question),
        Signal::Said { .. } | Signal::Cancel(_) => None,
    };
    if let Err(fault) = shared.hub.signal(asker.by.clone(), task, signal).await {
        return Err(match answered {
            Some(question) => why_refused(&shared, &asker.by, question, fault).await.into(),
            None => fault.into(),
        });
    }
    answer(StatusCode::ACCEPTED, &seen(&shared, &asker, task).await?)
}

/// An answer that was refused because its question is not open: what became of it, instead of that it is not there.
pub(super) async fn why_refused(shared: &Shared, by: &Principal, question: QuestionId, fault: Fault) -> Fault {
    match fault.kind {
        FaultKind::NotFound(_) | FaultKind::AlreadyFinished => shared.hub.not_to_decide(by, question).await,
        _ => fault,
    }
}

/// What the words mean to the question they answer.
async fn in_words(shared: &Shared, by: &Principal, question: QuestionId, text: &str) -> Result<Answer, Fault> {
    let open = shared.hub.open_questions(by);
    let Some(asked) = open.iter().find(|open| open.id == question) else {
        return Err(shared.hub.not_to_decide(by, question).await);
    };
    let unfit = || Fault::caller(FaultKind::InvalidInput, format!("that does not answer: {}", asked.text));
    shared.hub.read_answer(asked, Input::text(text)).ok_or_else(unfit)
}

/// The task as far as this principal may see it: one who answered a question of somebody else's task sees where it stands.
pub(super) async fn seen(shared: &Shared, asker: &Asker, task: TaskId) -> Result<TaskView, Fault> {
    match shared.hub.task(&asker.by, task).await {
        Ok(task) => Ok(asker.links(shared).within(TaskView::from(&task))),
        Err(fault) if fault.kind == FaultKind::NotFound(Noun::Task) => {
            let row = shared.hub.journal().task(task).await?.ok_or_else(no_such_task)?;
            Ok(TaskView { conversation: None, parent: None, ..TaskView::from(&row) })
        }
        Err(fault) => Err(fault),
    }
}
