//! Registers the devices of the registrar as peers of the hub, many at a time.

use std::sync::Arc;

use interlingua_model::{Card, DeviceState, Text};

use super::device::DevicePeer;
use crate::registrar::Named;
use crate::server_runtime::ServerRuntime;
use interlingua_hub::Hub;

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
        let taken = runtime.registrar.take_changes(&hub.catalogue(), &runtime.settings(), hub.now(), peer);
        taken.devices.into_iter().for_each(|named| note(&hub, named));
        if let Err(fault) = hub.register_all(taken.changes, || runtime.registrar.set_shown(taken.noted)).await {
            tracing::error!(event = "peer_not_updated", error = %fault, "connected devices could not be registered as peers");
        }
    }
}

/// Before the peer is listed: whoever finds it finds what is known of it.
fn note(hub: &Hub, named: Named) {
    let Named { peer, device, report } = named;
    match device {
        Some(device) => hub.devices().put(&peer, device),
        None => hub.devices().remove(&peer),
    }
    if let Some(report) = report {
        hub.devices().report(&peer, &report, hub.now(), hub.meters().devices());
    }
}

fn platform(card: &Card) -> Option<Text> {
    DeviceState::of(card).platform.map(|platform| platform.to_lowercase().into())
}
