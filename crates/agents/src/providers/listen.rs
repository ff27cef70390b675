//! Incremental stream decoder: bytes of a response, in any pieces, to model events.

use std::collections::VecDeque;

use bytes::{Buf, Bytes, BytesMut};
use interlingua_machines::llm::{Event, Failure, FailureKind};
use interlingua_model::Json;

use super::{Provider, anthropic, gemini, ollama, openai};
use interlingua_wire::sse::Parser;

/// One frame of an answer is no larger.
const MAX_FRAME: usize = 8 * 1024 * 1024;
/// What OpenAI sends after everything else.
const DONE: &[u8] = b"[DONE]";

#[derive(Debug)]
pub struct Listener {
    framing: Framing,
    dialect: Dialect,
    ready: VecDeque<Event>,
    /// What follows a failure is not read.
    failed: bool,
}

#[derive(Debug)]
enum Framing {
    Events(Box<Parser>),
    Lines(BytesMut),
}

#[derive(Debug)]
enum Dialect {
    Openai,
    Anthropic(anthropic::AnthropicState),
    Gemini(gemini::GeminiState),
    Ollama(ollama::OllamaState),
}

impl Listener {
    pub fn new(provider: Provider) -> Listener {
        let events = || Framing::Events(Box::new(Parser::new(MAX_FRAME)));
        let (framing, dialect) = match provider {
            Provider::Openai => (events(), Dialect::Openai),
            Provider::Anthropic => (events(), Dialect::Anthropic(anthropic::AnthropicState::default())),
            Provider::Gemini => (events(), Dialect::Gemini(gemini::GeminiState::default())),
            Provider::Ollama => (Framing::Lines(BytesMut::new()), Dialect::Ollama(ollama::OllamaState::default())),
        };
        Listener { framing, dialect, ready: VecDeque::new(), failed: false }
    }

    /// More bytes. Take all events with [`Listener::next_event`] before feeding again.
    pub fn feed(&mut self, bytes: &[u8]) {
        match &mut self.framing {
            Framing::Events(parser) => parser.feed(bytes),
            Framing::Lines(buffer) => buffer.extend_from_slice(bytes),
        }
    }

    /// How many bytes are there of a piece that is not whole.
    pub fn unfinished(&self) -> usize {
        match &self.framing {
            Framing::Events(parser) => parser.unfinished(),
            Framing::Lines(buffer) => buffer.len(),
        }
    }

    /// The next event; `None` until more bytes come.
    pub fn next_event(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                self.failed |= matches!(event, Event::Error(_));
                return Some(event);
            }
            if self.failed {
                return None;
            }
            match self.frame() {
                Ok(None) => return None,
                Ok(Some(frame)) => self.read(frame),
                Err(()) => self.fail(FailureKind::TooMuch, "a piece of the model's answer is too large"),
            }
        }
    }

    fn frame(&mut self) -> Result<Option<Bytes>, ()> {
        match &mut self.framing {
            Framing::Events(parser) => parser.take().map(|event| event.map(|event| event.data)).map_err(drop),
            Framing::Lines(buffer) => match buffer.iter().position(|byte| *byte == b'\n') {
                Some(end) => {
                    let line = buffer.split_to(end).freeze();
                    buffer.advance(1);
                    Ok(Some(line))
                }
                None if buffer.len() > MAX_FRAME => Err(()),
                None => Ok(None),
            },
        }
    }

    fn read(&mut self, frame: Bytes) {
        let trimmed = frame.trim_ascii();
        if trimmed.is_empty() || trimmed == DONE {
            return;
        }
        let Ok(json) = Json::parse(Bytes::copy_from_slice(trimmed)) else {
            return self.fail(FailureKind::Garbled, "a piece of the model's answer cannot be read");
        };
        let mut out = Vec::new();
        match &mut self.dialect {
            Dialect::Openai => openai::decode(&json, &mut out),
            Dialect::Anthropic(memory) => anthropic::decode(&json, memory, &mut out),
            Dialect::Gemini(memory) => gemini::decode(&json, memory, &mut out),
            Dialect::Ollama(memory) => ollama::decode(&json, memory, &mut out),
        }
        self.ready.extend(out);
    }

    fn fail(&mut self, kind: FailureKind, text: &'static str) {
        self.ready.push_back(Event::Error(Failure::new(kind, text)));
    }
}
