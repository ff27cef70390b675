//! Routing of one message.

use std::sync::Arc;
use std::time::Duration;

use http::{HeaderMap, StatusCode};
use interlingua_machines::bus::message::MAX_CONTENT;
use interlingua_machines::bus::priority::priority;
use interlingua_machines::bus::{Kind, Message, Sender, said, topic};
use interlingua_model::{
    ArtifactId, Digest, Fault, FaultKind, Json, MessageId, Meta, Noun, PeerId, Principal, Priority, SkillName, Text,
    TopicId, Wire,
};
use serde_json::json;

use super::super::artifacts::{shared_by, view};
use super::super::decode::{fit, hop_of, wrong};
use super::super::links::Links;
use super::super::{Asker, PROTOCOL};
use crate::Endpoint;
use crate::view::{FaultView, MessageKind, MessageView, ShareRequest};
use interlingua_hub::bus::Agent;
use interlingua_hub::entropy;

/// How long a message that wants no answer waits for its agent.
const WAITS: Duration = Duration::from_secs(24 * 3600);
/// No id or name is longer.
const MAX_ID: usize = 255;

/// Whoever sends, and how they came.
#[derive(Clone)]
pub(super) struct Post {
    pub(super) shared: Arc<Endpoint>,
    pub(super) by: Principal,
    pub(super) connection: u64,
    pub(super) headers: Arc<HeaderMap>,
    /// Addresses that they can fetch.
    pub(super) links: Links,
}

impl Post {
    pub(super) fn new(shared: Arc<Endpoint>, asker: Asker, headers: HeaderMap) -> Post {
        let links = asker.links(&shared);
        Post { shared, by: asker.by, connection: asker.connection.id, headers: Arc::new(headers), links }
    }

    /// One of several: a refusal is its answer, and stops no other.
    pub(super) async fn answered(self, view: MessageView) -> MessageView {
        let (id, from, to) = (view.message_id.clone(), view.from_agent.clone(), view.to_agent.clone());
        match self.take(view).await {
            Ok((_, response)) => response,
            Err(fault) => {
                if fault.kind == FaultKind::Internal {
                    tracing::error!(event = "request_failed", protocol = "api", error = %fault, cause = ?fault.source, "a message failed inside the hub");
                }
                let mut response = self.response(to.as_deref().unwrap_or("hub"), from, id, &failed(&fault));
                response.priority = None;
                response
            }
        }
    }

    pub(super) async fn take(&self, view: MessageView) -> Result<(StatusCode, MessageView), Fault> {
        let message = self.read(view)?;
        match message.kind {
            Kind::Request | Kind::Query => self.call(message).await.map(|response| (StatusCode::OK, response)),
            Kind::Response => self.respond(message).await,
            Kind::Event => self.event(message).await,
            Kind::Artifact => self.share(message).await,
        }
    }

    /// What was sent, with what is known of its sender.
    fn read(&self, view: MessageView) -> Result<Message, Fault> {
        if !view.content.is_object() {
            return Err(wrong("/content", "is not an object"));
        }
        if view.metadata.as_ref().is_some_and(|metadata| !metadata.is_object()) {
            return Err(wrong("/metadata", "is not an object"));
        }
        let short = |text: &Option<String>| text.as_ref().is_none_or(|text| (1..=MAX_ID).contains(&text.len()));
        if ![&view.message_id, &view.from_agent, &view.to_agent, &view.capability, &view.correlation_id]
            .into_iter()
            .all(short)
        {
            return Err(Fault::caller(FaultKind::InvalidInput, "ids and names are 1 to 255 bytes long"));
        }
        let level = view.priority.map_or(Some(Priority::NORMAL), priority);
        let from = PeerId::from(view.from_agent.unwrap_or_else(|| self.by.owner().to_string()));
        self.shared.hub.bus().check_speaker(&self.by, &from)?;
        Ok(Message {
            id: view.message_id.map_or_else(entropy::message_id, MessageId::from),
            kind: view.message_type.into(),
            from,
            to: view.to_agent.map(PeerId::from),
            topic: view.topic.as_deref().map(topic::named).transpose()?,
            skill: view.capability.map(SkillName::from),
            content: view.content,
            correlation: view.correlation_id.map(Into::into),
            priority: level.ok_or_else(|| wrong("/priority", "is not 1 to 10"))?,
            at: self.shared.hub.now(),
            meta: Meta(view.metadata),
            by: self.by.owner(),
            readers: view.access_control.into_iter().map(Into::into).collect(),
            sender: None,
        })
    }

    /// An agent answers what waits for it.
    async fn respond(&self, message: Message) -> Result<(StatusCode, MessageView), Fault> {
        let agent = self.own(&message.from)?;
        let (from, id) = (message.from.clone(), message.id.clone());
        inbox(&agent)?.said(message).await?;
        Ok(self.accepted("hub", &from, id, json!({})))
    }

    /// Something happened: on a topic, to one agent, or with a request that an agent works on.
    async fn event(&self, message: Message) -> Result<(StatusCode, MessageView), Fault> {
        let (from, id) = (message.from.clone(), message.id.clone());
        if let Some(topic) = &message.topic {
            self.known()?;
            let topic: TopicId = topic.clone();
            let hop = hop_of(&self.headers).decode(message.at);
            let hop = hop.map_err(|bad| Fault::caller(FaultKind::InvalidInput, bad.to_string()))?;
            let sender = Sender::new(&self.by, said::origin(Wire(PROTOCOL.into())), &hop.origins, hop.via);
            let seq = self.shared.hub.publish(message, sender).await?;
            return Ok(self.accepted("hub", &from, id, json!({"topic": topic.as_str(), "seq": seq})));
        }
        if self.about_a_request(&message).await? {
            return Ok(self.accepted("hub", &from, id, json!({})));
        }
        self.hand_over(message).await
    }

    /// Something is shared: as a result of a request, or with one agent, which then may read it and is told where it is.
    async fn share(&self, message: Message) -> Result<(StatusCode, MessageView), Fault> {
        let (from, id) = (message.from.clone(), message.id.clone());
        if self.about_a_request(&message).await? {
            return Ok(self.accepted("hub", &from, id, json!({})));
        }
        self.known()?;
        let to = message.to.clone().ok_or_else(|| wrong("/to_agent", "is needed"))?;
        if !self.sees(&to) {
            return Err(no_such_agent(&to));
        }
        let artifact = match message.content.get("artifact_id").and_then(serde_json::Value::as_str) {
            Some(named) => {
                let reader: Text = to.0.clone();
                let change = |list: &mut Vec<Text>| {
                    if !list.contains(&reader) {
                        list.push(reader.clone());
                    }
                };
                self.shared.hub.relist_artifact(&self.by, &ArtifactId::from(named), change).await?
            }
            None => {
                let mut request: ShareRequest = fit(&message.content)?;
                request.created_by = Some(from.to_string());
                request.access_control.extend(message.readers.iter().map(ToString::to_string));
                request.access_control.push(to.to_string());
                shared_by(&self.shared, &self.by, request).await?
            }
        };
        let content = Json::of(&view(&artifact)).map_err(Fault::internal)?;
        self.hand_over(Message { content, ..message }).await
    }

    /// What an agent says of a request that waits for it belongs to that exchange.
    async fn about_a_request(&self, message: &Message) -> Result<bool, Fault> {
        let agent = self.shared.hub.bus().agent(message.from.as_str());
        let inbox = agent.as_ref().filter(|agent| agent.is_of(&self.by)).and_then(|agent| agent.inbox.as_ref());
        match (inbox, &message.correlation) {
            (Some(inbox), Some(id)) if inbox.awaits(id) => inbox.said(message.clone()).await.map(|()| true),
            _ => Ok(false),
        }
    }

    /// To one agent: into its inbox; to one that has none, as a call that nobody waits for.
    async fn hand_over(&self, message: Message) -> Result<(StatusCode, MessageView), Fault> {
        self.known()?;
        if message.content.as_str().len() > MAX_CONTENT {
            return Err(Fault::caller(FaultKind::TooLarge, "a message of this size is shared as an artifact"));
        }
        let none = || wrong("/to_agent", "or a topic is needed");
        let to = message.to.clone().ok_or_else(none)?;
        let (from, id) = (message.from.clone(), message.id.clone());
        if !self.sees(&to) {
            return Err(no_such_agent(&to));
        }
        let agent = self.shared.hub.bus().agent(to.as_str());
        match agent.as_ref().and_then(|agent| agent.inbox.as_ref()) {
            Some(inbox) => {
                let until = self.shared.hub.now().after(WAITS);
                inbox.put(waiting(message), until).await?;
                Ok(self.accepted(to.as_str(), &from, id, json!({})))
            }
            None => {
                let task = self.start(message).await?;
                Ok(self.accepted(to.as_str(), &from, id, json!({"task": task.to_string()})))
            }
        }
    }

    /// The agent that speaks, which must be the sender's own.
    fn own(&self, name: &PeerId) -> Result<Arc<Agent>, Fault> {
        let agent = self.shared.hub.bus().agent(name.as_str());
        agent.filter(|agent| agent.is_of(&self.by)).ok_or_else(|| no_such_agent(name))
    }

    fn known(&self) -> Result<(), Fault> {
        if self.by.is_anonymous() {
            let text = "messages are taken from callers who say who they are";
            return Err(Fault::caller(FaultKind::Unauthenticated, text));
        }
        Ok(())
    }

    pub(super) fn accepted(
        &self,
        from: &str,
        to: &PeerId,
        about: MessageId,
        more: serde_json::Value,
    ) -> (StatusCode, MessageView) {
        let mut content = more;
        content["status"] = "accepted".into();
        let response = self.response(from, Some(to.to_string()), Some(about.to_string()), &Json::from_tree(content));
        (StatusCode::ACCEPTED, response)
    }

    /// A response of the hub, or through it.
    pub(super) fn response(
        &self,
        from: &str,
        to: Option<String>,
        about: Option<String>,
        content: &Json,
    ) -> MessageView {
        MessageView {
            message_id: Some(entropy::message_id().to_string()),
            from_agent: Some(from.to_owned()),
            to_agent: to,
            to_agents: Vec::new(),
            message_type: MessageKind::Response,
            topic: None,
            capability: None,
            content: content.clone(),
            correlation_id: about,
            priority: Some(5),
            timestamp: Some(self.shared.hub.now().to_string()),
            metadata: None,
            access_control: Vec::new(),
            by: None,
        }
    }
}

/// Under an id that no other sender has: sent again, it waits once.
fn waiting(message: Message) -> Message {
    let owner = message.by.to_string();
    let id = Digest::of_fields([owner.as_bytes(), message.id.as_str().as_bytes()]);
    let correlation = message.correlation.clone().unwrap_or_else(|| message.id.0.clone());
    Message { id: format!("{:.32}", id.to_string()).into(), correlation: Some(correlation), ..message }
}

fn inbox(agent: &Agent) -> Result<&interlingua_hub::bus::Handle, Fault> {
    let text = "this agent is called where it is, and answers there";
    agent.inbox.as_ref().ok_or_else(|| Fault::caller(FaultKind::InvalidInput, text))
}

/// What is said where a message failed.
pub(super) fn failed(fault: &Fault) -> Json {
    let view = FaultView::from(fault);
    json!({"status": "error", "error": view.message, "kind": view.kind}).into()
}

pub(super) fn no_such_agent(name: &PeerId) -> Fault {
    Fault::caller(FaultKind::NotFound(Noun::Resource), format!("no agent '{name}'"))
}
