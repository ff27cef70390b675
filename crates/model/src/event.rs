//! What goes out of an exchange, and what may still come in.

use serde::{Deserialize, Serialize};

use crate::card::RouteClass;
use crate::content::{Input, Meta, Part, Party};
use crate::fault::Fault;
use crate::id::{ArtifactId, Media, MessageId, QuestionId, SkillId, Text, Version};
use crate::json::Json;
use crate::principal::Owner;
use crate::question::{Answer, Question};
use crate::step::Step;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Event {
    /// Dispatched: which way was taken, and why.
    Started(Route),
    Said {
        message: MessageId,
        channel: Channel,
        piece: Piece,
        parts: Vec<Part>,
    },
    Progress {
        done: Option<f64>,
        total: Option<f64>,
        note: Option<Text>,
    },
    /// Something that is done on the way, or how it stands now. Boxed for the size of every event.
    Step(Box<Step>),
    Artifact(Chunk),
    Asked(Question),
    /// Every reader must see the wait end.
    Settled {
        question: QuestionId,
        by: Party,
        how: How,
        /// Whose decision it was; absent where nobody decided. Boxed for the size of every event.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        decided: Option<Box<Decided>>,
    },
    Finished(Finished),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Channel {
    Answer,
    Reasoning,
    /// Log lines.
    Note(Level),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Level {
    Debug,
    Info,
    Warning,
    Error,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Piece {
    Whole,
    Delta,
    End,
}

/// Who answered a question, and whether the answer lets the exchange go on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decided {
    pub by: Owner,
    pub granted: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum How {
    Answered,
    Declined,
    Expired,
    Withdrawn,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finished {
    pub outcome: Outcome,
    /// Also after a failure: what there is so far.
    pub output: Output,
    pub usage: Usage,
}

impl Finished {
    pub fn completed(output: Output) -> Finished {
        Finished { outcome: Outcome::Completed, output, usage: Usage::default() }
    }

    pub fn failed(fault: Fault) -> Finished {
        Finished { outcome: Outcome::Failed(fault), output: Output::default(), usage: Usage::default() }
    }

    pub fn cancelled(by: Party, why: CancelWhy) -> Finished {
        Finished { outcome: Outcome::Cancelled { by, why }, output: Output::default(), usage: Usage::default() }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Outcome {
    Completed,
    Failed(Fault),
    Cancelled { by: Party, why: CancelWhy },
}

impl Outcome {
    /// As lists show it.
    pub fn as_str(&self) -> &'static str {
        match self {
            Outcome::Completed => "completed",
            Outcome::Failed(_) => "failed",
            Outcome::Cancelled { .. } => "cancelled",
        }
    }

    /// What went wrong, if something did.
    pub fn fault(&self) -> Option<&Fault> {
        match self {
            Outcome::Failed(fault) => Some(fault),
            Outcome::Completed | Outcome::Cancelled { .. } => None,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum CancelWhy {
    Asked,
    Disconnected,
    /// Something earlier in the same batch or graph failed.
    EarlierFailed,
    Superseded,
}

impl CancelWhy {
    pub fn as_str(self) -> &'static str {
        match self {
            CancelWhy::Asked => "asked",
            CancelWhy::Disconnected => "disconnected",
            CancelWhy::EarlierFailed => "an earlier step failed",
            CancelWhy::Superseded => "superseded",
        }
    }
}

/// `structured` obeys the skill's output schema, `parts` say the same for people; an encoder with one place takes
/// `structured`. `said`: the answer was already streamed under this id; stream encoders send only the end mark.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Output {
    pub said: Option<MessageId>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Part>,
    pub structured: Option<Json>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<ArtifactId>,
}

/// What it cost: budgets of agents and teams.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    pub tokens_in: u64,
    pub tokens_out: u64,
    pub calls: u32,
    pub micro_money: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Route {
    pub skill: SkillId,
    pub version: Option<Version>,
    pub class: RouteClass,
    pub why: Why,
    /// What plain words were found to say of its arguments, without secrets: for whoever is told which way was taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<Json>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Why {
    Named,
    OnlyOne,
    BestClass,
    FrontDoor,
    Phrase,
    Ranked,
    Failover,
    LastResort,
}

impl Why {
    pub fn as_str(self) -> &'static str {
        match self {
            Why::Named => "named",
            Why::OnlyOne => "only_one",
            Why::BestClass => "best_class",
            Why::FrontDoor => "front_door",
            Why::Phrase => "phrase",
            Why::Ranked => "ranked",
            Why::Failover => "failover",
            Why::LastResort => "last_resort",
        }
    }
}

/// Index 0 opens (with `header`) or replaces; indices have no gap; `last` closes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Chunk {
    pub artifact: ArtifactId,
    pub index: u32,
    pub last: bool,
    pub parts: Vec<Part>,
    pub header: Option<ArtifactHeader>,
}

impl Chunk {
    /// About how many bytes it takes to hold it.
    pub fn weight(&self) -> usize {
        let header =
            self.header.as_ref().and_then(|header| header.meta.0.as_ref()).map_or(0, |meta| meta.as_str().len());
        size_of::<Chunk>() + header + self.parts.iter().map(Part::weight).sum::<usize>()
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ArtifactHeader {
    pub name: Option<Text>,
    pub media: Option<Media>,
    pub kind: Option<Text>,
    pub owner: Owner,
    pub readers: Vec<Text>,
    pub meta: Meta,
}

/// What may still come in while an exchange runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Signal {
    /// `message`: given or minted; the key under which the answer is forwarded.
    Answered {
        question: QuestionId,
        message: MessageId,
        answer: Answer,
    },
    /// More input. While questions are open core offers it to the oldest one this speaker may answer.
    Said {
        message: MessageId,
        input: Input,
    },
    Cancel(CancelWhy),
}
