//! `/api/confirmations`: what waits for a human's yes, for those who may give it.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, State};
use http::{StatusCode, Uri};
use interlingua_core::{Answer, Fault, Question, QuestionId};

use super::decode::{self, no_such_question};
use super::page::{self, Paged};
use super::{Answered, Asker, answer, tasks};
use crate::api::view::{ConfirmationRequest, PageView, QuestionView};
use crate::edge::Shared;
use crate::server::body;

pub(super) async fn list(State(shared): State<Arc<Shared>>, asker: Asker, uri: Uri) -> Answered {
    let query: Paged = page::query(&uri)?;
    let mut open = shared.hub.open_confirmations(&asker.by);
    open.sort_by_key(|question| question.id);
    let after = query.after.as_deref().map(|after| after.parse::<QuestionId>().map_err(|_| page::bad_cursor()));
    let after = after.transpose()?;
    let rest = open.iter().filter(|question| after.is_none_or(|after| question.id > after));
    let (questions, next) = page::cut(rest, query.limit(), |question| question.id.to_string());
    answer(StatusCode::OK, &PageView { items: questions.into_iter().map(QuestionView::from).collect(), next })
}

pub(super) async fn read(State(shared): State<Arc<Shared>>, asker: Asker, Path(id): Path<String>) -> Answered {
    answer(StatusCode::OK, &QuestionView::from(&found(&shared, &asker, &id)?))
}

pub(super) async fn decide(
    State(shared): State<Arc<Shared>>,
    asker: Asker,
    Path(id): Path<String>,
    body: Body,
) -> Answered {
    let question = found(&shared, &asker, &id)?;
    let bytes = body::read(body, shared.bounds().body).await?;
    let request: ConfirmationRequest = decode::body(bytes, shared.bounds().depth).await?;
    let said = if request.approve { Answer::Granted } else { Answer::Declined };
    shared.hub.answer(asker.by.clone(), question.id, said).await?;
    answer(StatusCode::OK, &tasks::seen(&shared, &asker.by, question.id.0).await?)
}

/// One that is not theirs to decide is not there.
fn found(shared: &Shared, asker: &Asker, id: &str) -> Result<Question, Fault> {
    let id = decode::question_id(id)?;
    let open = shared.hub.open_confirmations(&asker.by);
    open.into_iter().find(|question| question.id == id).ok_or_else(no_such_question)
}
