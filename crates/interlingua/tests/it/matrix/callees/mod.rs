//! Callees. Each declares how it is asked for a scene, and what it lacks.

mod a2a;
mod agent;
mod aip;
pub(super) mod local;
mod mcp;
mod nlip;
mod nlweb;
pub(super) mod site;
mod team;

use super::behaviour::{Behaviour, Content, Scene};
use super::page::{Mark, Word};
use super::reasons;

pub(super) use aip::{Device, frame};

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
            Callee::Nlip => "others': `nlip-server` 0.1.3; ours is a watch for connections that close",
            Callee::Mcp => "others': `mcp` 2.3 (Python)",
            Callee::A2a => "others': `a2a-sdk` 1.3",
            Callee::Aip => {
                "ours: frames as UFO's device sends them (tools told by `list_tools`, every member written); for files a second device in the profile `aip-1`. UFO's own classes run in `conformance/aip/ufo.py`, not here"
            }
            Callee::Nlweb => {
                "others': `nlweb-core`, `nlweb-network` 0.7; ours are retrieval, scores, and the hooks that ask, send results one by one and fail"
            }
            Callee::Site => "ours: pages in Chromium, driven by the hub",
            Callee::Local => "ours: a program beside the hub",
            Callee::Agent => "ours: an agent of the hub; its model is a script that speaks as OpenAI's do",
            Callee::Team => {
                "ours: a team of three agents of the hub, who answer and vote; their models are such scripts"
            }
        }
    }

    pub(super) fn scene(self, on: Behaviour) -> Scene {
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

    /// What a tick has beside it because of this callee, whoever calls.
    pub(super) fn marked(self, on: Behaviour, mark: Mark) -> Mark {
        match (self, on) {
            (Callee::Nlip, Behaviour::Cancel | Behaviour::Deadline) => mark.with(Word::Closed, reasons::NLIP_NO_CANCEL),
            (Callee::Nlweb, Behaviour::Cancel | Behaviour::Deadline) => {
                mark.with(Word::Closed, reasons::NLWEB_NO_CANCEL)
            }
            (Callee::Site, Behaviour::Question) => mark.with(Word::HubAsks, reasons::SITE_NO_QUESTIONS),
            (Callee::Local, Behaviour::Question) => mark.with(Word::HubAsks, reasons::TOOL_NO_QUESTIONS),
            (Callee::Aip, Behaviour::Large) => mark.with(Word::AsText, reasons::AIP_BYTES_AS_TEXT),
            (Callee::Nlweb, Behaviour::Large) => mark.with(Word::AsText, reasons::NLWEB_BYTES_AS_TEXT),
            (Callee::Local, Behaviour::Large) => mark.with(Word::AsText, reasons::TOOL_BYTES_AS_TEXT),
            (Callee::Aip, Behaviour::Artifact) => mark.with(Word::Ours, reasons::AIP_FILES),
            (_, Behaviour::Failure) => match self.scene(on).hidden {
                Some((reason, _)) => mark.with(Word::Hidden, reason),
                None => mark,
            },
            _ => mark,
        }
    }

    /// Whether what is large are bytes, as such.
    pub(super) fn gives_bytes(self) -> bool {
        matches!(self.scene(Behaviour::Large).content, Content::Bytes | Content::Picture)
    }
}
