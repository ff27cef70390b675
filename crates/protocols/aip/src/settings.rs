//! The settings of the section `aip`, as the running endpoint uses them.

mod configured;

pub use configured::{Aip, AipDevice, AipPeer};

use std::collections::HashMap;
use std::time::Duration;

use crate::link::Pulse;
use crate::server::Rules;
use crate::wire::ToolType;
use interlingua_model::{CardFrom, Digest, Effects, Json, PeerId, Principal, Proof, SkillId, Text, glob};

use interlingua_settings::Secret;

#[derive(Debug)]
pub struct Settings {
    pub(super) enabled: bool,
    /// The agent that plans tasks told in words.
    pub(super) planner: Option<PeerId>,
    pub(super) pulse: Pulse,
    pub(super) rules: Rules,
    clients_of_one: usize,
    /// How long after it came in a device is asked for its tools.
    pub(super) list_tools: Option<Duration>,
    /// Which skill a frame of another kind calls.
    messages: HashMap<Text, SkillId>,
    agent_name: Option<Text>,
    /// Keys are kept as digests: comparing those leaks nothing through time.
    key: Option<Digest>,
    device_keys: HashMap<Digest, Text>,
    devices: HashMap<Text, AipDevice>,
}

/// Whose a key is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum KeyOf {
    Everybody,
    Device(Text),
}

fn digest(secret: &Secret) -> Digest {
    Digest::of(secret.expose().value().unwrap_or_default())
}

impl Settings {
    pub fn new(aip: &Aip) -> Settings {
        let keys =
            aip.devices.iter().filter_map(|(id, device)| Some((digest(device.key.as_ref()?), id.as_str().into())));
        Settings {
            enabled: aip.enabled,
            planner: aip.planner.as_deref().map(PeerId::from),
            pulse: Pulse { ping: aip.heartbeat.0, timeout: aip.heartbeat.0, ..Pulse::default() },
            rules: Rules { grace: aip.grace.0, ..Rules::default() },
            clients_of_one: usize::try_from(aip.clients_per_caller).unwrap_or(usize::MAX),
            list_tools: Some(aip.list_tools.0).filter(|span| !span.is_zero()),
            messages: aip
                .messages
                .iter()
                .filter_map(|(kind, skill)| Some((kind.as_str().into(), skill.parse().ok()?)))
                .collect(),
            agent_name: aip.agent_name.as_deref().map(Text::from),
            key: aip.key.as_ref().map(digest),
            device_keys: keys.collect(),
            devices: aip.devices.iter().map(|(id, device)| (id.as_str().into(), device.clone())).collect(),
        }
    }

    pub(super) fn has_key(&self) -> bool {
        self.key.is_some()
    }

    pub(super) fn key(&self, given: &[u8]) -> Option<KeyOf> {
        let given = Digest::of(given);
        if self.key == Some(given) {
            return Some(KeyOf::Everybody);
        }
        self.device_keys.get(&given).cloned().map(KeyOf::Device)
    }

    /// Has a device of this id a key of its own, in whatever case the id is written?
    pub(super) fn has_own_key(&self, device: &str) -> bool {
        self.devices.iter().any(|(id, known)| known.key.is_some() && id.eq_ignore_ascii_case(device))
    }

    /// How many clients somebody may have. Keys are the operator's: each is for as many as it is given to.
    pub(super) fn room_of(&self, by: &Principal) -> Option<usize> {
        let keyed = by.links().iter().all(|link| link.proof == Proof::Key);
        (!keyed && !by.is_hub_owner()).then_some(self.clients_of_one)
    }

    pub(super) fn message(&self, kind: &str) -> Option<&SkillId> {
        self.messages.get(kind)
    }

    pub(super) fn agent_name(&self, platform: Option<&str>) -> Text {
        if let Some(name) = &self.agent_name {
            return name.clone();
        }
        match platform {
            Some("windows") => "HostAgent".into(),
            Some("android" | "mobile") => "MobileAgent".into(),
            Some(_) | None => "LinuxAgent".into(),
        }
    }

    /// What configuration knows of a device, in the form that cards are merged from.
    pub(super) fn account(&self, device: &str) -> Option<Json> {
        let device = self.devices.get(device)?;
        let account = serde_json::json!({
            "os": device.os,
            "capabilities": device.capabilities,
            "metadata": device.metadata,
        });
        Some(account.into())
    }

    pub(super) fn offers(&self, device: &str, tool: &str) -> bool {
        let Some(device) = self.devices.get(device) else { return true };
        let any = |patterns: &[String]| patterns.iter().any(|pattern| glob::matches(pattern, tool));
        device.allow.as_deref().is_none_or(any) && !any(&device.deny)
    }

    pub(super) fn is_public(&self, device: &str) -> bool {
        self.devices.get(device).is_some_and(|device| device.public)
    }

    pub(super) fn effects(&self, device: &str, tool_type: ToolType) -> Effects {
        let device = self.devices.get(device);
        match device.and_then(|device| device.effects) {
            Some(said) => said.effects(),
            None if tool_type == ToolType::DataCollection && device.is_some_and(|device| device.trust_hints) => {
                Effects::reads_only(CardFrom::Manifest)
            }
            None => Effects::unknown(),
        }
    }
}
