//! What goes out of an exchange, and what may still come in.

use serde::{Deserialize, Serialize};

use crate::card::RouteClass;
use crate::content::{Body, Input, Meta, Part, Party};
use crate::fault::Fault;
use crate::id::{ArtifactId, Media, MessageId, QuestionId, SkillId, Text, Version};
use crate::json::Json;
use crate::principal::Owner;
use crate::question::Question;
use crate::secret::Secret;

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

/// One that does not fit the question's kind is `InvalidInput`, and the question stays open.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Answer {
    Given(Input),
    Granted,
    Token(Secret),
    Visited,
    Declined,
    Dismissed,
}

/// The whole answer of an exchange whose events were streamed: what was said under [`Output::said`], the output's own parts,
/// then what its artifacts hold, each part under its artifact's name. Text that came in pieces is one text again.
pub fn collect<'a>(finished: &Finished, events: impl IntoIterator<Item = &'a Event>) -> Vec<Part> {
    let output = &finished.output;
    let mut said = Joined::default();
    let mut made: Vec<Made<'_>> = output.artifacts.iter().map(Made::new).collect();
    for event in events {
        match event {
            Event::Said { message, channel: Channel::Answer, piece, parts }
                if output.said.as_ref() == Some(message) =>
            {
                parts.iter().for_each(|part| said.take(part, *piece));
            }
            Event::Artifact(chunk) => {
                if let Some(held) = made.iter_mut().find(|held| *held.artifact == chunk.artifact) {
                    held.take(chunk);
                }
            }
            Event::Said { .. }
            | Event::Started(_)
            | Event::Progress { .. }
            | Event::Asked(_)
            | Event::Settled { .. }
            | Event::Finished(_) => {}
        }
    }
    let mut parts = said.whole();
    parts.extend(output.parts.iter().cloned());
    parts.extend(made.into_iter().flat_map(|held| held.parts));
    parts
}

/// Parts as they come, of which the last may be a text that goes on.
#[derive(Default)]
struct Joined {
    parts: Vec<Part>,
    open: Option<(Part, String)>,
}

impl Joined {
    fn take(&mut self, part: &Part, piece: Piece) {
        let text = match (&part.body, piece) {
            (Body::Text { text, .. }, Piece::Delta | Piece::End) => text,
            _ => {
                self.close();
                return self.parts.push(part.clone());
            }
        };
        match &mut self.open {
            Some((begun, so_far)) if begun.continues_in(part) => so_far.push_str(text),
            Some(_) | None => {
                self.close();
                self.open = Some((part.clone(), text.to_string()));
            }
        }
    }

    fn close(&mut self) {
        let Some((mut part, whole)) = self.open.take() else { return };
        if let Body::Text { text, .. } = &mut part.body {
            *text = whole.into();
        }
        self.parts.push(part);
    }

    fn whole(mut self) -> Vec<Part> {
        self.close();
        self.parts
    }
}

/// What an artifact holds so far.
struct Made<'a> {
    artifact: &'a ArtifactId,
    name: Option<Text>,
    parts: Vec<Part>,
}

impl<'a> Made<'a> {
    fn new(artifact: &'a ArtifactId) -> Made<'a> {
        Made { artifact, name: None, parts: Vec::new() }
    }

    /// Its first chunk begins it anew.
    fn take(&mut self, chunk: &Chunk) {
        if chunk.index == 0 {
            self.parts.clear();
            self.name = chunk.header.as_ref().and_then(|header| header.name.clone());
        }
        let named = |part: &Part| Part { name: part.name.clone().or_else(|| self.name.clone()), ..part.clone() };
        let more: Vec<Part> = chunk.parts.iter().map(named).collect();
        self.parts.extend(more);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::Provenance;

    fn said(text: &str, piece: Piece) -> Event {
        let parts = vec![Part::text(text, Provenance::caller())];
        Event::Said { message: "m".into(), channel: Channel::Answer, piece, parts }
    }

    fn texts(parts: &[Part]) -> Vec<&str> {
        parts.iter().filter_map(Part::as_text).collect()
    }

    #[test]
    fn text_that_came_in_pieces_is_one_text_again() {
        let output = Output { said: Some("m".into()), ..Output::default() };
        let events = [said("one ", Piece::Delta), said("two ", Piece::Delta), said("three", Piece::End)];
        assert_eq!(texts(&collect(&Finished::completed(output.clone()), &events)), ["one two three"]);
        let events = [said("one", Piece::Whole), said("two", Piece::Whole)];
        assert_eq!(texts(&collect(&Finished::completed(output), &events)), ["one", "two"], "these were whole");
    }

    #[test]
    fn what_an_artifact_holds_has_its_name() {
        let owner = Owner([].into());
        let header = ArtifactHeader {
            name: Some("report".into()),
            media: None,
            kind: None,
            owner,
            readers: Vec::new(),
            meta: Meta::default(),
        };
        let chunk = |index: u32, text: &str| {
            let header = (index == 0).then(|| header.clone());
            let parts = vec![Part::text(text, Provenance::caller())];
            Event::Artifact(Chunk { artifact: "a".into(), index, last: false, parts, header })
        };
        let output = Output { artifacts: vec!["a".into()], ..Output::default() };
        let parts = collect(&Finished::completed(output), &[chunk(0, "one"), chunk(1, "two")]);
        assert_eq!(texts(&parts), ["one", "two"]);
        assert!(parts.iter().all(|part| part.name.as_deref() == Some("report")), "{parts:?}");
    }
}
