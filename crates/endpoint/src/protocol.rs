//! The interface of a protocol to the program. The table of protocols has a line for each implementation.
//!
//! A protocol is a [`Protocol`] that can be [`Configured`]; its configuration is a [`Section`](super::sections::Section), and the settings
//! of a peer that speaks it are a [`PeerSection`](super::sections::PeerSection).

use std::fmt::Debug;
use std::future::ready;
use std::sync::Arc;

use axum::Router;
use futures_util::future::BoxFuture;
use interlingua_hub::Hub;
use interlingua_hub::bus::CalledAgents;
use interlingua_hub::call_router::CallRouter;
use interlingua_keys::KeyFault;
use interlingua_model::{Fault, Time};

use super::Shared;
use super::paths::PathRules;
use super::ports::RoutedSessions;
use super::sections::{Around, Connect};

/// Kind and purpose of records whose values are sealed with the hub's keys, under the key of the record.
pub type SealedRecords = &'static [(&'static str, &'static str)];

pub trait Protocol: Send + Sync + Debug {
    /// Its name in metrics.
    fn name(&self) -> &'static str;

    /// Its paths.
    fn routes(&self) -> Router;

    fn sealed_records(&self) -> SealedRecords {
        &[]
    }

    /// Starts its background work, before peers are registered.
    fn start(&self) {}

    /// Resumes its work after a restart, after unfinished tasks were resumed.
    fn resume(&self) -> BoxFuture<'_, Result<(), Fault>> {
        Box::pin(ready(Ok(())))
    }

    /// Seals again with the newest key what older keys sealed and [`sealed_records`](Self::sealed_records) does not list; returns the
    /// number of values.
    fn reseal(&self, _now: Time) -> BoxFuture<'_, Result<u64, Fault>> {
        Box::pin(ready(Ok(0)))
    }

    /// How agents that register themselves are called at their endpoint, if this protocol calls them.
    fn called_agents(&self) -> Option<Arc<dyn CalledAgents>> {
        None
    }

    /// Sessions that callers read through the hub's own API, if this protocol has such.
    fn routed_sessions(&self) -> Option<Arc<dyn RoutedSessions>> {
        None
    }

    /// The router of the calls of the hub's own agents, if this protocol routes them.
    fn call_router(&self) -> Option<Arc<dyn CallRouter>> {
        None
    }
}

/// A protocol that is made from configuration, and follows its changes while the hub runs.
pub trait Configured: Protocol + Sized {
    /// Its configuration: its own section, or that of the protocol which it extends; `()` if it has no section.
    type Section;
    /// The settings as they are used while the hub runs.
    type Settings;

    /// Its path rules.
    const PATHS: PathRules = PathRules::NONE;

    /// Makes the settings, with every refusal that is possible after the check of the section.
    fn settings(hub: &Hub, section: &Self::Section, around: &Around<'_>) -> Result<Self::Settings, SettingsFault>;

    fn open(shared: &Arc<Shared>, settings: Self::Settings) -> Result<Self, Fault>;

    /// Replaces the settings, from the next request on. `changed`: the keys of the configuration that differ.
    fn apply(&self, settings: Self::Settings, changed: &[&str]);
}

/// A protocol that peers of the hub speak.
pub trait Spoken {
    /// The settings of such a peer.
    type Peer: Connect;

    /// The description of such a peer's key in the schema of the configuration.
    const ABOUT: &'static str;
    /// An example value of that key, for error messages.
    const EXAMPLE: &'static str;
}

/// Keys in the settings that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{key}: {cause}")]
pub struct SettingsFault {
    /// Their position in the configuration.
    pub key: &'static str,
    #[source]
    pub cause: KeyFault,
}
