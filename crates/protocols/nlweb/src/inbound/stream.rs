//! An answer as server-sent events: items as they come, with a comment now and then while nothing is known. The answer of
//! several sites has the items of each as that site says them.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use crate::Asked;
use crate::encode::{self, Envelope, Frame, Stand, Telling};
use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures_util::future::select_all;
use futures_util::stream::unfold;
use http::HeaderValue;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName};
use interlingua_model::transcript::MAX_LOSSES;
use interlingua_model::{Entry, Event, Fault, FaultKind, Finished, Loss, Principal, Record, SkillId, Text, Transcript};

use super::ask::went;
use super::pending::{Pending, waits};
use super::several::Several;
use super::summing::worded;
use interlingua_endpoint::content;
use interlingua_hub::audit::losses::Leg;
use interlingua_hub::{Hub, Running};

/// How long nothing may be sent.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
const COMMENT: Bytes = Bytes::from_static(b": keepalive\n\n");

/// The events of an exchange. Whoever leaves it before its end leaves the exchange.
pub(super) fn of(running: Running, envelope: Envelope, wanted: Wanted) -> Response {
    let going = vec![One::new(envelope.site.clone(), running)];
    let waiting = Telling::begin(&envelope).iter().map(written).collect();
    respond(Answering { going, several: None, envelope, telling: Telling::default(), waiting, wanted: Some(wanted) })
}

/// Those of several, as one.
pub(super) fn of_several(
    running: Vec<(Text, Running)>,
    several: Several,
    envelope: Envelope,
    wanted: Wanted,
) -> Response {
    let going = running.into_iter().map(|(site, running)| One::new(site, running)).collect();
    let waiting = Telling::begin(&envelope).iter().map(written).collect();
    let telling = Telling::of_several();
    respond(Answering { going, several: Some(several), envelope, telling, waiting, wanted: Some(wanted) })
}

/// An answer that is known already.
pub(super) fn known(envelope: &Envelope, stand: &Stand<'_>) -> Response {
    let telling = Telling::default();
    let frames = Telling::begin(envelope).into_iter().chain(telling.end(envelope, stand));
    let waiting = frames.map(|frame| written(&frame)).collect();
    let (going, envelope) = (Vec::new(), envelope.clone());
    respond(Answering { going, several: None, envelope, telling, waiting, wanted: None })
}

fn respond(answering: Answering) -> Response {
    let frames = unfold(answering, |mut answering| async move {
        let frame = answering.next().await?;
        Some((Ok::<Bytes, Infallible>(frame), answering))
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
    /// The hub as its caller reaches it.
    pub(super) base: String,
    pub(super) asked: Asked,
}

/// One exchange that an answer waits for.
struct One {
    site: Text,
    running: Running,
    transcript: Transcript,
}

impl One {
    fn new(site: Text, running: Running) -> One {
        One { site, running, transcript: Transcript::default() }
    }

    fn skill(&self) -> Option<&SkillId> {
        self.transcript.route.as_ref().map(|route| &route.skill)
    }
}

struct Answering {
    /// Those that have neither ended nor asked.
    going: Vec<One>,
    /// What those have said that have ended, where several were asked.
    several: Option<Several>,
    envelope: Envelope,
    telling: Telling,
    waiting: VecDeque<Bytes>,
    wanted: Option<Wanted>,
}

/// Whichever says something first. Cancel safe, as its readers are.
async fn first(going: &mut [One]) -> (usize, Result<Option<Arc<Entry>>, Fault>) {
    let next = going.iter_mut().map(|one| Box::pin(one.running.next()));
    let (heard, at, _) = select_all(next).await;
    (at, heard)
}

impl Answering {
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(frame) = self.waiting.pop_front() {
                return Some(frame);
            }
            if self.going.is_empty() {
                return None;
            }
            let Ok((at, heard)) = tokio::time::timeout(KEEP_ALIVE, first(&mut self.going)).await else {
                return Some(COMMENT);
            };
            match heard {
                Ok(Some(entry)) => self.hear(at, &entry.record).await,
                Ok(None) => self.fails(at, Fault::shutting_down()).await,
                Err(fault) => self.fails(at, fault).await,
            }
        }
    }

    async fn hear(&mut self, at: usize, record: &Record) {
        let Record::Emitted { event, losses, .. } = record else { return };
        let room = MAX_LOSSES.saturating_sub(self.envelope.losses.len());
        self.envelope.losses.extend(losses.iter().take(room).cloned());
        if let Err(fault) = self.going[at].transcript.push(record) {
            return self.fails(at, fault).await;
        }
        match event {
            Event::Finished(finished) => self.finished(at, finished).await,
            Event::Asked(question) if self.several.is_some() => {
                let text = waits(question).unwrap_or(question.text.clone());
                self.fails(at, Fault::caller(FaultKind::Unanswered, text)).await;
            }
            Event::Asked(question) => match (waits(question), &self.wanted) {
                (Some(note), Some(wanted)) => {
                    let Wanted { hub, by, asked, .. } = wanted;
                    let pending = Pending::of(hub, by, &mut self.going[at].running, asked, note).await;
                    self.end(&pending.stand());
                }
                (_, _) => self.end(&Stand::Asked(question)),
            },
            Event::Progress { note: Some(note), .. } => {
                self.waiting.extend(Telling::progress(&self.envelope, note).as_ref().map(written));
            }
            Event::Step(step) => {
                let frame = step.note().and_then(|note| Telling::progress(&self.envelope, &note));
                self.waiting.extend(frame.as_ref().map(written));
            }
            Event::Started(route) => {
                if self.several.is_none() {
                    went(&mut self.envelope, route);
                    self.going[at].site = self.envelope.site.clone();
                }
            }
            Event::Said { .. } | Event::Artifact(_) => {
                let frames = self.telling.said(&self.envelope, event, &self.going[at].site);
                self.waiting.extend(frames.iter().map(written));
            }
            Event::Progress { .. } | Event::Settled { .. } => {}
        }
    }

    async fn finished(&mut self, at: usize, finished: &Finished) {
        let one = &mut self.going[at];
        let mut finished = one.transcript.whole(finished);
        let lost = match &self.wanted {
            None => Vec::new(),
            Some(wanted) => wanted.linked(one, &mut finished, &self.envelope),
        };
        let Some(several) = &mut self.several else {
            self.envelope.losses.extend(lost);
            return self.worded_end(finished).await;
        };
        let one = self.going.remove(at);
        let rows = several.take(&one.site, finished, lost);
        let frames = self.telling.rows(&self.envelope, rows, &one.site);
        self.waiting.extend(frames.iter().map(written));
        self.end_of_all().await;
    }

    /// Nothing more comes of this one.
    async fn fails(&mut self, at: usize, fault: Fault) {
        let Some(several) = &mut self.several else { return self.end(&Stand::Refused(&fault)) };
        several.fail(fault);
        self.going.remove(at);
        self.end_of_all().await;
    }

    /// What all of them have said, once the last one has.
    async fn end_of_all(&mut self) {
        if !self.going.is_empty() {
            return;
        }
        let Some(several) = self.several.take() else { return };
        match several.whole() {
            Err(fault) => self.end(&Stand::Refused(&fault)),
            Ok(whole) => {
                self.envelope.losses.extend(whole.losses);
                self.worded_end(whole.value).await;
            }
        }
    }

    async fn worded_end(&mut self, mut finished: Finished) {
        if let Some(Wanted { hub, asked, .. }) = &self.wanted {
            finished = worded(hub, asked.modes, &asked.text, &self.envelope.site, finished).await;
        }
        self.end(&Stand::Finished(&finished));
    }

    fn end(&mut self, stand: &Stand<'_>) {
        self.waiting.extend(self.telling.end(&self.envelope, stand).iter().map(written));
        self.going.clear();
    }
}

impl Wanted {
    /// Gives what was found the addresses at which it can be fetched, and writes down what has no place in the answer.
    fn linked(&self, one: &One, finished: &mut Finished, envelope: &Envelope) -> Vec<Loss> {
        content::link(&self.hub, &self.by, &self.base, &mut finished.output.parts);
        let lost = encode::lost(&finished.output);
        let (of, wire, skill) = (one.running.named(), envelope.dialect.wire(), one.skill());
        self.hub.lost(&Leg { by: &self.by, of, wire, skill }, &lost);
        lost
    }
}

/// JSON as it is written here has no line ends.
fn written(frame: &Frame) -> Bytes {
    let name = frame.name.map(|name| format!("event: {name}\n")).unwrap_or_default();
    format!("{name}data: {}\n\n", frame.data).into()
}
