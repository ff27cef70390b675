//! `/api/confirmations`: pending approvals, for callers that may approve.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Path, State};
use http::{StatusCode, Uri};
use interlingua_model::{Answer, Fault, FaultKind, KindSet};

use super::decode;
use super::page::{self, Paged};
use super::{Answered, Asker, answer, tasks};
use crate::Endpoint;
use crate::view::{ConfirmationRequest, PageView, QuestionView};
use interlingua_access::sessions::is_session;
use interlingua_endpoint::Shared;
use interlingua_hub::approvals::{Pending, Turn, Twins};
use interlingua_net::body;

pub(super) async fn list(State(shared): State<Arc<Endpoint>>, asker: Asker, uri: Uri) -> Answered {
    let query: Paged = page::query(&uri)?;
    let open = shared.hub.listed_in_turns(&asker.by, KindSet::CONFIRM);
    let twins = Twins::among(open.iter().map(|(_, question)| question));
    let after = query.after.as_deref().map(|after| after.parse::<Turn>().map_err(|_| page::bad_cursor()));
    let after = after.transpose()?;
    let rest = open.into_iter().filter(|(turn, _)| after.is_none_or(|after| *turn > after));
    let (questions, next) = page::cut(rest, query.limit(), |(turn, _)| turn.to_string());
    let links = asker.links(&shared);
    let mut items = Vec::with_capacity(questions.len());
    for (_, question) in questions {
        items.push(links.within(QuestionView::from(&shared.hub.pending(question, &twins).await?)));
    }
    answer(StatusCode::OK, &PageView { items, next })
}

pub(super) async fn read(State(shared): State<Arc<Endpoint>>, asker: Asker, Path(id): Path<String>) -> Answered {
    let view = QuestionView::from(&found(&shared, &asker, &id).await?);
    answer(StatusCode::OK, &asker.links(&shared).within(view))
}

pub(super) async fn decide(
    State(shared): State<Arc<Endpoint>>,
    asker: Asker,
    Path(id): Path<String>,
    body: Body,
) -> Answered {
    let pending = found(&shared, &asker, &id).await?;
    let bytes = body::read(body, shared.bounds().body).await?;
    let request: ConfirmationRequest = decode::body(bytes, shared.bounds().depth).await?;
    let view = QuestionView::from(&pending);
    if request.approve && request.call.is_none() && is_session(&asker.by) {
        return Err(decode::wrong("/call", "is needed: the digest of the call that was shown").into());
    }
    if request.call.is_some() && request.call != view.call {
        let text = "the call is not the one that was shown: look at it again";
        return Err(Fault::caller(FaultKind::Conflict, text).into());
    }
    let said = if request.approve { Answer::Granted } else { Answer::Declined };
    let id = pending.question.id;
    if let Err(fault) = shared.hub.answer(asker.by.clone(), id, said).await {
        return Err(tasks::why_refused(&shared, &asker.by, id, fault).await.into());
    }
    answer(StatusCode::OK, &tasks::seen(&shared, &asker, id.0).await?)
}

/// One that this principal may decide; else why it is not.
async fn found(shared: &Shared, asker: &Asker, id: &str) -> Result<Pending, Fault> {
    let id = decode::question_id(id)?;
    let open = shared.hub.open_in_turns(&asker.by, KindSet::CONFIRM);
    let twins = Twins::among(open.iter().map(|(_, question)| question));
    match open.into_iter().find(|(turn, _)| turn.question == id) {
        Some((_, question)) => shared.hub.pending(question, &twins).await,
        None => Err(shared.hub.not_to_decide(&asker.by, id).await),
    }
}
