//! Why a cell is not a plain tick, and where that is written.
//!
//! A reason is a protocol's, with the clause or the requirement of `conformance/requirements.txt`, or it is our own design. The
//! page numbers them in the order of [`ALL`].

/// One reason, as `docs/matrix.md` gives it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Reason {
    pub(super) why: &'static str,
    pub(super) whose: Whose,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Whose {
    /// The place where a specification says it.
    Protocol(&'static str),
    /// What of ours is designed so.
    Ours(&'static str),
}

impl Reason {
    /// Its number on the page.
    pub(super) fn number(self) -> usize {
        let position = ALL.iter().position(|known| *known == self);
        position.unwrap_or_else(|| panic!("not in the list: {}", self.why)) + 1
    }

    pub(super) fn written(self) -> String {
        match self.whose {
            Whose::Protocol(place) => format!("{} ({place})", self.why),
            Whose::Ours(what) => format!("{} (our design: {what})", self.why),
        }
    }
}

const fn protocol(why: &'static str, place: &'static str) -> Reason {
    Reason { why, whose: Whose::Protocol(place) }
}

const fn ours(why: &'static str, what: &'static str) -> Reason {
    Reason { why, whose: Whose::Ours(what) }
}

pub(super) const NLIP_ONE_REPLY: Reason = protocol(
    "over HTTP a message is the body of a request, and one message is the body of its response; nothing comes before it",
    "NLIP, ECMA-431",
);
pub(super) const NLIP_ASKS_IN_WORDS: Reason = protocol(
    "a message cannot say that it is a question: an agent asks in text, which is an answer, and the next message goes on",
    "NLIP, ECMA-430 clause 6.1; N-01",
);
pub(super) const NLIP_NO_CANCEL: Reason =
    protocol("no message withdraws another: the agent sees that its connection is closed", "NLIP, ECMA-430 clause 5");
pub(super) const NLIP_DEADLINE: Reason =
    ours("a message has no deadline: the header `interlingua-deadline` says it", "HTTP headers between hubs");
pub(super) const MCP_NO_DELTAS: Reason =
    protocol("the result of a tool comes whole; only progress is told before it", "MCP 2026-07-28, server/tools; M-13");
pub(super) const MCP_DEADLINE: Reason =
    ours("a request has no deadline: `_meta` has `interlingua/deadline`", "keys of `_meta`");
pub(super) const A2A_DEADLINE: Reason =
    ours("a message has no deadline: its metadata has one under `urn:interlingua:hub:1`", "A2A extension");
pub(super) const AIP_ONE_RESULT: Reason =
    protocol("a COMMAND is answered by one COMMAND_RESULTS, a TASK by one TASK_END", "AIP, P-25, P-28");
pub(super) const AIP_NO_QUESTIONS: Reason = protocol("no frame asks for anything", "AIP, P-23 to P-31");
pub(super) const AIP_ONE_VALUE: Reason =
    protocol("the result of a TASK is one JSON value; bytes have no place beside it", "AIP, P-28");
pub(super) const AIP_BYTES_AS_TEXT: Reason =
    protocol("the result of a COMMAND is one JSON value: bytes are text in it, as screenshots are", "AIP, P-25");
pub(super) const AIP_NO_NAMES: Reason =
    protocol("the result of a TASK is one JSON value, without a name beside it", "AIP, P-28");
pub(super) const AIP_FILES: Reason = ours(
    "the binary extension (P-50) sends a named file, but nothing ties it to a COMMAND: the hub keeps it as an artifact and tells \
     the device its id, which the device puts into its result; whoever called fetches it from the hub",
    "AIP profile `aip-1`",
);
pub(super) const AIP_DEADLINE: Reason =
    ours("a TASK has no deadline: `metadata.timeout_ms` says it", "AIP profile `aip-1`");
pub(super) const NLWEB_TEXT_AT_THE_END: Reason =
    protocol("text is one summary after the items; an item is never sent in pieces", "NLWeb, Q-08, Q-23");
pub(super) const NLWEB_BYTES_AS_TEXT: Reason =
    protocol("results are objects of schema.org in JSON: bytes are text in them", "NLWeb, Q-06, Q-22");
pub(super) const NLWEB_NO_ARTIFACTS: Reason =
    protocol("an answer is items, questions, a promise or a failure; there is nothing else to name", "NLWeb, Q-24");
pub(super) const NLWEB_NO_CANCEL: Reason = protocol(
    "only a promise can be cancelled, and the reference server promises nothing: it sees that its connection is closed",
    "NLWeb, Q-25",
);
pub(super) const NLWEB_DEADLINE: Reason =
    ours("a question has no deadline: the header `interlingua-deadline` says it", "HTTP headers between hubs");
pub(super) const SITE_NO_QUESTIONS: Reason =
    ours("a page cannot ask: the hub asks for a yes before it does what spends", "confirmations");
pub(super) const TOOL_NO_QUESTIONS: Reason =
    ours("a program cannot ask: the hub asks for a yes before it runs what destroys", "confirmations");
pub(super) const TOOL_BYTES_AS_TEXT: Reason =
    ours("the result of a custom tool is one JSON value: bytes are text in it", "custom tools");
pub(super) const TOOL_NO_NAMES: Reason =
    ours("the reply of a custom tool is progress, log lines and one result without a name", "custom tools");
pub(super) const MODEL_SAYS_TEXT: Reason = ours(
    "an agent answers in words: what its tools gave it stays in its work; a text of 240,000 characters arrives whole",
    "agents",
);
pub(super) const MODEL_NO_NAMES: Reason = ours("an agent answers in words, which have no name", "agents");
pub(super) const MODEL_HIDES: Reason =
    ours("what a provider of models says of a failure may hold internals: it is logged, and not told (N-49)", "agents");
pub(super) const TEAM_PAPERS: Reason = ours(
    "the answers of members are artifacts of the task, and the result is the winner's alone: who follows the task sees them",
    "teams",
);
pub(super) const CLI_NO_TERMINAL: Reason = ours(
    "without a terminal nobody can be asked: the program ends with exit code 5 and names the question, which is then answered",
    "command line",
);
pub(super) const CLI_WHOLE_ARTIFACTS: Reason =
    ours("an artifact is written when it is whole, not piece by piece", "command line");
pub(super) const ENVELOPE_WHOLE_ARTIFACTS: Reason =
    ours("pieces of what is said are told as they come; an artifact is told with the result", "routing envelope");
pub(super) const ENVELOPE_ONE_VALUE: Reason = protocol(
    "the result of a tool call is one value; artifacts have a place only by their address, where the task is kept",
    "envelope, R-10",
);
pub(super) const BUS_ONE_REPLY: Reason = ours("a message is answered by one message", "messages of agents");
pub(super) const BUS_ASKS: Reason = ours(
    "a request is answered as pending and names the question, which is then answered at the task",
    "messages of agents",
);
pub(super) const BUS_DEADLINE: Reason =
    ours("a message has no deadline: the header `interlingua-deadline` says it", "messages of agents");

pub(super) const ALL: [Reason; 35] = [
    NLIP_ONE_REPLY,
    NLIP_ASKS_IN_WORDS,
    NLIP_NO_CANCEL,
    NLIP_DEADLINE,
    MCP_NO_DELTAS,
    MCP_DEADLINE,
    A2A_DEADLINE,
    AIP_ONE_RESULT,
    AIP_NO_QUESTIONS,
    AIP_ONE_VALUE,
    AIP_BYTES_AS_TEXT,
    AIP_NO_NAMES,
    AIP_FILES,
    AIP_DEADLINE,
    NLWEB_TEXT_AT_THE_END,
    NLWEB_BYTES_AS_TEXT,
    NLWEB_NO_ARTIFACTS,
    NLWEB_NO_CANCEL,
    NLWEB_DEADLINE,
    SITE_NO_QUESTIONS,
    TOOL_NO_QUESTIONS,
    TOOL_BYTES_AS_TEXT,
    TOOL_NO_NAMES,
    MODEL_SAYS_TEXT,
    MODEL_NO_NAMES,
    MODEL_HIDES,
    TEAM_PAPERS,
    CLI_NO_TERMINAL,
    CLI_WHOLE_ARTIFACTS,
    ENVELOPE_WHOLE_ARTIFACTS,
    ENVELOPE_ONE_VALUE,
    BUS_ONE_REPLY,
    BUS_ASKS,
    BUS_DEADLINE,
    AIP_NO_ADDRESS,
];

pub(super) const AIP_NO_ADDRESS: Reason =
    protocol("the result of a TASK is one JSON value, without the address of what it holds", "AIP, P-28");
