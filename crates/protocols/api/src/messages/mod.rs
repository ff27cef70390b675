//! `/api/messages`: messages between agents.
//!
//! Every message is answered with a message: a request or a query with the response of its receiver, anything else with an acknowledgement.
//! [`post`] routes a message to its receiver, [`call`] makes the calls, [`reading`] shows an agent its pending messages and subscribers the
//! published events.

mod call;
mod post;
mod reading;

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use futures_util::stream::{FuturesOrdered, FuturesUnordered, StreamExt, unfold};
use http::{HeaderMap, StatusCode};
use interlingua_model::{Fault, FaultKind};

pub(super) use reading::{put_aside, read};

use self::post::Post;
use super::{Answered, Asker, answer, decode, events};
use crate::Endpoint;
use crate::view::MessageView;
use interlingua_net::body;

/// How many messages may be sent at once, each receiver counted.
const AT_ONCE: usize = 100;

/// What was sent in one request.
enum Sent {
    One(Box<MessageView>),
    Several(Vec<MessageView>),
}

pub(super) async fn send(
    State(shared): State<Arc<Endpoint>>,
    asker: Asker,
    headers: HeaderMap,
    body: Body,
) -> Answered {
    let bytes = body::read(body, shared.bounds().body).await?;
    let sent = sent(decode::json(bytes, shared.bounds().depth).await?)?;
    let streamed = events::wanted(&headers);
    let post = Post::new(shared, asker, headers);
    match sent {
        Sent::One(message) => {
            let (status, response) = post.take(*message).await?;
            answer(status, &response)
        }
        Sent::Several(messages) if streamed => Ok(as_they_come(&post, messages)),
        Sent::Several(messages) => {
            let answers: FuturesOrdered<_> =
                messages.into_iter().map(|message| post.clone().answered(message)).collect();
            answer(StatusCode::OK, &answers.collect::<Vec<_>>().await)
        }
    }
}

fn sent(json: interlingua_model::Json) -> Result<Sent, Fault> {
    if json.as_bytes().first() != Some(&b'[') {
        let message: MessageView = decode::fit(&json)?;
        if message.to_agents.is_empty() {
            return Ok(Sent::One(Box::new(message)));
        }
        return within(spread(message)).map(Sent::Several);
    }
    let messages: Vec<MessageView> = decode::fit(&json)?;
    within(messages.into_iter().flat_map(spread).collect()).map(Sent::Several)
}

fn within(messages: Vec<MessageView>) -> Result<Vec<MessageView>, Fault> {
    if messages.len() <= AT_ONCE {
        return Ok(messages);
    }
    Err(Fault::caller(FaultKind::TooLarge, format!("at most {AT_ONCE} messages are sent at once")))
}

/// One to several is several to one each. They share an id: each receiver's answer names it, and is a task of its own.
fn spread(message: MessageView) -> Vec<MessageView> {
    if message.to_agents.is_empty() {
        return vec![message];
    }
    let to = std::iter::once(message.to_agent.clone()).flatten().chain(message.to_agents.clone());
    let one = |to| MessageView { to_agent: Some(to), to_agents: Vec::new(), ..message.clone() };
    to.map(one).collect()
}

/// Each answer when it is there; whoever is slow or fails holds up nobody.
fn as_they_come(post: &Post, messages: Vec<MessageView>) -> Response {
    let answers: FuturesUnordered<_> = messages.into_iter().map(|message| post.clone().answered(message)).collect();
    events::respond(unfold(answers, |mut answers| async move {
        let frame = match tokio::time::timeout(events::KEEP_ALIVE, answers.next()).await {
            Err(_) => events::COMMENT,
            // A view holds text and checked JSON: writing it has no way to fail.
            Ok(answer) => events::named("response", None, &serde_json::to_string(&answer?).unwrap_or_default()),
        };
        Some((frame, answers))
    }))
}
