//! Outbound NLWeb: a site that answers questions, as a peer of the hub with one skill, `ask`.
//!
//! [`peer`] is one question: sent in the generation the site speaks, which is found by trying and remembered; its answer is read as JSON or
//! as events, whichever comes. Events are passed on as they come ([`stream`]); a promised job is cancelled when nobody waits for it any
//! more. The session that a site gave is sent back with the next question of the same conversation ([`conversations`]). [`card`] makes the
//! site's card.
//!
//! Deliberately absent: redirects, the sites' own MCP and A2A endpoints (those are other peers), and asking a site which platform it is.

mod card;
mod conversations;
mod http;
mod peer;
mod promised;
mod stream;

use std::sync::Arc;

use futures_util::future::BoxFuture;
use interlingua_model::{Card, Fault, PeerId};

use crate::settings;
use interlingua_endpoint::sections;
use interlingua_hub::Hub;
use interlingua_net::client::health::watch;
use interlingua_net::client::starting::Starting;
use interlingua_settings::Peer;

pub use peer::NlwebPeer;

/// A peer that is made and can be registered.
#[derive(Debug)]
pub struct Prepared {
    card: Card,
    peer: Arc<NlwebPeer>,
}

/// Makes the peer: all that its configuration can be refused for is refused here.
pub fn prepare(hub: &Arc<Hub>, name: &str, config: &Peer, nlweb: &settings::NlwebPeer) -> Result<Prepared, Fault> {
    let name = PeerId::from(name);
    let peer = Arc::new(NlwebPeer::new(hub, name.clone(), config, nlweb)?);
    Ok(Prepared { card: card::card(&name, config, nlweb, hub.now()), peer })
}

impl sections::Prepared for Prepared {
    fn register<'a>(self: Box<Self>, hub: &'a Arc<Hub>) -> BoxFuture<'a, Result<Option<Starting>, Fault>> {
        Box::pin(async move {
            hub.register(self.card, self.peer.clone()).await?;
            watch(hub, &self.peer);
            Ok(None)
        })
    }
}

impl sections::Connect for settings::NlwebPeer {
    fn prepare<'a>(
        &'a self,
        around: sections::PeerAround<'a>,
    ) -> BoxFuture<'a, Result<Box<dyn sections::Prepared>, Fault>> {
        let prepared = prepare(around.hub, around.name, around.peer, self);
        Box::pin(std::future::ready(prepared.map(|prepared| Box::new(prepared) as _)))
    }
}
