//! Ports of the hub's own API to parts that it does not depend on (dependency inversion). The program that assembles the hub
//! connects them.

use std::fmt::Debug;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use interlingua_keys::KeyInfo;
use interlingua_model::ports::Counts;
use interlingua_model::{ConversationId, Fault, Owner, Principal, Time};

use interlingua_hub::bus::CalledAgents;

/// All of them.
#[derive(Debug)]
pub struct Ports {
    pub keys: Arc<dyn HubKeys>,
    pub sites: Arc<dyn SiteSessions>,
    pub agents: Arc<dyn CalledAgents>,
    pub memories: Arc<dyn Memories>,
    /// Differs between builds whose consoles differ.
    pub build: String,
    /// When this hub started.
    pub started: Time,
}

/// The keys as they are now, those that seal first.
#[derive(Debug)]
pub struct HeldKeys {
    pub ring: Vec<KeyInfo>,
    pub outer: Option<Vec<KeyInfo>>,
    /// All keys of the ring but the newest are being taken out.
    pub retiring: bool,
}

/// What is made anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Renewed {
    /// The key that seals what the hub keeps and hands out.
    Key,
    OwnerToken,
    /// The key that signs the audit.
    AuditKey,
}

/// The hub's keys: read, renewed and retired while it runs.
pub trait HubKeys: Send + Sync + Debug {
    fn held(&self) -> HeldKeys;

    /// How many values that are kept each key seals.
    fn counts(&self) -> BoxFuture<'_, Result<Counts, Fault>>;

    /// Begins to take out all keys but the newest.
    fn retire(&self) -> BoxFuture<'_, Result<HeldKeys, Fault>>;

    /// Makes a new one.
    fn rotate(&self, what: Renewed) -> BoxFuture<'_, Result<HeldKeys, Fault>>;
}

/// A login, or whatever else a website keeps for somebody from call to call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SiteSession {
    pub id: String,
    /// The peer that drives the website.
    pub site: String,
    /// What calls name it by.
    pub name: String,
    pub owner: String,
    pub state: &'static str,
    pub begun: Time,
    /// When the last call came to it.
    pub used: Time,
    /// When it ends if nobody uses it.
    pub expires: Time,
    /// How many calls it had since the browser has it.
    pub calls: u64,
}

/// Logins that driven websites keep.
pub trait SiteSessions: Send + Sync + Debug {
    /// Theirs; all of them for the hub's own Owner.
    fn list<'a>(&'a self, by: &'a Principal) -> BoxFuture<'a, Vec<SiteSession>>;

    /// Ends one by its id, and forgets what was kept of it.
    fn end<'a>(&'a self, by: &'a Principal, id: &'a str) -> BoxFuture<'a, Result<(), Fault>>;
}

/// What agents remember of conversations.
pub trait Memories: Send + Sync + Debug {
    /// Forgets one conversation of this owner; whether there was anything.
    fn forget<'a>(&'a self, owner: &'a Owner, conversation: &'a ConversationId) -> BoxFuture<'a, Result<bool, Fault>>;
}
