//! Requests and queries: calls through the hub's door, answered as a response of whoever was called.

use interlingua_core::bus::{Kind, Message, said};
use interlingua_core::{
    Ask, Body, Call, Delivery, Event, Fault, FaultKind, Finished, Inbound, Input, Json, Missing, OnDisconnect, Outcome,
    Part, PeerId, Provenance, Request, SkillId, Target, TaskId, Wire, collect,
};
use serde_json::{Value, json};

use super::super::PROTOCOL;
use super::super::decode::{ANSWERABLE, hop_of, wrong};
use super::post::{Post, failed, no_such_agent};
use crate::api::view::{MessageView, QuestionView};
use crate::hub::policy::Action;
use crate::hub::{Running, Settled};

/// How an exchange ended for whoever waits for it.
struct Heard {
    by: Option<PeerId>,
    content: Json,
    task: Option<TaskId>,
}

impl Post {
    pub(super) async fn call(&self, message: Message) -> Result<MessageView, Fault> {
        let (from, id, to) = (message.from.to_string(), message.id.to_string(), message.to.clone());
        let level = interlingua_protocols::a2a::ext::level(message.priority);
        let call = self.called(message)?;
        let heard = listen(self.open(call).await?).await?;
        let by = heard.by.or(to).map_or_else(|| "hub".to_owned(), |peer| peer.to_string());
        let mut response = self.response(&by, Some(from), Some(id), &heard.content);
        response.priority = Some(level);
        response.metadata = heard.task.map(|task| json!({"task": task.to_string()}).into());
        Ok(response)
    }

    /// A call that nobody waits for; its task.
    pub(super) async fn start(&self, message: Message) -> Result<TaskId, Fault> {
        let mut call = self.called(message)?;
        call.caller.delivery = Delivery::Receipt;
        (call.limits.on_disconnect, call.limits.keep) = (OnDisconnect::Detach, true);
        let mut running = self.open(call).await?;
        let task = running.keep().await?;
        running.told();
        Ok(task)
    }

    async fn open(&self, call: Call) -> Result<Running, Fault> {
        let inbound = Inbound::Call(Box::new(call));
        self.shared.hub.open(Request { by: self.by.clone(), connection: self.connection, inbound }).await
    }

    fn called(&self, message: Message) -> Result<Call, Fault> {
        let (target, input) = self.asked(&message)?;
        // One message may go to several: each is a call of its own.
        let to = message.to.as_ref().map(PeerId::as_str).unwrap_or_default();
        let origin = said::origin(Wire(PROTOCOL.into()));
        let mut call = Call::new(format!("{to}/{}", message.id), origin, Ask::Invoke { target, input });
        let hop = hop_of(&self.headers).decode(self.shared.hub.now());
        hop.map_err(|bad| Fault::caller(FaultKind::InvalidInput, bad.to_string()))?.apply(&mut call);
        // A query leaves nothing behind: sent again, it is asked again.
        call.id_given = message.kind != Kind::Query;
        said::mark(&mut call, &message);
        call.limits.priority = message.priority;
        call.caller.can_answer = ANSWERABLE;
        call.caller.missing = Missing::Refuse;
        Ok(call)
    }

    /// A skill by its name; without one whoever offers it, or an agent in words.
    fn asked(&self, message: &Message) -> Result<(Target, Input), Fault> {
        let content = message.content.clone();
        match (&message.to, &message.skill) {
            (Some(to), Some(skill)) => {
                if !self.sees(to) {
                    return Err(no_such_agent(to));
                }
                Ok((Target::Skill(SkillId::new(to.clone(), skill.clone()), None), Input::args(content)))
            }
            (None, Some(skill)) => Ok((Target::Capability(skill.0.clone()), Input::args(content))),
            (Some(to), None) => Ok((Target::Peer(to.clone()), in_words(&content))),
            (None, None) => Err(wrong("/to_agent", "or a capability is needed")),
        }
    }

    pub(super) fn sees(&self, peer: &PeerId) -> bool {
        let hub = &self.shared.hub;
        let (catalogue, policy, now) = (hub.registry.catalogue(), hub.policy.load(), hub.now());
        hub.bus.speaks_for(&self.by, peer.as_str())
            || catalogue.peers.get(peer).is_some_and(|peer| {
                peer.card.skills.iter().any(|skill| policy.allows(&self.by, Action::List, skill, now))
            })
    }
}

/// The text of a content that is only text; else the content itself, as data.
fn in_words(content: &Json) -> Input {
    match content.get("text").and_then(Value::as_str) {
        Some(text) => Input::text(text),
        None => Input::parts(vec![Part::new(Body::Data(content.clone()), Provenance::caller())]),
    }
}

/// Reads an exchange to its end or its first question.
async fn listen(mut running: Running) -> Result<Heard, Fault> {
    let (mut by, mut said) = (None, Vec::new());
    let settled = running.settle(|event| match event {
        Event::Started(route) => by = Some(route.skill.peer.clone()),
        Event::Said { .. } => said.push(event.clone()),
        Event::Progress { .. } | Event::Artifact(_) | Event::Asked(_) | Event::Settled { .. } | Event::Finished(_) => {}
    });
    let content = match settled.await? {
        Settled::Asked(question) => {
            let question = serde_json::to_value(QuestionView::from(&*question)).map_err(Fault::internal)?;
            json!({"status": "pending", "question": question}).into()
        }
        Settled::Finished(finished) => outcome(&finished, collect(&finished, &said)),
    };
    Ok(Heard { by, content, task: running.is_kept().then(|| running.id()) })
}

fn outcome(finished: &Finished, parts: Vec<Part>) -> Json {
    match &finished.outcome {
        Outcome::Failed(fault) => failed(fault),
        Outcome::Cancelled { why, .. } => {
            json!({"status": "error", "error": format!("cancelled: {}", why.as_str()), "kind": "cancelled"}).into()
        }
        Outcome::Completed => json!({"status": "success", "result": result(finished, parts)}).into(),
    }
}

/// What was said as data, where that is all; else what obeys the skill's schema; else the words.
fn result(finished: &Finished, mut parts: Vec<Part>) -> Value {
    if let [Part { body: Body::Data(data), .. }] = parts.as_slice() {
        return data.tree().clone();
    }
    if let Some(structured) = &finished.output.structured {
        return structured.tree().clone();
    }
    let texts: Option<Vec<&str>> = parts.iter().map(Part::as_text).collect();
    if let Some(texts) = texts {
        return Value::String(texts.join("\n"));
    }
    let views = parts.drain(..).map(|part| crate::api::view::PartView::from(&part));
    serde_json::to_value(views.collect::<Vec<_>>()).unwrap_or_default()
}
