//! The hub's own API as one of the hub's protocols.

use std::sync::Arc;

use axum::Router;

use super::{Endpoint, PROTOCOL, routes};
use interlingua_endpoint::protocol::Protocol;

#[derive(Debug)]
pub struct Api(pub Arc<Endpoint>);

impl Protocol for Api {
    fn name(&self) -> &'static str {
        PROTOCOL
    }

    fn routes(&self) -> Router {
        routes(self.0.clone())
    }
}
