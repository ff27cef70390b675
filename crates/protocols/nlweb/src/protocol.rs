//! NLWeb as one of the hub's protocols.

use std::sync::Arc;

use axum::Router;

use super::settings::NlwebPeer;
use super::{PROTOCOL, inbound, refusal};
use interlingua_endpoint::Shared;
use interlingua_endpoint::paths::PathRules;
use interlingua_endpoint::protocol::{Configured, Protocol, SettingsFault, Spoken};
use interlingua_endpoint::sections::Around;
use interlingua_hub::Hub;
use interlingua_model::Fault;

#[derive(Debug)]
pub struct Nlweb(pub Arc<Shared>);

impl Protocol for Nlweb {
    fn name(&self) -> &'static str {
        PROTOCOL
    }

    fn routes(&self) -> Router {
        inbound::routes(self.0.clone())
    }
}

/// There is nothing to configure.
impl Configured for Nlweb {
    type Section = ();
    type Settings = ();

    const PATHS: PathRules = refusal::PATHS;

    fn settings(_: &Hub, (): &(), _: &Around<'_>) -> Result<(), SettingsFault> {
        Ok(())
    }

    fn open(shared: &Arc<Shared>, (): ()) -> Result<Nlweb, Fault> {
        Ok(Nlweb(shared.clone()))
    }

    fn apply(&self, (): (), _: &[&str]) {}
}

impl Spoken for Nlweb {
    type Peer = NlwebPeer;

    const ABOUT: &'static str = "It is a site that is asked in natural language.";
    const EXAMPLE: &'static str = "{ url: … }";
}
