//! Records of a team run. State is a fold of these; the live view is its tail.

use serde::{Deserialize, Serialize};

use super::{Choice, Offer, Seat, Source, TeamPlan, Verdict};
use interlingua_model::content::Trust;
use interlingua_model::event::Usage;
use interlingua_model::fault::Fault;
use interlingua_model::id::Text;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Record {
    Begun(Box<TeamPlan>),
    /// C-01. `seen`: how many answers of each member the round was shown.
    RoundBegun {
        seat: Seat,
        round: u32,
        seen: Vec<u32>,
        offer: Offer,
    },
    /// C-04.
    Answered {
        seat: Seat,
        revision: u32,
        text: Text,
        trust: Trust,
    },
    /// C-06.
    Voted {
        seat: Seat,
        vote: Vote,
    },
    /// C-07, and votes that met an answer in their batch.
    VoteIgnored {
        seat: Seat,
        why: Ignored,
    },
    /// C-05, C-08, C-09: told what was wrong, and asked again.
    Refused {
        seat: Seat,
        why: Refusal,
    },
    /// The round is begun again because there are answers it cannot be told of otherwise.
    RoundRestarted {
        seat: Seat,
    },
    /// Answers a running round was told of: whose, and which revision.
    Informed {
        seat: Seat,
        news: Vec<(Seat, u32)>,
    },
    /// C-11.
    Noticed {
        seat: Seat,
    },
    /// C-12.
    Denied {
        seat: Seat,
    },
    Stopped {
        seat: Seat,
        summary: Text,
        status: Stopped,
    },
    /// C-10.
    Killed {
        seat: Seat,
        why: Fault,
    },
    Spent {
        seat: Seat,
        usage: Usage,
    },
    /// C-14, C-15, C-17.
    Chosen(Choice),
    Presented {
        text: Text,
        source: Source,
    },
    /// The winner sent everyone back to the start.
    Restarted {
        reason: Text,
        instructions: Text,
    },
    Finished(Verdict),
}

/// For whom, and for which of its answers: the last one the voter had seen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Vote {
    pub choice: Seat,
    pub revision: u32,
    pub reason: Text,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ignored {
    /// There is an answer the voter had not seen.
    Unseen,
    /// An answer came in the same batch.
    SameBatch,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stopped {
    Complete,
    Blocked,
}

/// What was wrong with a response.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Refusal {
    /// The tool was not offered in this round.
    NotOffered(Text),
    /// A vote and an answer together, or two answers.
    Mixed,
    NothingToVoteFor,
    UnknownChoice(Text),
    AnswerLimit,
    TooFarAhead,
    NotNovel,
    Duplicate,
    Empty,
    TooLong,
    /// It ended without any of the team's own tools.
    NoDecision,
}
