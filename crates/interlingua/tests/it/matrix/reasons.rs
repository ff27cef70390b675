//! Why a cell cannot be: in the words of the protocol, with the place where it says so.
//!
//! Requirements are those of `conformance/requirements.txt`.

/// One reason, as `docs/matrix.md` gives it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Reason {
    pub(super) why: &'static str,
    pub(super) section: &'static str,
}

const fn because(why: &'static str, section: &'static str) -> Reason {
    Reason { why, section }
}

pub(super) const NLIP_ONE_REPLY: Reason =
    because("a message of NLIP is answered by one message; nothing comes before it", "ECMA-431, N-01");
pub(super) const NLIP_ASKS_IN_WORDS: Reason = because(
    "an NLIP agent asks in plain text: that is an answer, and the conversation goes on with the next message",
    "ECMA-430, clause 6; N-01",
);
pub(super) const NLIP_NO_ARTIFACTS: Reason =
    because("a message of NLIP has content and labels, no results that are kept under a name", "ECMA-430, clause 5");
pub(super) const MCP_NO_DELTAS: Reason =
    because("the result of a tool comes whole; only progress is told before it", "MCP 2026-07-28, server/tools; M-13");
pub(super) const AIP_ONE_RESULT: Reason =
    because("a COMMAND is answered by one COMMAND_RESULTS, a TASK by one TASK_END", "AIP, P-25, P-28");
pub(super) const AIP_NO_QUESTIONS: Reason = because("no frame of AIP asks for anything", "AIP, P-23 to P-31");
pub(super) const AIP_NO_ARTIFACTS: Reason =
    because("the result of a COMMAND is one JSON value without a name", "AIP, P-25");
pub(super) const AIP_ONE_VALUE: Reason =
    because("the result of a TASK is one JSON value; bytes have no place beside it", "AIP, P-28");
pub(super) const NLWEB_TEXT_AT_THE_END: Reason =
    because("text is one summary after the items; an item is never sent in pieces", "NLWeb, Q-08, Q-23");
pub(super) const NLWEB_NO_ARTIFACTS: Reason =
    because("results are items of a list, none is kept under a name", "NLWeb, Q-24");
pub(super) const SITE_NO_ARTIFACTS: Reason =
    because("a page gives rows of text, no files: downloads are refused", "websites, W-64");
pub(super) const TOOL_NO_ARTIFACTS: Reason =
    because("the reply of a custom tool is progress, log lines and one result", "custom tools");
pub(super) const MODEL_NO_ARTIFACTS: Reason = because("a model says text and calls tools", "agents");
pub(super) const CLI_NO_TERMINAL: Reason = because(
    "without a terminal nobody can be asked: the program ends with exit code 5 and names the question, which is then answered",
    "command line",
);
pub(super) const CLI_ONE_TEXT: Reason = because(
    "what is said is written to standard output as it comes; whoever reads that reads one text",
    "command line",
);
pub(super) const TEAM_PAPERS: Reason = because(
    "the answers of members are papers of the work: who follows the task sees them, the result is the winner's",
    "teams, C-04",
);
pub(super) const AIP_NO_ADDRESS: Reason =
    because("the result of a TASK is one JSON value, without the address of what it holds", "AIP, P-28");
