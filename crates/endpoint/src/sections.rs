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
    /// Where others reach the hub, as configured for all protocols.
    pub url: Option<&'a str>,
    /// The hub listens for this machine only.
    pub loopback: bool,
    /// What callers without a credential may do.
    pub anonymous: Anonymous,
    /// The tools of the hub's own files are configured.
    pub own_files: bool,
    /// Peers that the configuration names.
    pub peers: Vec<&'a str>,
}

/// The section of a protocol.
pub trait Section: Debug {
    /// What types cannot say.
    fn check(&self, _around: &Around<'_>, _found: &mut Found) {}

    /// Numbers that must be more than 0, by their keys.
    fn numbers(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }

    /// Spans that must be longer than 0, by their keys.
    fn spans(&self) -> Vec<(&'static str, Option<Span>)> {
        Vec::new()
    }

    /// Names of peers that only those take who prove that they are theirs.
    fn kept_names(&self) -> Vec<&str> {
        Vec::new()
    }

    /// The hub's address as others reach it, where this section says one.
    fn url(&self) -> Option<&str> {
        None
    }

    /// Whether calls of agents travel as routed messages. `None` says nothing of it.
    fn routes_agents(&self) -> Option<bool> {
        None
    }
}

/// How a peer is reached that speaks a protocol.
pub trait PeerSection: Debug + Send + Sync {
    /// What types cannot say. `path` is where it stands in the file.
    fn check(&self, path: &str, found: &mut Found);

    /// Files and folders that it names.
    fn paths(&mut self) -> Vec<&mut PathBuf>;

    /// Such a peer names further addresses, which are called where they are its own.
    fn names_addresses(&self) -> bool;

    /// Inputs that are known before the peer is reached, by the names of its skills.
    fn known_inputs(&self) -> Vec<(String, Schema)> {
        Vec::new()
    }

    /// Whether it may have skills that are not known before it is reached, beside some that are.
    fn has_more_skills(&self) -> bool {
        false
    }

    /// The server that tokens are kept for, where somebody signs in.
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

    /// What a peer without a name is named by.
    fn named_by(&self) -> NamedBy<'_>;
}

/// How a peer is made from its section. Beside [`PeerSection`], so that settings need not know what connects.
pub trait Connect: PeerSection {
    /// Makes the peer: all that its configuration can be refused for is refused here.
    fn prepare<'a>(&'a self, around: PeerAround<'a>) -> BoxFuture<'a, Result<Box<dyn Prepared>, Fault>>;
}

/// What a peer is named by that was given no name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NamedBy<'a> {
    /// Its host; where that is but a number, this word, or else the number.
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
    /// Who was sent to sign in somewhere.
    pub sign_ins: &'a Arc<SignIns>,
    pub name: &'a str,
    /// What all peers have in common.
    pub peer: &'a Peer,
}

/// A peer that is made and can be registered, whatever it speaks.
pub trait Prepared: Debug + Send {
    /// Adds the peer, or replaces it whole. What is returned will say when the peer is listed; `None`: its card is complete.
    fn register<'a>(self: Box<Self>, hub: &'a Arc<Hub>) -> BoxFuture<'a, Result<Option<Starting>, Fault>>;
}
