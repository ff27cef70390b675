//! Device registry: devices as peers of the hub. They are registered when they connect, quarantined when they disconnect, and removed when
//! they do not come back.
//!
//! Changes are noted at once and published a little later by one task, many at a time: a thousand devices that reconnect in the same moment
//! cost a few catalogues, not a thousand. A device is informed of its registration when it can be found.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::discover::{self, DO, Sources, ToolKey};
use crate::link::Tongue;
use crate::server::Effect;
use crate::telemetry::Told;
use crate::wire::ToolType;
use crate::{PROFILE, WIRE};
use interlingua_model::peer::Peer;
use interlingua_model::{Card, DeviceReport, DeviceState, Digest, Health, Json, PeerId, SkillKind, Text, Time};
use tokio::sync::{Notify, watch};

use super::settings::Settings;
use interlingua_hub::devices::Device;
use interlingua_hub::names::name_problem;
use interlingua_hub::registry::{Catalogue, Change};

/// How long news of how devices are may wait for more of them.
const TELEMETRY: Duration = Duration::from_secs(2);
/// How long a device that comes in waits to be found, at most.
const PATIENCE: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub(super) struct Registrar {
    known: Mutex<Known>,
    changed: Notify,
    /// Somebody came, left or is forgotten.
    urgent: Notify,
    shown: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct Known {
    devices: BTreeMap<Text, KnownDevice>,
    /// To be shown anew.
    dirty: BTreeSet<Text>,
    urgent: bool,
    /// Counts what was noted.
    noted: u64,
    /// What of it somebody may wait for.
    awaited: u64,
}

#[derive(Debug, Clone)]
struct KnownDevice {
    /// Its name as a peer, once it has one.
    name: Option<PeerId>,
    tongue: Tongue,
    /// Whose it is.
    of: Text,
    /// What it last said of itself, and what of it the card has.
    told: Option<Box<Told>>,
    shown: Option<DeviceState>,
    /// A report that came before it had a name.
    unreported: Option<DeviceReport>,
    tools: Option<Json>,
    joined: Option<Time>,
    seen: Time,
    until: Time,
    stand: Stand,
    /// Counts its visits.
    visit: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stand {
    Here,
    Away,
    Gone,
}

impl Known {
    /// Is this the name of another device or peer, in whatever case it is written?
    fn is_taken(&self, id: &str, name: &str, catalogue: &Catalogue) -> bool {
        let like = |of: &PeerId| of.as_str().eq_ignore_ascii_case(name);
        let by_device =
            self.devices.iter().any(|(other, device)| **other != *id && device.name.as_ref().is_some_and(like));
        by_device || catalogue.peers.keys().any(like)
    }
}

impl Default for Registrar {
    fn default() -> Self {
        Registrar {
            known: Mutex::default(),
            changed: Notify::new(),
            urgent: Notify::new(),
            shown: watch::Sender::new(0),
        }
    }
}

impl Registrar {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Is this the id or the name of a device of this hub, connected or not?
    pub(super) fn is_device(&self, name: &str) -> bool {
        let known = self.known();
        let named = |device: &KnownDevice| device.name.as_ref().is_some_and(|of| of.as_str() == name);
        known.devices.contains_key(name) || known.devices.values().any(named)
    }

    /// The name under which a device is a peer.
    pub(super) fn name(&self, device: &str) -> Option<PeerId> {
        self.known().devices.get(device).and_then(|device| device.name.clone())
    }

    /// The name under which a device is a peer, or would be if it came now.
    pub(super) fn peer_of(&self, device: &str, catalogue: &Catalogue) -> PeerId {
        let known = self.known();
        let has = known.devices.get(device).and_then(|device| device.name.clone());
        has.unwrap_or_else(|| peer_name(device, |name| known.is_taken(device, name, catalogue)))
    }

    /// How often it came so far; `None` when it is not here.
    pub(super) fn visit(&self, device: &str) -> Option<u64> {
        self.known().devices.get(device).filter(|device| device.stand == Stand::Here).map(|device| device.visit)
    }

    /// Its system, as it told.
    pub(super) fn platform(&self, device: &str) -> Option<Text> {
        let known = self.known();
        let told = known.devices.get(device).and_then(|device| device.told.as_ref());
        told.and_then(|told| told.report.state.platform.as_ref()).map(|platform| platform.to_lowercase().into())
    }

    pub(super) fn has_tools(&self, device: &str) -> bool {
        self.known().devices.get(device).is_some_and(|device| device.tools.is_some())
    }

    /// What a device answered when it was asked for its tools.
    pub(super) fn set_tools(&self, device: &str, tools: Json) {
        self.change(device, |known| known.tools = Some(tools.alone()), Urgency::Urgent);
    }

    pub(super) fn note(&self, effect: &Effect) {
        match effect {
            Effect::Joined { device, of, told, tools, tongue, back: _ } => {
                self.joined(device, of, told, tools, *tongue)
            }
            Effect::Left { device, seen, until } => {
                let away =
                    |known: &mut KnownDevice| (known.stand, known.seen, known.until) = (Stand::Away, *seen, *until);
                self.change(device, away, Urgency::Urgent);
            }
            Effect::Removed { device } => {
                self.change(device, |known| known.stand = Stand::Gone, Urgency::Urgent);
            }
            Effect::Telemetry { device, told, tools } => self.told(device, told, tools.as_ref()),
            Effect::Send(..)
            | Effect::Close(..)
            | Effect::Admit(..)
            | Effect::Probe(_)
            | Effect::Open(_)
            | Effect::Cancel { .. }
            | Effect::Results { .. }
            | Effect::Lines { .. }
            | Effect::Reported { .. }
            | Effect::Describe { .. } => {}
        }
    }

    /// A report that changes little is no reason for another card: a thousand devices report all the time.
    fn told(&self, device: &str, told: &Told, tools: Option<&Json>) {
        let state = &told.report.state;
        let is_news = |known: &KnownDevice| known.shown.as_ref().is_none_or(|shown| state.is_news_to(shown));
        let is_news = self.known().devices.get(device).is_some_and(is_news);
        let urgency = match tools {
            Some(_) => Urgency::Urgent,
            None if is_news => Urgency::Patient,
            None => Urgency::None,
        };
        let edit = |known: &mut KnownDevice| {
            known.told = Some(Box::new(told.clone()));
            if known.name.is_none() {
                known.unreported = Some(told.report.clone());
            }
            if let Some(tools) = tools {
                known.tools = Some(tools.clone());
            }
        };
        self.change(device, edit, urgency);
    }

    fn joined(&self, id: &Text, of: &Text, told: &Option<Box<Told>>, tools: &Option<Json>, tongue: Tongue) {
        let fresh = KnownDevice {
            name: None,
            tongue,
            of: of.clone(),
            told: None,
            shown: None,
            unreported: None,
            tools: None,
            joined: None,
            seen: Time(0),
            until: Time(0),
            stand: Stand::Here,
            visit: 0,
        };
        self.known().devices.entry(id.clone()).or_insert(fresh);
        let here = |known: &mut KnownDevice| {
            (known.stand, known.tongue, known.visit) = (Stand::Here, tongue, known.visit + 1);
            (known.of, known.joined) = (of.clone(), None);
            known.told.clone_from(told);
            known.unreported = told.as_ref().map(|told| told.report.clone());
            // What it answered before it left is better than nothing.
            if tools.is_some() {
                known.tools.clone_from(tools);
            }
        };
        self.change(id, here, Urgency::Urgent);
    }

    fn change(&self, id: &str, edit: impl FnOnce(&mut KnownDevice), urgency: Urgency) {
        {
            let mut known = self.known();
            let Some((id, _)) = known.devices.get_key_value(id) else { return };
            let id = id.clone();
            known.devices.entry(id.clone()).and_modify(edit);
            if urgency == Urgency::None {
                return;
            }
            known.dirty.insert(id);
            known.noted += 1;
            if urgency == Urgency::Urgent {
                (known.urgent, known.awaited) = (true, known.noted);
            }
        }
        if urgency == Urgency::Urgent {
            self.urgent.notify_one();
        }
        self.changed.notify_one();
    }

    /// Waits until everybody who came or left so far is shown as that; not for how they are.
    pub(super) async fn settled(&self) {
        let awaited = self.known().awaited;
        let mut shown = self.shown.subscribe();
        let _ = tokio::time::timeout(PATIENCE, shown.wait_for(|shown| *shown >= awaited)).await;
    }

    /// Waits until there is something to show; news that nobody waits for may wait for more of them.
    pub(super) async fn next_change(&self) {
        self.changed.notified().await;
        if !self.known().urgent {
            let _ = tokio::time::timeout(TELEMETRY, self.urgent.notified()).await;
        }
    }

    /// What has changed since this was last asked. `peer` makes what a device is called by.
    pub(super) fn take_changes(
        &self,
        catalogue: &Catalogue,
        settings: &Settings,
        now: Time,
        peer: impl Fn(Text, &Card, Vec<ToolKey>) -> Arc<dyn Peer>,
    ) -> Taken {
        let mut known = self.known();
        known.urgent = false;
        let dirty = std::mem::take(&mut known.dirty);
        let mut taken = Taken { changes: Vec::with_capacity(dirty.len()), devices: Vec::new(), noted: known.noted };
        for id in dirty {
            let Some(device) = known.devices.get(&id) else { continue };
            let named = device.name.clone();
            let name = named.unwrap_or_else(|| peer_name(&id, |name| known.is_taken(&id, name, catalogue)));
            if device.stand == Stand::Gone {
                known.devices.remove(&id);
                taken.devices.push(Named { peer: name.clone(), device: None, report: None });
                taken.changes.push(Change::Remove(name));
                continue;
            }
            let (card, tools) = card(&id, &name, device, settings, now);
            if let Some(device) = known.devices.get_mut(&id) {
                device.name = Some(name.clone());
                device.shown = device.told.as_ref().map(|told| told.report.state.clone());
                device.joined.get_or_insert(now);
                let report = device.unreported.take();
                taken.devices.push(Named { peer: name, device: Some(described(&id, device)), report });
            }
            let peer = peer(id, &card, tools);
            taken.changes.push(Change::Put(Box::new(card), peer));
        }
        taken
    }

    /// All that was noted until then is shown.
    pub(super) fn set_shown(&self, noted: u64) {
        self.shown.send_replace(noted);
    }
}

/// What [`Registrar::take_changes`] finds.
#[derive(Debug)]
pub(super) struct Taken {
    pub(super) changes: Vec<Change>,
    pub(super) devices: Vec<Named>,
    /// How much was noted by then.
    pub(super) noted: u64,
}

/// A device under its name as a peer; none is one that is gone. With a report that has not been counted.
#[derive(Debug)]
pub(super) struct Named {
    pub(super) peer: PeerId,
    pub(super) device: Option<Device>,
    pub(super) report: Option<DeviceReport>,
}

fn described(id: &Text, known: &KnownDevice) -> Device {
    Device {
        id: id.clone(),
        owner: known.of.clone(),
        profile: match known.tongue {
            Tongue::Plain => WIRE,
            Tongue::Profile => PROFILE,
        },
        joined: known.joined.unwrap_or(known.seen),
        held_until: (known.stand == Stand::Away).then_some(known.until),
        report: known.told.as_ref().map(|told| told.report.clone()).unwrap_or_default(),
        reported: None,
    }
}

/// Whether somebody waits to see a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Urgency {
    Urgent,
    Patient,
    /// There is nothing to see.
    None,
}

/// The id, if a peer can be called so and none is; else as much of it as can be, and a sign of its own.
fn peer_name(id: &str, taken: impl Fn(&str) -> bool) -> PeerId {
    if name_problem(id).is_none() && !taken(id) {
        return id.into();
    }
    let plain: String = id.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).take(32).collect();
    let plain = plain.trim_matches('-');
    let sign = hex::encode(&Digest::of(id.as_bytes()).0[..4]);
    format!("{}-{sign}", if plain.is_empty() { "device" } else { plain }).into()
}

fn card(id: &str, name: &PeerId, device: &KnownDevice, settings: &Settings, now: Time) -> (Card, Vec<ToolKey>) {
    let sources = Sources {
        configuration: settings.account(id),
        manifest: None,
        telemetry: device.told.as_ref().map(|told| told.fields.clone()),
    };
    let listed = device.tools.as_ref().map(|tools| discover::tools(name.as_str(), tools)).unwrap_or_default();
    let mut skills = Vec::with_capacity(listed.len());
    let mut keys = Vec::with_capacity(listed.len());
    for (mut skill, key) in listed {
        // Its own `do` would stand in the way of the one that plans, and `list_tools` is for us.
        if key.name.as_ref() == DO || key.name.as_ref() == LIST_TOOLS || !settings.offers(id, &key.name) {
            continue;
        }
        skill.effects = settings.effects(id, key.tool_type);
        skill.public = settings.is_public(id);
        skills.push(skill.sealed());
        keys.push(key);
    }
    let mut card = discover::card(name.as_str(), &sources, skills, now);
    card.title = id.into();
    for skill in card.skills.iter_mut().filter(|skill| skill.kind == SkillKind::Agent) {
        skill.public = settings.is_public(id);
        // What is told in words is done by its tools: what configuration says of the device holds for it, too.
        skill.effects = settings.effects(id, ToolType::Action);
        *skill = skill.clone().sealed();
    }
    if device.stand == Stand::Away {
        (card.health, card.seen) = (Health::Down { since: device.seen, quarantined: true }, device.seen);
    }
    (card, keys)
}

/// The tool by which the Python device tells what it has.
pub(super) const LIST_TOOLS: &str = "list_tools";

#[cfg(test)]
mod tests {
    use super::*;

    fn is_peer_name(name: &str) -> bool {
        name_problem(name).is_none()
    }

    #[test]
    fn a_device_is_called_by_its_id_where_a_peer_can_be() {
        assert_eq!(peer_name("windows_agent_001", |_| false).as_str(), "windows_agent_001");
        let odd = peer_name("my laptop/ö", |_| false);
        assert!(odd.as_str().starts_with("my-laptop-") && is_peer_name(odd.as_str()), "{odd}");
        assert_ne!(peer_name("a b", |_| false), peer_name("a/b", |_| false));
        let taken = peer_name("files", |name| name == "files");
        assert!(taken.as_str().starts_with("files-") && is_peer_name(taken.as_str()), "{taken}");
        assert!(is_peer_name(peer_name("hub", |_| false).as_str()) && peer_name("hub", |_| false).as_str() != "hub");
        assert!(is_peer_name(peer_name("", |_| false).as_str()));
        assert!(is_peer_name(peer_name(&"__".repeat(40), |_| false).as_str()));
    }
}
