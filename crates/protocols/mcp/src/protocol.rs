//! MCP as one of the hub's protocols.

use std::sync::Arc;

use axum::Router;

use super::{Endpoint, PROTOCOL, inbound};
use interlingua_endpoint::protocol::Protocol;

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
