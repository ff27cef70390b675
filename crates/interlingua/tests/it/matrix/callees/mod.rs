//! Those who are called. Each says how it is asked for a scene, or why its protocol has none.

mod a2a;
mod agent;
mod aip;
mod local;
mod mcp;
mod nlip;
mod nlweb;
mod site;
mod team;

use super::behaviour::{Behaviour, Scene};
use super::reasons::Reason;

pub(super) use aip::Device;
pub(super) use site::{definition, pages};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Callee {
    Nlip,
    Mcp,
    A2a,
    Aip,
    Nlweb,
    Site,
    Local,
    Agent,
    Team,
}

impl Callee {
    pub(super) const ALL: [Callee; 9] = [
        Callee::Nlip,
        Callee::Mcp,
        Callee::A2a,
        Callee::Aip,
        Callee::Nlweb,
        Callee::Site,
        Callee::Local,
        Callee::Agent,
        Callee::Team,
    ];

    pub(super) fn title(self) -> &'static str {
        match self {
            Callee::Nlip => "NLIP agent",
            Callee::Mcp => "MCP server",
            Callee::A2a => "A2A agent",
            Callee::Aip => "AIP device",
            Callee::Nlweb => "NLWeb endpoint",
            Callee::Site => "driven site",
            Callee::Local => "local tool",
            Callee::Agent => "model agent",
            Callee::Team => "team",
        }
    }

    /// Whose program it is.
    pub(super) fn program(self) -> &'static str {
        match self {
            Callee::Nlip => "`nlip-server` 0.1.3",
            Callee::Mcp => "`mcp` 2.3 (Python)",
            Callee::A2a => "`a2a-sdk` 1.3",
            Callee::Aip => "frames as UFO's device sends them",
            Callee::Nlweb => "`nlweb-core`, `nlweb-network` 0.7",
            Callee::Site => "a page in Chromium",
            Callee::Local => "a program beside the hub",
            Callee::Agent => "an agent of the hub, its model a script",
            Callee::Team => "a team of the hub, its member's model a script",
        }
    }

    pub(super) fn scene(self, on: Behaviour) -> Result<Scene, Reason> {
        match self {
            Callee::Nlip => nlip::scene(on),
            Callee::Mcp => mcp::scene(on),
            Callee::A2a => a2a::scene(on),
            Callee::Aip => aip::scene(on),
            Callee::Nlweb => nlweb::scene(on),
            Callee::Site => site::scene(on),
            Callee::Local => local::scene(on),
            Callee::Agent => agent::scene(on),
            Callee::Team => team::scene(on),
        }
    }
}

/// Files that the hub's configuration needs, and the configuration of those who live in the hub.
pub(super) fn files() -> Vec<(&'static str, String)> {
    [local::files(), agent::files(), team::files()].concat()
}
