//! An answer as server-sent events: items as they come, with a comment at intervals while there are none. The answer of several sites has
//! the items of each as that site sends them.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use crate::encode::{Envelope, Frame, Several, Stand, Streamed, Telling, encode};
use crate::{Asked, Dialect};
use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures_util::future::select_all;
use futures_util::stream::unfold;
use http::HeaderValue;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName};
use interlingua_model::{
    Carried, Entry, Event, Fault, FaultKind, Finished, Loss, Principal, Question, Record, SkillId, Text, Transcript,
};

use super::pending::{Pending, waits};
use super::summing::words;
use interlingua_endpoint::content;
use interlingua_hub::audit::losses::LossContext;
use interlingua_hub::{Hub, Running};

/// How long nothing may be sent.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
const COMMENT: Bytes = Bytes::from_static(b": keepalive\n\n");

/// The events of an exchange. Whoever leaves it before its end leaves the exchange.
pub(super) fn of(running: Running, envelope: Envelope, wanted: Wanted) -> Response {
    begun(vec![One::new("".into(), running)], Streamed::new(envelope), wanted)
}

/// Those of several, as one.
pub(super) fn of_several(
    running: Vec<(Text, Running)>,
    several: Several,
    envelope: Envelope,
    wanted: Wanted,
) -> Response {
    let going = running.into_iter().map(|(site, running)| One::new(site, running)).collect();
    begun(going, Streamed::of_several(envelope, several), wanted)
}

fn begun(going: Vec<One>, answer: Streamed, wanted: Wanted) -> Response {
    let waiting = answer.begin().iter().map(written).collect();
    respond(Answering { going, answer, waiting, wanted: Some(wanted) })
}

/// An answer that is known already.
pub(super) fn known(envelope: Envelope, stand: &Stand<'_>) -> Response {
    let answer = Streamed::new(envelope);
    let frames = answer.begin().into_iter().chain(answer.end(stand));
    let waiting = frames.map(|frame| written(&frame)).collect();
    respond(Answering { going: Vec::new(), answer, waiting, wanted: None })
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
    /// Which of several it is.
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
    answer: Streamed,
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
                Ok(Some(entry)) => self.hear(at, &entry).await,
                Ok(None) => self.fails(at, Fault::shutting_down()).await,
                Err(fault) => self.fails(at, fault).await,
            }
        }
    }

    async fn hear(&mut self, at: usize, entry: &Entry) {
        let Record::Emitted { event, losses, .. } = &entry.record else { return };
        if let Err(fault) = self.going[at].transcript.push(&entry.record) {
            self.answer.lost(losses);
            return self.fails(at, fault).await;
        }
        match event {
            Event::Finished(finished) => {
                self.answer.lost(losses);
                self.finished(at, entry, finished).await;
            }
            Event::Asked(question) => {
                self.tell(at, entry);
                self.asked(at, question).await;
            }
            Event::Started(_)
            | Event::Said { .. }
            | Event::Artifact(_)
            | Event::Progress { .. }
            | Event::Step(_)
            | Event::Settled { .. } => drop(self.tell(at, entry)),
        }
    }

    /// What this one says goes out. What is lost here is left to its caller to write down.
    fn tell(&mut self, at: usize, entry: &Entry) -> Vec<Loss> {
        let Carried { value: frames, losses } =
            encode(entry, &mut Telling { answer: &mut self.answer, site: &self.going[at].site });
        self.waiting.extend(frames.into_iter().map(|frame| written(&frame)));
        losses
    }

    /// It was told, if its caller can answer it. One that is for others is a promise, and one of several is a failure.
    async fn asked(&mut self, at: usize, question: &Question) {
        if self.answer.is_of_several() {
            let text = waits(question).unwrap_or(question.text.clone());
            return self.fails(at, Fault::caller(FaultKind::Unanswered, text)).await;
        }
        if let (Some(note), Some(wanted)) = (waits(question), &self.wanted) {
            let Wanted { hub, by, asked, .. } = wanted;
            let pending = Pending::of(hub, by, &mut self.going[at].running, asked, note).await;
            return self.end(&pending.stand());
        }
        self.going.clear();
    }

    /// The end of one, as all that it said, with addresses at which it can be fetched, and with the words that were asked for.
    async fn finished(&mut self, at: usize, entry: &Entry, finished: &Finished) {
        let transcript = &mut self.going[at].transcript;
        let mut finished = transcript.whole(finished);
        transcript.drop_held(&mut finished.output);
        if let Some(Wanted { hub, by, base, .. }) = &self.wanted {
            content::link(hub, by, base, &mut finished.output.parts);
        }
        if !self.answer.is_of_several() {
            self.word(&finished).await;
        }
        let record = Record::emitted(Event::Finished(finished));
        let lost = self.tell(at, &Entry { seq: entry.seq, at: entry.at, record });
        let one = self.going.remove(at);
        if let Some(wanted) = &self.wanted {
            wanted.note(&one, self.answer.envelope.dialect, &lost);
        }
        self.end_of_all().await;
    }

    async fn word(&mut self, finished: &Finished) {
        if let Some(Wanted { hub, asked, .. }) = &self.wanted {
            let envelope = &mut self.answer.envelope;
            envelope.words = words(hub, asked.modes, &asked.text, &envelope.site, finished).await;
        }
    }

    /// Nothing more comes of this one.
    async fn fails(&mut self, at: usize, fault: Fault) {
        if !self.answer.is_of_several() {
            return self.end(&Stand::Refused(&fault));
        }
        self.answer.fail(fault);
        self.going.remove(at);
        self.end_of_all().await;
    }

    /// What all of several have said, once the last one has.
    async fn end_of_all(&mut self) {
        if !self.going.is_empty() {
            return;
        }
        match self.answer.merged() {
            None => {}
            Some(Err(fault)) => self.end(&Stand::Refused(&fault)),
            Some(Ok(Carried { value: finished, losses })) => {
                self.answer.envelope.losses.extend(losses);
                self.word(&finished).await;
                self.end(&Stand::Finished(&finished));
            }
        }
    }

    fn end(&mut self, stand: &Stand<'_>) {
        self.waiting.extend(self.answer.end(stand).iter().map(written));
        self.going.clear();
    }
}

impl Wanted {
    /// Writes down what has no place in the answer.
    fn note(&self, one: &One, dialect: Dialect, lost: &[Loss]) {
        let (of, wire, skill) = (one.running.named(), dialect.wire(), one.skill());
        self.hub.lost(&LossContext { by: &self.by, of, wire, skill }, lost);
    }
}

/// JSON as it is written here has no line ends.
fn written(frame: &Frame) -> Bytes {
    let name = frame.name.map(|name| format!("event: {name}\n")).unwrap_or_default();
    format!("{name}data: {}\n\n", frame.data).into()
}
