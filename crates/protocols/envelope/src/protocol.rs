//! The routing envelope as one of the hub's protocols.

use std::sync::Arc;

use axum::Router;
use futures_util::future::BoxFuture;
use interlingua_model::{Fault, Time};

use super::{Endpoint, PROTOCOL, inbound};
use interlingua_endpoint::protocol::Protocol;

#[derive(Debug)]
pub struct Envelope(pub Arc<Endpoint>);

impl Protocol for Envelope {
    fn name(&self) -> &'static str {
        PROTOCOL
    }

    fn routes(&self) -> Router {
        inbound::http::routes(self.0.clone())
    }

    fn reseal(&self, now: Time) -> BoxFuture<'_, Result<u64, Fault>> {
        Box::pin(self.0.own.reseal(now))
    }
}
