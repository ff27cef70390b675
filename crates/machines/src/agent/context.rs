//! Context window: selects the part of a long conversation that the model is still shown. The selection is deterministic and journaled, so
//! a replay shows the same.
//!
//! First the long results of old calls are cleared, oldest first. If that is not enough, the oldest messages after the
//! first one are left out, or summarised by the model. A call is never parted from its result.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::plan::Fold;
use super::{Record, Run};
use crate::llm::{Arguments, Message, Prompt, Tokens, ToolCall, lowest};
use interlingua_model::content::{Body, Part, Party, Provenance, Trust};
use interlingua_model::id::Text;

/// A result shorter than this many tokens is not worth clearing.
const WORTH_CLEARING: u64 = 50;
/// What a picture or another blob counts for.
const BLOB: u64 = 1_000;

/// What was done to make room.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Folded {
    /// The results in these places were replaced by a note.
    Cleared(Vec<usize>),
    /// The messages from 1 up to this one were replaced by a note.
    LeftOut { upto: usize },
    /// The same, with a summary.
    Summarised { upto: usize, summary: Text, tokens: Tokens, micro_money: u64 },
}

/// What is to be done next to make room.
pub(super) enum Need {
    Nothing,
    Record(Record),
    Summary { upto: usize },
}

pub(super) fn call_size(call: &ToolCall) -> u64 {
    let args = match &call.args {
        Arguments::Object(json) => json.as_bytes().len(),
        Arguments::Unreadable { why } => why.len(),
    };
    (call.name.len() + args) as u64 / 4 + 4
}

fn part_size(part: &Part) -> u64 {
    let bytes = match &part.body {
        Body::Text { text, .. } => text.len(),
        Body::Data(json) | Body::Other { value: json, .. } => json.as_bytes().len(),
        Body::Code { source, .. } => source.len(),
        Body::Blob(_) => return BLOB,
        Body::Link => part.uri.as_ref().map_or(0, |uri| uri.len()),
        Body::Place { text, gps } => text.iter().chain(gps).map(|text| text.len()).sum(),
    };
    bytes as u64 / 4 + 1
}

fn message_size(message: &Message) -> u64 {
    let parts: u64 = message.parts().iter().map(part_size).sum();
    match message {
        Message::User(_) | Message::Tool { .. } => parts + 4,
        Message::Agent { calls, .. } => parts + 4 + calls.iter().map(call_size).sum::<u64>(),
    }
}

impl Run {
    /// The estimated size of what the model would be shown now.
    pub(super) fn size(&self) -> u64 {
        let tools =
            self.plan.tools.iter().map(|tool| (tool.description.len() + tool.input.0.as_bytes().len()) as u64 / 4);
        let messages = self.messages.iter().map(|message| message_size(message));
        self.plan.instructions.len() as u64 / 4 + tools.sum::<u64>() + messages.sum::<u64>()
    }

    /// What makes room, if room is needed. Asked again after each step, so each step need only be a step.
    pub(super) fn needs_room(&self) -> Need {
        let window = self.plan.window;
        let excess = self.size().saturating_sub(window.tokens);
        let old = self.messages.len().saturating_sub(window.keep);
        if excess == 0 {
            return Need::Nothing;
        }
        let cleared = self.clearable(old, excess);
        if !cleared.is_empty() {
            return Need::Record(Record::Folded(Folded::Cleared(cleared)));
        }
        let upto = self.cut(old, excess);
        if upto <= 2 {
            // One message can be replaced by a note without gaining anything.
            return Need::Nothing;
        }
        match window.fold {
            Fold::LeaveOut => Need::Record(Record::Folded(Folded::LeftOut { upto })),
            Fold::Summarise => Need::Summary { upto },
        }
    }

    /// The oldest results that are long, as many as are needed.
    fn clearable(&self, old: usize, excess: u64) -> Vec<usize> {
        let mut gained = 0;
        let mut places = Vec::new();
        for (place, message) in self.messages[..old].iter().enumerate() {
            let size = message_size(message);
            if gained >= excess {
                break;
            }
            if matches!(**message, Message::Tool { .. }) && size > WORTH_CLEARING {
                gained += size - WORTH_CLEARING / 2;
                places.push(place);
            }
        }
        places
    }

    /// Up to where messages must go. Results stay with their calls: the cut is before those that made them.
    fn cut(&self, old: usize, excess: u64) -> usize {
        let mut gained = 0;
        let mut upto = 1.min(old);
        while upto < old && gained < excess {
            gained += message_size(&self.messages[upto]);
            upto += 1;
        }
        while upto > 1 && self.messages.get(upto).is_some_and(|message| matches!(**message, Message::Tool { .. })) {
            upto -= 1;
        }
        upto
    }

    pub(super) fn make_room(&mut self, folded: &Folded) {
        match folded {
            Folded::Cleared(places) => places.iter().for_each(|place| self.clear(*place)),
            Folded::LeftOut { upto } => {
                let note = format!("{} earlier messages were left out here.", upto.saturating_sub(1));
                self.replace(*upto, Part::text(note, Provenance::hub()));
            }
            Folded::Summarised { upto, summary, tokens, micro_money } => {
                self.spend(*tokens, *micro_money);
                let end = (*upto).min(self.messages.len());
                let trust = lowest(&self.messages[..end]).min(Trust::Peer);
                let provenance = Provenance { by: Party::Peer(self.plan.name.clone()), source: None, trust };
                let text = format!("A summary of the conversation until here:\n{summary}");
                self.replace(*upto, Part::text(text, provenance).labelled("summary"));
            }
        }
    }

    /// The note keeps the trust of what it stands for: having read it is not undone by clearing it.
    fn clear(&mut self, place: usize) {
        let Some(message) = self.messages.get_mut(place) else { return };
        let Message::Tool { call, name, parts, failed } = &**message else { return };
        let note = format!("[the result of {name} was cleared: {} tokens]", message_size(message));
        let trust = parts.iter().map(|part| part.provenance.trust).min().unwrap_or(Trust::Peer);
        let provenance = Provenance { by: Party::Hub, source: None, trust };
        *message = Arc::new(Message::Tool {
            call: call.clone(),
            name: name.clone(),
            parts: vec![Part::text(note, provenance)],
            failed: *failed,
        });
    }

    fn replace(&mut self, upto: usize, note: Part) {
        let end = upto.min(self.messages.len());
        if end > 1 {
            self.messages.splice(1..end, [Arc::new(Message::User(vec![note]))]);
        }
    }

    /// Asks the model to sum up what is to go.
    pub(super) fn summary_prompt(&self, upto: usize) -> Prompt {
        let ask = "Sum up the conversation above for yourself: what was asked, what was found out, what was decided and \
                   what is still open. Leave out nothing that is needed to go on.";
        let mut messages = self.messages[..upto.min(self.messages.len())].to_vec();
        messages.push(Arc::new(Message::User(vec![Part::text(ask, Provenance::hub())])));
        Prompt {
            system: self.plan.instructions.clone(),
            messages,
            tools: Vec::new(),
            max_tokens: self.tokens_left(),
            output: None,
        }
    }
}
