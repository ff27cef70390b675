//! A2A as one of the hub's protocols.

use std::sync::Arc;

use axum::Router;
use futures_util::future::BoxFuture;
use interlingua_model::Fault;

use super::{Endpoint, PROTOCOL, WEBHOOKS, inbound};
use interlingua_endpoint::protocol::{Protocol, SealedRecords};

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

    fn resume(&self) -> BoxFuture<'_, Result<(), Fault>> {
        Box::pin(self.0.own.push.resume(&self.0))
    }
}
