//! AIP as one of the hub's protocols.

use std::sync::Arc;

use axum::Router;

use super::settings::{self, AipPeer};
use super::{Endpoint, PROTOCOL, ServerRuntime, Settings, inbound, outbound};
use interlingua_endpoint::Shared;
use interlingua_endpoint::protocol::{Configured, Protocol, SettingsFault, Spoken};
use interlingua_endpoint::sections::Around;
use interlingua_hub::Hub;
use interlingua_model::Fault;

#[derive(Debug)]
pub struct Aip(pub Arc<Endpoint>);

impl Protocol for Aip {
    fn name(&self) -> &'static str {
        PROTOCOL
    }

    fn routes(&self) -> Router {
        inbound::routes(self.0.clone())
    }

    fn start(&self) {
        self.0.own.start();
        outbound::start_showing(&self.0.own);
    }
}

impl Configured for Aip {
    type Section = settings::Aip;
    type Settings = Settings;

    fn settings(_: &Hub, section: &settings::Aip, _: &Around<'_>) -> Result<Settings, SettingsFault> {
        Ok(Settings::new(section))
    }

    fn open(shared: &Arc<Shared>, settings: Settings) -> Result<Aip, Fault> {
        Ok(Aip(Endpoint::new(shared, ServerRuntime::new(&shared.hub, settings))))
    }

    fn apply(&self, settings: Settings, _: &[&str]) {
        self.0.own.apply(settings);
    }
}

impl Spoken for Aip {
    type Peer = AipPeer;

    const ABOUT: &'static str = "It is a device, reached through an AIP server.";
    const EXAMPLE: &'static str = "{ … }";
}
