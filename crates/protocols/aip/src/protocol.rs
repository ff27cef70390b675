//! AIP as one of the hub's protocols.

use std::sync::Arc;

use axum::Router;

use super::{Endpoint, PROTOCOL, inbound, outbound};
use interlingua_endpoint::protocol::Protocol;

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
