//! `POST /api/exchanges`: a call whose caller waits, for the whole answer or for its events. Closing the connection cancels it, unless it
//! waits for an answer.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use interlingua_model::{ConversationId, Fault, Principal, Request, Transcript};

use super::decode::{self, Manner};
use super::links::Links;
use super::{Answered, Asker, answer, events, located, no_such_conversation};
use crate::Endpoint;
use crate::view::{ExchangeRequest, ExchangeView, FinishedView, LossView, QuestionView, RouteView};
use interlingua_endpoint::Shared;
use interlingua_hub::{Running, Settled};
use interlingua_net::body;

/// Names the conversation of an exchange beside its events.
const CONVERSATION: HeaderName = HeaderName::from_static("interlingua-conversation");

pub(super) async fn open(
    State(shared): State<Arc<Endpoint>>,
    asker: Asker,
    headers: HeaderMap,
    body: Body,
) -> Answered {
    let manner = if events::wanted(&headers) { Manner::Stream } else { Manner::Whole };
    let (running, token) = opened(&shared, &asker, &headers, body, manner).await?;
    let mut response = match manner {
        Manner::Stream => {
            let (task, kept) = (running.id(), running.is_kept());
            let response = events::of_caller(running, asker.links(&shared));
            if kept { located(response, task) } else { response }
        }
        Manner::Whole | Manner::Receipt => whole(running, &token, &asker.links(&shared)).await?,
    };
    if let Ok(value) = HeaderValue::from_str(&token) {
        response.headers_mut().insert(CONVERSATION, value);
    }
    Ok(response)
}

/// A call through the hub's door, and the token of its conversation.
pub(super) async fn opened(
    shared: &Shared,
    asker: &Asker,
    headers: &HeaderMap,
    body: Body,
    manner: Manner,
) -> Result<(Running, String), Fault> {
    let bytes = body::read(body, shared.bounds().body).await?;
    let request: ExchangeRequest = decode::body(bytes, shared.bounds().depth).await?;
    let hub = &shared.hub;
    let conversation = joined(shared, asker, request.conversation.as_deref(), decode::key(headers)?).await?;
    let token = hub.conversation_token(&asker.by, &conversation)?;
    let call = decode::call(request, Some(conversation), headers, manner, hub.now())?;
    let call = Box::new(call);
    let request = Request { by: asker.by.clone(), connection: asker.connection.id, call };
    Ok((hub.open(request).await?, token))
}

/// The conversation that was named, one turn on; else a new one, which costs nothing until it is named. A call that is sent
/// again under its key begins no other conversation than the first time, or it would be another call.
async fn joined(
    shared: &Shared,
    asker: &Asker,
    named: Option<&str>,
    key: Option<&str>,
) -> Result<ConversationId, Fault> {
    let (hub, by) = (&shared.hub, &asker.by);
    let Some(named) = named else {
        let begun = |key| hub.conversation_begun_by(by, asker.connection.id, key);
        return Ok(key.map_or_else(|| hub.new_conversation(), begun));
    };
    let id = conversation(shared, by, named).await?;
    shared.hub.next_turn(by, &id).await?;
    Ok(id)
}

/// By its token, or by its id where ids are listed.
pub(super) async fn conversation(shared: &Shared, by: &Principal, named: &str) -> Result<ConversationId, Fault> {
    if let Some(id) = shared.hub.open_conversation(by, named) {
        return Ok(id);
    }
    let id = ConversationId::from(named);
    if shared.hub.has_conversation(by, &id).await? { Ok(id) } else { Err(no_such_conversation()) }
}

/// Reads an exchange to its end or its first question.
async fn whole(mut running: Running, conversation: &str, links: &Links) -> Answered {
    let mut transcript = Transcript::default();
    let (state, finished, questions) = match running.settle(&mut transcript).await? {
        Settled::Asked(question) => ("waiting", None, vec![QuestionView::from(&*question)]),
        Settled::Finished(finished) => (finished.outcome.as_str(), Some(FinishedView::from(&*finished)), Vec::new()),
    };
    let view = ExchangeView {
        task: running.is_kept().then(|| running.id().to_string()),
        state: state.into(),
        conversation: Some(conversation.into()),
        route: transcript.route.as_ref().map(RouteView::from),
        questions,
        finished,
        losses: transcript.losses.iter().map(LossView::from).collect(),
    };
    let response = answer(StatusCode::OK, &links.within(view))?;
    Ok(if running.is_kept() { located(response, running.id()) } else { response })
}
