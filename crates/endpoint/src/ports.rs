//! Ports of the hub's own API to parts that it does not depend on (dependency inversion). The program that assembles the hub
//! connects them.

use std::fmt::Debug;
use std::future::ready;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use interlingua_keys::KeyInfo;
use interlingua_model::ports::Counts;
use interlingua_model::{ConversationId, Fault, Json, Owner, Principal, Time};

use interlingua_hub::bus::CalledAgents;

/// All ports.
#[derive(Debug)]
pub struct Ports {
    pub keys: Arc<dyn HubKeys>,
    pub sites: Arc<dyn SiteSessions>,
    pub agents: Arc<dyn CalledAgents>,
    pub memories: Arc<dyn Memories>,
    pub routed: Arc<dyn RoutedSessions>,
    /// Differs between builds whose consoles differ.
    pub build: String,
    /// When this hub started.
    pub started: Time,
}

/// The current keys, the sealing ones first.
#[derive(Debug)]
pub struct HeldKeys {
    pub ring: Vec<KeyInfo>,
    pub outer: Option<Vec<KeyInfo>>,
    /// All keys of the ring but the newest are being removed.
    pub retiring: bool,
}

/// The key that is rotated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Renewed {
    /// The key that seals what the hub stores and hands out.
    Key,
    OwnerToken,
    /// The key that signs the audit log.
    AuditKey,
}

/// The hub's keys: read, renewed and retired while it runs.
pub trait HubKeys: Send + Sync + Debug {
    fn held(&self) -> HeldKeys;

    /// How many stored values each key seals.
    fn counts(&self) -> BoxFuture<'_, Result<Counts, Fault>>;

    /// Begins to remove all keys but the newest.
    fn retire(&self) -> BoxFuture<'_, Result<HeldKeys, Fault>>;

    /// Makes a new key.
    fn rotate(&self, what: Renewed) -> BoxFuture<'_, Result<HeldKeys, Fault>>;
}

/// A session of a website for one owner, such as a login, which persists between calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SiteSession {
    pub id: String,
    /// The peer that drives the website.
    pub site: String,
    /// The name that calls use.
    pub name: String,
    pub owner: String,
    pub state: &'static str,
    pub begun: Time,
    /// The time of the last call in it.
    pub used: Time,
    /// When it ends if it is not used.
    pub expires: Time,
    /// The number of calls in it since the browser has it.
    pub calls: u64,
}

/// A page of a driven website that a call uses now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SitePage {
    pub id: String,
    /// The peer that drives the website.
    pub site: String,
    pub action: String,
    pub owner: String,
    pub begun: Time,
    /// The step it is at, from 1; 0 before the first.
    pub step: usize,
    pub steps: usize,
}

/// Sessions and pages of driven websites.
pub trait SiteSessions: Send + Sync + Debug {
    /// The pages in use that this principal may watch.
    fn pages(&self, by: &Principal) -> Vec<SitePage>;

    /// What one of them looks like now, as JPEG.
    fn picture<'a>(&'a self, by: &'a Principal, id: &'a str) -> BoxFuture<'a, Result<Bytes, Fault>>;

    /// Those of this principal; all of them for the hub's own Owner.
    fn list<'a>(&'a self, by: &'a Principal) -> BoxFuture<'a, Vec<SiteSession>>;

    /// Ends one by its id, and removes its stored state.
    fn end<'a>(&'a self, by: &'a Principal, id: &'a str) -> BoxFuture<'a, Result<(), Fault>>;
}

/// Conversation memories of agents.
pub trait Memories: Send + Sync + Debug {
    /// Removes one conversation of this owner; whether there was anything.
    fn forget<'a>(&'a self, owner: &'a Owner, conversation: &'a ConversationId) -> BoxFuture<'a, Result<bool, Fault>>;
}

/// A session of the routing envelope, as its owner sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct RoutedSession {
    pub id: String,
    /// The conversation that its tasks belong to.
    pub conversation: String,
    pub turn: u64,
    pub created: Time,
    /// The time of its last message.
    pub used: Time,
    /// When it expires if it is not used.
    pub expires: Time,
    /// The last messages, the oldest first.
    pub messages: Vec<MessageHead>,
    /// The names of what the caller stored in its context. Empty in a list.
    pub context_keys: Vec<String>,
    /// The oldest first. Empty in a list.
    pub notifications: Vec<Notification>,
}

/// A message without its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageHead {
    pub message: String,
    pub kind: &'static str,
    pub at: Time,
}

/// A notification that was sent to a session.
#[derive(Debug, Clone, PartialEq)]
pub struct Notification {
    pub message: String,
    pub at: Time,
    /// Bytes of its content.
    pub size: u64,
    /// `None`: it was too large to be stored.
    pub content: Option<Json>,
}

/// A page of sessions, and the cursor of the next one.
#[derive(Debug, Default, PartialEq)]
pub struct RoutedSessionPage {
    pub items: Vec<RoutedSession>,
    pub next: Option<String>,
}

/// Sessions of the routing envelope. Each shows a principal its own sessions only.
pub trait RoutedSessions: Send + Sync + Debug {
    fn list<'a>(
        &'a self,
        by: &'a Principal,
        after: Option<&'a str>,
        limit: usize,
    ) -> BoxFuture<'a, Result<RoutedSessionPage, Fault>>;

    /// `None`: there is none of this id that is theirs.
    fn read<'a>(&'a self, by: &'a Principal, id: &'a str) -> BoxFuture<'a, Result<Option<RoutedSession>, Fault>>;
}

/// Of a program without the routing envelope.
#[derive(Debug)]
pub struct NoRoutedSessions;

impl RoutedSessions for NoRoutedSessions {
    fn list<'a>(
        &'a self,
        _: &'a Principal,
        _: Option<&'a str>,
        _: usize,
    ) -> BoxFuture<'a, Result<RoutedSessionPage, Fault>> {
        Box::pin(ready(Ok(RoutedSessionPage::default())))
    }

    fn read<'a>(&'a self, _: &'a Principal, _: &'a str) -> BoxFuture<'a, Result<Option<RoutedSession>, Fault>> {
        Box::pin(ready(Ok(None)))
    }
}
