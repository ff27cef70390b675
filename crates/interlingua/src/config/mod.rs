//! Configuration: one YAML file, read whole or not at all.
//!
//! Each component has its own section, with its checks; the file is assembled from them here, for protocols by the table of
//! [`protocols`](crate::protocols). [`load()`] reads a file: [`interlingua_settings::document`] gives a tree whose values have positions,
//! the types below are made from it, and [`check`] checks what types cannot express. [`schema`] is the JSON Schema of the same types.
//! [`diff`] determines what a reload would change, [`watch`] when to try one, [`sections`] what each component receives.
//!
//! An unknown key is an error with file, line, column, path and the nearest name. Every accepted key has an effect; keys of protocols that
//! this hub does not speak yet are refused with a text that says so ([`later`]). Relative paths start at the folder of the file they are
//! in.
//!
//! Deliberately absent: applying a configuration, which is the server's, and the environment, which is passed in.

mod audit;
mod check;
mod check_limits;
mod check_peers;
mod confirm;
mod console;
pub mod diff;
mod encryption;
mod hub;
mod limit_rules;
mod limits;
mod listen;
mod load;
mod overrides;
mod peers;
mod phrases;
mod retention;
pub mod schema;
mod sections;
mod store;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::protocols::table;
use interlingua_endpoint::protocol::Configured;
use interlingua_endpoint::sections::Section;

pub use crate::protocols::settings::*;
pub use crate::telemetry::settings::{Log, LogFormat, Telemetry};
pub use audit::{Audit, AuditArguments, KeepArguments};
pub use confirm::{Confirmations, Unknown};
pub use console::{Console, ConsoleSession};
pub use encryption::Encryption;
pub use hub::Hub;
pub use interlingua_access::settings::{
    Access, AccessToken, Anonymous, Issuer, PolicyFile, Shows, expiry, policy, tokens,
};
pub use interlingua_agents::settings::{
    Agent, AgentRouter, Budget, Confirm, Consent, Context, Ending, Fold, Model, Novelty, Price, Provider, Purse,
    Strategy, Team, Times, Updates, Workspaces,
};
pub use interlingua_hooks::settings::{Asks, Failure, Hook, HookPhase, Moment, Occasion};
pub use interlingua_hub::names::{is_reserved, name_problem};
pub use interlingua_net::client::oauth::{OAuth, OAuthGrant};
pub use interlingua_net::tls_settings::{Tls, TlsVersion};
pub use interlingua_settings::{
    At, EffectsOverride, Environment, Key, Phrases, Problem, Rate, Secret, Size, SkillSettings, Sources, Span, watch,
};
pub(crate) use interlingua_settings::{nearest, unreadable};
pub use interlingua_sites::settings::{Browser, SitePeer};
pub use interlingua_tools::settings::{Permission, Root, Tools};
pub use limit_rules::{LimitPer, LimitRule, LimitWhen};
pub use limits::Limits;
pub use listen::Listen;
pub use load::{Loaded, Rejected, load, load_text, without_file};
pub use overrides::{GivenPeer, Overrides};
pub(crate) use peers::Kind;
pub use peers::{Peer, Speaks};
pub use retention::Retention;
pub use store::{PostgresStore, Store};

macro_rules! config {
    ($($name:ident: $krate:ident::$protocol:ident
        $(, extends $base:ident)? $(, section $section:ident)? $(, peer $peer:ident)?;)*) => {
        /// All that can be configured. `Config::default()` is the hub without a file.
        #[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields, default)]
        #[schemars(title = "Configuration of an Interlingua hub")]
        pub struct Config {
            pub hub: Hub,
            /// Where the hub listens: one port for every protocol.
            pub listen: Listen,
            /// Listen beyond loopback without TLS. Anyone who can read the network can then read every message and token.
            pub insecure: bool,
            pub tls: Option<Tls>,
            pub store: Store,
            pub limits: Limits,
            pub retention: Retention,
            pub audit: Audit,
            /// Peers that the hub can call, by name.
            pub peers: IndexMap<String, Peer>,
            $($(pub $section: <$krate::$protocol as Configured>::Section,)?)*
            pub browser: Browser,
            pub tools: Tools,
            /// Hooks, by name; they run in this order.
            pub hooks: IndexMap<String, Hook>,
            /// Scripted agents, for demonstrations and for testing clients: the file of each, by name.
            pub scripts: IndexMap<String, PathBuf>,
            /// Language models for agents, by name.
            pub models: IndexMap<String, Model>,
            /// Agents backed by a model, by name: peers with the skill `chat`.
            pub agents: IndexMap<String, Agent>,
            /// Teams of agents, by name: peers with the skill `chat`.
            pub teams: IndexMap<String, Team>,
            /// The peer that gets requests in plain words. Without it the hub matches them to skills itself.
            pub front_door: Option<String>,
            /// When a call needs an approval.
            pub confirm: Confirmations,
            pub access: Access,
            /// The web console.
            pub console: Console,
            pub telemetry: Telemetry,
        }

        impl Config {
            /// The sections of protocols, by their keys.
            pub(crate) fn sections(&self) -> Vec<(&'static str, &dyn Section)> {
                vec![$($((stringify!($section), &self.$section as &dyn Section),)?)*]
            }

            /// The keys of the sections of protocols, and whether each is as it was.
            fn same_sections(&self, old: &Config) -> Vec<(&'static str, bool)> {
                vec![$($((stringify!($section), self.$section == old.$section),)?)*]
            }
        }
    };
}
table!(config);

impl Config {
    /// The data directory.
    pub fn data(&self) -> &std::path::Path {
        self.store.directory()
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
        self.tools.directory_in(self.data())
    }

    /// Where the file tools work.
    pub fn workspace(&self) -> PathBuf {
        self.tools.workspace_in(self.data())
    }
}

/// The name of the hub's socket in its data directory.
pub const SOCKET: &str = "hub.sock";

/// A key that is part of the contract but not of this hub yet: why it is refused.
pub(crate) fn later(steps: &[String]) -> Option<String> {
    let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
    match steps.as_slice() {
        ["store", "nats"] => {
            Some("this hub keeps its data in a directory (`embedded`) or in a database (`postgres`)".into())
        }
        _ => None,
    }
}
