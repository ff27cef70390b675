//! Approximate memory size of values, for code that bounds what it holds. Parts, chunks, questions and messages between agents implement it
//! where they are defined.

use crate::call::{Ask, Call, ClientTool};
use crate::content::{Input, Part};
use crate::event::{Event, Signal};
use crate::journal::Record;
use crate::json::{Count, Json};
use crate::question::Answer;
use crate::step::Step;

/// With the tree that is made of it.
fn json(json: &Json) -> usize {
    json.as_bytes().len() + Count::of(json.as_bytes()).tree_bytes()
}

fn parts(parts: &[Part]) -> usize {
    parts.iter().map(Part::weight).sum()
}

impl Input {
    /// About how many bytes it takes to hold it, with the tree of its arguments.
    pub fn weight(&self) -> usize {
        let history = self.history.iter().map(|turn| parts(&turn.parts)).sum::<usize>();
        self.args.as_ref().map_or(0, json) + parts(&self.parts) + history
    }
}

impl Call {
    /// About how many bytes it takes to hold it, without its ids.
    pub fn weight(&self) -> usize {
        let asked = match &self.ask {
            Ask::Invoke { input, .. } => input.weight(),
            Ask::Read { uri, .. } => uri.len(),
            Ask::Complete { argument, typed, known, .. } => argument.len() + typed.len() + json(known),
        };
        let raw = self.raw.as_ref().map_or(0, |raw| raw.json.as_bytes().len());
        let tools = self.caller.tools.iter().map(ClientTool::weight).sum::<usize>();
        asked + self.meta.0.as_ref().map_or(0, json) + raw + tools
    }
}

impl Signal {
    /// About how many bytes it takes to hold it.
    pub fn weight(&self) -> usize {
        match self {
            Signal::Said { input, .. } | Signal::Answered { answer: Answer::Given(input), .. } => input.weight(),
            Signal::Answered { answer: Answer::Token(token), .. } => token.value().map_or(0, <[u8]>::len),
            Signal::Answered {
                answer: Answer::Granted | Answer::Visited | Answer::Declined | Answer::Dismissed,
                ..
            }
            | Signal::Cancel(_) => 0,
        }
    }
}

impl Event {
    /// Besides its own size.
    pub fn weight(&self) -> usize {
        match self {
            Event::Started(_) | Event::Settled { .. } => 0,
            Event::Said { parts: said, .. } => parts(said),
            Event::Progress { note, .. } => note.as_ref().map_or(0, |note| note.len()),
            Event::Step(step) => step.weight(),
            Event::Artifact(chunk) => chunk.weight(),
            Event::Asked(question) => question.weight(),
            Event::Finished(finished) => {
                let structured = finished.output.structured.as_ref().map_or(0, |json| json.as_bytes().len());
                parts(&finished.output.parts) + structured
            }
        }
    }
}

impl Step {
    /// With its arguments and its result.
    pub fn weight(&self) -> usize {
        size_of::<Step>()
            + self.title.len()
            + self.args.as_ref().map_or(0, |args| args.as_bytes().len())
            + parts(&self.parts)
    }
}

impl Record {
    /// What it brings. The call and its arguments are the task's, which holds them anyway.
    pub fn weight(&self) -> usize {
        size_of::<Record>()
            + match self {
                Record::Accepted { .. } | Record::Sent(_) | Record::Selected(_) => 0,
                Record::Received { signal, .. } => signal.weight(),
                Record::Emitted { event, raw, .. } => {
                    event.weight() + raw.as_ref().map_or(0, |raw| raw.json.as_bytes().len())
                }
            }
    }
}
