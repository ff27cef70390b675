//! NLWeb as one of the hub's protocols.

use std::sync::Arc;

use axum::Router;

use super::{PROTOCOL, inbound};
use interlingua_endpoint::Shared;
use interlingua_endpoint::protocol::Protocol;

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
