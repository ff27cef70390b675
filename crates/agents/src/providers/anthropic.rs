//! Anthropic Messages API, streamed: an answer is blocks, each opened, filled and closed; `message_delta` gives the stop reason and
//! `message_stop` is the end mark.

use interlingua_machines::llm::{Args, Arguments, Event, FailureKind, Message, Piece, Prompt, Stop, Tokens};
use interlingua_model::Json;
use interlingua_model::id::Text;
use interlingua_model::json::object;
use serde_json::{Value, json};

use super::content::{Shown, shown, words};
use super::{ProviderRequest, asked, broken, limit};

/// The interface wants a limit; this one every model of it takes.
const MAX_TOKENS: u64 = 8_192;

pub(super) fn encode(model: &str, prompt: &Prompt) -> ProviderRequest {
    let mut body = json!({
        "model": model,
        "max_tokens": limit(prompt).unwrap_or(MAX_TOKENS),
        "messages": messages(prompt),
        "stream": true,
    });
    if !prompt.system.is_empty() {
        body["system"] = (&*prompt.system).into();
    }
    if !prompt.tools.is_empty() {
        let tools = prompt.tools.iter().map(
            |tool| json!({"name": &*tool.name, "description": &*tool.description, "input_schema": tool.input.0.tree()}),
        );
        body["tools"] = tools.collect();
    }
    asked("messages", vec![("anthropic-version", "2023-06-01")], &body)
}

/// Results of calls are a user's blocks, and turns alternate: neighbours of one role become one message.
fn messages(prompt: &Prompt) -> Value {
    let mut messages: Vec<(&str, Vec<Value>)> = Vec::new();
    for message in &prompt.messages {
        let (role, blocks) = blocks(message);
        match messages.last_mut() {
            Some((last, all)) if *last == role => all.extend(blocks),
            Some(_) | None => messages.push((role, blocks)),
        }
    }
    messages.into_iter().map(|(role, content)| json!({"role": role, "content": content})).collect()
}

fn blocks(message: &Message) -> (&'static str, Vec<Value>) {
    match message {
        Message::User(parts) => ("user", shown(parts).iter().map(block).collect()),
        Message::Agent { parts, calls } => {
            let text = words(parts);
            let said = (!text.is_empty()).then(|| json!({"type": "text", "text": text}));
            let calls = calls.iter().map(|call| {
                let input = match &call.args {
                    Arguments::Object(json) => json.tree().clone(),
                    Arguments::Unreadable { .. } => json!({}),
                };
                let (id, name) = ((&*call.id).into(), (&*call.name).into());
                object([("type", "tool_use".into()), ("id", id), ("name", name), ("input", input)])
            });
            ("assistant", said.into_iter().chain(calls).collect())
        }
        Message::Tool { call, parts, failed, .. } => {
            let result = json!({
                "type": "tool_result", "tool_use_id": &**call, "content": words(parts), "is_error": failed
            });
            ("user", vec![result])
        }
    }
}

fn block(piece: &Shown) -> Value {
    match piece {
        Shown::Text(text) => json!({"type": "text", "text": text}),
        Shown::Image { media, base64 } => {
            json!({"type": "image", "source": {"type": "base64", "media_type": media, "data": base64}})
        }
    }
}

/// What is known of an answer between its frames.
#[derive(Debug, Default)]
pub(super) struct AnthropicState {
    read: u64,
    stop: Option<Stop>,
}

/// The events of one frame.
pub(super) fn decode(data: &Json, memory: &mut AnthropicState, out: &mut Vec<Event>) {
    let tree = data.tree();
    match tree["type"].as_str().unwrap_or_default() {
        "message_start" => memory.read = read(&tree["message"]["usage"]),
        "content_block_start" => {
            let block = &tree["content_block"];
            if block["type"] == "tool_use" {
                let (id, name) = (text(&block["id"]), text(&block["name"]));
                out.push(Event::Tool(Piece { slot: slot(tree), id, name, args: Args::None }));
            }
        }
        "content_block_delta" => out.extend(delta(tree)),
        "message_delta" => {
            memory.stop = tree["delta"]["stop_reason"].as_str().map(stop);
            if let Some(written) = tree["usage"]["output_tokens"].as_u64() {
                out.push(Event::Usage(Tokens { read: memory.read, written }));
            }
        }
        "message_stop" => out.push(Event::End(memory.stop.unwrap_or(Stop::Done))),
        "error" => {
            let busy = tree["error"]["type"] == "overloaded_error" || tree["error"]["type"] == "rate_limit_error";
            let kind = if busy { FailureKind::Busy } else { FailureKind::Down };
            out.push(broken(kind));
        }
        // Pings, closed blocks, and what may be added: the interface says that clients pass over it.
        _ => {}
    }
}

/// What was read from a cache was read, too.
fn read(usage: &Value) -> u64 {
    let keys = ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"];
    keys.iter().filter_map(|key| usage[*key].as_u64()).fold(0, u64::saturating_add)
}

fn delta(tree: &Value) -> Option<Event> {
    let delta = &tree["delta"];
    match delta["type"].as_str()? {
        "text_delta" => text(&delta["text"]).map(Event::Text),
        "thinking_delta" => text(&delta["thinking"]).map(Event::Reasoning),
        "input_json_delta" => {
            let args = Args::Piece(text(&delta["partial_json"])?);
            Some(Event::Tool(Piece { slot: slot(tree), id: None, name: None, args }))
        }
        _ => None,
    }
}

fn slot(tree: &Value) -> u32 {
    tree["index"].as_u64().and_then(|index| u32::try_from(index).ok()).unwrap_or(u32::MAX)
}

fn text(value: &Value) -> Option<Text> {
    value.as_str().filter(|text| !text.is_empty()).map(Text::from)
}

fn stop(reason: &str) -> Stop {
    match reason {
        "tool_use" => Stop::Tools,
        "max_tokens" | "model_context_window_exceeded" => Stop::Length,
        "refusal" => Stop::Declined,
        _ => Stop::Done,
    }
}
