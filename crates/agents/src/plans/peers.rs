//! Candidates for a step: every peer that the caller may call, with its skills, health, capacity and, of a device, its last report.

use std::collections::BTreeSet;

use interlingua_machines::graph::{Candidate, GPU, Graph, Peers, Want};
use interlingua_model::{Card, DeviceLoad, Health, PeerId, Principal, RouteClass, Text};

use interlingua_hub::Hub;

/// A device does one thing at a time; anybody else many.
const MANY: u32 = 64;

pub(super) fn known(hub: &Hub, by: &Principal, graph: &Graph) -> Peers {
    let wanted: BTreeSet<&PeerId> = graph
        .steps()
        .filter_map(|step| match &step.node.want {
            Want::Peer(peer) => Some(peer),
            Want::Any { .. } => None,
        })
        .collect();
    let anyone = |want: &Want| *want == Want::ANYONE;
    let open_to_all = graph.steps().any(|step| anyone(&step.node.want));
    let mut peers = Peers::default();
    for registered in hub.visible(by).callable_peers() {
        let (card, id) = (&registered.card, &registered.card.peer);
        // A step that anyone may do is a device's: that is what plans were made for.
        let device = card.class == RouteClass::Device;
        if device || wanted.contains(id) || !open_to_all {
            peers.insert(id.clone(), candidate(card, hub.device_load(card)));
        }
    }
    peers
}

fn candidate(card: &Card, load: DeviceLoad) -> Candidate {
    let device = card.class == RouteClass::Device;
    let mut capabilities: BTreeSet<Text> = BTreeSet::new();
    for skill in &card.skills {
        capabilities.insert(skill.id.skill.0.clone());
        capabilities.extend(skill.tags.iter().cloned());
        capabilities.extend(skill.capability.clone());
    }
    if load.has_gpu {
        capabilities.insert(GPU.into());
    }
    let fresh = load.is_fresh();
    Candidate {
        capabilities,
        available: !matches!(card.health, Health::Down { .. }),
        slow: card.health == Health::Slow,
        busy: 0,
        capacity: if device { 1 } else { MANY },
        strain: load.cpu_percent.filter(|_| fresh),
        free_memory: load.free_memory.filter(|_| fresh),
        platform: load.platform,
        device,
    }
}
