//! News of peers, for whoever follows them.

use crate::content::Part;
use crate::fault::Fault;
use crate::id::{PeerId, TopicId, Uri};
use crate::json::Json;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Kinds {
    pub tools: bool,
    pub prompts: bool,
    pub resources: bool,
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
