//! Outbound A2A: an A2A agent as a peer of the hub, in either generation of the protocol.
//!
//! | file | what |
//! |---|---|
//! | [`peer`] | the peer: its health, its configuration |
//! | [`address`], [`known`], [`refresh`] | the address of its card, its content, and their refresh |
//! | [`trust`] | whose signature on the card is trusted |
//! | [`interface`], [`grpc`], [`events`] | one interface of the card: a request, its answer or stream |
//! | [`call`], [`follow`] | one call: its answer at once, or all its events, also after a break |
//! | [`registered`] | agents that others register while the hub runs |
//! | [`legs`] | the agent's own conversations beside ours |
//!
//! Deliberately absent: any credential or header of a caller's, redirects, webhooks, and repeating calls that may have run.

pub(crate) mod address;
mod call;
mod events;
mod follow;
mod grpc;
mod interface;
mod known;
mod legs;
mod peer;
mod refresh;
pub(crate) mod registered;
mod trust;

use std::sync::Arc;

use futures_util::future::BoxFuture;
use interlingua_model::{Fault, PeerId};

use crate::settings;
use interlingua_endpoint::sections;
use interlingua_hub::Hub;
use interlingua_net::client::starting::Starting;

pub(crate) use self::peer::Manifest;
use self::peer::Named;
pub use peer::A2aPeer;

/// A peer that is made and can be registered.
#[derive(Debug)]
pub struct Prepared {
    peer: Arc<A2aPeer>,
}

/// Makes the peer: all that its configuration can be refused for is refused here. Nobody is called.
pub async fn prepare(
    hub: &Arc<Hub>,
    name: &str,
    config: &interlingua_settings::Peer,
    a2a: &settings::A2aPeer,
) -> Result<Prepared, Fault> {
    let peer = A2aPeer::new(hub, PeerId::from(name), config, a2a, Manifest::Shown, Named::ByConfiguration).await?;
    Ok(Prepared { peer: Arc::new(peer) })
}

impl sections::Prepared for Prepared {
    /// With what its card said when it was last read; reading it goes on beside.
    fn register<'a>(self: Box<Self>, hub: &'a Arc<Hub>) -> BoxFuture<'a, Result<Option<Starting>, Fault>> {
        Box::pin(async move {
            self.peer.show(hub).await?;
            refresh::watch(hub, &self.peer);
            Ok(Some(Starting::new(&self.peer.listed)))
        })
    }
}

impl sections::Connect for settings::A2aPeer {
    fn prepare<'a>(
        &'a self,
        around: sections::PeerAround<'a>,
    ) -> BoxFuture<'a, Result<Box<dyn sections::Prepared>, Fault>> {
        Box::pin(async move { Ok(Box::new(prepare(around.hub, around.name, around.peer, self).await?) as _) })
    }
}
