//! Notices of changes at peers.

use crate::id::{PeerId, Uri};

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
    /// These lists of the card changed.
    Changed(PeerId, Kinds),
    /// The content of this resource changed.
    Updated(PeerId, Uri),
}
