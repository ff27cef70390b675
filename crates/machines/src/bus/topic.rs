//! Topic names, and patterns over them.
//!
//! A topic is steps with dots between: `travel.flights.delayed`. In a pattern `*` stands for one step, and `**` at the end
//! for whatever follows, also for nothing.

use interlingua_model::fault::{Fault, FaultKind};
use interlingua_model::id::{Text, TopicId};

const MAX_LENGTH: usize = 200;
const MAX_STEPS: usize = 16;

/// A topic by its name, if that is one.
pub fn named(name: &str) -> Result<TopicId, Fault> {
    let fits = |step: &str| !step.is_empty() && step.bytes().all(is_letter);
    if is_short(name) && name.split('.').all(fits) {
        return Ok(name.into());
    }
    let text = "a topic is up to 16 steps of letters, digits, '-' and '_', with dots between";
    Err(Fault::caller(FaultKind::InvalidInput, text).field("/topic", "is not a topic"))
}

fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_'
}

fn is_short(text: &str) -> bool {
    text.len() <= MAX_LENGTH && text.split('.').count() <= MAX_STEPS
}

/// Which topics a subscriber wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    steps: Vec<Step>,
    rest: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Named(Text),
    Any,
}

impl Pattern {
    pub fn parse(text: &str) -> Result<Pattern, Fault> {
        let bad = || {
            let text = "a pattern is a topic in which '*' stands for one step and '**' at its end for all that follow";
            Fault::caller(FaultKind::InvalidInput, text).field("/topic", "is not a pattern")
        };
        if !is_short(text) {
            return Err(bad());
        }
        let (head, rest) = match text.strip_suffix("**") {
            Some("") => return Ok(Pattern { steps: Vec::new(), rest: true }),
            Some(head) => (head.strip_suffix('.').ok_or_else(bad)?, true),
            None => (text, false),
        };
        let step = |step: &str| match step {
            "*" => Ok(Step::Any),
            name if !name.is_empty() && name.bytes().all(is_letter) => Ok(Step::Named(name.into())),
            _ => Err(bad()),
        };
        Ok(Pattern { steps: head.split('.').map(step).collect::<Result<_, _>>()?, rest })
    }

    pub fn covers(&self, topic: &TopicId) -> bool {
        let mut given = topic.as_str().split('.');
        let fits = self.steps.iter().all(|step| match (step, given.next()) {
            (_, None) => false,
            (Step::Any, Some(_)) => true,
            (Step::Named(name), Some(given)) => **name == *given,
        });
        fits && (self.rest || given.next().is_none())
    }
}
