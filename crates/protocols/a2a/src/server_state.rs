//! The state of the A2A server between requests.

use arc_swap::ArcSwap;
use interlingua_model::Fault;

use super::inbound::Modes;
use super::{Push, Settings};
use interlingua_hub::Hub;

#[derive(Debug)]
pub struct ServerState {
    pub(super) settings: ArcSwap<Settings>,
    pub(super) modes: Modes,
    pub(super) push: Push,
}

impl ServerState {
    pub fn new(hub: &Hub, settings: Settings) -> Result<ServerState, Fault> {
        let settings = ArcSwap::from_pointee(settings);
        Ok(ServerState { settings, modes: Modes::default(), push: Push::new(hub)? })
    }

    /// From the next request on.
    pub fn apply(&self, settings: Settings) {
        self.settings.store(settings.into());
    }
}
