//! Ollama API, its own chat: a line of JSON for each piece, tool calls whole, `done` at the end together with the counts.

use interlingua_machines::llm::{Args, Arguments, Event, FailureKind, Message, Piece, Prompt, Stop, Tokens};
use interlingua_model::Json;
use interlingua_model::id::Text;
use interlingua_model::json::object;
use serde_json::{Value, json};

use super::content::{Shown, shown, words};
use super::{ProviderRequest, asked, broken, limit, openai, says_error};

pub(super) fn encode(model: &str, prompt: &Prompt) -> ProviderRequest {
    let mut messages = Vec::new();
    if !prompt.system.is_empty() {
        messages.push(json!({"role": "system", "content": &*prompt.system}));
    }
    messages.extend(prompt.messages.iter().map(|said| message(said)));
    let mut body = json!({"model": model, "messages": messages, "stream": true});
    if !prompt.tools.is_empty() {
        body["tools"] = openai::tools(prompt);
    }
    if let Some(limit) = limit(prompt) {
        body["options"] = json!({ "num_predict": limit });
    }
    if let Some(schema) = &prompt.output {
        body["format"] = schema.0.tree().clone();
    }
    asked("api/chat", Vec::new(), &body)
}

fn message(message: &Message) -> Value {
    match message {
        Message::User(parts) => {
            let (mut texts, mut images) = (Vec::new(), Vec::new());
            for piece in shown(parts) {
                match piece {
                    Shown::Text(text) => texts.push(text),
                    Shown::Image { base64, .. } => images.push(base64),
                }
            }
            let mut said = json!({"role": "user", "content": texts.join("\n")});
            if !images.is_empty() {
                said["images"] = images.into();
            }
            said
        }
        Message::Agent { parts, calls } => {
            let mut said = json!({"role": "assistant", "content": words(parts)});
            if !calls.is_empty() {
                let calls = calls.iter().map(|call| {
                    let arguments = match &call.args {
                        Arguments::Object(json) => json.tree().clone(),
                        Arguments::Unreadable { .. } => json!({}),
                    };
                    object([("function", object([("name", (&*call.name).into()), ("arguments", arguments)]))])
                });
                said["tool_calls"] = calls.collect();
            }
            said
        }
        Message::Tool { name, parts, .. } => {
            json!({"role": "tool", "tool_name": &**name, "content": words(parts)})
        }
    }
}

/// What is known of an answer between its lines: how many calls it has made.
#[derive(Debug, Default)]
pub(super) struct OllamaState {
    calls: u32,
}

/// The events of one line.
pub(super) fn decode(data: &Json, memory: &mut OllamaState, out: &mut Vec<Event>) {
    let tree = data.tree();
    if says_error(tree) {
        return out.push(broken(FailureKind::Down));
    }
    let message = &tree["message"];
    out.extend(text(&message["thinking"]).map(Event::Reasoning));
    out.extend(text(&message["content"]).map(Event::Text));
    for call in message["tool_calls"].as_array().into_iter().flatten() {
        let slot = memory.calls;
        memory.calls += 1;
        let args = match &call["function"]["arguments"] {
            Value::Null => Args::None,
            args => Args::Whole(Json::from_tree(args.clone())),
        };
        let name = text(&call["function"]["name"]);
        out.push(Event::Tool(Piece { slot, id: text(&call["id"]), name, args }));
    }
    if tree["done"] == true {
        if let (Some(read), Some(written)) = (tree["prompt_eval_count"].as_u64(), tree["eval_count"].as_u64()) {
            out.push(Event::Usage(Tokens { read, written }));
        }
        let length = tree["done_reason"] == "length";
        out.push(Event::End(if length { Stop::Length } else { Stop::Done }));
    }
}

fn text(value: &Value) -> Option<Text> {
    value.as_str().filter(|text| !text.is_empty()).map(Text::from)
}
