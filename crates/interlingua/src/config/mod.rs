//! Configuration: one YAML file, read whole or not at all.
//!
//! One file here for each section. [`load()`] reads a file: [`document`] gives a tree whose values know their places, the
//! types below are made from it, and [`check`] looks at what types cannot say. [`schema`] is the JSON Schema of the same
//! types. [`diff`] says what a reload would change, [`watch`] when to try one. [`massgen`] reads somebody else's.
//!
//! An unknown key is an error with file, line, column, path and the nearest name. Every key that is accepted has an
//! effect; keys of protocols this hub does not speak yet are refused with a text that says so ([`later`]). Relative
//! paths start at the folder of the file they stand in.
//!
//! Deliberately absent: applying a configuration, which is the server's, and the environment, which is passed in.

mod a2a;
mod a2a_peer;
mod access;
mod agents;
mod aip;
mod audit;
mod check;
mod check_a2a;
mod check_agents;
mod check_limits;
mod check_peers;
mod confirm;
pub mod diff;
mod document;
mod hooks;
mod hub;
mod issuers;
mod limit_rules;
mod limits;
mod listen;
mod load;
pub mod massgen;
mod mcp;
mod mcp_peer;
mod models;
mod nlip;
mod nlweb;
mod oauth;
mod overrides;
mod peers;
mod phrases;
pub mod policy;
mod problem;
mod retention;
mod scalar;
pub mod schema;
mod secret;
mod site;
mod store;
mod teams;
mod telemetry;
#[cfg(test)]
mod tests;
pub mod tokens;
mod tools;
pub mod watch;

use std::path::PathBuf;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Deserialize;

pub use a2a::A2a;
pub use a2a_peer::{A2aBinding, A2aPeer, A2aSignature, Basic};
pub use access::{Access, AccessToken, Anonymous, Shows, expiry};
pub use agents::{Agent, AgentRouter, Budget, Confirm, Consent, Context, Fold};
pub use aip::{Aip, AipDevice, AipPeer};
pub use audit::{Audit, AuditArguments, KeepArguments};
pub(crate) use check::real;
pub use check::{is_reserved, name_problem};
pub use confirm::{Confirmations, Unknown};
pub use document::{Environment, Sources};
pub use hooks::{Asks, Failure, Hook, HookPhase, Moment, Occasion};
pub use hub::Hub;
pub use issuers::Issuer;
pub use limit_rules::{LimitPer, LimitRule, LimitWhen};
pub use limits::Limits;
pub use listen::{Listen, Tls, TlsVersion};
pub use load::{Loaded, Rejected, load, load_text, without_file};
pub use mcp::{HubTools, Mcp, McpView, McpViewTool, SkillRef, ToolNames};
pub use mcp_peer::{McpChanges, McpCredentials, McpPeer, McpPlace};
pub use models::{Model, Price, Provider};
pub use nlip::{Nlip, Router, SchemaVersion, Tokens, Translation};
pub use nlweb::NlwebPeer;
pub use oauth::{OAuth, OAuthGrant};
pub use overrides::Overrides;
pub use peers::{Binding, EffectsOverride, NlipPeer, Peer, SkillSettings, Speaks};
pub use phrases::Phrases;
pub use policy::PolicyFile;
pub use problem::{At, Problem};
pub(crate) use problem::{nearest, unreadable};
pub use retention::Retention;
pub use scalar::{Rate, Size, Span};
pub use secret::{Key, Secret};
pub use site::{Browser, SitePeer};
pub use store::{Encryption, Store};
pub use teams::{Ending, Novelty, Purse, Strategy, Team, Times, Updates, Workspaces};
pub use telemetry::{Log, LogFormat, Telemetry};
pub use tools::{Permission, Root, Tools};

/// All that can be configured. `Config::default()` is the hub without a file.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(title = "Configuration of an Interlingua hub")]
pub struct Config {
    pub hub: Hub,
    /// Where the hub listens: one port for every protocol.
    pub listen: Listen,
    /// Listen beyond loopback without TLS. Whoever can read the network can then read every message and token.
    pub insecure: bool,
    pub tls: Option<Tls>,
    pub store: Store,
    pub limits: Limits,
    pub retention: Retention,
    pub audit: Audit,
    /// Who the hub can call, by name.
    pub peers: IndexMap<String, Peer>,
    pub nlip: Nlip,
    pub mcp: Mcp,
    pub a2a: A2a,
    pub aip: Aip,
    pub browser: Browser,
    pub tools: Tools,
    /// Who is asked before a call, or told after it, by name and in this order.
    pub hooks: IndexMap<String, Hook>,
    /// Agents whose lines are written in a file: for demonstrations and for rehearsing clients. By name, the file.
    pub scripts: IndexMap<String, PathBuf>,
    /// Models that agents speak with, by name.
    pub models: IndexMap<String, Model>,
    /// Agents backed by a model, by name: peers with the skill `chat`.
    pub agents: IndexMap<String, Agent>,
    /// Teams of agents, by name: peers with the skill `chat`.
    pub teams: IndexMap<String, Team>,
    /// The peer that gets requests in plain words. Without it the hub matches them to skills itself.
    pub front_door: Option<String>,
    /// When a person is asked before a call.
    pub confirm: Confirmations,
    pub access: Access,
    pub telemetry: Telemetry,
}

impl Config {
    /// The data directory.
    pub fn data(&self) -> &std::path::Path {
        &self.store.embedded
    }

    /// The socket through which programs of the same user reach the hub that holds the data directory.
    pub fn socket(&self) -> PathBuf {
        self.data().join(SOCKET)
    }

    /// Peers by their names: those inside every hub, and those of this configuration.
    pub(crate) fn peer_names(&self) -> impl Iterator<Item = &str> {
        check::BUILT_IN.into_iter().chain(self.configured_peers())
    }

    /// Those of this configuration alone.
    pub(crate) fn configured_peers(&self) -> impl Iterator<Item = &str> {
        let named = self.peers.keys().chain(self.scripts.keys()).chain(self.agents.keys()).chain(self.teams.keys());
        named.map(String::as_str)
    }

    /// Where custom tools are looked for.
    pub fn tools_directory(&self) -> PathBuf {
        self.tools.directory.clone().unwrap_or_else(|| self.data().join("tools"))
    }

    /// Where the file tools work.
    pub fn workspace(&self) -> PathBuf {
        self.tools.workspace.clone().unwrap_or_else(|| self.data().join("workspace"))
    }
}

/// The name of the hub's socket in its data directory.
pub const SOCKET: &str = "hub.sock";

/// A key that is part of the contract but not of this hub yet: why it is refused.
pub(crate) fn later(steps: &[String]) -> Option<String> {
    let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
    match steps.as_slice() {
        ["store", "nats"] => Some("this hub keeps its data in a directory only: `embedded`".into()),
        _ => None,
    }
}
