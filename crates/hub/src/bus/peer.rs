//! An agent with an inbox, as a peer: a call waits in the inbox until the agent has answered.
//!
//! The agent sees a request whose id names the exchange; it may report progress and share artifacts under that id before it responds. After
//! a crash of the hub the request is still pending, or its answer is stored: the exchange is resumed.

use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use interlingua_machines::bus::{Kind, Message, Said, shorthand};
use interlingua_model::peer::{Calling, Dispatch, Duplex, Peer, Reply};
use interlingua_model::{
    ArtifactId, Ask, Body, Call, Chunk, Event, Fault, FaultKind, Feature, Finished, Json, MessageId, Meta, Output,
    Part, Party, PeerId, Provenance, Record, Schema, Secret, Sent, Signal,
};
use serde_json::{Map, Value};
use tokio::sync::mpsc;

use super::inbox::{Handle, Heard};
use crate::Hub;

/// A request that nobody can cancel any more is forgotten this long after its deadline.
const GRACE: Duration = Duration::from_secs(60);

#[derive(Debug)]
pub(super) struct Fetching {
    name: PeerId,
    inbox: Handle,
    hub: Weak<Hub>,
}

impl Fetching {
    pub(super) fn new(name: PeerId, inbox: Handle, hub: &Arc<Hub>) -> Fetching {
        Fetching { name, inbox, hub: Arc::downgrade(hub) }
    }
}

impl Peer for Fetching {
    fn call(self: Arc<Self>, dispatch: Dispatch) -> Calling {
        Box::pin(async move {
            let hub = self.hub.upgrade().ok_or_else(Fault::shutting_down)?;
            let id = MessageId::from(dispatch.task.to_string());
            let (learnt, told) = match &dispatch.remote {
                Some(_) => match self.inbox.attach(id.clone()).await? {
                    Some(told) => (None, AnswerFeed::Heard(told)),
                    None => return Ok(Reply::Done(Box::new(Finished::failed(unknown(&self.name))), None)),
                },
                None => {
                    let deadline = dispatch.call.limits.deadline.map_or(hub.now(), |deadline| deadline.at);
                    let message = request(&self.name, id.clone(), &dispatch, &hub);
                    let (inbox, until) = (self.inbox.clone(), deadline.after(GRACE));
                    let asking = Box::pin(async move { inbox.ask(message, until).await });
                    let learnt = Sent::learnt(dispatch.key.clone(), Some(Secret::new(id.as_str())), true);
                    (Some(learnt), AnswerFeed::Asking(asking))
                }
            };
            let waits = Waits {
                agent: self.clone(),
                hub,
                id,
                output: dispatch.skill.output.clone(),
                told,
                learnt,
                shared: 0,
                over: false,
                waker: None,
            };
            Ok(Reply::Live(Box::new(waits)))
        })
    }
}

fn unknown(agent: &PeerId) -> Fault {
    let text = format!("agent '{agent}' knows nothing of this request any more");
    Fault::new(FaultKind::OutcomeUnknown, Party::Peer(agent.clone()), text)
}

/// The message an agent finds.
fn request(to: &PeerId, id: MessageId, dispatch: &Dispatch, hub: &Hub) -> Message {
    let call = &dispatch.call;
    let (said, owner) = (Said::of(call), dispatch.by.owner());
    Message {
        id,
        kind: said.map_or(Kind::Request, |said| said.kind),
        from: said.map_or_else(|| PeerId::from(owner.to_string()), |said| PeerId::from(said.from)),
        to: Some(to.clone()),
        topic: None,
        skill: Some(dispatch.skill.id.skill.clone()),
        content: content(call),
        correlation: said.map(|said| said.id.into()).or_else(|| call.id_given.then(|| call.id.0.clone())),
        priority: call.limits.priority,
        at: hub.now(),
        meta: Meta(said.and_then(|said| said.metadata).cloned().map(Json::from)),
        by: owner,
        readers: Vec::new(),
        sender: None,
    }
}

/// The arguments; else what was said, in words and in data.
fn content(call: &Call) -> Json {
    let Ask::Invoke { input, .. } = &call.ask else { return Json::empty_object() };
    if let Some(args) = input.args.as_ref().filter(|args| args.is_object()) {
        return args.clone();
    }
    let mut content = Map::new();
    let words = input.words();
    if !words.is_empty() {
        content.insert("text".into(), Value::String(words.into_owned()));
    }
    let data: Vec<Value> = input.parts.iter().filter_map(Part::as_data).map(|data| data.tree().clone()).collect();
    if !data.is_empty() {
        content.insert("data".into(), Value::Array(data));
    }
    Json::from_tree(Value::Object(content))
}

/// What is heard of a request.
enum AnswerFeed {
    /// It is being put into the inbox. Before that the exchange has learnt its name, so that after a crash it finds what waits
    /// there.
    Asking(Pin<Box<dyn Future<Output = Result<mpsc::Receiver<Heard>, Fault>> + Send>>),
    Heard(mpsc::Receiver<Heard>),
}

/// An exchange that waits for an agent.
struct Waits {
    agent: Arc<Fetching>,
    hub: Arc<Hub>,
    id: MessageId,
    output: Option<Schema>,
    told: AnswerFeed,
    learnt: Option<Sent>,
    /// How many artifacts were shared so far.
    shared: u32,
    over: bool,
    waker: Option<Waker>,
}

impl Waits {
    fn event(&mut self, message: Message) -> Event {
        let agent = &self.agent.name;
        match message.kind {
            Kind::Response | Kind::Request | Kind::Query => {
                self.over = true;
                Event::Finished(finished(agent, &message.content, self.output.as_ref()))
            }
            Kind::Event => progress(&message.content),
            Kind::Artifact => {
                self.shared += 1;
                let named = message.content.get("artifact_id").and_then(Value::as_str).map(str::to_owned);
                let artifact = ArtifactId::from(named.unwrap_or_else(|| format!("artifact-{}", self.shared)));
                let told = message.content.get("content").cloned().map_or(message.content.clone(), Json::from_tree);
                let mut part = Part::new(body(told), Provenance::peer(agent.clone()));
                part.name = message.content.get("name").and_then(Value::as_str).map(Into::into);
                Event::Artifact(Chunk { artifact, index: 0, last: true, parts: vec![part], header: None })
            }
        }
    }
}

impl Waits {
    fn wait(&mut self, cx: &Context<'_>) -> Poll<Option<Record>> {
        self.waker = Some(cx.waker().clone());
        Poll::Pending
    }

    /// No more events will come: the answer found no budget, or the agent or its request was removed.
    fn unheard(&mut self) -> Event {
        if let Some(answer) = self.agent.inbox.answer(&self.id) {
            return self.event(answer);
        }
        let text = format!("agent '{}' was unregistered, or did not answer in time", self.agent.name);
        let party = Party::Peer(self.agent.name.clone());
        Event::Finished(Finished::failed(Fault::new(FaultKind::OutcomeUnknown, party, text)))
    }
}

fn body(value: Json) -> Body {
    match value.tree().as_str() {
        Some(text) => Body::Text { text: text.into(), language: None },
        None => Body::Data(value),
    }
}

fn progress(content: &Json) -> Event {
    let number = |key: &str| content.get(key).and_then(Value::as_f64).filter(|number| number.is_finite());
    let note = ["note", "message", "text"].into_iter().find_map(|key| content.get(key)?.as_str());
    Event::Progress { done: number("done"), total: number("total"), note: note.map(Into::into) }
}

/// `{"status": "success", "result": …}` and `{"status": "error", "error": …}`; anything else is the result itself.
fn finished(agent: &PeerId, content: &Json, promised: Option<&Schema>) -> Finished {
    let status = content.get("status").and_then(Value::as_str);
    if status == Some("error") {
        let text = content.get("error").and_then(Value::as_str).unwrap_or("it failed").to_owned();
        return Finished::failed(Fault::new(FaultKind::PeerFailed, Party::Peer(agent.clone()), text));
    }
    let result = match (status, content.get("result")) {
        (Some("success"), Some(result)) => Json::from_tree(result.clone()),
        _ => content.clone(),
    };
    let part = Part::new(body(result.clone()), Provenance::peer(agent.clone()));
    let told = shorthand::result(&result, promised);
    // Words are words; everything else is data, and obeys the schema if there is one.
    let structured = (promised.is_some() || result.tree().as_str().is_none()).then_some(told);
    Finished::completed(Output { parts: vec![part], structured, ..Output::default() })
}

impl Duplex for Waits {
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Record>> {
        if let Some(learnt) = self.learnt.take() {
            return Poll::Ready(Some(Record::Sent(learnt)));
        }
        if self.over {
            return Poll::Ready(None);
        }
        let heard = match &mut self.told {
            AnswerFeed::Heard(told) => told,
            AnswerFeed::Asking(asking) => match asking.as_mut().poll(cx) {
                Poll::Pending => return self.wait(cx),
                Poll::Ready(Ok(told)) => {
                    self.told = AnswerFeed::Heard(told);
                    return self.poll_next(cx);
                }
                Poll::Ready(Err(fault)) => {
                    self.over = true;
                    return Poll::Ready(Some(Record::emitted(Event::Finished(Finished::failed(fault)))));
                }
            },
        };
        match heard.poll_recv(cx) {
            Poll::Pending => self.wait(cx),
            Poll::Ready(Some(heard)) => {
                let event = self.event(heard.message);
                Poll::Ready(Some(Record::emitted(event)))
            }
            Poll::Ready(None) => {
                let event = self.unheard();
                self.over = true;
                Poll::Ready(Some(Record::emitted(event)))
            }
        }
    }

    fn signal(&mut self, signal: Signal) -> Result<(), Fault> {
        match signal {
            Signal::Cancel(_) => {
                self.agent.inbox.withdraw(self.id.clone());
                self.over = true;
                if let Some(waker) = self.waker.take() {
                    waker.wake();
                }
                Ok(())
            }
            Signal::Answered { .. } | Signal::Said { .. } => {
                let kind = FaultKind::Unsupported(Feature::Operation);
                Err(Fault::caller(kind, "nothing can be added to a message that was sent"))
            }
        }
    }
}

impl Drop for Waits {
    fn drop(&mut self) {
        // When the hub stops the request stays: the exchange goes on after the next start.
        if !self.over && !self.hub.supervisor.stopping().is_cancelled() {
            self.agent.inbox.withdraw(self.id.clone());
        }
    }
}
