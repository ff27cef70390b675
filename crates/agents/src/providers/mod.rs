//! Codecs of model providers, in four formats: OpenAI's chat completions (which most others speak too), Anthropic's messages, Gemini's
//! generateContent and Ollama's own chat. All requests ask for a stream.
//!
//! [`Provider::encode`] makes the request from a prompt; a [`Listener`] makes events from the bytes of the response, in pieces of any size.
//! A broken stream often looks like a finished one: only each provider's own end mark counts as the end, and unreadable data is a failure.
//! The machine decides what follows from either.
//!
//! Deliberately absent: connections, keys, retries. The text of a provider's error is never passed on: it may repeat the prompt.

mod anthropic;
mod content;
mod gemini;
mod listen;
mod ollama;
mod openai;
#[cfg(test)]
mod tests;

use bytes::Bytes;
use interlingua_machines::llm::{Event, Failure, FailureKind, Prompt};

pub use listen::Listener;

/// Whose spelling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Provider {
    Openai,
    Anthropic,
    Gemini,
    Ollama,
}

/// A request: where below the provider's address, and what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderRequest {
    pub path: String,
    pub headers: Vec<(&'static str, &'static str)>,
    pub body: Bytes,
}

impl Provider {
    /// The request for an answer of this model.
    pub fn encode(self, model: &str, prompt: &Prompt) -> ProviderRequest {
        match self {
            Provider::Openai => openai::encode(model, prompt),
            Provider::Anthropic => anthropic::encode(model, prompt),
            Provider::Gemini => gemini::encode(model, prompt),
            Provider::Ollama => ollama::encode(model, prompt),
        }
    }

    /// The header that carries a key, and what stands before it.
    pub fn key_header(self) -> (&'static str, &'static str) {
        match self {
            Provider::Openai | Provider::Ollama => ("authorization", "Bearer "),
            Provider::Anthropic => ("x-api-key", ""),
            Provider::Gemini => ("x-goog-api-key", ""),
        }
    }
}

/// What is left of a budget is said only when it is less than any model writes at once: providers refuse larger limits than
/// their model has.
const SAID_BELOW: u64 = 8_192;

fn limit(prompt: &Prompt) -> Option<u64> {
    prompt.max_tokens.filter(|left| *left <= SAID_BELOW).map(|left| left.max(1))
}

fn asked(
    path: impl Into<String>,
    headers: Vec<(&'static str, &'static str)>,
    body: &serde_json::Value,
) -> ProviderRequest {
    ProviderRequest { path: path.into(), headers, body: body.to_string().into() }
}

/// Does a frame say that there will be no answer?
fn says_error(frame: &serde_json::Value) -> bool {
    frame.get("error").is_some_and(|error| !error.is_null())
}

/// What is told of that, whatever the provider says of it.
fn broken(kind: FailureKind) -> Event {
    Event::Error(Failure::new(kind, "the model's provider failed while it answered"))
}
