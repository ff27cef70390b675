//! Local inference: a model that this hub runs itself, from a file of weights, with no key, no network and one processor.
//!
//! Such a model is small and calls no tools. In a team it decides nevertheless: where votes are taken it votes for the answer that it would
//! most likely name, and otherwise its text is its answer. It is loaded at its first request, and stays in memory.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use interlingua_local::{Model as Weights, Speaker, StopReason, Turn};
use interlingua_machines::llm::{
    Args, Event, Failure, FailureKind, Message, Model, Offered, Piece, Prompt, Speaking, Speech, Stop, Tokens,
};
use interlingua_model::{Json, Part};
use serde_json::{Value, json};
use tokio::sync::mpsc;

/// How many pieces may wait to be heard.
const PIECES: usize = 64;
/// How many tokens an answer has, where nobody says.
const LONG: u64 = 256;
const LONGEST: u64 = 1_024;
/// How a team calls what its members decide with.
const VOTE: &str = "vote";
const NEW_ANSWER: &str = "new_answer";

#[derive(Debug)]
pub(super) struct LocalModel {
    file: PathBuf,
    weights: Mutex<Option<Arc<Weights>>>,
}

impl LocalModel {
    pub(super) fn new(file: PathBuf) -> LocalModel {
        LocalModel { file, weights: Mutex::default() }
    }

    /// Reads the file once; whoever comes meanwhile waits. Blocks.
    fn weights(&self) -> Result<Arc<Weights>, Failure> {
        let mut weights = self.weights.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(weights) = &*weights {
            return Ok(weights.clone());
        }
        let read = Weights::open(&self.file).map_err(|error| {
            tracing::error!(event = "local_model_not_loaded", file = %self.file.display(), %error, "the local model cannot be loaded");
            Failure::new(FailureKind::Refused, format!("the local model cannot be run: {error}"))
        })?;
        Ok(weights.insert(Arc::new(read)).clone())
    }

    /// Says all it has to say. Blocks.
    fn work(&self, prompt: &Prompt, said: &mpsc::Sender<Event>) {
        let weights = match self.weights() {
            Ok(weights) => weights,
            Err(failure) => {
                let _ = said.blocking_send(Event::Error(failure));
                return;
            }
        };
        let texts = texts(prompt);
        let turns: Vec<Turn<'_>> = texts.iter().map(|(by, text)| Turn { by: *by, text }).collect();
        let events = match choices(&prompt.tools) {
            Some(choices) => vote(&weights, &turns, &choices, said),
            None => answer(&weights, &turns, prompt, said),
        };
        for event in events {
            // Whoever asked may be gone.
            let _ = said.blocking_send(event);
        }
    }
}

/// What the model reads, and whose words each are.
fn texts(prompt: &Prompt) -> Vec<(Speaker, String)> {
    let system = (!prompt.system.is_empty()).then(|| (Speaker::System, prompt.system.to_string()));
    let words = |parts: &[Part]| parts.iter().filter_map(Part::as_text).collect::<Vec<_>>().join("\n\n");
    let said = prompt.messages.iter().map(|message| match &**message {
        Message::User(parts) => (Speaker::User, words(parts)),
        Message::Agent { parts, .. } => (Speaker::Model, words(parts)),
        Message::Tool { name, parts, .. } => (Speaker::User, format!("Result of {name}:\n{}", words(parts))),
    });
    system.into_iter().chain(said).collect()
}

fn offers(tools: &[Offered], name: &str) -> bool {
    tools.iter().any(|tool| &*tool.name == name)
}

/// For whom it may vote, where votes are taken.
fn choices(tools: &[Offered]) -> Option<Vec<String>> {
    let tool = tools.iter().find(|tool| &*tool.name == VOTE)?;
    let allowed = tool.input.0.get("properties")?.get("agent_id")?.get("enum")?.as_array()?;
    let labels: Vec<String> = allowed.iter().filter_map(Value::as_str).map(str::to_owned).collect();
    (!labels.is_empty()).then_some(labels)
}

fn vote(weights: &Weights, turns: &[Turn<'_>], choices: &[String], said: &mpsc::Sender<Event>) -> Vec<Event> {
    let labels: Vec<&str> = choices.iter().map(String::as_str).collect();
    let chosen = weights.choose(turns, "The best answer is ", &labels, |_| !said.is_closed());
    let Some(label) = chosen.and_then(|chosen| labels.get(chosen)) else { return Vec::new() };
    let arguments = json!({"agent_id": label, "reason": "It is the one I would rather name."});
    vec![called(VOTE, arguments), Event::End(Stop::Tools)]
}

fn answer(weights: &Weights, turns: &[Turn<'_>], prompt: &Prompt, said: &mpsc::Sender<Event>) -> Vec<Event> {
    let most = prompt.max_tokens.unwrap_or(LONG).clamp(1, LONGEST);
    let mut text = String::new();
    let done = weights.answer(turns, usize::try_from(most).unwrap_or(usize::MAX), |piece| {
        text.push_str(piece);
        if piece.is_empty() { !said.is_closed() } else { said.blocking_send(Event::Text(piece.into())).is_ok() }
    });
    let mut events = vec![Event::Usage(Tokens { read: done.read, written: done.written })];
    let decides = offers(&prompt.tools, NEW_ANSWER);
    if decides {
        events.push(called(NEW_ANSWER, json!({ "content": text })));
    }
    match done.ended {
        StopReason::Left => return Vec::new(),
        StopReason::Done | StopReason::Length if decides => events.push(Event::End(Stop::Tools)),
        StopReason::Done => events.push(Event::End(Stop::Done)),
        StopReason::Length => events.push(Event::End(Stop::Length)),
    }
    events
}

fn called(name: &str, arguments: Value) -> Event {
    let args = Args::Whole(Json::from_tree(arguments));
    Event::Tool(Piece { slot: 0, id: Some("call-0".into()), name: Some(name.into()), args })
}

impl Model for LocalModel {
    fn speak(self: Arc<Self>, prompt: Prompt) -> Speech {
        let (said, heard) = mpsc::channel(PIECES);
        Box::new(Talking { begin: Some((self, prompt, said)), heard })
    }
}

struct Talking {
    /// Until it is first listened to.
    begin: Option<(Arc<LocalModel>, Prompt, mpsc::Sender<Event>)>,
    heard: mpsc::Receiver<Event>,
}

impl Speaking for Talking {
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Event>> {
        if let Some((resident, prompt, said)) = self.begin.take() {
            tokio::task::spawn_blocking(move || resident.work(&prompt, &said));
        }
        self.heard.poll_recv(cx)
    }
}

#[cfg(test)]
mod tests {
    use interlingua_model::Schema;

    use super::*;

    fn tool(name: &str, input: Value) -> Offered {
        Offered { name: name.into(), description: "".into(), input: Schema(input.into()) }
    }

    #[test]
    fn a_vote_is_for_those_there_are_and_without_any_there_is_none() {
        let labels = json!({"properties": {"agent_id": {"type": "string", "enum": ["agent1", "agent2"]}}});
        let offered = [tool(NEW_ANSWER, json!({})), tool(VOTE, labels)];
        assert_eq!(choices(&offered), Some(vec!["agent1".to_owned(), "agent2".to_owned()]));
        assert_eq!(choices(&[tool(VOTE, json!({"properties": {"agent_id": {"type": "string"}}}))]), None);
        assert_eq!(choices(&offered[..1]), None);
        assert!(offers(&offered, NEW_ANSWER) && !offers(&[], NEW_ANSWER));
    }

    #[tokio::test]
    async fn a_model_that_is_not_there_is_a_failure_that_says_so() {
        let mut speech = Arc::new(LocalModel::new(PathBuf::from("/nonexistent/model.gguf"))).speak(Prompt {
            system: "".into(),
            messages: Vec::new(),
            tools: Vec::new(),
            max_tokens: None,
            output: None,
        });
        let first = std::future::poll_fn(|cx| speech.poll_next(cx)).await;
        let Some(Event::Error(failure)) = first else { panic!("{first:?}") };
        assert_eq!(failure.kind, FailureKind::Refused, "{failure:?}");
    }
}
