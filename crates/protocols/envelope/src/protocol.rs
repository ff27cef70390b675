//! The routing envelope as one of the hub's protocols.

use std::sync::Arc;

use axum::Router;
use futures_util::future::BoxFuture;
use interlingua_model::{Fault, Time};

use super::inside::InsideRouter;
use super::inspect::OwnedSessions;
use super::{Endpoint, PROTOCOL, Routing, Settings, inbound, refusal};
use interlingua_endpoint::Shared;
use interlingua_endpoint::paths::PathRules;
use interlingua_endpoint::ports::RoutedSessions;
use interlingua_endpoint::protocol::{Configured, Protocol, SettingsFault};
use interlingua_endpoint::sections::Around;
use interlingua_hub::Hub;
use interlingua_hub::call_router::CallRouter;
use interlingua_nlip::settings::Nlip;

#[derive(Debug)]
pub struct Envelope(pub Arc<Endpoint>);

impl Protocol for Envelope {
    fn name(&self) -> &'static str {
        PROTOCOL
    }

    fn routes(&self) -> Router {
        inbound::http::routes(self.0.clone())
    }

    fn call_router(&self) -> Option<Arc<dyn CallRouter>> {
        Some(Arc::new(InsideRouter(Arc::downgrade(&self.0))))
    }

    fn routed_sessions(&self) -> Option<Arc<dyn RoutedSessions>> {
        Some(Arc::new(OwnedSessions(self.0.clone())))
    }

    fn reseal(&self, now: Time) -> BoxFuture<'_, Result<u64, Fault>> {
        Box::pin(self.0.own.reseal(now))
    }
}

/// The envelope extends NLIP, and has no section of its own.
impl Configured for Envelope {
    type Section = Nlip;
    type Settings = Settings;

    const PATHS: PathRules = refusal::PATHS;

    fn settings(hub: &Hub, section: &Nlip, around: &Around<'_>) -> Result<Settings, SettingsFault> {
        let settings = Settings::new(section, hub.keys().clone());
        let settings = settings.map_err(|cause| SettingsFault { key: "nlip.tokens", cause })?;
        Ok(settings.delivering(&around.deliveries))
    }

    fn open(shared: &Arc<Shared>, settings: Settings) -> Result<Envelope, Fault> {
        let hub = &shared.hub;
        let passing = hub.holdings().sessions_of(PROTOCOL);
        Ok(Envelope(Endpoint::new(shared, Routing::new(hub.store_records().clone(), passing, settings))))
    }

    fn apply(&self, settings: Settings, _: &[&str]) {
        self.0.own.apply(settings);
    }
}
