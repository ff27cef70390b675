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
use super::sections::{Around, Connect};

/// Kind and purpose of records whose values are sealed with the hub's keys, under the key they are kept by.
pub type SealedRecords = &'static [(&'static str, &'static str)];

pub trait Protocol: Send + Sync + Debug {
    /// What metrics call it.
    fn name(&self) -> &'static str;

    /// Its paths.
    fn routes(&self) -> Router;

    fn sealed_records(&self) -> SealedRecords {
        &[]
    }

    /// Begins what it does by itself; before peers are registered.
    fn start(&self) {}

    /// Goes on with what it was doing before a restart; after unfinished tasks were taken up.
    fn resume(&self) -> BoxFuture<'_, Result<(), Fault>> {
        Box::pin(ready(Ok(())))
    }

    /// Seals what older keys sealed by the newest, where that is not in [`sealed_records`](Self::sealed_records); how many
    /// values that were.
    fn reseal(&self, _now: Time) -> BoxFuture<'_, Result<u64, Fault>> {
        Box::pin(ready(Ok(0)))
    }

    /// How agents that register themselves are called where they are, if this protocol calls them.
    fn called_agents(&self) -> Option<Arc<dyn CalledAgents>> {
        None
    }

    /// Where calls of the hub's own agents go, if this protocol routes them.
    fn call_router(&self) -> Option<Arc<dyn CallRouter>> {
        None
    }
}

/// A protocol that is made from configuration, and follows its changes while the hub runs.
pub trait Configured: Protocol + Sized {
    /// What configuration says of it: its own section, or that of the protocol which it extends; `()` if it has no section.
    type Section;
    /// The same, as it is used while the hub runs.
    type Settings;

    /// What it says about paths.
    const PATHS: PathRules = PathRules::NONE;

    /// All that a section can be refused for after its check.
    fn settings(hub: &Hub, section: &Self::Section, around: &Around<'_>) -> Result<Self::Settings, SettingsFault>;

    fn open(shared: &Arc<Shared>, settings: Self::Settings) -> Result<Self, Fault>;

    /// Other settings, from the next request on. `changed`: the keys of the configuration that differ.
    fn apply(&self, settings: Self::Settings, changed: &[&str]);
}

/// A protocol that peers of the hub speak.
pub trait Spoken {
    /// How configuration says where such a peer is.
    type Peer: Connect;

    /// What the schema of the configuration says of the key of such a peer.
    const ABOUT: &'static str;
    /// What stands behind that key, for whoever forgot it.
    const EXAMPLE: &'static str;
}

/// Keys that settings name and that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{key}: {cause}")]
pub struct SettingsFault {
    /// Where in the configuration they are named.
    pub key: &'static str,
    #[source]
    pub cause: KeyFault,
}
