//! Outbound MCP: an MCP server as a peer of the hub, a child process or reached over HTTP, of either era.
//!
//! | file | what |
//! |---|---|
//! | [`peer`] | the peer: its health, its configuration |
//! | [`upstream`], [`connect`], [`session`] | one session for all callers: opened when needed, its era found by trying |
//! | [`link`] | transports |
//! | [`call`], [`follow_task`] | one call: its answer at once, or all its events |
//! | [`listing`], [`card`], [`refresh`], [`changes`], [`pins`] | its lists: stored, refreshed, and checked for changes |
//! | [`follow`] | subscriptions |
//! | [`credentials`], [`callers`], [`sign_in`] | credentials of the hub or of each caller, and how a person is asked for them |
//!
//! Deliberately absent: any credential or header of a caller's, redirects, and repeating calls that may have run.

mod call;
mod callers;
mod card;
mod changes;
mod connect;
mod credentials;
mod follow;
mod follow_task;
mod link;
mod listing;
mod peer;
mod pins;
mod refresh;
mod request;
mod session;
mod sign_in;
mod upstream;

use std::sync::Arc;

use futures_util::future::BoxFuture;
use interlingua_model::{Fault, PeerId};

use crate::settings;
use interlingua_endpoint::sections;
use interlingua_hub::Hub;
use interlingua_net::client::health;
use interlingua_net::client::oauth::SignIns;
use interlingua_net::client::starting::Starting;

pub use peer::McpPeer;

/// A peer that is made and can be registered.
#[derive(Debug)]
pub struct Prepared {
    peer: Arc<McpPeer>,
}

/// Makes the peer: all that its configuration can be refused for is refused here. Nothing is started.
pub async fn prepare(
    (hub, sign_ins): (&Arc<Hub>, &Arc<SignIns>),
    name: &str,
    config: &interlingua_settings::Peer,
    mcp: &settings::McpPeer,
) -> Result<Prepared, Fault> {
    let peer = McpPeer::new((hub, sign_ins), PeerId::from(name), config, mcp).await?;
    Ok(Prepared { peer: Arc::new(peer) })
}

impl sections::Prepared for Prepared {
    /// With what it offered when it was last listed; starting it goes on beside.
    fn register<'a>(self: Box<Self>, hub: &'a Arc<Hub>) -> BoxFuture<'a, Result<Option<Starting>, Fault>> {
        Box::pin(async move {
            self.peer.show(hub, self.peer.health()).await?;
            refresh::watch(hub, &self.peer);
            refresh::watch_sign_ins(hub, &self.peer);
            health::watch(hub, &self.peer);
            Ok(Some(Starting::new(&self.peer.listed)))
        })
    }
}

impl sections::Connect for settings::McpPeer {
    fn prepare<'a>(
        &'a self,
        around: sections::PeerAround<'a>,
    ) -> BoxFuture<'a, Result<Box<dyn sections::Prepared>, Fault>> {
        Box::pin(async move {
            let parts = (around.hub, around.sign_ins);
            Ok(Box::new(prepare(parts, around.name, around.peer, self).await?) as _)
        })
    }
}
