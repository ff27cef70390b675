//! JSON of events. In server-sent events the name is `event:`, the number `id:`, and the content of `data` here is `data:`; in a list each
//! event is one object.

use interlingua_model::{
    Channel, Chunk, Event, Finished, How, Json, Level, Loss, Outcome, Piece, Route, Step, Text, Time, Usage,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::content::PartView;
use super::fault::FaultView;
use super::question::QuestionView;
use interlingua_hub::approvals::ClosedQuestion;

/// An event with its number and time.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct NumberedEvent {
    pub seq: u64,
    pub at: String,
    #[serde(flatten)]
    pub event: EventView,
}

/// One step of an agent or a team.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StepView {
    pub seq: u64,
    pub at: String,
    /// Kind of step: `thought`, `called`, `returned`; `round_begun`, `answered`, `voted`, `chosen`; `finished`.
    pub step: String,
    /// The record of the step; its form depends on the kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Value>")]
    pub data: Option<Json>,
}

impl NumberedEvent {
    pub fn new(seq: u64, at: Time, event: &Event) -> NumberedEvent {
        NumberedEvent { seq, at: at.to_string(), event: event.into() }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "event", content = "data", rename_all = "snake_case")]
pub enum EventView {
    Started(StartedView),
    Said(SaidView),
    Progress(ProgressView),
    Step(Box<StepEventView>),
    Artifact(ArtifactView),
    Asked(Box<AskedView>),
    Settled(SettledView),
    Finished(Box<FinishedView>),
}

pub type StartedView = RouteView;
pub type AskedView = QuestionView;

/// The route of a call, and the reason for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RouteView {
    pub skill: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    pub class: String,
    /// `named`, `only_one`, `best_class`, `front_door`, `phrase`, `ranked`, `failover` or `last_resort`.
    pub why: String,
    /// Arguments that were found in plain words, without secrets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Value>")]
    pub arguments: Option<Json>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SaidView {
    pub message: String,
    /// `answer`, `reasoning`, or for a log line `debug`, `info`, `warning` or `error`.
    pub channel: String,
    /// `whole`, `delta` or `end`.
    pub piece: String,
    pub parts: Vec<PartView>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProgressView {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub done: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Something that is done on the way, as it stands now: a call of an agent, a tool of yours that it waits for, a turn of a member
/// of a team. The last event of an `id` counts; each one ends once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StepEventView {
    pub id: String,
    /// The step as part of which it is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// What is called, as `peer/skill`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skill: Option<String>,
    pub title: String,
    /// `read`, `edit`, `delete`, `think` or `other`.
    pub kind: String,
    /// `pending`, `running`, `done`, `failed` or `cancelled`.
    pub state: String,
    /// Without secrets. More than 16 KiB are told as their length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Value>")]
    pub arguments: Option<Json>,
    /// What came of it, up to 16 KiB.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<PartView>,
}

/// A chunk of an artifact. Index 0 starts or replaces it, `last` completes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ArtifactView {
    pub artifact: String,
    pub index: u32,
    pub last: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media: Option<String>,
    pub parts: Vec<PartView>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SettledView {
    pub question: String,
    pub by: String,
    /// `answered`, `declined`, `expired` or `withdrawn`.
    pub how: String,
    /// Who answered; absent if nobody did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decided_by: Option<String>,
    /// Whether the answer allows the exchange to continue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub granted: Option<bool>,
    /// When it ended; only where the question is read by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
}

impl From<&ClosedQuestion> for SettledView {
    fn from(closed: &ClosedQuestion) -> SettledView {
        SettledView {
            question: closed.id().to_string(),
            by: super::party(&closed.by),
            how: how(closed.how).into(),
            decided_by: closed.decided.as_ref().map(|decided| decided.by.to_string()),
            granted: closed.decided.as_ref().map(|decided| decided.granted),
            at: Some(closed.at.to_string()),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OutcomeView {
    Completed,
    Failed,
    Cancelled,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FinishedView {
    pub outcome: OutcomeView,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<FaultView>,
    /// Who cancelled it, and why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancelled_by: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cancelled_why: Option<String>,
    /// The structured result, by the skill's output schema.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Value>")]
    pub structured: Option<Json>,
    /// The result as content, for people.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<PartView>,
    /// The message id of the `said` events that streamed the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<String>,
    pub usage: UsageView,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct UsageView {
    pub tokens_in: u64,
    pub tokens_out: u64,
    pub calls: u32,
    pub micro_money: u64,
}

/// Something that could not be carried from one protocol to another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LossView {
    pub what: String,
    /// `dropped`, `flattened`, `approximated` or `answered_by_hub`.
    pub kind: String,
}

impl EventView {
    /// The name of the server-sent event.
    pub fn name(&self) -> &'static str {
        match self {
            EventView::Started(_) => "started",
            EventView::Said(_) => "said",
            EventView::Progress(_) => "progress",
            EventView::Step(_) => "step",
            EventView::Artifact(_) => "artifact",
            EventView::Asked(_) => "asked",
            EventView::Settled(_) => "settled",
            EventView::Finished(_) => "finished",
        }
    }

    /// What stands in `data:` of the server-sent event.
    pub fn data(&self) -> Result<String, serde_json::Error> {
        match self {
            EventView::Started(view) => serde_json::to_string(view),
            EventView::Said(view) => serde_json::to_string(view),
            EventView::Progress(view) => serde_json::to_string(view),
            EventView::Step(view) => serde_json::to_string(view),
            EventView::Artifact(view) => serde_json::to_string(view),
            EventView::Asked(view) => serde_json::to_string(view),
            EventView::Settled(view) => serde_json::to_string(view),
            EventView::Finished(view) => serde_json::to_string(view),
        }
    }

    /// Reads a server-sent event; none for a name this program does not know.
    pub fn read(name: &str, data: &str) -> Result<Option<EventView>, serde_json::Error> {
        Ok(Some(match name {
            "started" => EventView::Started(serde_json::from_str(data)?),
            "said" => EventView::Said(serde_json::from_str(data)?),
            "progress" => EventView::Progress(serde_json::from_str(data)?),
            "step" => EventView::Step(serde_json::from_str(data)?),
            "artifact" => EventView::Artifact(serde_json::from_str(data)?),
            "asked" => EventView::Asked(serde_json::from_str(data)?),
            "settled" => EventView::Settled(serde_json::from_str(data)?),
            "finished" => EventView::Finished(serde_json::from_str(data)?),
            _ => return Ok(None),
        }))
    }
}

impl From<&Event> for EventView {
    fn from(event: &Event) -> EventView {
        match event {
            Event::Started(route) => EventView::Started(route.into()),
            Event::Said { message, channel, piece, parts } => EventView::Said(SaidView {
                message: message.to_string(),
                channel: self::channel(*channel).into(),
                piece: self::piece(*piece).into(),
                parts: parts.iter().map(PartView::from).collect(),
            }),
            Event::Progress { done, total, note } => EventView::Progress(ProgressView {
                done: *done,
                total: *total,
                note: note.as_ref().map(ToString::to_string),
            }),
            Event::Step(step) => EventView::Step(Box::new(step.as_ref().into())),
            Event::Artifact(chunk) => EventView::Artifact(chunk.into()),
            Event::Asked(question) => EventView::Asked(Box::new(question.into())),
            Event::Settled { question, by, how, decided } => EventView::Settled(SettledView {
                question: question.to_string(),
                by: super::party(by),
                how: self::how(*how).into(),
                decided_by: decided.as_ref().map(|decided| decided.by.to_string()),
                granted: decided.as_ref().map(|decided| decided.granted),
                at: None,
            }),
            Event::Finished(finished) => EventView::Finished(Box::new(finished.into())),
        }
    }
}

fn channel(channel: Channel) -> &'static str {
    match channel {
        Channel::Answer => "answer",
        Channel::Reasoning => "reasoning",
        Channel::Note(Level::Debug) => "debug",
        Channel::Note(Level::Info) => "info",
        Channel::Note(Level::Warning) => "warning",
        Channel::Note(Level::Error) => "error",
    }
}

fn piece(piece: Piece) -> &'static str {
    match piece {
        Piece::Whole => "whole",
        Piece::Delta => "delta",
        Piece::End => "end",
    }
}

fn how(how: How) -> &'static str {
    match how {
        How::Answered => "answered",
        How::Declined => "declined",
        How::Expired => "expired",
        How::Withdrawn => "withdrawn",
    }
}

impl From<&Route> for RouteView {
    fn from(route: &Route) -> RouteView {
        RouteView {
            skill: route.skill.to_string(),
            version: route.version.as_ref().map(ToString::to_string),
            class: route.class.as_str().into(),
            why: route.why.as_str().into(),
            arguments: route.args.clone(),
        }
    }
}

impl From<&Step> for StepEventView {
    fn from(step: &Step) -> StepEventView {
        StepEventView {
            id: step.id.to_string(),
            parent: step.parent.as_ref().map(ToString::to_string),
            skill: step.skill.as_ref().map(ToString::to_string),
            title: step.title.to_string(),
            kind: step.kind.as_str().into(),
            state: step.state.as_str().into(),
            arguments: step.args.clone(),
            parts: step.parts.iter().map(PartView::from).collect(),
        }
    }
}

impl StepEventView {
    /// One line for people; none for what is done within another step.
    pub fn note(&self) -> Option<String> {
        let skill = self.skill.as_ref().filter(|_| self.parent.is_none())?;
        match self.state.as_str() {
            "running" => Some(format!("calls {skill}")),
            "failed" => Some(format!("{skill} failed")),
            _ => None,
        }
    }
}

impl From<&Chunk> for ArtifactView {
    fn from(chunk: &Chunk) -> ArtifactView {
        let header = chunk.header.as_ref();
        let text = |text: &Text| text.to_string();
        ArtifactView {
            artifact: chunk.artifact.to_string(),
            index: chunk.index,
            last: chunk.last,
            name: header.and_then(|header| header.name.as_ref()).map(text),
            media: header.and_then(|header| header.media.as_ref()).map(text),
            parts: chunk.parts.iter().map(PartView::from).collect(),
        }
    }
}

impl From<&Finished> for FinishedView {
    fn from(finished: &Finished) -> FinishedView {
        let (outcome, fault, cancelled) = match &finished.outcome {
            Outcome::Completed => (OutcomeView::Completed, None, None),
            Outcome::Failed(fault) => (OutcomeView::Failed, Some(fault.into()), None),
            Outcome::Cancelled { by, why } => {
                (OutcomeView::Cancelled, None, Some((super::party(by), why.as_str().to_owned())))
            }
        };
        let (cancelled_by, cancelled_why) = cancelled.unzip();
        let output = &finished.output;
        FinishedView {
            outcome,
            fault,
            cancelled_by,
            cancelled_why,
            structured: output.structured.clone(),
            parts: output.parts.iter().map(PartView::from).collect(),
            said: output.said.as_ref().map(ToString::to_string),
            artifacts: output.artifacts.iter().map(ToString::to_string).collect(),
            usage: finished.usage.into(),
        }
    }
}

impl From<Usage> for UsageView {
    fn from(usage: Usage) -> UsageView {
        let Usage { tokens_in, tokens_out, calls, micro_money } = usage;
        UsageView { tokens_in, tokens_out, calls, micro_money }
    }
}

impl From<&Loss> for LossView {
    fn from(loss: &Loss) -> LossView {
        LossView { what: loss.what.to_string(), kind: loss.kind.as_str().into() }
    }
}
