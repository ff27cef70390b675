//! `GET /api/tasks/{id}/timeline`: the journaled steps of an agent's or a team's run, such as answers of models, calls, answers of members,
//! votes, and refusals with their reasons. It is a page, or a stream until the task has ended.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Path, State};
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream::unfold;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, StatusCode, Uri};
use interlingua_model::ports::{Stored, is_last};
use interlingua_model::{Fault, Log, TaskId, journal};
use serde_json::{Value, json};

use super::page::{self, Paged};
use super::{Answered, Asker, answer, events, task_id};
use crate::Endpoint;
use crate::view::{ErrorBody, PageView, StepView};
use interlingua_hub::reauthorize::Reauthorization;
use interlingua_hub::runs::Listener;

/// How many steps are read at once.
const PAGE: usize = 256;
/// How long nothing may be sent; also how soon it is seen that a task ended without a last step.
const KEEP_ALIVE: Duration = Duration::from_secs(5);
const COMMENT: Bytes = Bytes::from_static(b": the run goes on\n\n");

pub(super) async fn read(
    State(shared): State<Arc<Endpoint>>,
    asker: Asker,
    Path(id): Path<String>,
    headers: HeaderMap,
    uri: Uri,
) -> Answered {
    let task = task_id(&id)?;
    shared.hub.row(&asker.by, task).await?;
    let query: Paged = page::query(&uri)?;
    let after = events::after(&headers, query.after.as_deref())?.unwrap_or(0);
    if events::wanted(&headers) {
        let claim = Reauthorization::new(&shared.hub, &asker.by);
        return Ok(live(shared, task, after, claim));
    }
    let stored = shared.hub.journal().read(Log::Run(task), after, query.limit()).await.map_err(Fault::from)?;
    let next = stored.last().filter(|_| !is_last(&stored, query.limit())).map(|last| last.seq.to_string());
    let items = stored.iter().map(step).collect::<Result<Vec<_>, Fault>>()?;
    answer(StatusCode::OK, &PageView { items, next })
}

/// A step as it is shown. What a run begins with are its operator's instructions, which are not its caller's to read.
fn step(stored: &Stored) -> Result<StepView, Fault> {
    let record: Value = journal::from_bytes(&stored.bytes).map_err(Fault::internal)?;
    let (kind, data) = match record {
        Value::String(kind) => (kind, Value::Null),
        Value::Object(members) => members.into_iter().next().unwrap_or_default(),
        other => (String::new(), other),
    };
    let data = if kind == "Begun" { begun(&data) } else { Some(data).filter(|data| !data.is_null()) };
    let data = data.map(Into::into);
    Ok(StepView { seq: stored.seq, at: stored.at.to_string(), step: snake(&kind), data })
}

/// Of a team, who is on it; the places of members in later steps count from there.
fn begun(plan: &Value) -> Option<Value> {
    let members = plan.get("members")?.as_array()?.iter().map(|member| member["id"].clone());
    Some(json!({ "members": members.collect::<Vec<_>>() }))
}

/// `VoteIgnored` is `vote_ignored`.
fn snake(name: &str) -> String {
    let mut snake = String::with_capacity(name.len() + 4);
    for letter in name.chars() {
        if letter.is_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.extend(letter.to_lowercase());
    }
    snake
}

struct Watch {
    shared: Arc<Endpoint>,
    task: TaskId,
    after: u64,
    listener: Listener,
    claim: Reauthorization,
    over: bool,
}

fn live(shared: Arc<Endpoint>, task: TaskId, after: u64, claim: Reauthorization) -> Response {
    // Listening before reading: what is written in between is heard of.
    let listener = shared.hub.run_records();
    let watch = Watch { shared, task, after, listener, claim, over: false };
    let frames = unfold(watch, |mut watch| async move {
        let frame = watch.next().await?;
        Some((Ok::<Bytes, Infallible>(frame), watch))
    });
    let mut response = Response::new(Body::from_stream(frames));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}

impl Watch {
    /// The steps there are, or a sign of life; none after the last of a task that is over.
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if self.over {
                return None;
            }
            // Looked at first: a task that is over now writes no more.
            let over = !self.shared.hub.is_live(self.task);
            let page = self.shared.hub.journal().read(Log::Run(self.task), self.after, PAGE).await.ok()?;
            if let Some(last) = page.last() {
                self.after = last.seq;
                let frames = page.iter().filter_map(|stored| step(stored).ok()).map(|step| frame(&step));
                return Some(frames.collect::<String>().into());
            }
            if over {
                self.over = true;
                continue;
            }
            let hub = self.shared.hub.clone();
            let heard = tokio::select! {
                biased;
                fault = self.claim.lost(self.task) => {
                    self.over = true;
                    return Some(refused(&fault));
                }
                () = self.listener.more_of(self.task) => true,
                () = tokio::time::sleep(KEEP_ALIVE) => false,
                () = hub.stopping().cancelled() => return None,
            };
            if !heard && hub.is_live(self.task) {
                return Some(COMMENT);
            }
        }
    }
}

fn refused(fault: &Fault) -> Bytes {
    let data = serde_json::to_string(&ErrorBody { error: fault.into() }).unwrap_or_default();
    events::named("error", None, &data)
}

fn frame(step: &StepView) -> String {
    // A step is text, numbers and JSON on one line.
    let data = serde_json::to_string(step).unwrap_or_default();
    format!("event: {}\nid: {}\ndata: {data}\n\n", step.step, step.seq)
}

#[cfg(test)]
mod tests {
    use interlingua_model::Time;

    use super::*;

    fn stored(record: &Value) -> Stored {
        Stored { seq: 3, at: Time(0), bytes: journal::to_bytes(record).expect("bytes") }
    }

    #[test]
    fn a_step_has_a_name_and_what_was_written_but_not_what_the_operator_said() {
        let voted = step(&stored(&serde_json::json!({"VoteIgnored": {"seat": 1}}))).expect("a step");
        assert_eq!((voted.step.as_str(), voted.seq), ("vote_ignored", 3));
        assert_eq!(voted.data.expect("data").tree(), &serde_json::json!({"seat": 1}));
        let begun = step(&stored(&serde_json::json!({"Begun": {"plan": {"instructions": "secret"}}}))).expect("a step");
        assert_eq!((begun.step.as_str(), begun.data), ("begun", None));
        let team = serde_json::json!({"Begun": {"task": "secret", "members": [{"id": "ann", "workspace": "/x"}]}});
        let team = step(&stored(&team)).expect("a step").data.expect("data");
        assert_eq!(team.tree(), &serde_json::json!({"members": ["ann"]}));
        assert_eq!(step(&stored(&"WentOn".into())).expect("a step").step, "went_on");
    }
}
