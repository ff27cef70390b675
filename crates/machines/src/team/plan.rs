//! Definition of a team's run: members, question and rules. Stored once, at the start of the run.

use std::collections::BTreeSet;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Seat;
use interlingua_model::content::{Part, Trust, Turn};
use interlingua_model::fault::{Fault, FaultKind};
use interlingua_model::id::{PeerId, Text};

/// How many members one team may have.
pub const MAX_MEMBERS: usize = 32;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TeamPlan {
    /// In the order of registration, which decides ties.
    pub members: Vec<Member>,
    pub task: Text,
    /// What came with the question beside its words: data, pictures, files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub material: Vec<Part>,
    /// What was said in the conversation before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<Turn>,
    /// Of whoever asked.
    pub trust: Trust,
    pub rules: Rules,
    /// What members with a workspace find in it.
    #[serde(default)]
    pub found: Option<WorkspaceFolders>,
}

/// Names in the workspace of every member that has one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkspaceFolders {
    /// The files behind each answer: read by all, written by nobody.
    pub answers: Text,
    /// What all have in common: read by all, written by who presents.
    pub shared: Text,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    pub id: PeerId,
    /// Its share of the work, when the team decomposes.
    pub subtask: Option<Text>,
    /// Where its files are: a path that says nothing about whether two answers are the same.
    pub workspace: Option<Text>,
    /// It is not an agent of this hub: it decides in words or in a structured part, and never learns a name.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub outside: bool,
}

impl Member {
    pub fn new(id: impl Into<PeerId>) -> Member {
        Member { id: id.into(), subtask: None, workspace: None, outside: false }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rules {
    pub mode: Mode,
    pub ending: Ending,
    /// The team is done when every live member has an answer; nobody votes.
    pub skip_voting: bool,
    /// After this many answers a member may only vote.
    pub answers_each: Option<u32>,
    /// After this many answers of all together every member may only vote.
    pub answers_all: Option<u32>,
    /// A member that may only vote waits until everyone who still can has answered.
    pub defer_voting: bool,
    pub novelty: Novelty,
    /// How far a member may be ahead of the slowest active one, in answers. `None`: no fairness.
    pub lead: Option<u32>,
    pub updates: Updates,
    pub times: Times,
    /// How often the winner may send everyone back to the start.
    pub restarts: u32,
    pub purse: Purse,
}

impl Default for Rules {
    fn default() -> Rules {
        Rules {
            mode: Mode::Voting,
            ending: Ending::Present,
            skip_voting: false,
            answers_each: None,
            answers_all: None,
            defer_voting: false,
            novelty: Novelty::Lenient,
            lead: Some(2),
            updates: Updates::Midstream { sources: 2 },
            times: Times::default(),
            restarts: 0,
            purse: Purse::default(),
        }
    }
}

/// Voting: all work on the whole, and vote. Decomposition: each has a share and stops when it is done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Mode {
    Voting,
    Decomposition {
        /// Puts the shares together; the last member when nobody is named.
        presenter: Option<PeerId>,
    },
}

/// What the final answer is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ending {
    /// The winner's answer as it stands, without another model call.
    Reuse,
    /// The winner presents its own.
    Present,
    /// The winner makes one answer of all.
    Synthesize,
}

/// How different an answer must be from those that exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Novelty {
    Lenient,
    Balanced,
    Strict,
}

impl Novelty {
    /// The share of common words above which an answer is refused, in percent.
    pub fn limit(self) -> Option<usize> {
        match self {
            Novelty::Lenient => None,
            Novelty::Balanced => Some(70),
            Novelty::Strict => Some(50),
        }
    }
}

/// When a running member hears of its peers' answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Updates {
    /// After a tool's result, at most this many answers in one round.
    Midstream { sources: u32 },
    /// Its round is ended and begun again with all answers.
    AtRestart,
    /// Only when its round is over by itself.
    Never,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Times {
    pub whole: Duration,
    /// The soft limit of a member's first round.
    pub first_round: Option<Duration>,
    pub later_round: Option<Duration>,
    /// From the notice of the soft limit to the hard one.
    pub grace: Duration,
}

impl Default for Times {
    fn default() -> Times {
        Times {
            whole: Duration::from_secs(1800),
            first_round: None,
            later_round: None,
            grace: Duration::from_secs(120),
        }
    }
}

/// What the whole team may spend.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Purse {
    pub tokens: Option<u64>,
    pub micro_money: Option<u64>,
}

impl TeamPlan {
    pub fn new(task: impl Into<Text>, members: impl IntoIterator<Item = Member>) -> TeamPlan {
        TeamPlan {
            members: members.into_iter().collect(),
            task: task.into(),
            material: Vec::new(),
            history: Vec::new(),
            trust: Trust::Caller,
            rules: Rules::default(),
            found: None,
        }
    }

    /// Is this a team that can be run?
    pub fn check(&self) -> Result<(), Fault> {
        let rules = &self.rules;
        let ids: BTreeSet<&PeerId> = self.members.iter().map(|member| &member.id).collect();
        let limits = [rules.answers_each, rules.answers_all, rules.lead];
        let stranger = match &rules.mode {
            Mode::Voting => false,
            Mode::Decomposition { presenter } => presenter.as_ref().is_some_and(|id| !ids.contains(id)),
        };
        let problem = if self.members.is_empty() {
            "a team needs a member"
        } else if self.members.len() > MAX_MEMBERS {
            "a team has at most 32 members"
        } else if ids.len() < self.members.len() {
            "a member is named twice"
        } else if limits.contains(&Some(0)) {
            "a limit of no answers, or no lead, would let nobody begin"
        } else if stranger {
            "the presenter is not a member"
        } else {
            return Ok(());
        };
        Err(Fault::caller(FaultKind::InvalidInput, problem))
    }

    pub fn seats(&self) -> impl Iterator<Item = Seat> + use<> {
        (0..self.members.len()).map(Seat)
    }

    pub fn id(&self, seat: Seat) -> &PeerId {
        &self.members[seat.0].id
    }

    /// What peers call a member: numbered by sorted id, so that it neither changes nor tells the order of registration.
    pub fn label(&self, seat: Seat) -> String {
        let own = self.id(seat);
        let before = self.members.iter().filter(|member| member.id < *own).count();
        format!("agent{}", before + 1)
    }

    /// What a reader is told of a member at the end: its name, unless the reader is not of this hub.
    pub fn named_to(&self, reader: Seat, seat: Seat) -> String {
        if self.members[reader.0].outside { self.label(seat) } else { self.id(seat).to_string() }
    }

    /// Whom a vote means: a label, a label with a revision, or a real id.
    pub fn named(&self, said: &str) -> Option<Seat> {
        let said = said.trim();
        let label = said.split_once('.').map_or(said, |(label, _)| label).to_ascii_lowercase();
        self.seats()
            .find(|seat| self.label(*seat) == label)
            .or_else(|| self.seats().find(|seat| self.id(*seat).as_str() == said))
    }
}
