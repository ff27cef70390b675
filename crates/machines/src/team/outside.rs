//! Events of a team for its caller: texts of members as reasoning with their names, each answer as an artifact, steps as progress, and the
//! winner's text as the answer. Votes and refusals stay in the team's own journal.

use super::{Given, Phase, Record, Seat, Source, Stand, Team, Verdict};
use interlingua_model::content::{Meta, Part, Party, Provenance};
use interlingua_model::event::{ArtifactHeader, Channel, Chunk, Event, Finished, Outcome, Output, Piece};
use interlingua_model::id::{ArtifactId, MessageId, Text};
use interlingua_model::principal::Owner;

/// The message under which the winner's presentation is streamed.
pub const FINAL: &str = "final";

impl Team {
    /// What the caller sees of a record, given the state after it. The artifact belongs to `owner`.
    pub fn seen_outside(&self, record: &Record, owner: &Owner) -> Option<Event> {
        match record {
            Record::Answered { seat, .. } => self.answer(*seat).map(|given| self.artifact(given, owner)),
            Record::RoundBegun { seat, .. } => Some(self.progress(format!("{} is at work", self.plan.id(*seat)))),
            Record::Voted { seat, .. } => Some(self.progress(format!("{} has voted", self.plan.id(*seat)))),
            Record::Stopped { seat, .. } => Some(self.progress(format!("{} is done", self.plan.id(*seat)))),
            Record::Killed { seat, why } => {
                Some(self.progress(format!("{} is out: {}", self.plan.id(*seat), why.public)))
            }
            Record::Chosen(choice) => {
                Some(self.progress(format!("{} speaks for the team", self.plan.id(choice.winner))))
            }
            Record::Restarted { reason, .. } => Some(self.progress(format!("the team begins again: {reason}"))),
            Record::Begun(_)
            | Record::VoteIgnored { .. }
            | Record::Refused { .. }
            | Record::RoundRestarted { .. }
            | Record::Informed { .. }
            | Record::Noticed { .. }
            | Record::Denied { .. }
            | Record::Spent { .. }
            | Record::Presented { .. }
            | Record::Finished(_) => None,
        }
    }

    /// A member's own words while it works. They are not the answer, whatever channel it spoke on.
    pub fn overheard(&self, seat: Seat, text: Text) -> Event {
        let id = self.plan.id(seat);
        Event::Said {
            message: MessageId::from(format!("{id}-{}", self.attempt)),
            channel: Channel::Reasoning,
            piece: Piece::Delta,
            parts: vec![Part::text(text, Provenance::peer(id.clone()))],
        }
    }

    /// How far the members are: who has voted or stopped, of all that live.
    fn progress(&self, note: String) -> Event {
        let done = self.live().filter(|seat| {
            let stand = &self.place(*seat).stand;
            self.phase != Phase::Coordinating || matches!(stand, Stand::Voted(_) | Stand::Stopped { .. })
        });
        let (done, total) = (done.count(), self.live().count());
        Event::Progress { done: Some(done as f64), total: Some(total as f64), note: Some(note.into()) }
    }

    fn artifact(&self, given: &Given, owner: &Owner) -> Event {
        let id = self.plan.id(given.seat);
        let provenance = Provenance { by: Party::Peer(id.clone()), source: None, trust: given.trust };
        Event::Artifact(Chunk {
            artifact: self.artifact_id(given),
            index: 0,
            last: true,
            parts: vec![Part::text(given.text.clone(), provenance)],
            header: Some(ArtifactHeader {
                name: Some(format!("answer {} of {id}", given.revision).into()),
                media: Some("text/plain".into()),
                kind: Some("answer".into()),
                owner: owner.clone(),
                readers: Vec::new(),
                meta: Meta::default(),
            }),
        })
    }

    fn artifact_id(&self, given: &Given) -> ArtifactId {
        // The id stands in paths; the name of a member may be that of a skill.
        let author = self.plan.id(given.seat).as_str().replace('/', ".");
        ArtifactId::from(format!("{author}-{}.{}", self.attempt, given.revision))
    }

    /// How the exchange ends. Without an answer of the team's own, those of its members are the output; with one they were on
    /// the way to it, and stay artifacts of the exchange.
    pub fn finished(&self, verdict: &Verdict) -> Finished {
        let mut output = Output::default();
        let outcome = match verdict {
            Verdict::Answer { text, source: Source::Presented, .. } if !text.is_empty() => {
                output.said = Some(FINAL.into());
                Outcome::Completed
            }
            Verdict::Answer { winner, text, .. } => {
                let provenance = Provenance::peer(self.plan.id(*winner).clone());
                output.parts = vec![Part::text(text.clone(), provenance)];
                Outcome::Completed
            }
            Verdict::Failed(fault) => {
                output.artifacts = self.artifact_ids();
                Outcome::Failed(fault.clone())
            }
            Verdict::Cancelled(why) => {
                output.artifacts = self.artifact_ids();
                Outcome::Cancelled { by: Party::Caller, why: *why }
            }
        };
        Finished { outcome, output, usage: self.spent }
    }

    fn artifact_ids(&self) -> Vec<ArtifactId> {
        self.answers.iter().map(|given| self.artifact_id(given)).collect()
    }
}
