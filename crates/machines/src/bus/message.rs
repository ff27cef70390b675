//! One message between agents.

use serde::{Deserialize, Serialize};

use interlingua_model::call::Priority;
use interlingua_model::content::Meta;
use interlingua_model::id::{MessageId, PeerId, SkillName, Text, Time, TopicId};
use interlingua_model::json::{Count, Json};
use interlingua_model::principal::Owner;

use super::Sender;

/// The longest content of one message. What is larger is an artifact, and the message says where it is.
pub const MAX_CONTENT: usize = 256 * 1024;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Message {
    pub id: MessageId,
    pub kind: Kind,
    /// Who it says it is from. Only `by` is proven.
    pub from: PeerId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<PeerId>,
    /// Of an event that is for whoever listens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topic: Option<TopicId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skill: Option<SkillName>,
    pub content: Json,
    /// The message this one belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correlation: Option<Text>,
    pub priority: Priority,
    pub at: Time,
    #[serde(default, skip_serializing_if = "Meta::is_none")]
    pub meta: Meta,
    pub by: Owner,
    /// Who may read it besides its sender; nobody named is everybody the hub knows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub readers: Vec<Text>,
    /// Of an event: what a run that it starts may do. Events of earlier releases have none, and start nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender: Option<Box<Sender>>,
}

impl Message {
    /// About how many bytes it takes to hold it, with the tree that is made of its content once somebody reads it.
    pub fn weight(&self) -> usize {
        let content = self.content.as_bytes();
        let meta = self.meta.0.as_ref().map_or(0, |meta| meta.as_bytes().len());
        let readers = self.readers.iter().map(|reader| size_of::<Text>() + reader.len()).sum::<usize>();
        let sender = self.sender.as_ref().map_or(0, |sender| sender.weight());
        size_of::<Message>() + content.len() + Count::of(content).tree_bytes() + meta + readers + sender
    }
}

/// What a message is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Kind {
    /// Something is to be done.
    Request,
    /// The answer to a request or a query.
    Response,
    /// Something happened; nobody answers.
    Event,
    /// Something is to be said, and nothing to be done.
    Query,
    /// Something is shared.
    Artifact,
}

impl Kind {
    pub const ALL: [Kind; 5] = [Kind::Request, Kind::Response, Kind::Event, Kind::Query, Kind::Artifact];

    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Request => "request",
            Kind::Response => "response",
            Kind::Event => "event",
            Kind::Query => "query",
            Kind::Artifact => "artifact",
        }
    }

    pub fn parse(text: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.as_str() == text)
    }

    /// Does its sender wait for a response?
    pub fn is_answered(self) -> bool {
        match self {
            Kind::Request | Kind::Query => true,
            Kind::Response | Kind::Event | Kind::Artifact => false,
        }
    }
}
