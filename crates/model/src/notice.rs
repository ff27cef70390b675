//! News of peers, for whoever follows them.

use crate::id::{PeerId, Uri};
use crate::json::Json;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Kinds {
    pub tools: bool,
    pub prompts: bool,
    pub resources: bool,
}

#[derive(Debug, Clone)]
pub enum Notice {
    Card(PeerId),
    Changed(PeerId, Kinds),
    Updated(PeerId, Uri),
    Telemetry(PeerId, Json),
}
