//! Notices of changes at peers.

use crate::id::{PeerId, Uri};
use crate::json::Json;

/// Which lists of a peer changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Kinds {
    /// Skills that are called with arguments.
    pub tools: bool,
    /// Skills that fill in a template.
    pub prompts: bool,
    /// Resources.
    pub resources: bool,
}

/// Something that happened at a peer and belongs to no exchange.
#[derive(Debug, Clone)]
pub enum Notice {
    /// The card changed in something else than its lists. Nothing in the hub announces this so far.
    Card(PeerId),
    /// These lists of the card changed.
    Changed(PeerId, Kinds),
    /// The content of this resource changed.
    Updated(PeerId, Uri),
    /// A device reported its state. Nothing in the hub announces this so far.
    Telemetry(PeerId, Json),
}
