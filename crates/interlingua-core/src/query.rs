//! Reads of the hub's own state, subscriptions, and news.

use crate::call::Wire;
use crate::content::{Meta, Part};
use crate::fault::Fault;
use crate::id::{ArtifactId, PeerId, TaskId, Text, TopicId, Uri, WatchId};
use crate::json::Json;
use crate::secret::Secret;

#[derive(Debug, Clone, PartialEq)]
pub enum Query {
    Peers,
    Card(PeerId),
    Skills(Page),
    Resources(Page),
    /// With at most this many messages of its history.
    Task(TaskId, Option<u32>),
    Tasks(Page),
    Artifact(ArtifactId),
    /// Which ways a text could go.
    Route(Text),
    Questions(Page),
    Conversations(Page),
    Audit(Page),
    Watches(Page),
}

/// `after` is an opaque composite cursor; what it shows is filtered by the same policy as calls.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Page {
    pub after: Option<Text>,
    pub size: u16,
    pub filter: Meta,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Watch {
    pub id: WatchId,
    pub on: On,
    pub after: Option<u64>,
    pub to: Sink,
}

#[derive(Debug, Clone, PartialEq)]
pub enum On {
    Task(TaskId),
    Catalogue(Kinds),
    Resource(PeerId, Uri),
    Topic(TopicId),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Kinds {
    pub tools: bool,
    pub prompts: bool,
    pub resources: bool,
}

/// Push remembers its generation: older ones want another shape.
#[derive(Debug, Clone, PartialEq)]
pub enum Sink {
    Reader,
    Push { url: Uri, token: Option<Secret>, wire: Wire },
}

#[derive(Debug, Clone)]
pub enum Notice {
    Up(PeerId),
    Down(PeerId, Fault),
    Card(PeerId),
    Changed(PeerId, Kinds),
    Updated(PeerId, Uri),
    Telemetry(PeerId, Json),
    Published(TopicId, Vec<Part>),
}
