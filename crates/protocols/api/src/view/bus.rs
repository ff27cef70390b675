//! JSON of registered agents, and of the messages they exchange.

use interlingua_machines::bus::priority::level;
use interlingua_machines::bus::{Kind, Message};
use interlingua_model::{Card, Json, Skill};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::card::{StandingView, health};
use interlingua_hub::bus::Agent;

/// What an agent can do.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CapabilityView {
    pub name: String,
    #[serde(default)]
    pub description: String,
    /// JSON Schema, or in short the type of each member: `{"location": "string"}`.
    #[serde(default = "Json::empty_object")]
    #[schemars(with = "serde_json::Map<String, serde_json::Value>")]
    pub input_schema: Json,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    pub output_schema: Option<Json>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
}

/// Description of an agent that fetches its messages from `/api/messages?agent=ID`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgentCardView {
    /// Its name in this hub.
    pub agent_id: String,
    pub name: String,
    #[serde(default)]
    pub description: String,
    pub capabilities: Vec<CapabilityView>,
    #[serde(default = "first_version")]
    pub version: String,
    /// The organisation it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// Contact: a web address or an email address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contact: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    pub metadata: Option<Json>,
}

/// An agent to register. An agent that the hub calls has a `url`, where its A2A card is found, or sends the `card`
/// itself. An agent that fetches its messages has a `name` and `capabilities`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NewAgentView {
    /// Its name in this hub. For an agent that the hub calls, the default is the name on its card.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// The address of its A2A endpoint, or of its card.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Its A2A card, of 1.0 or 0.3.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    pub card: Option<Json>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(default)]
    pub description: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capabilities: Option<Vec<CapabilityView>>,
    #[serde(default = "first_version")]
    pub version: String,
    /// The organisation it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// Contact: a web address or an email address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contact: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    pub metadata: Option<Json>,
}

fn first_version() -> String {
    "1.0.0".into()
}

/// An agent: its card and its state. Every peer is one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgentView {
    pub agent_id: String,
    pub name: String,
    pub description: String,
    pub capabilities: Vec<CapabilityView>,
    pub version: String,
    /// The organisation it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contact: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    pub metadata: Option<Json>,
    /// `starting`, `up`, `slow` or `down`.
    pub health: String,
    #[serde(flatten)]
    pub standing: StandingView,
    /// Problems of the agent. Only shown to its owner.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
    /// The address at which the hub calls it. Only shown to its owner; absent for agents that fetch their messages and for
    /// those in the hub's configuration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// True for an agent that registered itself; false for one in the hub's configuration.
    pub registered: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub registered_at: Option<String>,
    /// Number of pending messages. Only shown to its owner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiting: Option<usize>,
    /// The address of its card for clients of other protocols.
    pub card_path: String,
}

impl AgentView {
    pub fn new<'a>(card: &Card, skills: impl Iterator<Item = &'a Skill>, agent: Option<&Agent>) -> AgentView {
        let registration = agent.map(|agent| &agent.registration);
        let provider = card.provider.as_ref();
        let contact = registration.and_then(|registration| registration.contact.as_ref());
        let contact = contact.or_else(|| provider.and_then(|provider| provider.url.as_ref()));
        AgentView {
            agent_id: card.peer.to_string(),
            name: card.title.to_string(),
            description: card.description.to_string(),
            capabilities: skills.map(CapabilityView::from).collect(),
            version: card.version.to_string(),
            owner: provider.map(|provider| provider.name.to_string()),
            contact: contact.map(ToString::to_string),
            metadata: registration.and_then(|registration| registration.meta.0.clone()),
            health: health(card.health).into(),
            standing: StandingView::default(),
            problems: Vec::new(),
            url: None,
            registered: agent.is_some(),
            registered_at: registration.map(|registration| registration.at.to_string()),
            waiting: None,
            card_path: format!("/agents/{}/.well-known/agent-card.json", card.peer),
        }
    }
}

impl From<&Skill> for CapabilityView {
    fn from(skill: &Skill) -> CapabilityView {
        CapabilityView {
            name: skill.id.skill.to_string(),
            description: skill.description.to_string(),
            input_schema: skill.input.0.clone(),
            output_schema: skill.output.as_ref().map(|schema| schema.0.clone()),
            tags: skill.tags.iter().map(ToString::to_string).collect(),
        }
    }
}

/// Kind of message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MessageKind {
    /// A request to do something; it is answered with a response.
    Request,
    /// The answer to the request or query that `correlation_id` names.
    Response,
    /// An event: published on a `topic`, or sent to one agent.
    Event,
    /// A question that is answered and not stored.
    Query,
    /// A shared artifact.
    Artifact,
}

impl From<Kind> for MessageKind {
    fn from(kind: Kind) -> MessageKind {
        match kind {
            Kind::Request => MessageKind::Request,
            Kind::Response => MessageKind::Response,
            Kind::Event => MessageKind::Event,
            Kind::Query => MessageKind::Query,
            Kind::Artifact => MessageKind::Artifact,
        }
    }
}

impl From<MessageKind> for Kind {
    fn from(kind: MessageKind) -> Kind {
        match kind {
            MessageKind::Request => Kind::Request,
            MessageKind::Response => Kind::Response,
            MessageKind::Event => Kind::Event,
            MessageKind::Query => Kind::Query,
            MessageKind::Artifact => Kind::Artifact,
        }
    }
}

/// A message between agents.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MessageView {
    /// Idempotency key of a message that you send: sending it again has no further effect. The hub creates one if it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_id: Option<String>,
    /// The sending agent. A registered agent must be your own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_agent: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_agent: Option<String>,
    /// Several recipients; each answers separately.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub to_agents: Vec<String>,
    pub message_type: MessageKind,
    /// Topic of an event: segments separated by dots.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topic: Option<String>,
    /// Which skill is meant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capability: Option<String>,
    #[schemars(with = "serde_json::Map<String, serde_json::Value>")]
    pub content: Json,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correlation_id: Option<String>,
    /// Priority from 1 to 10; 10 is the most urgent, the default is 5.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 10))]
    pub priority: Option<u64>,
    /// When the hub accepted it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Map<String, serde_json::Value>>")]
    pub metadata: Option<Json>,
    /// Who may read an event besides its sender: agents by name, people as `user:NAME`, `*` for all. Empty: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub access_control: Vec<String>,
    /// The authenticated sender. Set by the hub only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
}

impl From<&Message> for MessageView {
    fn from(message: &Message) -> MessageView {
        MessageView {
            message_id: Some(message.id.to_string()),
            from_agent: Some(message.from.to_string()),
            to_agent: message.to.as_ref().map(ToString::to_string),
            to_agents: Vec::new(),
            message_type: message.kind.into(),
            topic: message.topic.as_ref().map(ToString::to_string),
            capability: message.skill.as_ref().map(ToString::to_string),
            content: message.content.clone(),
            correlation_id: message.correlation.as_ref().map(ToString::to_string),
            priority: Some(level(message.priority)),
            timestamp: Some(message.at.to_string()),
            metadata: message.meta.0.clone(),
            access_control: message.readers.iter().map(ToString::to_string).collect(),
            by: Some(message.by.to_string()),
        }
    }
}

/// A message with its number: of an event in the queue, or of a message in an inbox.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct NumberedMessage {
    pub seq: u64,
    #[serde(flatten)]
    pub message: MessageView,
}
