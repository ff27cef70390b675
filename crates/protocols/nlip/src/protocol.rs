//! NLIP as one of the hub's protocols.

use std::sync::Arc;

use axum::Router;

use super::outbound::LEGS;
use super::settings::{self, NlipPeer};
use super::{Endpoint, PROTOCOL, Switch, inbound, refusal};
use interlingua_endpoint::Shared;
use interlingua_endpoint::paths::PathRules;
use interlingua_endpoint::protocol::{Configured, Protocol, SealedRecords, SettingsFault, Spoken};
use interlingua_endpoint::sections::Around;
use interlingua_hub::Hub;
use interlingua_model::Fault;

#[derive(Debug)]
pub struct Nlip(pub Arc<Endpoint>);

impl Protocol for Nlip {
    fn name(&self) -> &'static str {
        PROTOCOL
    }

    fn routes(&self) -> Router {
        inbound::routes(self.0.clone())
    }

    fn sealed_records(&self) -> SealedRecords {
        &[(LEGS, LEGS)]
    }
}

impl Configured for Nlip {
    type Section = settings::Nlip;
    /// Whether it is spoken at all.
    type Settings = bool;

    const PATHS: PathRules = refusal::PATHS;

    fn settings(_: &Hub, section: &settings::Nlip, _: &Around<'_>) -> Result<bool, SettingsFault> {
        Ok(section.enabled)
    }

    fn open(shared: &Arc<Shared>, enabled: bool) -> Result<Nlip, Fault> {
        Ok(Nlip(Endpoint::new(shared, Switch::new(enabled))))
    }

    fn apply(&self, enabled: bool, _: &[&str]) {
        self.0.own.set(enabled);
    }
}

impl Spoken for Nlip {
    type Peer = NlipPeer;

    const ABOUT: &'static str = "It speaks NLIP. Each peer has exactly one protocol key.";
    const EXAMPLE: &'static str = "{ url: … }";
}
