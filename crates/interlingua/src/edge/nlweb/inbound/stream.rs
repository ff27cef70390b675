//! An answer as server-sent events, with a comment now and then while nothing is known.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream::unfold;
use http::HeaderValue;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName};
use interlingua_core::{Event, Fault, FaultKind, Loss, Principal, Record};
use interlingua_protocols::nlweb::Asked;
use interlingua_protocols::nlweb::encode::{self, Envelope, Frame, Stand};

use super::ask::went;
use super::summing::worded;
use crate::hub::audit::lost::{Leg, Named};
use crate::hub::{Hub, Running};

/// How long nothing may be sent.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
const COMMENT: Bytes = Bytes::from_static(b": keepalive\n\n");

/// The events of an exchange. Whoever leaves it before its end leaves the exchange.
pub(super) fn of(running: Running, envelope: Envelope, wanted: Wanted) -> Response {
    let waiting = encode::begin(&envelope).iter().map(written).collect();
    respond(Telling { running: Some(running), envelope, waiting, said: Vec::new(), wanted: Some(wanted) })
}

/// An answer that is known already.
pub(super) fn known(envelope: &Envelope, stand: &Stand<'_>) -> Response {
    let frames = encode::begin(envelope).into_iter().chain(encode::end(envelope, stand));
    let waiting = frames.map(|frame| written(&frame)).collect();
    respond(Telling { running: None, envelope: envelope.clone(), waiting, said: Vec::new(), wanted: None })
}

fn respond(telling: Telling) -> Response {
    let frames = unfold(telling, |mut telling| async move {
        let frame = telling.next().await?;
        Some((Ok::<Bytes, Infallible>(frame), telling))
    });
    let mut response = Response::new(Body::from_stream(frames));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    response
}

/// What was asked, of whom, by whom.
pub(super) struct Wanted {
    pub(super) hub: Arc<Hub>,
    pub(super) by: Principal,
    pub(super) asked: Asked,
}

impl Wanted {
    /// Writes down what has no place in the answer.
    fn note(&self, of: Named, envelope: &Envelope, losses: &[Loss]) {
        let skill = envelope.route.as_ref().map(|route| &route.skill);
        self.hub.lost(&Leg { by: &self.by, of, wire: envelope.dialect.wire(), skill }, losses);
    }
}

struct Telling {
    /// Gone once it has ended or asked.
    running: Option<Running>,
    envelope: Envelope,
    waiting: VecDeque<Bytes>,
    said: Vec<Event>,
    wanted: Option<Wanted>,
}

impl Telling {
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(frame) = self.waiting.pop_front() {
                return Some(frame);
            }
            let running = self.running.as_mut()?;
            match tokio::time::timeout(KEEP_ALIVE, running.next()).await {
                Err(_) => return Some(COMMENT),
                Ok(Ok(Some(entry))) => self.hear(&entry.record).await,
                Ok(Ok(None)) => {
                    let fault = Fault::hub(FaultKind::Unreachable, "the hub is shutting down");
                    self.end(&Stand::Refused(&fault));
                }
                Ok(Err(fault)) => self.end(&Stand::Refused(&fault)),
            }
        }
    }

    async fn hear(&mut self, record: &Record) {
        let Record::Emitted { event, losses, .. } = record else { return };
        self.envelope.losses.extend(losses.iter().cloned());
        match event {
            Event::Finished(finished) => {
                let mut finished = finished.clone();
                finished.output.parts = interlingua_core::collect(&finished, &self.said);
                let lost = encode::lost(&finished.output);
                let of = self.running.as_ref().map(Running::named);
                if let (Some(wanted), Some(of)) = (&self.wanted, of) {
                    wanted.note(of, &self.envelope, &lost);
                    let Wanted { hub, asked, .. } = wanted;
                    finished = worded(hub, asked.modes, &asked.text, &self.envelope.site, finished).await;
                }
                self.envelope.losses.extend(lost);
                self.end(&Stand::Finished(&finished));
            }
            Event::Asked(question) => self.end(&Stand::Asked(question)),
            Event::Progress { note: Some(note), .. } => {
                self.waiting.extend(encode::progress(&self.envelope, note).as_ref().map(written));
            }
            Event::Started(route) => went(&mut self.envelope, route),
            Event::Said { .. } | Event::Artifact(_) => self.said.push(event.clone()),
            Event::Progress { .. } | Event::Settled { .. } => {}
        }
    }

    fn end(&mut self, stand: &Stand<'_>) {
        self.waiting.extend(encode::end(&self.envelope, stand).iter().map(written));
        self.running = None;
    }
}

/// JSON as it is written here has no line ends.
fn written(frame: &Frame) -> Bytes {
    let name = frame.name.map(|name| format!("event: {name}\n")).unwrap_or_default();
    format!("{name}data: {}\n\n", frame.data).into()
}
