//! Events of an exchange, its outcome, and the signals to it.

use serde::{Deserialize, Serialize};

use crate::card::RouteClass;
use crate::content::{Input, Meta, Part, Party};
use crate::fault::Fault;
use crate::id::{ArtifactId, Media, MessageId, QuestionId, SkillId, Text, Version};
use crate::json::Json;
use crate::principal::Owner;
use crate::question::{Answer, Question};
use crate::step::Step;

/// What a reader of an exchange sees, in the order it happened. The last one is always [`Event::Finished`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Event {
    /// Dispatched: the selected route, and why.
    Started(Route),
    /// Something was said: by the peer, or by the hub for it.
    Said {
        /// The message it belongs to; pieces of one message have one id.
        message: MessageId,
        /// Is it the answer, a thought on the way, or a log line?
        channel: Channel,
        /// Is it the whole message or a piece of it?
        piece: Piece,
        /// What was said.
        parts: Vec<Part>,
    },
    /// How far it is. The numbers have the peer's own unit, and may come without a total.
    Progress {
        /// How much is done.
        done: Option<f64>,
        /// How much there is to do.
        total: Option<f64>,
        /// In words.
        note: Option<Text>,
    },
    /// A step of the work, or its new state. Boxed for the size of every event.
    Step(Box<Step>),
    /// A piece of a result that has a name of its own.
    Artifact(Chunk),
    /// The exchange waits for an answer; others may be open at the same time.
    Asked(Question),
    /// Every reader must see the wait end.
    Settled {
        /// The question that is no longer open.
        question: QuestionId,
        /// Who ended the wait.
        by: Party,
        /// Whether it was answered.
        how: How,
        /// The principal that decided; absent if nobody decided. Boxed for the size of every event.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        decided: Option<Box<Decided>>,
    },
    /// The outcome. Nothing follows.
    Finished(Finished),
}

/// What a message is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Channel {
    /// The answer to the caller.
    Answer,
    /// What a model thinks on the way; shown where a protocol has a place for it.
    Reasoning,
    /// Log lines.
    Note(Level),
}

/// How important a log line is, in ascending order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Level {
    /// For debugging.
    Debug,
    /// Ordinary news.
    Info,
    /// Something may need attention.
    Warning,
    /// Something failed.
    Error,
}

/// How much of a message an event has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Piece {
    /// All of it.
    Whole,
    /// The next piece; more follow.
    Delta,
    /// The last piece, which may be empty.
    End,
}

/// The principal that answered a question, and whether the answer lets the exchange continue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decided {
    /// The principal that decided, without proofs.
    pub by: Owner,
    /// True for an approval or an answer, false for a refusal.
    pub granted: bool,
}

/// How the wait for an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum How {
    /// With an answer or an approval.
    Answered,
    /// With a refusal.
    Declined,
    /// Nobody answered before [`Question::expires`].
    Expired,
    /// The exchange ended, or nobody needs the answer any more.
    Withdrawn,
}

/// The end of an exchange, and its result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finished {
    /// Completed, failed or cancelled.
    pub outcome: Outcome,
    /// Also after a failure: what there is so far.
    pub output: Output,
    /// What it cost, as far as the peer says.
    pub usage: Usage,
}

impl Finished {
    /// It completed with this output.
    pub fn completed(output: Output) -> Finished {
        Finished { outcome: Outcome::Completed, output, usage: Usage::default() }
    }

    /// It failed, and there is no output.
    pub fn failed(fault: Fault) -> Finished {
        Finished { outcome: Outcome::Failed(fault), output: Output::default(), usage: Usage::default() }
    }

    /// It was cancelled, and there is no output.
    pub fn cancelled(by: Party, why: CancelWhy) -> Finished {
        Finished { outcome: Outcome::Cancelled { by, why }, output: Output::default(), usage: Usage::default() }
    }
}

/// The three ways an exchange can end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Outcome {
    /// The peer did what was asked.
    Completed,
    /// Something went wrong.
    Failed(Fault),
    /// It was stopped.
    Cancelled {
        /// The party that stopped it.
        by: Party,
        /// Why.
        why: CancelWhy,
    },
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

/// Why an exchange was cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum CancelWhy {
    /// The caller, or another principal with the permission, asked for it.
    Asked,
    /// The caller's connection ended, and it had not asked to be outlived: see [`crate::OnDisconnect`].
    Disconnected,
    /// Something earlier in the same batch or graph failed.
    EarlierFailed,
    /// The result is not needed any more: its parent has ended, or something else replaced it.
    Superseded,
}

impl CancelWhy {
    /// The words that people and protocols are shown.
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
    /// The message of [`Event::Said`] that is the answer.
    pub said: Option<MessageId>,
    /// The answer as content.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Part>,
    /// The answer as data.
    pub structured: Option<Json>,
    /// Artifacts that are the result; others were made on the way.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<ArtifactId>,
}

impl Output {
    /// The parts that an encoder with one place leaves out when it takes `structured`: those that do not repeat it.
    pub fn beside_structured(&self) -> impl Iterator<Item = &Part> {
        let structured = self.structured.as_ref();
        self.parts.iter().filter(move |part| structured.is_some_and(|structured| !part.repeats(structured)))
    }
}

/// What it cost: budgets of agents and teams.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens that models read.
    pub tokens_in: u64,
    /// Tokens that models wrote.
    pub tokens_out: u64,
    /// Calls of skills that were made on the way.
    pub calls: u32,
    /// Millionths of the currency that budgets are written in.
    pub micro_money: u64,
}

/// The route of a call, and why it was selected.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Route {
    /// The skill that is called.
    pub skill: SkillId,
    /// The version that was asked for, if one was.
    pub version: Option<Version>,
    /// The kind of peer it went to.
    pub class: RouteClass,
    /// How it was chosen.
    pub why: Why,
    /// The arguments that were found in plain words, without secrets: for readers of the route.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub args: Option<Json>,
}

/// Why a route was chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Why {
    /// The caller named the skill.
    Named,
    /// It is the only one that offers the capability.
    OnlyOne,
    /// It has the best class and health of those that offer the capability.
    BestClass,
    /// The operator chose it for all plain words that name nothing.
    FrontDoor,
    /// The words are one of its phrases.
    Phrase,
    /// It fits the words best of all skills.
    Ranked,
    /// One that was tried before could not begin.
    Failover,
    /// Nothing fits the words, so the hub answers with what it can do.
    LastResort,
}

impl Why {
    /// The word in metrics and protocols.
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
    /// The artifact it belongs to.
    pub artifact: ArtifactId,
    /// Its place, from 0.
    pub index: u32,
    /// Nothing follows.
    pub last: bool,
    /// What this piece holds.
    pub parts: Vec<Part>,
    /// With the first piece only.
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

/// What an artifact is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ArtifactHeader {
    /// Its name for people, such as a file name.
    pub name: Option<Text>,
    /// Its media type.
    pub media: Option<Media>,
    /// Its purpose for its maker, such as `report`; lists show `data` if it is absent.
    pub kind: Option<Text>,
    /// The owner of the artifact.
    pub owner: Owner,
    /// Who else may read it, by name.
    pub readers: Vec<Text>,
    /// Metadata of its protocol.
    pub meta: Meta,
}

/// Signals to a running exchange.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Signal {
    /// `message`: given or minted; the key under which the answer is forwarded.
    Answered {
        /// The question it answers.
        question: QuestionId,
        /// The answer's own id.
        message: MessageId,
        /// The answer.
        answer: Answer,
    },
    /// More input. While questions are open core offers it to the oldest one this speaker may answer.
    Said {
        /// The message's id, given or minted.
        message: MessageId,
        /// What was said.
        input: Input,
    },
    /// Stop. The peer is notified, and has a grace period of 10 s to end it itself.
    Cancel(CancelWhy),
}
