//! Outbound NLIP: an NLIP agent as a peer of the hub (ECMA-430, 431, 432; the client side).
//!
//! [`peer`] is one exchange with the agent: `encode`, send, `decode`, and the credential it may ask for. [`http`] and [`socket`] are the
//! two bindings; [`legs`] stores the tokens of each conversation, [`large`] uploads large content out of band, [`follow`] polls
//! long-running tasks, [`card`] makes the agent's card, [`import`] reads the skills of an agent that is a hub.
//!
//! A proxy between two agents needs no code of its own: the caller's leg and the agent's leg never share a token, because a token is stored
//! with the leg it came on and a message is written anew for the next one.
//!
//! Deliberately absent: redirects to other hosts, cookies, and reading a card out of an agent's own words.

mod address;
mod card;
mod follow;
mod http;
mod import;
mod large;
mod legs;
mod peer;
mod reply;
mod socket;
mod transport;

use std::sync::Arc;

use futures_util::future::BoxFuture;
use interlingua_model::{Card, Fault, PeerId};

use crate::settings;
use interlingua_endpoint::sections;
use interlingua_hub::Hub;
use interlingua_net::client::health::watch;
use interlingua_net::client::starting::Starting;
use interlingua_settings::Peer;

pub(crate) use legs::KIND as LEGS;
pub use peer::NlipPeer;

/// A peer that is made and can be registered.
#[derive(Debug)]
pub struct Prepared {
    card: Card,
    peer: Arc<NlipPeer>,
    config: Peer,
}

/// Makes the peer: all that its configuration can be refused for is refused here.
pub fn prepare(hub: &Arc<Hub>, name: &str, config: &Peer, nlip: &settings::NlipPeer) -> Result<Prepared, Fault> {
    let name = PeerId::from(name);
    let peer = Arc::new(NlipPeer::new(hub, name.clone(), config, nlip)?);
    Ok(Prepared { card: card::card(&name, config, hub.now()), peer, config: config.clone() })
}

impl sections::Prepared for Prepared {
    /// Old connections end with what runs on them.
    fn register<'a>(self: Box<Self>, hub: &'a Arc<Hub>) -> BoxFuture<'a, Result<Option<Starting>, Fault>> {
        Box::pin(async move {
            hub.register(self.card, self.peer.clone()).await?;
            watch(hub, &self.peer);
            if self.config.hub {
                import::watch(hub, &self.peer, self.config);
            }
            Ok(None)
        })
    }
}

impl sections::Connect for settings::NlipPeer {
    fn prepare<'a>(
        &'a self,
        around: sections::PeerAround<'a>,
    ) -> BoxFuture<'a, Result<Box<dyn sections::Prepared>, Fault>> {
        let prepared = prepare(around.hub, around.name, around.peer, self);
        Box::pin(std::future::ready(prepared.map(|prepared| Box::new(prepared) as _)))
    }
}
