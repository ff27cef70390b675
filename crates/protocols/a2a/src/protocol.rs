//! A2A as one of the hub's protocols.

use std::sync::Arc;

use axum::Router;
use futures_util::future::BoxFuture;
use interlingua_model::Fault;

use super::settings::{self, A2aPeer};
use super::{CalledAgents, Endpoint, PROTOCOL, ServerState, Settings, WEBHOOKS, inbound, refusal};
use interlingua_endpoint::Shared;
use interlingua_endpoint::paths::PathRules;
use interlingua_endpoint::protocol::{Configured, Protocol, SealedRecords, SettingsFault, Spoken};
use interlingua_endpoint::sections::Around;
use interlingua_hub::{Hub, bus};

#[derive(Debug)]
pub struct A2a(pub Arc<Endpoint>);

impl Protocol for A2a {
    fn name(&self) -> &'static str {
        PROTOCOL
    }

    fn routes(&self) -> Router {
        inbound::routes(self.0.clone())
    }

    fn sealed_records(&self) -> SealedRecords {
        &[(WEBHOOKS, WEBHOOKS)]
    }

    fn called_agents(&self) -> Option<Arc<dyn bus::CalledAgents>> {
        Some(Arc::new(CalledAgents))
    }

    fn resume(&self) -> BoxFuture<'_, Result<(), Fault>> {
        Box::pin(self.0.own.push.resume(&self.0))
    }
}

impl Configured for A2a {
    type Section = settings::A2a;
    type Settings = Settings;

    const PATHS: PathRules = refusal::PATHS;

    fn settings(_: &Hub, section: &settings::A2a, around: &Around<'_>) -> Result<Settings, SettingsFault> {
        Ok(Settings::new(section, around.anonymous, around.url))
    }

    fn open(shared: &Arc<Shared>, settings: Settings) -> Result<A2a, Fault> {
        Ok(A2a(Endpoint::new(shared, ServerState::new(&shared.hub, settings)?)))
    }

    fn apply(&self, settings: Settings, _: &[&str]) {
        self.0.own.apply(settings);
    }
}

impl Spoken for A2a {
    type Peer = A2aPeer;

    const ABOUT: &'static str = "It is an A2A agent.";
    const EXAMPLE: &'static str = "{ url: … }";
}
