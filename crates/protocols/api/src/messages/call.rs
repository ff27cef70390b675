//! Requests and queries between agents: calls through the hub, answered as a response of the agent that was called.

use interlingua_machines::bus::{Kind, Message, said};
use interlingua_model::json::object;
use interlingua_model::{
    Ask, Body, Call, Fault, FaultKind, Finished, Input, Json, Loss, Missing, OnDisconnect, Outcome, Part, PeerId,
    Provenance, Request, SkillId, Target, TaskId, Transcript, Wire,
};
use serde_json::{Value, json};

use super::super::PROTOCOL;
use super::super::decode::{ANSWERABLE, hop_of, wrong};
use super::super::links::Links;
use super::post::{Post, failed, no_such_agent};
use crate::view::{LossView, MessageView, QuestionView};
use interlingua_hub::{Running, Settled};

/// How an exchange ended for whoever waits for it.
struct Heard {
    by: Option<PeerId>,
    content: Json,
    task: Option<TaskId>,
    losses: Vec<Loss>,
    /// By their ids.
    artifacts: Vec<String>,
}

impl Heard {
    /// What is told beside the content: the task, where it is kept, its artifacts, and what could not be carried.
    fn metadata(&self) -> Option<Json> {
        let mut told = serde_json::Map::new();
        if let Some(task) = self.task {
            told.insert("task".into(), task.to_string().into());
        }
        if !self.artifacts.is_empty() {
            told.insert("artifacts".into(), self.artifacts.clone().into());
        }
        if !self.losses.is_empty() {
            let views: Vec<LossView> = self.losses.iter().map(LossView::from).collect();
            told.insert("losses".into(), serde_json::to_value(views).unwrap_or_default());
        }
        (!told.is_empty()).then(|| Json::from_tree(Value::Object(told)))
    }
}

impl Post {
    pub(super) async fn call(&self, message: Message) -> Result<MessageView, Fault> {
        let (from, id, to) = (message.from.to_string(), message.id.to_string(), message.to.clone());
        let level = interlingua_machines::bus::priority::level(message.priority);
        let call = self.called(message)?;
        let heard = listen(self.open(call).await?, &self.links).await?;
        let metadata = heard.metadata();
        let by = heard.by.or(to).map_or_else(|| "hub".to_owned(), |peer| peer.to_string());
        let mut response = self.response(&by, Some(from), Some(id), &heard.content);
        response.priority = Some(level);
        response.metadata = metadata;
        Ok(response)
    }

    /// A call that nobody waits for; its task.
    pub(super) async fn start(&self, message: Message) -> Result<TaskId, Fault> {
        let mut call = self.called(message)?;
        (call.limits.on_disconnect, call.limits.keep) = (OnDisconnect::Detach, true);
        let mut running = self.open(call).await?;
        let task = running.keep().await?;
        running.told();
        Ok(task)
    }

    async fn open(&self, call: Call) -> Result<Running, Fault> {
        let call = Box::new(call);
        self.shared.hub.open(Request { by: self.by.clone(), connection: self.connection, call }).await
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
            (Some(to), None) => Ok((Target::Peer(to.clone()), said::input(&content))),
            (None, None) => Err(wrong("/to_agent", "or a capability is needed")),
        }
    }

    pub(super) fn sees(&self, peer: &PeerId) -> bool {
        let hub = &self.shared.hub;
        hub.bus().speaks_for(&self.by, peer.as_str()) || hub.visible(&self.by).has_peer(peer)
    }
}

/// Reads an exchange to its end or its first question.
async fn listen(mut running: Running, links: &Links) -> Result<Heard, Fault> {
    let (mut transcript, mut artifacts) = (Transcript::default(), Vec::new());
    let content = match running.settle(&mut transcript).await? {
        Settled::Asked(question) => {
            let question = Json::of(&QuestionView::from(&*question)).map_err(Fault::internal)?;
            object([("status", "pending".into()), ("question", question.tree().clone())]).into()
        }
        Settled::Finished(finished) => {
            artifacts.extend(finished.output.artifacts.iter().map(ToString::to_string));
            outcome(&finished, links)
        }
    };
    let Transcript { route, losses, .. } = transcript;
    let by = route.map(|route| route.skill.peer);
    Ok(Heard { by, content, task: running.is_kept().then(|| running.id()), losses, artifacts })
}

fn outcome(finished: &Finished, links: &Links) -> Json {
    match &finished.outcome {
        Outcome::Failed(fault) => failed(fault),
        Outcome::Cancelled { why, .. } => {
            json!({"status": "error", "error": format!("cancelled: {}", why.as_str()), "kind": "cancelled"}).into()
        }
        Outcome::Completed => object([("status", "success".into()), ("result", result(finished, links))]).into(),
    }
}

/// What was said as data, where that is all; else what obeys the skill's schema; else the words. Files, links and whatever else
/// stands among the parts, or has a name, is told as a list of all parts.
fn result(finished: &Finished, links: &Links) -> Value {
    let (parts, structured) = (&*finished.output.parts, finished.output.structured.as_ref());
    if !parts.iter().all(is_plain) {
        let told = |value: &Json| parts.iter().any(|part| part.as_data() == Some(value));
        let more = structured.filter(|value| !told(value));
        let more = more.map(|value| Part::new(Body::Data(value.clone()), Provenance::hub()));
        return all(parts.iter().chain(&more), links);
    }
    if let [Part { body: Body::Data(data), .. }] = parts {
        return data.tree().clone();
    }
    if let Some(structured) = structured {
        return structured.tree().clone();
    }
    let texts: Option<Vec<&str>> = parts.iter().map(Part::as_text).collect();
    if let Some(texts) = texts {
        return Value::String(texts.join("\n"));
    }
    all(parts.iter(), links)
}

/// The list of these parts.
fn all<'a>(parts: impl Iterator<Item = &'a Part>, links: &Links) -> Value {
    let views: Vec<_> = parts.map(|part| links.of(part)).collect();
    Json::of(&views).map(|list| list.tree().clone()).unwrap_or_default()
}

/// Text or data that nobody named.
fn is_plain(part: &Part) -> bool {
    let is_named = part.name.is_some() || part.label.is_some() || part.uri.is_some();
    matches!(part.body, Body::Text { .. } | Body::Data(_)) && !is_named
}
