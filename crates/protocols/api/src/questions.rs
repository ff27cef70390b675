//! `/api/questions`: open questions of every kind that this interface can answer, for those who may answer them, and how a question ended.
//!
//! The list is read every few seconds by those who wait for a question, so its rows leave out content, and no row reads a journal.

use std::sync::Arc;

use axum::extract::{Path, State};
use http::{StatusCode, Uri};

use super::page::{self, Paged};
use super::{Answered, Asker, answer, decode};
use crate::Endpoint;
use crate::view::{PageView, QuestionView, SettledView};
use interlingua_hub::approvals::{Turn, Twins};

pub(super) async fn list(State(shared): State<Arc<Endpoint>>, asker: Asker, uri: Uri) -> Answered {
    let query: Paged = page::query(&uri)?;
    let after = query.after.as_deref().map(|after| after.parse::<Turn>().map_err(|_| page::bad_cursor()));
    let after = after.transpose()?;
    let open = shared.hub.listed_in_turns(&asker.by, decode::ANSWERABLE);
    let twins = Twins::among(open.iter().map(|(_, question)| question));
    let rest = open.into_iter().filter(|(turn, _)| after.is_none_or(|after| *turn > after));
    let (questions, next) = page::cut(rest, query.limit(), |(turn, _)| turn.to_string());
    let mut items = Vec::with_capacity(questions.len());
    for (_, question) in questions {
        items.push(QuestionView::row(shared.hub.outline(question, &twins).await?));
    }
    answer(StatusCode::OK, &PageView { items, next })
}

pub(super) async fn read(State(shared): State<Arc<Endpoint>>, asker: Asker, Path(id): Path<String>) -> Answered {
    let id = decode::question_id(&id)?;
    let open = shared.hub.open_in_turns(&asker.by, decode::ANSWERABLE);
    let twins = Twins::among(open.iter().map(|(_, question)| question));
    let Some((_, question)) = open.into_iter().find(|(turn, _)| turn.question == id) else {
        return Err(shared.hub.not_to_decide(&asker.by, id).await.into());
    };
    let view = QuestionView::from(&shared.hub.pending(question, &twins).await?);
    answer(StatusCode::OK, &asker.links(&shared).within(view))
}

pub(super) async fn settled(State(shared): State<Arc<Endpoint>>, asker: Asker, Path(id): Path<String>) -> Answered {
    let closed = shared.hub.closed(&asker.by, decode::question_id(&id)?).await?;
    answer(StatusCode::OK, &SettledView::from(&closed))
}
