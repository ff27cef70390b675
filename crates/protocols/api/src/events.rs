//! Events of an exchange as server-sent events (WHATWG HTML, section 9.2): name, number, data; a comment at intervals, so that proxies do
//! not close a quiet exchange.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream::{Stream, StreamExt, unfold};
use http::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue};
use interlingua_model::{Entry, Event, Fault, FaultKind, Finished};
use tokio_util::sync::CancellationToken;

use super::links::Links;
use super::page;
use crate::view::EventView;
use interlingua_hub::Running;
use interlingua_hub::live::Reader;

/// How long nothing may be sent.
pub(super) const KEEP_ALIVE: Duration = Duration::from_secs(15);
pub(super) const COMMENT: Bytes = Bytes::from_static(b": the exchange goes on\n\n");

const LAST_EVENT_ID: &str = "last-event-id";

/// The number behind which a reader goes on: of the last event it saw, or the query's `after`.
pub(super) fn after(headers: &HeaderMap, query: Option<&str>) -> Result<Option<u64>, Fault> {
    let last = headers.get(LAST_EVENT_ID).and_then(|value| value.to_str().ok());
    let after = last.or(query).filter(|text| !text.is_empty());
    after.map(|number| number.trim().parse().map_err(|_| page::bad_cursor())).transpose()
}

/// Does the caller want events?
pub(super) fn wanted(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    accepted
        .flat_map(|value| value.split(','))
        .any(|kind| kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("text/event-stream")))
}

/// Whose events.
enum Source {
    /// The caller's own exchange: its stream ends with a question too, and leaving it is leaving the exchange.
    Caller(Running),
    /// Somebody who looks on, until the end of the task or of the hub.
    Watcher(Reader, CancellationToken),
    Over,
}

/// The caller's own events, until the end or the first question.
pub(super) fn of_caller(running: Running, links: Links) -> Response {
    stream(Source::Caller(running), links)
}

/// All events of a kept exchange, until its end.
pub(super) fn of_task(reader: Reader, stopping: CancellationToken, links: Links) -> Response {
    stream(Source::Watcher(reader, stopping), links)
}

fn stream(source: Source, links: Links) -> Response {
    respond(unfold((source, links), |(source, links)| async move {
        let (frame, source) = next(source, &links).await?;
        Some((frame, (source, links)))
    }))
}

/// Frames as they come.
pub(super) fn respond(frames: impl Stream<Item = Bytes> + Send + 'static) -> Response {
    let mut response = Response::new(Body::from_stream(frames.map(Ok::<Bytes, Infallible>)));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    response
}

/// The next frame, and where the ones after it come from.
async fn next(mut source: Source, links: &Links) -> Option<(Bytes, Source)> {
    loop {
        let entry = match tokio::time::timeout(KEEP_ALIVE, source.entry()).await {
            Err(_) => return Some((COMMENT, source)),
            Ok(entry) => entry,
        };
        match entry {
            Ok(None) => return None,
            Ok(Some(entry)) => {
                let Some(event) = entry.record.event() else { continue };
                let frame = frame(Some(entry.seq), links.within(EventView::from(event)));
                return Some((frame, source.after(event)));
            }
            Err(fault) => return Some((failed(&fault), Source::Over)),
        }
    }
}

impl Source {
    /// Cancel safe, as both readers are.
    async fn entry(&mut self) -> Result<Option<Arc<Entry>>, Fault> {
        match self {
            Source::Over => Ok(None),
            Source::Caller(running) => running.next().await,
            Source::Watcher(reader, stopping) => tokio::select! {
                biased;
                entry = reader.next() => entry,
                () = stopping.cancelled() => Ok(None),
            },
        }
    }

    /// A caller that is asked something goes on elsewhere; nobody goes on after the end.
    fn after(self, event: &Event) -> Source {
        match (event, self) {
            (Event::Finished(_), _) => Source::Over,
            (Event::Asked(question), Source::Caller(ref running)) if running.awaits(question) => Source::Over,
            (_, source) => source,
        }
    }
}

fn frame(seq: Option<u64>, view: EventView) -> Bytes {
    // Views hold text, numbers and checked JSON: writing them has no way to fail.
    let data = view.data().unwrap_or_default();
    named(view.name(), seq, &data)
}

/// One event with its name, its number and its data.
pub(super) fn named(name: &str, seq: Option<u64>, data: &str) -> Bytes {
    let id = seq.map(|seq| format!("id: {seq}\n")).unwrap_or_default();
    format!("event: {name}\n{id}{}\n", data_lines(data)).into()
}

/// JSON of others may have line ends between its tokens, and each line of data is a line of its own.
fn data_lines(data: &str) -> String {
    data.split(['\n', '\r']).fold(String::with_capacity(data.len() + 8), |mut lines, line| {
        lines.push_str("data: ");
        lines.push_str(line);
        lines.push('\n');
        lines
    })
}

/// The hub could not go on telling: the caller hears so in the one form it reads. Without a number, for it is no event of
/// the task.
fn failed(fault: &Fault) -> Bytes {
    if fault.kind == FaultKind::Internal {
        tracing::error!(event = "stream_failed", protocol = "api", error = %fault, cause = ?fault.source, "an event stream failed inside the hub");
    }
    frame(None, EventView::from(&Event::Finished(Finished::failed(fault.clone()))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_end_inside_data_does_not_end_the_event() {
        assert_eq!(data_lines("{\"a\":\n1}"), "data: {\"a\":\ndata: 1}\n");
        let note = Event::Progress { done: None, total: None, note: Some("a\n\nid: 9".into()) };
        let text = String::from_utf8(frame(Some(3), EventView::from(&note)).to_vec()).expect("UTF-8");
        assert_eq!(text, "event: progress\nid: 3\ndata: {\"note\":\"a\\n\\nid: 9\"}\n\n");
    }

    #[test]
    fn accept_is_read_as_a_list() {
        let mut headers = HeaderMap::new();
        assert!(!wanted(&headers));
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, Text/Event-Stream;q=0.5"));
        assert!(wanted(&headers));
    }
}
