//! Those who call. Each says how much of a scene it can see, calls in its own way, and gives up in its own way.

mod aip;
mod cli;
mod driven;
mod nlweb;

use super::behaviour::{Behaviour, Scene, Sight};
use super::callees::Callee;
use super::reasons::{self, Reason};
use super::seen::Seen;
use super::stage::Stage;

pub(super) use aip::asked as asked_by_aip;
pub(super) use cli::said as run_cli;
pub(super) use nlweb::kept as kept_by_nlweb;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Caller {
    Nlip,
    Mcp,
    McpTypeScript,
    A2a,
    Aip,
    Nlweb,
    Cli,
}

impl Caller {
    pub(super) const ALL: [Caller; 7] =
        [Caller::Nlip, Caller::Mcp, Caller::McpTypeScript, Caller::A2a, Caller::Aip, Caller::Nlweb, Caller::Cli];

    /// One for each wire.
    pub(super) const WIRES: [Caller; 6] =
        [Caller::Nlip, Caller::Mcp, Caller::A2a, Caller::Aip, Caller::Nlweb, Caller::Cli];

    pub(super) fn title(self) -> &'static str {
        match self {
            Caller::Nlip => "NLIP",
            Caller::Mcp => "MCP",
            Caller::McpTypeScript => "MCP (TypeScript)",
            Caller::A2a => "A2A",
            Caller::Aip => "AIP",
            Caller::Nlweb => "NLWeb",
            Caller::Cli => "CLI",
        }
    }

    /// Whose program it is.
    pub(super) fn program(self) -> &'static str {
        match self {
            Caller::Nlip => "`nlip-sdk` 0.1.3, over HTTP",
            Caller::Mcp => "`mcp` 2.3 (Python), revision 2026-07-28",
            Caller::McpTypeScript => "`@modelcontextprotocol/client` 2.4, revision 2026-07-28",
            Caller::A2a => "`a2a-sdk` 1.3, JSON-RPC of 1.0",
            Caller::Aip => "frames as UFO's constellation sends them",
            Caller::Nlweb => "requests of version 0.55; a stream as the first generation asks for it",
            Caller::Cli => "`interlingua call` and `interlingua ask`",
        }
    }

    /// How much it can see of what this callee does, and why not more.
    pub(super) fn sight(self, callee: Callee, on: Behaviour) -> (Sight, Option<Reason>) {
        let tells_in_text = matches!(callee, Callee::A2a | Callee::Agent | Callee::Team);
        let gives_bytes = matches!(callee, Callee::Nlip | Callee::Mcp | Callee::A2a);
        let asks_for_a_yes = matches!(callee, Callee::Site | Callee::Local);
        match (self, on) {
            (Caller::Nlip, Behaviour::Stream) => (Sight::Whole, Some(reasons::NLIP_ONE_REPLY)),
            (Caller::Aip, Behaviour::Stream) => (Sight::Whole, Some(reasons::AIP_ONE_RESULT)),
            (Caller::Mcp | Caller::McpTypeScript, Behaviour::Stream) if tells_in_text => {
                (Sight::Whole, Some(reasons::MCP_NO_DELTAS))
            }
            (Caller::Nlweb, Behaviour::Stream) if tells_in_text => (Sight::Whole, Some(reasons::NLWEB_TEXT_AT_THE_END)),
            (Caller::Cli, Behaviour::Stream) if tells_in_text => (Sight::Whole, Some(reasons::CLI_ONE_TEXT)),
            (Caller::Aip, Behaviour::Question) if asks_for_a_yes => (Sight::Elsewhere, Some(reasons::AIP_NO_QUESTIONS)),
            (Caller::Aip, Behaviour::Question) => (Sight::Unanswered, Some(reasons::AIP_NO_QUESTIONS)),
            (Caller::Aip, Behaviour::Large) if gives_bytes => (Sight::Lost, Some(reasons::AIP_ONE_VALUE)),
            (Caller::A2a, Behaviour::Artifact) => (Sight::Full, None),
            (_, Behaviour::Artifact) if callee == Callee::Team => (Sight::Aside, Some(reasons::TEAM_PAPERS)),
            // What an MCP server embeds is content under an address, which is no artifact and has no place here.
            (Caller::Aip, Behaviour::Artifact) if callee == Callee::Mcp => {
                (Sight::Addressless, Some(reasons::AIP_NO_ADDRESS))
            }
            (Caller::Aip, Behaviour::Artifact) => (Sight::Lost, Some(reasons::AIP_NO_ARTIFACTS)),
            (Caller::Nlweb, Behaviour::Artifact) if callee != Callee::Mcp => {
                (Sight::Lost, Some(reasons::NLWEB_NO_ARTIFACTS))
            }
            (Caller::Cli, Behaviour::Question) => (Sight::Elsewhere, Some(reasons::CLI_NO_TERMINAL)),
            (
                Caller::Nlip
                | Caller::Mcp
                | Caller::McpTypeScript
                | Caller::A2a
                | Caller::Aip
                | Caller::Nlweb
                | Caller::Cli,
                _,
            ) => (Sight::Full, None),
        }
    }

    /// Calls, and answers what is asked.
    pub(super) async fn call(self, stage: &Stage, scene: &Scene, on: Behaviour) -> Seen {
        match self {
            Caller::Nlip => driven::call(&stage.nlip, scene, on).await,
            Caller::Mcp => driven::call(&stage.mcp, scene, on).await,
            Caller::McpTypeScript => driven::call(&stage.typescript, scene, on).await,
            Caller::A2a => driven::call(&stage.a2a, scene, on).await,
            Caller::Aip => aip::call(stage, scene, on).await,
            Caller::Nlweb => nlweb::call(stage, scene, on).await,
            Caller::Cli => cli::call(stage, scene, on).await,
        }
    }

    /// Calls, and gives up once the hub is at work.
    pub(super) async fn give_up(self, stage: &Stage, scene: &Scene) -> Seen {
        match self {
            Caller::Nlip => driven::give_up(&stage.nlip, stage, scene).await,
            Caller::Mcp => driven::give_up(&stage.mcp, stage, scene).await,
            Caller::McpTypeScript => driven::give_up(&stage.typescript, stage, scene).await,
            Caller::A2a => driven::give_up(&stage.a2a, stage, scene).await,
            Caller::Aip => aip::give_up(stage, scene).await,
            Caller::Nlweb => nlweb::give_up(stage, scene).await,
            Caller::Cli => cli::give_up(stage, scene).await,
        }
    }
}
