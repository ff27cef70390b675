//! The routing envelope at the edge: `POST /nlip/route`.
//!
//! [`Routing`] is what stands between requests: what configuration says ([`settings`]), how tools are called today
//! ([`names`]), and the one table of sessions ([`sessions`]; H-07). [`inbound`] answers one message, [`inside`] sends calls of the hub's own agents the same way. Running tools is the
//! hub's, behind its one door; there is no way around it, so nothing is ever run twice (H-22).

pub mod inbound;
mod inside;
mod memory;
mod names;
mod promise;
mod protocol;
pub mod refusal;
mod sessions;
pub mod settings;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use arc_swap::ArcSwap;
use interlingua_core::ports::Records;
use interlingua_core::{Fault, Time};

pub(crate) use inside::Inside;
pub use names::{Claim, Plug};
pub use protocol::Envelope;
pub use sessions::MAX_SESSIONS;
pub use settings::Settings;

use names::Spellings;
use sessions::Sessions;

use crate::hub::shares::Shares;

/// What metrics call it.
pub const PROTOCOL: &str = "envelope";

/// The HTTP side of the envelope.
pub type Endpoint = crate::endpoint::Endpoint<Routing>;

/// What the envelope's edge holds.
#[derive(Debug)]
pub struct Routing {
    settings: ArcSwap<Settings>,
    spellings: Spellings,
    sessions: Sessions,
}

impl Routing {
    /// `passing`: what sessions that are not persisted may take.
    pub fn new(records: Arc<dyn Records>, passing: Arc<Shares>, settings: Settings) -> Routing {
        Routing {
            settings: ArcSwap::from_pointee(settings),
            spellings: Spellings::default(),
            sessions: Sessions::new(records, passing, MAX_SESSIONS),
        }
    }

    pub fn settings(&self) -> Arc<Settings> {
        self.settings.load_full()
    }

    /// Another configuration; requests under way end by the one they began with.
    pub fn apply(&self, settings: Settings) {
        self.settings.store(Arc::new(settings));
    }

    /// Seals the contexts that older keys sealed by the newest; how many there were.
    pub async fn reseal(&self, now: Time) -> Result<u64, Fault> {
        self.sessions.reseal(&self.settings().seals, now).await
    }

    /// Adds a way of spelling tool names, for skills its claim is laid to. False when there is one of that name, or
    /// no room.
    pub fn plug(&self, plug: Plug) -> bool {
        self.spellings.plug(plug)
    }
}
