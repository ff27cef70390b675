//! Player of a script, step by step.

use std::collections::{HashMap, VecDeque};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use interlingua_model::peer::Duplex;
use interlingua_model::{
    Addressee, Answer, ArtifactId, Blob, Body, Call, CancelWhy, Channel, Chunk, Event, Fault, FaultKind, Finished,
    MessageId, Output, Part, Party, PeerId, Piece, Provenance, Question, QuestionId, QuestionKind, Record, Schema,
    Signal, TaskId, Time,
};
use serde_json::json;
use tokio::time::Sleep;

use super::file::{Artifact, Content, Script, Step};
use interlingua_hub::clock::Clock;
use interlingua_hub::{Settings, entropy};

pub(super) struct Playing {
    peer: PeerId,
    script: Arc<Script>,
    wire: Option<String>,
    steps: VecDeque<Step>,
    /// How many pieces of an artifact were told since it was begun.
    pieces: HashMap<String, u32>,
    pause: Option<Pin<Box<Sleep>>>,
    /// Until an answer comes.
    waits: bool,
    waker: Option<Waker>,
    over: bool,
}

impl Playing {
    pub(super) fn begin(peer: &PeerId, script: Arc<Script>, call: &Call) -> Playing {
        let wire = call.origin.wire().map(|wire| wire.0.to_string());
        let text = call.input().map(|input| input.words().into_owned()).unwrap_or_default();
        let steps = script.scene(call.id.as_str(), &text, wire.as_deref()).into();
        Playing {
            peer: peer.clone(),
            script,
            wire,
            steps,
            pieces: HashMap::new(),
            pause: None,
            waits: false,
            waker: None,
            over: false,
        }
    }

    fn finish(&mut self, finished: Finished) -> Event {
        self.over = true;
        Event::Finished(finished)
    }

    fn failed(&mut self, kind: FaultKind, text: &str) -> Event {
        let fault = Fault::new(kind, Party::Peer(self.peer.clone()), text);
        self.finish(Finished::failed(fault))
    }

    fn part(&self, content: &Content) -> Part {
        let body = match content {
            Content { text: Some(text), .. } => Body::Text { text: text.as_str().into(), language: None },
            Content { data: Some(data), .. } => Body::Data(data.clone().into()),
            Content { bytes: Some(bytes), .. } => Body::Blob(Blob::Inline(bytes.clone().into_bytes().into())),
            _ => Body::Link,
        };
        let mut part = Part::new(body, Provenance::peer(self.peer.clone()));
        part.uri = content.url.as_deref().map(Into::into);
        part.name = content.name.as_deref().map(Into::into);
        part.media = content.media.as_deref().map(Into::into);
        part
    }

    fn chunk(&mut self, artifact: &Artifact) -> Event {
        let told = self.pieces.entry(artifact.id.clone()).or_default();
        let index = *told;
        *told = if artifact.last { 0 } else { index + 1 };
        let (artifact_id, parts) = (ArtifactId::from(artifact.id.as_str()), vec![self.part(&artifact.part)]);
        Event::Artifact(Chunk { artifact: artifact_id, index, last: artifact.last, parts, header: None })
    }

    fn question(&mut self, text: &str) -> Event {
        self.waits = true;
        let text_field = json!({"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]});
        let form = Schema(text_field.into());
        Event::Asked(Question {
            // The task numbers its questions itself.
            id: QuestionId(TaskId(0), 0),
            to: Addressee::Caller,
            kind: QuestionKind::Input { form, choices: Vec::new() },
            text: text.into(),
            asked_by: Party::Peer(self.peer.clone()),
            expires: expires(),
            resume: None,
            name: None,
        })
    }

    fn step(&mut self, step: &Step) -> Option<Event> {
        Some(match step {
            Step::Pause(_) => {
                self.pause = step.pause().map(|span| Box::pin(tokio::time::sleep(span)));
                return None;
            }
            Step::Work(note) => {
                let note = (!note.is_empty()).then(|| note.as_str().into());
                Event::Progress { done: None, total: None, note }
            }
            Step::Say(text) => Event::Said {
                message: entropy::message_id(),
                channel: Channel::Answer,
                piece: Piece::Whole,
                parts: vec![Part::text(text.as_str(), Provenance::peer(self.peer.clone()))],
            },
            Step::Artifact(artifact) => self.chunk(artifact),
            Step::Ask(text) => self.question(text),
            Step::Answer(content) => {
                let output = Output { parts: vec![self.part(content)], ..Output::default() };
                self.finish(Finished::completed(output))
            }
            Step::Reject(text) => self.failed(FaultKind::PeerDeclined, text),
            Step::Fail(text) => self.failed(FaultKind::PeerFailed, text),
        })
    }

    fn answered(&mut self, message: &MessageId, answer: &Answer) {
        self.waits = false;
        if self.steps.is_empty() {
            let text = match answer {
                Answer::Given(input) => input.words().into_owned(),
                Answer::Granted | Answer::Token(_) | Answer::Visited | Answer::Declined | Answer::Dismissed => {
                    String::new()
                }
            };
            self.steps = self.script.scene(message.as_str(), &text, self.wire.as_deref()).into();
        }
    }
}

/// Scripts are for demonstrations: what they ask waits as long as questions do by default.
fn expires() -> Time {
    Clock::start().now().after(Settings::default().question)
}

impl Duplex for Playing {
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Record>> {
        loop {
            if self.over {
                return Poll::Ready(None);
            }
            if let Some(pause) = &mut self.pause {
                if pause.as_mut().poll(cx).is_pending() {
                    self.waker = Some(cx.waker().clone());
                    return Poll::Pending;
                }
                self.pause = None;
            }
            if self.waits {
                self.waker = Some(cx.waker().clone());
                return Poll::Pending;
            }
            let event = match self.steps.pop_front() {
                Some(step) => self.step(&step),
                None => Some(self.finish(Finished::completed(Output::default()))),
            };
            if let Some(event) = event {
                return Poll::Ready(Some(Record::emitted(event)));
            }
        }
    }

    fn signal(&mut self, signal: Signal) -> Result<(), Fault> {
        match signal {
            Signal::Answered { message, answer, .. } => self.answered(&message, &answer),
            // It has its lines.
            Signal::Said { .. } => {}
            Signal::Cancel(why) => self.cancel(why),
        }
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
        Ok(())
    }
}

impl Playing {
    fn cancel(&mut self, _: CancelWhy) {
        // The hub ends what it cancelled when the peer is gone.
        self.over = true;
    }
}
