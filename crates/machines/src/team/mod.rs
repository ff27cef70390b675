//! A team that answers, improves and votes, as a state machine: a fold of its records, the same code live and on replay.
//!
//! Members work in parallel rounds. Each round ends with `new_answer` or `vote` (or `stop`, where each member has a share of
//! the work). An answer makes every vote void; when all live members have voted, the one with most votes presents.
//!
//! | | state | happening | guard | next |
//! |---|---|---|---|---|
//! | C-01 | Idle, Answered | scheduled | not gated | Running, shown all answers |
//! | C-02 | Running | text, reasoning | | Running, passed on with its source |
//! | C-03 | Running | another tool | before the hard limit | Running, maybe notified of new answers |
//! | C-04 | Running | `new_answer` | valid | Answered; all votes void, all to run again |
//! | C-05, C-08, C-09 | Running | an invalid answer, an invalid vote, neither | fewer than three attempts | Running, sent the reason |
//! | C-06 | Running | `vote` | valid, nothing unseen | Voted |
//! | C-07 | Running | `vote` | something unseen, before the hard limit | Idle, runs again |
//! | C-10 | Running | third violation, failure | | Killed |
//! | C-11 | Running | soft limit | | Running, one notice |
//! | C-12 | Running | another tool | after the hard limit | Running, denied; at the tenth Killed |
//! | C-13 | Voted | a peer's answer | | Idle |
//! | C-14 | any | all live members voted | | the winner presents |
//! | C-15, C-16 | any | the team's time is over | an answer, none | Done |
//! | C-17 | any | all killed | | Done |
//! | C-18 | any | cancelled | | Done, answers stored |
//!
//! [`Team::decide`] may refuse and changes nothing; its records are one atomic append. [`Team::apply`] runs after the append and cannot
//! fail. [`Team::resume`] returns once, after a replay, what to resume. A happening is a whole batch of what was ready, because an answer
//! voids the votes that came together with it.
//!
//! Where the table is silent: after the hard limit a vote counts although other answers are unseen, but never for a member
//! whose own last answer the voter has not seen; two answers in one response are refused, so that none is lost; a `stop` is
//! not undone by a peer's answer, since each member has its own share.
//!
//! Deliberately absent: models, members' processes, clocks. Time is passed in; [`Team::next_timer`] says when to come back.

mod apply;
mod batch;
mod brief;
mod choose;
mod clock;
mod decide;
mod member;
mod novelty;
mod outside;
mod plain;
mod plan;
mod record;
#[cfg(test)]
mod tests;
mod tools;
mod turn;

use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use apply::{Damaged, fold};
pub use brief::{Brief, Presentation};
pub use member::{evaluating, presenting, seated};
pub use outside::FINAL;
pub use plain::{ROUND, read_reply, verbs};
pub use plan::{Ending, MAX_MEMBERS, Member, Mode, Novelty, Purse, Rules, TeamPlan, Times, Updates, WorkspaceFolders};
pub use record::{Ignored, Record, Refusal, Stopped, Vote};
pub use tools::{Tool, offered_tools};
pub use turn::{Called, Turn, Workflow};

use interlingua_model::content::Trust;
use interlingua_model::event::{CancelWhy, Channel, Usage};
use interlingua_model::fault::{Fault, FaultKind};
use interlingua_model::id::{Text, Time};

/// How many attempts a member has in one round.
pub const ATTEMPTS: u8 = 3;
/// How many denials in a row after the hard limit end a member.
pub const DENIALS: u8 = 10;

/// How long one answer may be, in bytes.
pub const MAX_ANSWER: usize = 256 * 1024;
/// How many answers one attempt may have, whatever its rules say.
pub const MAX_ANSWERS: usize = 1_000;
/// How much of a reason or a summary is kept, in characters.
const MAX_REASON: usize = 2_000;

/// A member, by its place in the order of registration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Seat(pub usize);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Team {
    pub plan: Arc<TeamPlan>,
    pub phase: Phase,
    /// Of the whole coordination; counts from 1.
    pub attempt: u32,
    pub places: Vec<Place>,
    /// Of this attempt, in the order they were given. None is ever taken away.
    pub answers: Vec<Given>,
    /// What the attempt before this one came to.
    pub earlier: Option<Earlier>,
    pub spent: Usage,
    pub began: Time,
    /// Rounds begun so far: the next one's number, so that none is ever used twice.
    pub rounds: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Phase {
    Coordinating,
    Presenting(Choice),
    /// The winner looks at what was presented, and submits it or sends everyone back.
    Evaluating {
        choice: Choice,
        text: Text,
        source: Source,
    },
    Done(Verdict),
}

/// Where one member stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Place {
    pub stand: Stand,
    /// A peer answered since its round began.
    pub restart: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Stand {
    Idle,
    Running(Round),
    Answered,
    Voted(Vote),
    Stopped { summary: Text, status: Stopped },
    Killed(Fault),
}

impl Stand {
    /// What became of a member that is out.
    fn killed_by(&self) -> Option<FaultKind> {
        match self {
            Stand::Killed(why) => Some(why.kind),
            Stand::Idle | Stand::Running(_) | Stand::Answered | Stand::Voted(_) | Stand::Stopped { .. } => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Round {
    pub number: u32,
    pub began: Time,
    /// How many answers of each member it was shown.
    pub seen: Vec<u32>,
    pub offer: Offer,
    pub attempt: u8,
    /// When the soft limit was told.
    pub noticed: Option<Time>,
    pub denials: u8,
    /// How many answers it was told of while it ran.
    pub informed: u32,
}

/// Which of the team's own tools a round has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Offer {
    AnswerOrVote,
    /// Its answers are used up.
    VoteOnly,
    /// Nobody votes.
    AnswerOnly,
    AnswerOrStop,
    StopOnly,
}

/// One answer: the `revision`-th of its author.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Given {
    pub seat: Seat,
    pub revision: u32,
    pub text: Text,
    pub trust: Trust,
    pub at: Time,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Earlier {
    pub winner: Seat,
    pub answer: Text,
    pub reason: Text,
    pub instructions: Text,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    pub winner: Seat,
    pub votes: u32,
    /// Others had as many votes; registration decided.
    pub tied: bool,
    pub how: How,
}

/// Why coordination ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum How {
    AllVoted,
    /// Voting was skipped, and everyone answered.
    AllAnswered,
    AllStopped,
    AllKilled,
    TimeOver,
    PurseEmpty,
}

/// Where the text of the final answer comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Source {
    Presented,
    /// The winner's answer as it was given.
    Stored,
    /// What the attempt before presented.
    Earlier,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Verdict {
    Answer {
        winner: Seat,
        text: Text,
        source: Source,
        how: How,
    },
    Failed(Fault),
    /// What was answered so far stays in [`Team::answers`].
    Cancelled(CancelWhy),
}

/// What may happen to a team.
#[derive(Debug, Clone)]
pub enum Happening {
    /// The plan is safe: begin.
    Begin,
    /// All that was ready at once.
    Ready(Vec<Ready>),
    /// A time that [`Team::next_timer`] named has come.
    Timer,
    /// The winner presented, or could not.
    Presented(Result<Text, Fault>),
    Evaluated(Evaluation),
    Cancel(CancelWhy),
}

/// Something of one member's round. What belongs to an earlier round is passed over.
#[derive(Debug, Clone)]
pub struct Ready {
    pub seat: Seat,
    pub round: u32,
    pub what: What,
}

#[derive(Debug, Clone)]
pub enum What {
    Said(Channel, Text),
    /// It wants to call a tool that is not the team's own.
    Wants {
        call: Text,
        tool: Text,
    },
    /// Such a tool has returned: a place to tell it news.
    Returned,
    /// The model's response is whole.
    Ended(Turn),
    Failed(Fault),
    Spent(Usage),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Evaluation {
    /// Also when the winner called nothing or failed.
    Submit,
    Restart {
        reason: Text,
        instructions: Text,
    },
}

/// Records to append as one, then effects to perform.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Decision {
    pub records: Vec<Record>,
    pub effects: Vec<Effect>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Start this round from an empty history.
    Start(Box<Brief>),
    /// Go on with the same history: a result for every call, and a word where there was none.
    Again {
        seat: Seat,
        round: u32,
        results: Vec<(Text, Text)>,
        say: Option<Text>,
    },
    /// Put this into the running round.
    Tell {
        seat: Seat,
        round: u32,
        parts: Vec<interlingua_model::content::Part>,
    },
    /// Run the tool.
    Permit {
        seat: Seat,
        round: u32,
        call: Text,
    },
    /// Give this as the tool's result instead of running it.
    Deny {
        seat: Seat,
        round: u32,
        call: Text,
        text: Text,
    },
    /// Show this to whoever watches.
    Forward {
        seat: Seat,
        channel: Channel,
        text: Text,
    },
    /// The round is over: let go of its stream.
    Stop {
        seat: Seat,
        round: u32,
    },
    /// Keep the member's workspace as it is now.
    Snapshot(Seat),
    Present(Box<Presentation>),
    Evaluate(Box<Presentation>),
    Finish(Verdict),
}

impl Team {
    /// The state after `Begun`, which is record 1.
    pub fn begun(plan: TeamPlan, at: Time) -> Team {
        let places = plan.members.iter().map(|_| Place::fresh()).collect();
        Team {
            plan: Arc::new(plan),
            phase: Phase::Coordinating,
            attempt: 1,
            places,
            answers: Vec::new(),
            earlier: None,
            spent: Usage::default(),
            began: at,
            rounds: 0,
        }
    }

    pub fn verdict(&self) -> Option<&Verdict> {
        match &self.phase {
            Phase::Done(verdict) => Some(verdict),
            Phase::Coordinating | Phase::Presenting(_) | Phase::Evaluating { .. } => None,
        }
    }

    pub fn seats(&self) -> impl Iterator<Item = Seat> + use<> {
        self.plan.seats()
    }

    pub fn place(&self, seat: Seat) -> &Place {
        &self.places[seat.0]
    }

    /// How many answers each member has given.
    pub fn revisions(&self) -> Vec<u32> {
        let mut counts = vec![0; self.places.len()];
        self.answers.iter().for_each(|given| counts[given.seat.0] += 1);
        counts
    }

    pub fn revision(&self, seat: Seat) -> u32 {
        self.revisions()[seat.0]
    }

    /// A member's last answer.
    pub fn answer(&self, seat: Seat) -> Option<&Given> {
        self.answers.iter().rev().find(|given| given.seat == seat)
    }

    /// Answers this round was not shown.
    fn unseen(&self, round: &Round) -> impl Iterator<Item = &Given> {
        self.answers.iter().filter(|given| given.revision > round.seen[given.seat.0])
    }

    fn live(&self) -> impl Iterator<Item = Seat> {
        self.seats().filter(|seat| !matches!(self.place(*seat).stand, Stand::Killed(_)))
    }

    /// The round with this number, if the member is in it.
    fn round(&self, seat: Seat, number: u32) -> Option<&Round> {
        match &self.places.get(seat.0)?.stand {
            Stand::Running(round) if round.number == number => Some(round),
            Stand::Running(_)
            | Stand::Idle
            | Stand::Answered
            | Stand::Voted(_)
            | Stand::Stopped { .. }
            | Stand::Killed(_) => None,
        }
    }
}

impl Place {
    fn fresh() -> Place {
        Place { stand: Stand::Idle, restart: true }
    }
}
