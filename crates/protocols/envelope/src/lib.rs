//! The routing envelope: a request carries tool calls or a chat, responses carry their results.
//!
//! It is the message of the seed document (`format`, `control`, `token`, `content`, `tool_calls`, `tool_results`, `metadata`), served at
//! `/nlip/route`; it is not the Ecma message. The requirements are of the sheet, and where the seed has a gap, its resolutions
//! H-01 to H-24.
//!
//! Reading order: [`wire`] (bytes), [`decode`] (to the model), [`encode`] (back), [`invalid`] and [`fault`], [`names`] and [`translators`]
//! (tool names), [`priority`], [`ecma`] (to and from the other message).
//!
//! These modules have no sockets, no storage of sessions, no authentication, and run no tools.
//!
//! [`Routing`] is the state between requests: the configuration ([`settings`]), the current names of tools ([`spellings`]), and the table
//! of sessions ([`sessions`]; H-07) with their notifications ([`notes`]), which their owners read ([`inspect`]). [`inbound`] answers one message, [`inside`] sends calls of the hub's own agents the same way. The hub
//! runs tools, behind its one entry point; there is no other path, so nothing is ever run twice (H-22).

pub mod decode;
pub mod ecma;
pub mod encode;
pub mod fault;
pub mod invalid;
pub mod names;
pub mod priority;
pub mod session;
pub mod translators;
pub mod wire;

#[cfg(test)]
mod tests;

pub mod inbound;
mod inside;
mod inspect;
mod memory;
mod notes;
mod protocol;
pub mod refusal;
mod self_proving_token;
#[cfg(test)]
mod session_tests;
mod sessions;
pub mod settings;
mod spellings;

use std::sync::Arc;

use arc_swap::ArcSwap;
use interlingua_model::ports::Records;
use interlingua_model::{Fault, Time};

pub use protocol::Envelope;
pub use sessions::MAX_SESSIONS;
pub use settings::Settings;
pub use spellings::{Plug, SkillPredicate};

use sessions::Sessions;
use spellings::Spellings;

use interlingua_hub::shares::Shares;

/// What metrics call it.
pub const PROTOCOL: &str = "envelope";

/// The HTTP side of the envelope.
pub type Endpoint = interlingua_endpoint::Endpoint<Routing>;

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
