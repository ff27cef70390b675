//! Scripted model for tests and demonstrations: no key, no network, the same replies every time.
//!
//! A script is a list of replies. A reply is short (`say`, `call`: it ends by itself) or a list of events exactly as they
//! are to come, where one without an `end` breaks off. `when` picks a reply by words of the last message; a reply is used
//! once, unless `again` is set.
//!
//! ```yaml
//! replies:
//!   - when: weather
//!     call: [{ name: weather__today, arguments: { city: Paris } }]
//!   - say: It is raining in Paris.
//!   - events:
//!       - text: "Let me "
//!       - tool: { slot: 0, id: c1, name: search__web, piece: '{"q": ' }
//!       - tool: { slot: 0, piece: '"rain"}' }
//!       - wait: 50
//!       - usage: { read: 120, written: 14 }
//!       - end: tools
//!   - events: [{ fail: { status: 429, after: 2 } }]
//! ```

use std::time::Duration;

use serde::Deserialize;

use super::{Args, Event, Failure, FailureKind, Piece, Prompt, Stop, Tokens};
use interlingua_model::content::{Body, Part};
use interlingua_model::id::Text;
use interlingua_model::json::Tree;

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    pub replies: Vec<Scripted>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scripted {
    /// Words that must stand in the last message, in any case.
    #[serde(default)]
    pub when: Option<Text>,
    /// May be used more than once.
    #[serde(default)]
    pub again: bool,
    #[serde(default)]
    pub think: Option<Text>,
    #[serde(default)]
    pub say: Option<Text>,
    #[serde(default)]
    pub call: Vec<ScriptedCall>,
    #[serde(default)]
    pub events: Vec<ScriptEvent>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScriptedCall {
    pub name: Text,
    #[serde(default)]
    pub id: Option<Text>,
    #[serde(default)]
    pub arguments: Tree,
}

/// One event as it is to come.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScriptEvent {
    Text(Text),
    Reasoning(Text),
    Tool(ToolLine),
    Usage(Tokens),
    End(EndLine),
    Fail(FailLine),
    /// Milliseconds of silence.
    Wait(u64),
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolLine {
    pub slot: u32,
    #[serde(default)]
    pub id: Option<Text>,
    #[serde(default)]
    pub name: Option<Text>,
    #[serde(default)]
    pub piece: Option<Text>,
    #[serde(default)]
    pub so_far: Option<Text>,
    #[serde(default)]
    pub arguments: Option<Tree>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EndLine {
    Done,
    Tools,
    Length,
    Declined,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FailLine {
    pub status: u16,
    /// Seconds.
    #[serde(default)]
    pub after: Option<u64>,
}

/// What the model does next.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    Event(Event),
    Wait(Duration),
}

/// Which replies of a script were used.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Used(Vec<usize>);

impl Script {
    /// The first reply that fits and is not used up.
    pub fn next(&self, used: &mut Used, prompt: &Prompt) -> Result<Vec<Step>, Failure> {
        let heard = last_words(prompt).to_lowercase();
        let fits = |reply: &Scripted| reply.when.as_ref().is_none_or(|words| heard.contains(&words.to_lowercase()));
        let found = self
            .replies
            .iter()
            .enumerate()
            .find(|(index, reply)| (reply.again || !used.0.contains(index)) && fits(reply));
        let Some((index, reply)) = found else {
            return Err(Failure::new(FailureKind::Refused, "the script has no reply left for this"));
        };
        if !reply.again {
            used.0.push(index);
        }
        Ok(reply.steps())
    }
}

fn last_words(prompt: &Prompt) -> String {
    let last = prompt.messages.last().map(|message| message.parts()).unwrap_or_default();
    last.iter().filter_map(words).collect::<Vec<_>>().join("\n")
}

/// Data is read as it is written.
fn words(part: &Part) -> Option<&str> {
    match &part.body {
        Body::Data(json) => Some(json.as_str()),
        Body::Text { .. }
        | Body::Blob(_)
        | Body::Link
        | Body::Code { .. }
        | Body::Place { .. }
        | Body::Other { .. } => part.as_text(),
    }
}

impl Scripted {
    /// The short forms first, then the events; only the short forms end by themselves.
    fn steps(&self) -> Vec<Step> {
        let mut steps = Vec::new();
        let mut event = |event| steps.push(Step::Event(event));
        if let Some(thought) = &self.think {
            event(Event::Reasoning(thought.clone()));
        }
        if let Some(text) = &self.say {
            text.split_inclusive(' ').for_each(|word| event(Event::Text(word.into())));
        }
        for (slot, call) in (0..).zip(&self.call) {
            let args = Args::Whole(call.arguments.clone().into());
            event(Event::Tool(Piece { slot, id: call.id.clone(), name: Some(call.name.clone()), args }));
        }
        if self.events.is_empty() {
            event(Event::End(if self.call.is_empty() { Stop::Done } else { Stop::Tools }));
        }
        steps.extend(self.events.iter().map(ScriptEvent::step));
        steps
    }
}

impl ScriptEvent {
    fn step(&self) -> Step {
        Step::Event(match self {
            ScriptEvent::Text(text) => Event::Text(text.clone()),
            ScriptEvent::Reasoning(text) => Event::Reasoning(text.clone()),
            ScriptEvent::Tool(line) => Event::Tool(line.piece()),
            ScriptEvent::Usage(tokens) => Event::Usage(*tokens),
            ScriptEvent::End(end) => Event::End(match end {
                EndLine::Done => Stop::Done,
                EndLine::Tools => Stop::Tools,
                EndLine::Length => Stop::Length,
                EndLine::Declined => Stop::Declined,
            }),
            ScriptEvent::Fail(fail) => {
                let after = fail.after.map(|seconds| seconds.to_string());
                Event::Error(Failure::status(fail.status, after.as_deref()))
            }
            ScriptEvent::Wait(millis) => return Step::Wait(Duration::from_millis(*millis)),
        })
    }
}

impl ToolLine {
    fn piece(&self) -> Piece {
        let args = match (&self.arguments, &self.so_far, &self.piece) {
            (Some(tree), _, _) => Args::Whole(tree.clone().into()),
            (None, Some(text), _) => Args::SoFar(text.clone()),
            (None, None, Some(text)) => Args::Piece(text.clone()),
            (None, None, None) => Args::None,
        };
        Piece { slot: self.slot, id: self.id.clone(), name: self.name.clone(), args }
    }
}
