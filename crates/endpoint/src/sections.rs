//! The interface of a protocol to the configuration: its section, and the settings of a peer that speaks it.

use std::fmt::Debug;
use std::path::PathBuf;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use interlingua_access::settings::Anonymous;
use interlingua_hub::Hub;
use interlingua_model::{Fault, Schema};
use interlingua_net::client::starting::Starting;
use interlingua_settings::{Found, Peer, Span};

use super::SignIns;

/// What a section depends on besides itself.
#[derive(Debug)]
pub struct Around<'a> {
    /// The address at which others reach the hub, as configured for all protocols.
    pub url: Option<&'a str>,
    /// The hub listens on loopback only.
    pub loopback: bool,
    /// The permissions of callers without a credential.
    pub anonymous: Anonymous,
    /// The hub's own file tools are configured.
    pub own_files: bool,
    /// Peers that the configuration names.
    pub peers: Vec<&'a str>,
    /// Agents of this hub whose own settings say how their answers are delivered.
    pub deliveries: Vec<(&'a str, AgentDelivery)>,
}

/// How the answers of an agent are delivered by a protocol that streams. `None`: as the protocol's own setting says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AgentDelivery {
    pub streams: Option<bool>,
    pub buffers: Option<bool>,
}

/// The section of a protocol.
pub trait Section: Debug {
    /// Checks what types cannot express.
    fn check(&self, _around: &Around<'_>, _found: &mut Found) {}

    /// Numbers that must be more than 0, by their keys.
    fn numbers(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }

    /// Spans that must be longer than 0, by their keys.
    fn spans(&self) -> Vec<(&'static str, Option<Span>)> {
        Vec::new()
    }

    /// Names of peers that are reserved for callers that prove them.
    fn kept_names(&self) -> Vec<&str> {
        Vec::new()
    }

    /// The hub's address as others reach it, if this section sets one.
    fn url(&self) -> Option<&str> {
        None
    }

    /// Whether calls of agents travel as routed messages. `None` leaves it open.
    fn routes_agents(&self) -> Option<bool> {
        None
    }
}

/// The settings of a peer that speaks a protocol.
pub trait PeerSection: Debug + Send + Sync {
    /// Checks what types cannot express. `path` is its position in the file.
    fn check(&self, path: &str, found: &mut Found);

    /// Files and folders that it names.
    fn paths(&mut self) -> Vec<&mut PathBuf>;

    /// Such a peer names further addresses, which are called if they are its own.
    fn names_addresses(&self) -> bool;

    /// Inputs of skills that are known before the peer is reached, by name.
    fn known_inputs(&self) -> Vec<(String, Schema)> {
        Vec::new()
    }

    /// Whether it may have further skills that are not known before it is reached.
    fn has_more_skills(&self) -> bool {
        false
    }

    /// The server that tokens are stored for, if a person signs in.
    fn signs_in_at(&self) -> Option<&str> {
        None
    }

    /// From the command line.
    fn of_words(_text: &str) -> Result<Self, &'static str>
    where
        Self: Sized,
    {
        Err("such a peer is written in the configuration file")
    }

    /// The source of the name of a peer without one.
    fn named_by(&self) -> NamedBy<'_>;
}

/// How a peer is made from its section. Beside [`PeerSection`], so that settings need not know what connects.
pub trait Connect: PeerSection {
    /// Makes the peer; every possible refusal of its configuration happens here.
    fn prepare<'a>(&'a self, around: PeerAround<'a>) -> BoxFuture<'a, Result<Box<dyn Prepared>, Fault>>;
}

/// The source of the name of a peer that was given none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NamedBy<'a> {
    /// Its host; if that is an IP address, this word, or else the address.
    Url(&'a str, Option<&'static str>),
    Program {
        command: &'a str,
        args: &'a [String],
    },
}

/// What a peer is made from besides its own section.
#[derive(Debug, Clone, Copy)]
pub struct PeerAround<'a> {
    pub hub: &'a Arc<Hub>,
    /// Pending sign-ins.
    pub sign_ins: &'a Arc<SignIns>,
    pub name: &'a str,
    /// The settings that all peers have in common.
    pub peer: &'a Peer,
}

/// A prepared peer that can be registered, whatever protocol it speaks.
pub trait Prepared: Debug + Send {
    /// Adds the peer, or replaces it whole. The returned value resolves when the peer is listed; `None`: its card is complete.
    fn register<'a>(self: Box<Self>, hub: &'a Arc<Hub>) -> BoxFuture<'a, Result<Option<Starting>, Fault>>;
}
