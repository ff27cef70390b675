//! Inbound MCP: the hub as an MCP server, at `/mcp` for all peers, at `/agents/{peer}/mcp` for one, at `/mcp/{view}` for a configured part
//! of them.
//!
//! | file | what |
//! |---|---|
//! | [`http`] | the endpoint: the era of a request, and the modern era |
//! | `legacy`, `sessions`, `resume` | the legacy era: sessions, their streams, and the resumption of lost ones |
//! | `ask` | one request, whatever its transport: lists, calls, reads, prompts, completions, tasks |
//! | `tasks` | calls that continue without their client, by the id it was given |
//! | `call_stream` | a running call: its events as notifications, its questions, its result |
//! | `listing` | lists and their names; made once for each state of the catalogue |
//! | `own` | which tools are the hub's own, and which of them are listed |
//! | `instructions` | instructions for a client's model about the part of the hub that it sees |
//! | `views` | parts of the hub with an address and names of their own |
//! | `artifacts` | content too large for a result, and how its caller reads it |
//! | `state` | sealed state that a client brings back with an answer |
//! | `listen` | change notifications |
//! | `frames` | server-sent events |
//!
//! Deliberately absent: authorization of a call, which the hub decides, and anything that a peer of another protocol would need to know.

mod artifacts;
mod ask;
mod call_stream;
mod frames;
pub mod http;
mod instructions;
mod legacy;
mod listen;
pub(crate) mod listing;
mod own;
pub(crate) mod resume;
mod scopes;
mod sessions;
mod state;
mod tasks;
mod views;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use crate::encode::Server;
use crate::names::{self, Mode};
use crate::wire::content::Addresses;
use arc_swap::ArcSwap;
use interlingua_model::{Digest, Kinds, Notice, Party, PeerId, Text, Uri};

use crate::settings::{HubTools, Mcp, ToolNames};
use interlingua_hub::Hub;
use interlingua_hub::in_process::HUB;
use interlingua_hub::shares::Shares;
use listing::Listings;
use sessions::Sessions;
use views::View;

/// The state of the MCP server between requests.
#[derive(Debug)]
pub struct ServerState {
    settings: ArcSwap<Settings>,
    listings: Listings,
    sessions: Sessions,
}

/// What configuration says.
#[derive(Debug, Clone)]
pub struct Settings {
    names: Mode,
    search_above: usize,
    hub_tools: HubTools,
    /// `tools:` is configured: the file tools are there because somebody wants them.
    own_files: bool,
    /// Peers that the configuration names. Others chose their names themselves.
    named: HashSet<PeerId>,
    approval_wait: Duration,
    views: HashMap<Text, View>,
}

impl Settings {
    /// `own_files`: `tools:` is configured. `named`: peers that the configuration names.
    pub fn new<'a>(mcp: &Mcp, own_files: bool, named: impl Iterator<Item = &'a str>) -> Settings {
        Settings {
            names: match mcp.names {
                ToolNames::Prefixed => Mode::Prefixed,
                ToolNames::Bare => Mode::Bare,
            },
            search_above: usize::try_from(mcp.search_above).unwrap_or(usize::MAX),
            hub_tools: mcp.hub_tools,
            own_files,
            named: named.map(PeerId::from).collect(),
            approval_wait: mcp.approval_wait.0,
            views: mcp.views.iter().map(|(name, view)| (name.as_str().into(), View::new(view))).collect(),
        }
    }

    /// One peer alone needs no prefix.
    fn mode(&self, scope: &Scope) -> Mode {
        match scope {
            Scope::All | Scope::View(_) => self.names,
            Scope::Peer(_) => Mode::Bare,
        }
    }
}

impl ServerState {
    /// `sessions`: what they may take of memory.
    pub fn new(settings: Settings, sessions: Arc<Shares>) -> ServerState {
        let (settings, sessions) = (ArcSwap::from_pointee(settings), Sessions::new(sessions));
        ServerState { settings, listings: Listings::default(), sessions }
    }

    /// From the next request on.
    pub fn apply(&self, settings: Settings) {
        self.settings.store(Arc::new(settings));
        self.listings.forget();
    }

    fn settings(&self) -> Arc<Settings> {
        self.settings.load_full()
    }
}

/// Configuration changed what is listed, or what it is called.
pub fn tell_of_new_lists(hub: &Hub) {
    let kinds = Kinds { tools: true, prompts: true, resources: true };
    hub.announce(Notice::Changed(PeerId::from(HUB), kinds));
}

/// Which part of the hub a client sees.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Scope {
    All,
    Peer(PeerId),
    View(Text),
}

impl Scope {
    /// The endpoint's path.
    fn path(&self) -> String {
        match self {
            Scope::All => "/mcp".to_owned(),
            Scope::Peer(peer) => format!("/agents/{peer}/mcp"),
            Scope::View(view) => format!("/mcp/{view}"),
        }
    }
}

/// Addresses as this client reads them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spelling(Mode);

impl Addresses for Spelling {
    fn outward(&self, by: &Party, uri: &str) -> Uri {
        match (self.0, by) {
            (Mode::Prefixed, Party::Peer(peer)) => names::outward(peer.as_str(), uri).into(),
            (Mode::Prefixed, Party::Caller | Party::Hub) | (Mode::Bare, _) => uri.into(),
        }
    }

    fn blob(&self, _: &Digest, _: Option<&str>) -> Option<Uri> {
        None
    }

    fn rewrites(&self) -> bool {
        self.0 == Mode::Prefixed
    }
}

const SERVER: Server<'static> =
    Server { name: "interlingua", title: "Interlingua", version: env!("CARGO_PKG_VERSION") };
