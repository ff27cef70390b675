//! Transcript: the texts and artifacts of an exchange, collected for a protocol that returns one answer. It is bounded, whatever the peer
//! streams.

use std::collections::BTreeMap;

use crate::content::{Body, Part, Party};
use crate::event::{Channel, Chunk, Event, Finished, Output, Piece, Route};
use crate::fault::{Fault, FaultKind};
use crate::id::{ArtifactId, MessageId, Text};
use crate::journal::Record;
use crate::loss::Loss;

/// How many bytes of messages one transcript holds: as many as the task itself holds of them. Each part and each message counts with
/// its own size besides its content, so this bounds their number, too. Large blobs are stored elsewhere and count as references.
pub const MAX_SAID: usize = 16 * 1024 * 1024;
/// The same for artifacts. The task machine refuses a peer that makes more; a transcript does not depend on it.
pub const MAX_MADE: usize = 64 * 1024 * 1024;
/// How many losses a transcript and a task hold in memory.
pub const MAX_LOSSES: usize = 1_000;

/// The answer and its artifacts are known at the end only: until then all messages and artifacts are held. Text in pieces is held as one
/// text.
#[derive(Debug, Default)]
pub struct Transcript {
    /// The selected route.
    pub route: Option<Route>,
    /// The first [`MAX_LOSSES`] losses on the way to the peer and back.
    pub losses: Vec<Loss>,
    messages: BTreeMap<MessageId, Joined>,
    said: usize,
    artifacts: BTreeMap<ArtifactId, Made>,
    made: usize,
    leaves_artifacts: bool,
    /// What the whole answer has among its parts.
    held: Vec<ArtifactId>,
}

impl Transcript {
    /// A transcript of messages alone: the answer names its artifacts and does not hold them.
    pub fn of_messages() -> Transcript {
        Transcript { leaves_artifacts: true, ..Transcript::default() }
    }

    /// Adds the next record. A fault if it exceeds the bound: then there is no answer.
    pub fn push(&mut self, record: &Record) -> Result<(), Fault> {
        let Record::Emitted { event, losses, .. } = record else { return Ok(()) };
        let room = MAX_LOSSES.saturating_sub(self.losses.len());
        self.losses.extend(losses.iter().take(room).cloned());
        match event {
            Event::Started(route) => self.route = Some(route.clone()),
            Event::Said { message, channel: Channel::Answer, piece, parts } => self.say(message, *piece, parts)?,
            Event::Artifact(chunk) if !self.leaves_artifacts => self.make(chunk)?,
            Event::Artifact(_)
            | Event::Said { channel: Channel::Reasoning | Channel::Note(_), .. }
            | Event::Progress { .. }
            | Event::Step(_)
            | Event::Asked(_)
            | Event::Settled { .. }
            | Event::Finished(_) => {}
        }
        Ok(())
    }

    fn say(&mut self, message: &MessageId, piece: Piece, parts: &[Part]) -> Result<(), Fault> {
        if !self.messages.contains_key(message) {
            self.said += size_of::<Joined>() + message.as_str().len();
        }
        let so_far = self.messages.entry(message.clone()).or_default();
        self.said += parts.iter().map(|part| so_far.take(part, piece)).sum::<usize>();
        if self.said > MAX_SAID { Err(self.too_large()) } else { Ok(()) }
    }

    fn make(&mut self, chunk: &Chunk) -> Result<(), Fault> {
        let so_far = self.artifacts.entry(chunk.artifact.clone()).or_default();
        self.made -= so_far.weight;
        so_far.take(chunk);
        self.made += so_far.weight;
        if self.made > MAX_MADE { Err(self.too_large()) } else { Ok(()) }
    }

    fn too_large(&self) -> Fault {
        let origin = self.route.as_ref().map_or(Party::Hub, |route| Party::Peer(route.skill.peer.clone()));
        Fault::new(FaultKind::TooLarge, origin, "the peer's answer is larger than one exchange may hold")
    }

    /// The end with the whole answer as its parts: the text under [`Output::said`], the output's own parts, then the content of its
    /// artifacts, each part under its artifact's name. Other messages and artifacts are not part of the answer, and are dropped.
    pub fn whole(&mut self, finished: &Finished) -> Finished {
        let Output { said, parts, structured, artifacts } = &finished.output;
        let mut messages = std::mem::take(&mut self.messages);
        let mut made = std::mem::take(&mut self.artifacts);
        (self.said, self.made) = (0, 0);
        let answer = said.as_ref().and_then(|said| messages.remove(said));
        let mut whole = answer.map(Joined::whole).unwrap_or_default();
        whole.extend(parts.iter().cloned());
        self.held = artifacts.iter().filter(|artifact| made.contains_key(artifact)).cloned().collect();
        whole.extend(artifacts.iter().filter_map(|artifact| made.remove(artifact)).flat_map(|held| held.parts));
        let output =
            Output { said: said.clone(), parts: whole, structured: structured.clone(), artifacts: artifacts.clone() };
        Finished { outcome: finished.outcome.clone(), output, usage: finished.usage }
    }

    /// Takes from an output that [`Transcript::whole`] made the artifacts that are among its parts, for a wire on which they would be
    /// said twice. The others are not in the answer.
    pub fn drop_held(&self, output: &mut Output) {
        output.artifacts.retain(|artifact| !self.held.contains(artifact));
    }
}

/// Parts in their order, of which the last may be a text that continues.
#[derive(Debug, Default)]
struct Joined {
    parts: Vec<Part>,
    open: Option<(Part, String)>,
}

impl Joined {
    /// How many more bytes it holds.
    fn take(&mut self, part: &Part, piece: Piece) -> usize {
        let text = match (&part.body, piece) {
            (Body::Text { text, .. }, Piece::Delta | Piece::End) => text,
            _ => {
                self.close();
                self.parts.push(part.clone());
                return part.weight();
            }
        };
        match &mut self.open {
            Some((begun, so_far)) if begun.continues_in(part) => {
                so_far.push_str(text);
                text.len()
            }
            Some(_) | None => {
                self.close();
                self.open = Some((part.clone(), text.to_string()));
                part.weight()
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
#[derive(Debug, Default)]
struct Made {
    name: Option<Text>,
    parts: Vec<Part>,
    weight: usize,
}

impl Made {
    /// Its first chunk begins it anew.
    fn take(&mut self, chunk: &Chunk) {
        if chunk.index == 0 {
            *self = Made { name: chunk.header.as_ref().and_then(|header| header.name.clone()), ..Made::default() };
        }
        self.weight += chunk.weight();
        let named = |part: &Part| Part { name: part.name.clone().or_else(|| self.name.clone()), ..part.clone() };
        self.parts.extend(chunk.parts.iter().map(named));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::card::RouteClass;
    use crate::content::{Meta, Provenance};
    use crate::event::{ArtifactHeader, Why};
    use crate::id::SkillId;
    use crate::loss::LossKind;
    use crate::principal::Owner;

    fn said_as(message: &str, text: &str, piece: Piece) -> Record {
        let parts = vec![Part::text(text, Provenance::caller())];
        Record::emitted(Event::Said { message: message.into(), channel: Channel::Answer, piece, parts })
    }

    fn said(text: &str, piece: Piece) -> Record {
        said_as("m", text, piece)
    }

    fn chunk(artifact: &str, index: u32, text: &str) -> Record {
        let header = ArtifactHeader {
            name: Some("report".into()),
            media: None,
            kind: None,
            owner: Owner([].into()),
            readers: Vec::new(),
            meta: Meta::default(),
        };
        let parts = vec![Part::text(text, Provenance::caller())];
        let header = (index == 0).then_some(header);
        Record::emitted(Event::Artifact(Chunk { artifact: artifact.into(), index, last: false, parts, header }))
    }

    fn whole(mut transcript: Transcript, records: &[Record], output: Output) -> Vec<Part> {
        for record in records {
            transcript.push(record).expect("it fits");
        }
        transcript.whole(&Finished::completed(output)).output.parts
    }

    fn texts(parts: &[Part]) -> Vec<&str> {
        parts.iter().filter_map(Part::as_text).collect()
    }

    fn answer() -> Output {
        Output { said: Some("m".into()), ..Output::default() }
    }

    #[test]
    fn text_that_came_in_pieces_is_one_text_again() {
        let records = [said("one ", Piece::Delta), said("two ", Piece::Delta), said("three", Piece::End)];
        assert_eq!(texts(&whole(Transcript::default(), &records, answer())), ["one two three"]);
        let records = [said("one", Piece::Whole), said("two", Piece::Whole)];
        assert_eq!(texts(&whole(Transcript::default(), &records, answer())), ["one", "two"], "these were whole");
        let records = [said("one ", Piece::Delta), said_as("aside", "hm", Piece::Delta), said("two", Piece::Delta)];
        assert_eq!(
            texts(&whole(Transcript::default(), &records, answer())),
            ["one two"],
            "another message is not the answer"
        );
    }

    #[test]
    fn what_an_artifact_holds_has_its_name() {
        let output = || Output { artifacts: vec!["a".into()], ..Output::default() };
        let records = [chunk("a", 0, "zero"), chunk("a", 0, "one"), chunk("a", 1, "two"), chunk("b", 0, "not named")];
        let parts = whole(Transcript::default(), &records, output());
        assert_eq!(texts(&parts), ["one", "two"], "its first chunk begins it anew");
        assert!(parts.iter().all(|part| part.name.as_deref() == Some("report")), "{parts:?}");
        assert_eq!(texts(&whole(Transcript::of_messages(), &records, output())), Vec::<&str>::new());
    }

    /// Pushes records until one is refused.
    fn refused(mut transcript: Transcript, mut next: impl FnMut(usize) -> Record) -> (usize, Fault) {
        for count in 0.. {
            if let Err(fault) = transcript.push(&next(count)) {
                return (count, fault);
            }
        }
        unreachable!("the numbers do not end")
    }

    #[test]
    fn a_peer_that_streams_without_end_is_refused() {
        let mut transcript = Transcript::default();
        let skill = SkillId::new("chatter", "talk");
        let route = Route { skill, version: None, class: RouteClass::Tool, why: Why::Named, args: None };
        transcript.push(&Record::emitted(Event::Started(route))).expect("it fits");
        let piece = "x".repeat(1024);
        let (count, fault) = refused(transcript, |_| said(&piece, Piece::Delta));
        assert_eq!((fault.kind, fault.origin), (FaultKind::TooLarge, Party::Peer("chatter".into())));
        assert!((MAX_SAID / 1024 - 8..=MAX_SAID / 1024).contains(&count), "{count} pieces of a kilobyte");
        // What holds nothing takes room all the same.
        let (parts, fault) = refused(Transcript::default(), |_| said("", Piece::Whole));
        assert!(fault.kind == FaultKind::TooLarge && parts < MAX_SAID / size_of::<Part>(), "{parts} empty parts");
        let (messages, fault) = refused(Transcript::default(), |count| said_as(&count.to_string(), "", Piece::Delta));
        assert!(fault.kind == FaultKind::TooLarge && messages < MAX_SAID / size_of::<Part>(), "{messages} messages");
        let (_, fault) = refused(Transcript::default(), |count| chunk(&count.to_string(), 0, &piece));
        assert_eq!(fault.kind, FaultKind::TooLarge, "artifacts");
    }

    #[test]
    fn what_replaces_an_artifact_takes_its_room() {
        let half = "x".repeat(MAX_MADE / 2);
        let mut transcript = Transcript::default();
        for _ in 0..4 {
            transcript.push(&chunk("a", 0, &half)).expect("it fits");
        }
    }

    #[test]
    fn losses_are_bounded() {
        let mut transcript = Transcript::default();
        let lost = vec![Loss::new("x", LossKind::Dropped); MAX_LOSSES];
        for _ in 0..2 {
            let Record::Emitted { event, .. } = said("", Piece::Delta) else { unreachable!() };
            transcript.push(&Record::Emitted { event, losses: lost.clone(), raw: None }).expect("it fits");
        }
        assert_eq!(transcript.losses.len(), MAX_LOSSES);
    }
}
