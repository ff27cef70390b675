//! Shows the devices that the registrar knows as peers of the hub, many at a time.

use std::sync::Arc;

use interlingua_model::{Card, Text};
use interlingua_wire::members::Members;

use super::device::DevicePeer;
use crate::desk::Desk;

/// From now on, until the hub stops.
pub(crate) fn start_showing(desk: &Arc<Desk>) {
    if let Some(hub) = desk.hub() {
        hub.spawn_until_stop(keep_shown(desk.clone()));
    }
}

async fn keep_shown(desk: Arc<Desk>) {
    loop {
        desk.registrar.next_change().await;
        let Some(hub) = desk.hub() else { return };
        let peer = |id, card: &Card, tools| -> Arc<dyn interlingua_model::peer::Peer> {
            Arc::new(DevicePeer::new(desk.clone(), id, card.peer.clone(), platform(card), tools))
        };
        let (changes, noted) = desk.registrar.take_changes(&hub.catalogue(), &desk.settings(), hub.now(), peer);
        if let Err(fault) = hub.register_all(changes, || desk.registrar.set_shown(noted)).await {
            tracing::error!(event = "peer_not_updated", error = %fault, "connected devices could not be registered as peers");
        }
    }
}

fn platform(card: &Card) -> Option<Text> {
    let told = card.telemetry.as_ref().map_or_else(Members::absent, Members::of);
    told.text("platform").map(|platform| Text::from(&*platform))
}
