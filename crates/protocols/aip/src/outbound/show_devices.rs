//! Registers the devices of the registrar as peers of the hub, many at a time.

use std::sync::Arc;

use interlingua_model::{Card, Text};
use interlingua_wire::members::Members;

use super::device::DevicePeer;
use crate::server_runtime::ServerRuntime;

/// From now on, until the hub stops.
pub(crate) fn start_showing(runtime: &Arc<ServerRuntime>) {
    if let Some(hub) = runtime.hub() {
        hub.spawn_until_stop(keep_shown(runtime.clone()));
    }
}

async fn keep_shown(runtime: Arc<ServerRuntime>) {
    loop {
        runtime.registrar.next_change().await;
        let Some(hub) = runtime.hub() else { return };
        let peer = |id, card: &Card, tools| -> Arc<dyn interlingua_model::peer::Peer> {
            Arc::new(DevicePeer::new(runtime.clone(), id, card.peer.clone(), platform(card), tools))
        };
        let (changes, noted) = runtime.registrar.take_changes(&hub.catalogue(), &runtime.settings(), hub.now(), peer);
        if let Err(fault) = hub.register_all(changes, || runtime.registrar.set_shown(noted)).await {
            tracing::error!(event = "peer_not_updated", error = %fault, "connected devices could not be registered as peers");
        }
    }
}

fn platform(card: &Card) -> Option<Text> {
    let told = card.telemetry.as_ref().map_or_else(Members::absent, Members::of);
    told.text("platform").map(|platform| Text::from(&*platform))
}
