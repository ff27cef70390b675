//! Stream assembler: turns events into one reply. It rejects invalid streams in one place for all providers.

use bytes::Bytes;

use super::{Args, Arguments, Event, Failure, FailureKind, Piece, Reply, Stop, Tokens, ToolCall};
use interlingua_model::id::Text;
use interlingua_model::json::{Json, Tree};

/// How much of one answer is taken.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Bytes of text, reasoning and arguments together.
    pub bytes: usize,
    pub calls: usize,
}

impl Default for Bounds {
    fn default() -> Bounds {
        Bounds { bytes: 8 * 1024 * 1024, calls: 128 }
    }
}

/// A stream that failed, and what had come until then.
#[derive(Debug, Clone, PartialEq)]
pub struct Broken {
    pub failure: Failure,
    pub text: Text,
    pub tokens: Option<Tokens>,
}

/// Puts one answer together.
#[derive(Debug, Default)]
pub struct Assembler {
    bounds: Bounds,
    text: String,
    reasoning: String,
    calls: Vec<Open>,
    tokens: Option<Tokens>,
    stop: Option<Stop>,
    failure: Option<Failure>,
    taken: usize,
}

#[derive(Debug)]
struct Open {
    slot: u32,
    id: Option<Text>,
    name: Option<Text>,
    args: Collected,
}

#[derive(Debug)]
enum Collected {
    Text(String),
    Whole(Json),
}

impl Assembler {
    pub fn new(bounds: Bounds) -> Assembler {
        Assembler { bounds, ..Assembler::default() }
    }

    /// Takes the next event. False when the stream need not be read further.
    pub fn push(&mut self, event: &Event) -> bool {
        if self.failure.is_some() {
            return false;
        }
        let after_end = self.stop.is_some() && !matches!(event, Event::Usage(_));
        let (size, kept) = weight(event);
        if after_end {
            // A second end mark says nothing new; anything else means that the first one was wrong.
            if !matches!(event, Event::End(_)) {
                self.fail(FailureKind::Garbled, "the model went on after its end mark");
            }
        } else if self.taken.saturating_add(size) > self.bounds.bytes {
            self.fail(FailureKind::TooMuch, "the model's answer is too large");
        } else {
            self.taken += kept;
            self.take(event);
        }
        self.failure.is_none()
    }

    fn take(&mut self, event: &Event) {
        match event {
            Event::Text(text) => self.text.push_str(text),
            Event::Reasoning(text) => self.reasoning.push_str(text),
            Event::Tool(piece) => self.piece(piece),
            Event::Usage(tokens) => self.tokens = Some(*tokens),
            Event::End(stop) => self.stop = Some(*stop),
            Event::Error(failure) => self.failure = Some(failure.clone()),
        }
    }

    fn fail(&mut self, kind: FailureKind, text: &'static str) {
        self.failure = Some(Failure::new(kind, text));
    }

    fn piece(&mut self, piece: &Piece) {
        let known = self.calls.iter().position(|open| open.slot == piece.slot);
        let index = match known {
            Some(index) => index,
            None if self.calls.len() >= self.bounds.calls => {
                return self.fail(FailureKind::TooMuch, "the model calls too many tools at once");
            }
            None => {
                let args = Collected::Text(String::new());
                self.calls.push(Open { slot: piece.slot, id: None, name: None, args });
                self.calls.len() - 1
            }
        };
        let open = &mut self.calls[index];
        let given = |text: &Option<Text>| text.clone().filter(|text| !text.is_empty());
        open.id = given(&piece.id).or(open.id.take());
        open.name = given(&piece.name).or(open.name.take());
        match (&piece.args, &mut open.args) {
            (Args::None, _) => {}
            (Args::Piece(more), Collected::Text(text)) => text.push_str(more),
            // A provider that has given the whole repeats it in pieces at most.
            (Args::Piece(_), Collected::Whole(_)) => {}
            (Args::SoFar(all), _) => open.args = Collected::Text(all.as_ref().to_owned()),
            (Args::Whole(json), _) => open.args = Collected::Whole(json.clone()),
        }
    }

    /// The stream is over. Without an end mark it was cut, however tidy the last event looked.
    pub fn finish(mut self) -> Result<Reply, Broken> {
        if self.failure.is_none() && self.calls.iter().any(|open| open.name.is_none()) {
            self.fail(FailureKind::Garbled, "the model called a tool without a name");
        }
        let Some(stop) = self.stop.filter(|_| self.failure.is_none()) else { return Err(self.broken()) };
        let calls = self.calls.into_iter().map(|open| open.close(stop)).collect();
        Ok(Reply {
            text: self.text.into(),
            reasoning: self.reasoning.into(),
            calls: unique(calls),
            stop,
            tokens: self.tokens,
        })
    }

    fn broken(self) -> Broken {
        let cut = || Failure::new(FailureKind::Cut, "the model's answer broke off before its end");
        Broken { failure: self.failure.unwrap_or_else(cut), text: self.text.into(), tokens: self.tokens }
    }

    /// Has the end mark come?
    pub fn has_ended(&self) -> bool {
        self.stop.is_some()
    }

    /// Has anything been said that someone may have been shown?
    pub fn has_spoken(&self) -> bool {
        !self.text.is_empty() || !self.reasoning.is_empty()
    }
}

/// How large an event is, and how much of it stays. What a provider repeats from the start with every event replaces what
/// came before, so it must fit but does not add up.
fn weight(event: &Event) -> (usize, usize) {
    let whole = |size: usize| (size, size);
    match event {
        Event::Text(text) | Event::Reasoning(text) => whole(text.len()),
        Event::Tool(piece) => match &piece.args {
            Args::None => whole(0),
            Args::Piece(text) => whole(text.len()),
            Args::SoFar(text) => (text.len(), 1),
            Args::Whole(json) => whole(json.as_bytes().len()),
        },
        Event::Usage(_) | Event::End(_) | Event::Error(_) => whole(0),
    }
}

impl Open {
    fn close(self, stop: Stop) -> ToolCall {
        let name = self.name.unwrap_or_default();
        let id = self.id.unwrap_or_else(|| format!("call-{}", self.slot).into());
        let args = match self.args {
            Collected::Whole(json) => object(json, stop),
            Collected::Text(text) => read(&text, stop),
        };
        ToolCall { id, name, args }
    }
}

/// No arguments at all are an empty object: models leave them out for tools that take none.
fn read(text: &str, stop: Stop) -> Arguments {
    if text.trim().is_empty() {
        return Arguments::Object(Json::empty_object());
    }
    match Json::parse(Bytes::copy_from_slice(text.as_bytes())) {
        Ok(json) => object(json, stop),
        Err(_) => unreadable(stop),
    }
}

/// An object, or a string that holds one: some models encode their arguments twice.
fn object(json: Json, stop: Stop) -> Arguments {
    if json.is_object() {
        return Arguments::Object(json);
    }
    if json.is_null() {
        return Arguments::Object(Json::empty_object());
    }
    let inner = match json.tree() {
        Tree::String(text) => Json::parse(Bytes::copy_from_slice(text.as_bytes())).ok(),
        Tree::Null | Tree::Bool(_) | Tree::Number(_) | Tree::Array(_) | Tree::Object(_) => None,
    };
    match inner.filter(Json::is_object) {
        Some(inner) => Arguments::Object(inner),
        None => unreadable(stop),
    }
}

fn unreadable(stop: Stop) -> Arguments {
    let why = match stop {
        Stop::Length => "the arguments broke off at the limit of tokens",
        Stop::Done | Stop::Tools | Stop::Declined => "the arguments are not an object of JSON",
    };
    Arguments::Unreadable { why: why.into() }
}

/// Results are matched to calls by id, so no two calls may share one.
fn unique(calls: Vec<ToolCall>) -> Vec<ToolCall> {
    let mut done: Vec<ToolCall> = Vec::with_capacity(calls.len());
    for (index, mut call) in calls.into_iter().enumerate() {
        while done.iter().any(|other| other.id == call.id) {
            call.id = format!("{}-{index}", call.id).into();
        }
        done.push(call);
    }
    done
}
