//! Converts model output to events of the exchange. Text is streamed once, under the id of its turn; the final event repeats none of it.

use super::Run;
use crate::llm;
use interlingua_model::content::{Part, Party, Provenance};
use interlingua_model::event::{Channel, Event, Output, Piece};
use interlingua_model::id::{MessageId, Text};

impl Run {
    /// What whoever listens is to hear of an event of the model, if anything. Tool calls are never text: they are read
    /// from the whole answer. Text that must fit a schema is not streamed, because it may be repaired.
    pub fn hear(&self, event: &llm::Event) -> Option<Event> {
        let (channel, text) = match event {
            llm::Event::Text(text) if self.plan.output.is_none() => (Channel::Answer, text),
            llm::Event::Reasoning(text) => (Channel::Reasoning, text),
            llm::Event::Text(_)
            | llm::Event::Tool(_)
            | llm::Event::Usage(_)
            | llm::Event::End(_)
            | llm::Event::Error(_) => return None,
        };
        if text.is_empty() {
            return None;
        }
        Some(Event::Said {
            message: said_in(self.turn),
            channel,
            piece: Piece::Delta,
            parts: vec![Part::text(text.clone(), self.own())],
        })
    }

    /// The agent's own words are worth as much as what they were made of.
    pub(super) fn own(&self) -> Provenance {
        Provenance { by: Party::Peer(self.plan.name.clone()), source: None, trust: self.trust }
    }

    /// What there is of an answer: streamed already, or to be given whole.
    pub(super) fn output(&self) -> Output {
        match &self.last_said {
            None => Output::default(),
            Some(last) if self.plan.output.is_none() => Output { said: Some(said_in(last.turn)), ..Output::default() },
            Some(last) => Output { parts: vec![Part::text(last.text.clone(), self.own())], ..Output::default() },
        }
    }
}

/// The id under which the text of a turn is streamed.
pub fn said_in(turn: u32) -> MessageId {
    MessageId::from(format!("turn-{turn}"))
}

/// The last text of the run, and the turn it was said in.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct LastSaid {
    pub turn: u32,
    pub text: Text,
}
