//! MCP as one of the hub's protocols.

use std::sync::Arc;

use axum::Router;

use super::inbound::{self, ServerState, Settings};
use super::settings::{self, McpPeer};
use super::{Endpoint, PROTOCOL, refusal};
use interlingua_endpoint::Shared;
use interlingua_endpoint::paths::PathRules;
use interlingua_endpoint::protocol::{Configured, Protocol, SettingsFault, Spoken};
use interlingua_endpoint::sections::Around;
use interlingua_hub::Hub;
use interlingua_model::Fault;

#[derive(Debug)]
pub struct Mcp(pub Arc<Endpoint>);

impl Protocol for Mcp {
    fn name(&self) -> &'static str {
        PROTOCOL
    }

    fn routes(&self) -> Router {
        inbound::http::routes(self.0.clone())
    }
}

impl Configured for Mcp {
    type Section = settings::Mcp;
    type Settings = Settings;

    const PATHS: PathRules = refusal::PATHS;

    fn settings(_: &Hub, section: &settings::Mcp, around: &Around<'_>) -> Result<Settings, SettingsFault> {
        Ok(Settings::new(section, around.own_files, around.peers.iter().copied()))
    }

    fn open(shared: &Arc<Shared>, settings: Settings) -> Result<Mcp, Fault> {
        let sessions = shared.hub.holdings().sessions_of(PROTOCOL);
        Ok(Mcp(Endpoint::new(shared, ServerState::new(settings, sessions))))
    }

    fn apply(&self, settings: Settings, changed: &[&str]) {
        self.0.own.apply(settings);
        if changed.iter().any(|key| ["mcp", "tools"].contains(key)) {
            inbound::tell_of_new_lists(&self.0.hub);
        }
    }
}

impl Spoken for Mcp {
    type Peer = McpPeer;

    const ABOUT: &'static str = "It is an MCP server: a program, or reached by a URL.";
    const EXAMPLE: &'static str = "{ … }";
}
