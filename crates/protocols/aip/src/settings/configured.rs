//! The section `aip`: how devices and orchestrators connect; and a peer that is a device behind another server.

use std::path::PathBuf;

use crate::wire::{ClientKind, ServerKind};
use indexmap::IndexMap;
use interlingua_model::SkillId;
use schemars::JsonSchema;
use serde::Deserialize;

use interlingua_endpoint::sections::{Around, NamedBy, PeerSection, Section};
use interlingua_settings::check::{authorities, is_open, url};
use interlingua_settings::{EffectsOverride, Found, Secret, Span};

#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Aip {
    /// Off: no device and no orchestrator is let in.
    pub enabled: bool,
    /// What devices and orchestrators bring as `?token=`, and programs as `X-API-Key`. Without it they come in with a
    /// token of the hub's.
    pub key: Option<Secret>,
    /// The agent that plans what a device does to fulfil a task told in words. Without it a task is a list of commands, or
    /// words that fit one of the device's tools.
    pub planner: Option<String>,
    /// The name under which a device looks its tools up. Default: by its platform.
    pub agent_name: Option<String>,
    /// A connection that is silent this long is asked for a sign of life, and has as long to give it.
    pub heartbeat: Span,
    /// How long a device that left is remembered, and its sessions wait for it where both sides can take them up again.
    pub grace: Span,
    /// How long after a device came in it is asked for its tools, unless it told them; `0s` is never.
    pub list_tools: Span,
    /// How many devices and orchestrators one caller with a token may have connected, or just gone. Whoever brings a key, and the
    /// hub's Owner, are not bounded.
    pub clients_per_caller: u32,
    /// Frames of kinds that the protocol does not have: each kind calls a skill (`peer/skill`) with what the frame says, in
    /// the name of whoever sent it, and is answered with a frame of the same kind.
    pub messages: IndexMap<String, String>,
    /// What is known of devices before they come, by their id.
    pub devices: IndexMap<String, AipDevice>,
}

impl Default for Aip {
    fn default() -> Self {
        Aip {
            enabled: true,
            key: None,
            planner: None,
            agent_name: None,
            heartbeat: Span::seconds(20),
            grace: Span::seconds(30),
            list_tools: Span::seconds(5),
            clients_per_caller: 256,
            messages: IndexMap::new(),
            devices: IndexMap::new(),
        }
    }
}

impl Section for Aip {
    /// Ids that only their own key opens.
    fn kept_names(&self) -> Vec<&str> {
        self.devices.iter().filter(|(_, device)| device.key.is_some()).map(|(id, _)| id.as_str()).collect()
    }

    fn check(&self, _: &Around<'_>, found: &mut Found) {
        found.require(!self.heartbeat.0.is_zero(), "aip.heartbeat", "must be longer than 0");
        found.require(self.clients_per_caller > 0, "aip.clients_per_caller", "must be more than 0");
        let keys: Vec<_> = self.devices.values().filter_map(|device| device.key.as_ref()).collect();
        let shared = self.key.as_ref();
        let distinct = keys.iter().enumerate().all(|(index, key)| !keys[..index].contains(key) && Some(*key) != shared);
        found.require(distinct, "aip.devices", "every device's key is its own, and not the key of all");
        for (kind, skill) in &self.messages {
            let path = format!("aip.messages.{kind}");
            let own = ClientKind::parse(kind).is_some() || ServerKind::parse(kind).is_some();
            found.require(!own && !kind.is_empty(), &path, "the protocol has this kind of message itself");
            found.require(skill.parse::<SkillId>().is_ok(), &path, "expected a skill, as `peer/skill`");
        }
        for id in self.devices.keys() {
            found.require(!id.is_empty() && id.len() <= 4096, "aip.devices", "an id has 1 to 4096 characters");
        }
    }
}

/// A device that may come.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AipDevice {
    /// Its own key: nobody else is let in under its id, whatever they show, and it under no other.
    pub key: Option<Secret>,
    /// Its system, until it says so itself.
    pub os: Option<String>,
    /// What it is good for, added to what it says itself.
    pub capabilities: Vec<String>,
    /// Whatever else is worth knowing of it.
    pub metadata: serde_json::Map<String, serde_json::Value>,
    /// What its tools do, instead of what it says itself.
    pub effects: Option<EffectsOverride>,
    /// Believe it that a tool only collects data.
    pub trust_hints: bool,
    /// Anyone may call it, without a credential.
    pub public: bool,
    /// Tools that are offered; `*` stands for any letters. Default: all.
    pub allow: Option<Vec<String>>,
    /// Tools that are not offered; wins over `allow`.
    pub deny: Vec<String>,
}

/// A device behind an AIP server that is not this hub.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AipPeer {
    /// The server, such as `ws://127.0.0.1:5000/ws`.
    pub url: String,
    /// The id of the device.
    pub target: String,
    /// The server's key.
    pub key: Option<Secret>,
    /// What this hub calls itself there. Default: its own id.
    pub name: Option<String>,
    /// Speak the wider profile `aip-1`, which this hub's own server knows.
    #[serde(default)]
    pub profile: bool,
    /// How often the server is told that we are there, and how long it has to answer.
    pub heartbeat: Option<Span>,
    /// A PEM file of authorities to trust instead of the machine's own.
    pub ca: Option<PathBuf>,
    /// Send the key even where it can be read on the way (neither TLS nor loopback).
    #[serde(default)]
    pub insecure: bool,
}

impl PeerSection for AipPeer {
    fn paths(&mut self) -> Vec<&mut PathBuf> {
        self.ca.iter_mut().collect()
    }

    fn names_addresses(&self) -> bool {
        false
    }

    fn named_by(&self) -> NamedBy<'_> {
        NamedBy::Url(&self.url, None)
    }

    fn check(&self, path: &str, found: &mut Found) {
        let uri = match url(&self.url, &["ws", "wss", "http", "https"]) {
            Ok(uri) => uri,
            Err(message) => return found.refuse(format!("{path}.url"), message),
        };
        if self.key.is_some() && !self.insecure && is_open(&uri) {
            found.refuse(
                format!("{path}.key"),
                "the key would travel unencrypted; use https or wss, or set `insecure: true` here",
            );
        }
        found.require(!self.target.is_empty(), &format!("{path}.target"), "expected the id of a device");
        let heard = self.heartbeat.is_none_or(|span| !span.0.is_zero());
        found.require(heard, &format!("{path}.heartbeat"), "must be longer than 0");
        authorities(path, self.ca.as_deref(), found);
    }
}
