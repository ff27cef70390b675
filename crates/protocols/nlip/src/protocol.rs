//! NLIP as one of the hub's protocols.

use std::sync::Arc;

use axum::Router;

use super::outbound::LEGS;
use super::{Endpoint, PROTOCOL, inbound};
use interlingua_endpoint::protocol::{Protocol, SealedRecords};

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
