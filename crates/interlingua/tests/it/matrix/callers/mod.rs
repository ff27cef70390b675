//! Callers. Each declares how much of a scene it can see, and calls and cancels in its own way.

mod aip;
mod bus;
mod cli;
mod driven;
mod envelope;
mod nlweb;

use super::behaviour::{Asker, Behaviour, Scene};
use super::callees::Callee;
use super::judge::Sight;
use super::page::{Mark, Word};
use super::reasons::{self, Reason};
use super::seen::Seen;
use super::stage::Stage;

pub(super) use aip::asked as asked_by_aip;
pub(super) use bus::message as message_of_bus;
pub(super) use cli::said as run_cli;
pub(super) use envelope::calling as envelope_of;
pub(super) use nlweb::kept as kept_by_nlweb;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Caller {
    Nlip,
    Mcp,
    McpTypeScript,
    A2a,
    Aip,
    Nlweb,
    Envelope,
    Bus,
    Cli,
}

impl Caller {
    pub(super) const ALL: [Caller; 9] = [
        Caller::Nlip,
        Caller::Mcp,
        Caller::McpTypeScript,
        Caller::A2a,
        Caller::Aip,
        Caller::Nlweb,
        Caller::Envelope,
        Caller::Bus,
        Caller::Cli,
    ];

    /// One for each wire.
    pub(super) const WIRES: [Caller; 8] = [
        Caller::Nlip,
        Caller::Mcp,
        Caller::A2a,
        Caller::Aip,
        Caller::Nlweb,
        Caller::Envelope,
        Caller::Bus,
        Caller::Cli,
    ];

    pub(super) fn title(self) -> &'static str {
        match self {
            Caller::Nlip => "NLIP",
            Caller::Mcp => "MCP",
            Caller::McpTypeScript => "MCP (TypeScript)",
            Caller::A2a => "A2A",
            Caller::Aip => "AIP",
            Caller::Nlweb => "NLWeb",
            Caller::Envelope => "Envelope",
            Caller::Bus => "Bus",
            Caller::Cli => "CLI",
        }
    }

    /// Whose program it is.
    pub(super) fn program(self) -> &'static str {
        match self {
            Caller::Nlip => {
                "half others': messages are made by `nlip-sdk` 0.1.3; ours send them over HTTP and read the replies"
            }
            Caller::Mcp => "others': `mcp` 2.3 (Python), revision 2026-07-28",
            Caller::McpTypeScript => "others': `@modelcontextprotocol/client` 2.4, revision 2026-07-28",
            Caller::A2a => "others': `a2a-sdk` 1.3, JSON-RPC of 1.0",
            Caller::Aip => {
                "ours: frames as UFO's constellation sends them, every member written. UFO's own classes run in `conformance/aip/ufo.py`, not here"
            }
            Caller::Nlweb => {
                "ours: requests of version 0.55, a stream as the first generation asks for it (no registry has a client)"
            }
            Caller::Envelope => {
                "ours: messages as MassGen's schema writes them, to `/nlip/route` (MassGen itself sends none over a wire)"
            }
            Caller::Bus => "ours: messages of an agent to `/api/messages`",
            Caller::Cli => "ours: `interlingua call` and `interlingua ask`",
        }
    }

    /// Who gives up with this word.
    pub(super) fn leaves(self) -> &'static str {
        match self {
            Caller::A2a | Caller::Nlweb => "cancelled",
            Caller::Nlip
            | Caller::Mcp
            | Caller::McpTypeScript
            | Caller::Aip
            | Caller::Envelope
            | Caller::Bus
            | Caller::Cli => "left",
        }
    }

    /// Why its protocol does not say a deadline, and how it is said all the same.
    fn deadline(self) -> Option<Reason> {
        match self {
            Caller::Nlip => Some(reasons::NLIP_DEADLINE),
            Caller::Mcp | Caller::McpTypeScript => Some(reasons::MCP_DEADLINE),
            Caller::A2a => Some(reasons::A2A_DEADLINE),
            Caller::Aip => Some(reasons::AIP_DEADLINE),
            Caller::Nlweb => Some(reasons::NLWEB_DEADLINE),
            Caller::Bus => Some(reasons::BUS_DEADLINE),
            // `control.timeout`, and `--deadline`.
            Caller::Envelope | Caller::Cli => None,
        }
    }

    /// How much it sees of what this callee does, and what the page says of it.
    pub(super) fn expected(self, callee: Callee, on: Behaviour) -> (Sight, Mark) {
        if let Some(reason) = callee.scene(on).lacks {
            return (Sight::Absent, Mark::never(reason));
        }
        let (sight, mark) = self.sees(callee, on);
        (sight, if mark.is_tick() { callee.marked(on, mark) } else { mark })
    }

    fn sees(self, callee: Callee, on: Behaviour) -> (Sight, Mark) {
        let tick = Mark::tick;
        match on {
            Behaviour::Stream => match self.joins(callee) {
                Some(reason) => (Sight::Whole, tick().with(Word::Whole, reason)),
                None => (Sight::Full, tick()),
            },
            Behaviour::Question => self.is_asked(callee),
            Behaviour::Deadline => match self.deadline() {
                Some(reason) => (Sight::Full, tick().with(Word::Ours, reason)),
                None => (Sight::Full, tick()),
            },
            Behaviour::Large if self == Caller::Aip && callee.gives_bytes() => {
                (Sight::Less("output.parts.blob dropped"), tick().with(Word::Less, reasons::AIP_ONE_VALUE))
            }
            Behaviour::Artifact => self.names(callee),
            Behaviour::Answer | Behaviour::Failure | Behaviour::Cancel | Behaviour::Large => (Sight::Full, tick()),
        }
    }

    /// Why pieces come as one.
    fn joins(self, callee: Callee) -> Option<Reason> {
        let tells_in_text = matches!(callee, Callee::A2a | Callee::Agent);
        match self {
            Caller::Nlip => Some(reasons::NLIP_ONE_REPLY),
            Caller::Aip => Some(reasons::AIP_ONE_RESULT),
            Caller::Bus => Some(reasons::BUS_ONE_REPLY),
            Caller::Mcp | Caller::McpTypeScript if tells_in_text => Some(reasons::MCP_NO_DELTAS),
            Caller::Cli if callee == Callee::A2a => Some(reasons::CLI_WHOLE_ARTIFACTS),
            Caller::Envelope if callee == Callee::A2a => Some(reasons::ENVELOPE_WHOLE_ARTIFACTS),
            Caller::Nlweb if tells_in_text => Some(reasons::NLWEB_TEXT_AT_THE_END),
            Caller::Mcp | Caller::McpTypeScript | Caller::Nlweb | Caller::A2a | Caller::Envelope | Caller::Cli => None,
        }
    }

    fn is_asked(self, callee: Callee) -> (Sight, Mark) {
        let elsewhere = |reason| (Sight::Full, Mark::tick().with(Word::Elsewhere, reason));
        match self {
            Caller::Aip if callee.scene(Behaviour::Question).asker == Asker::Hub => {
                elsewhere(reasons::AIP_NO_QUESTIONS)
            }
            // Their models know that nobody can be asked, and ask in words.
            Caller::Aip if matches!(callee, Callee::Agent | Callee::Team) => {
                (Sight::Absent, Mark::never(reasons::AIP_NO_QUESTIONS))
            }
            Caller::Aip => (Sight::Unanswered, Mark::never(reasons::AIP_NO_QUESTIONS)),
            Caller::Cli => elsewhere(reasons::CLI_NO_TERMINAL),
            Caller::Bus => elsewhere(reasons::BUS_ASKS),
            Caller::Nlip | Caller::Mcp | Caller::McpTypeScript | Caller::A2a | Caller::Nlweb | Caller::Envelope => {
                (Sight::Full, Mark::tick())
            }
        }
    }

    fn names(self, callee: Callee) -> (Sight, Mark) {
        let less = |loss, reason| (Sight::Less(loss), Mark::tick().with(Word::Less, reason));
        match (self, callee) {
            (Caller::A2a, Callee::Team) => (Sight::Full, Mark::tick()),
            (_, Callee::Team) => (Sight::Absent, Mark::never(reasons::TEAM_PAPERS)),
            (Caller::Aip, Callee::Mcp) => less("output.parts.uri dropped", reasons::AIP_NO_ADDRESS),
            (Caller::Aip, Callee::A2a) => less("output.parts.name dropped", reasons::AIP_NO_NAMES),
            (Caller::Aip, Callee::Site) => less("output.parts.blob dropped", reasons::AIP_NO_NAMES),
            (Caller::Aip, Callee::Nlip) => less("output.parts.label dropped", reasons::AIP_NO_NAMES),
            (Caller::Nlweb, Callee::Nlip) => less("output.parts.label dropped", reasons::NLWEB_TEXT_AT_THE_END),
            (Caller::Envelope, Callee::A2a) => less("output.parts.name dropped", reasons::ENVELOPE_ONE_VALUE),
            (Caller::Nlweb, Callee::A2a) => less("output.parts.name dropped", reasons::NLWEB_NO_ARTIFACTS),
            _ => (Sight::Full, Mark::tick()),
        }
    }

    /// Calls, and answers what is asked.
    pub(super) async fn call(self, stage: &Stage, scene: &Scene, on: Behaviour) -> Seen {
        match self {
            Caller::Nlip | Caller::Mcp | Caller::McpTypeScript | Caller::A2a => {
                driven::call(stage.driver(self).expect("its program was started"), scene, on).await
            }
            Caller::Aip => aip::call(stage, scene, on).await,
            Caller::Nlweb => nlweb::call(stage, scene, on).await,
            Caller::Envelope => envelope::call(stage, scene, on).await,
            Caller::Bus => bus::call(stage, scene, on).await,
            Caller::Cli => cli::call(stage, scene, on).await,
        }
    }

    /// Calls, and gives up once it has `begun`.
    pub(super) async fn give_up(self, stage: &Stage, scene: &Scene, begun: impl Future<Output = ()>) -> Seen {
        match self {
            Caller::Nlip | Caller::Mcp | Caller::McpTypeScript | Caller::A2a => {
                driven::give_up(stage.driver(self).expect("its program was started"), scene, begun).await
            }
            Caller::Aip => aip::give_up(stage, scene, begun).await,
            Caller::Nlweb => nlweb::give_up(stage, scene, begun).await,
            Caller::Envelope => envelope::give_up(stage, scene, begun).await,
            Caller::Bus => bus::give_up(stage, scene, begun).await,
            Caller::Cli => cli::give_up(stage, scene, begun).await,
        }
    }
}
