//! OpenAI Chat Completions API, streamed. Arguments of a tool call arrive in pieces; usage comes after the end mark, in an event without
//! choices; `[DONE]` adds nothing to `finish_reason`.

use interlingua_machines::llm::{Args, Arguments, Event, FailureKind, Message, Piece, Prompt, Stop, Tokens, ToolCall};
use interlingua_model::Json;
use interlingua_model::id::Text;
use serde_json::{Value, json};

use super::content::{Shown, shown, words};
use super::{ProviderRequest, asked, broken, limit, says_error};

pub(super) fn encode(model: &str, prompt: &Prompt) -> ProviderRequest {
    let mut messages = Vec::new();
    if !prompt.system.is_empty() {
        messages.push(json!({"role": "system", "content": &*prompt.system}));
    }
    messages.extend(prompt.messages.iter().map(|said| message(said)));
    let mut body = json!({
        "model": model,
        "messages": messages,
        "stream": true,
        "stream_options": {"include_usage": true},
    });
    if !prompt.tools.is_empty() {
        body["tools"] = tools(prompt);
    }
    if let Some(limit) = limit(prompt) {
        body["max_completion_tokens"] = limit.into();
    }
    if let Some(schema) = &prompt.output {
        let form = json!({"name": "answer", "schema": schema.0.tree()});
        body["response_format"] = json!({"type": "json_schema", "json_schema": form});
    }
    asked("chat/completions", Vec::new(), &body)
}

pub(super) fn tools(prompt: &Prompt) -> Value {
    let tools = prompt.tools.iter().map(|tool| {
        let function = json!({
            "name": &*tool.name, "description": &*tool.description, "parameters": tool.input.0.tree()
        });
        json!({"type": "function", "function": function})
    });
    tools.collect()
}

fn message(message: &Message) -> Value {
    match message {
        Message::User(parts) => match shown(parts).as_slice() {
            [Shown::Text(text)] => json!({"role": "user", "content": text}),
            pieces => json!({"role": "user", "content": pieces.iter().map(piece).collect::<Vec<_>>()}),
        },
        Message::Agent { parts, calls } => {
            let mut said = json!({"role": "assistant", "content": words(parts)});
            if !calls.is_empty() {
                said["tool_calls"] = calls.iter().map(call).collect();
            }
            said
        }
        Message::Tool { call, parts, .. } => {
            json!({"role": "tool", "tool_call_id": &**call, "content": words(parts)})
        }
    }
}

fn piece(piece: &Shown) -> Value {
    match piece {
        Shown::Text(text) => json!({"type": "text", "text": text}),
        Shown::Image { media, base64 } => {
            json!({"type": "image_url", "image_url": {"url": format!("data:{media};base64,{base64}")}})
        }
    }
}

fn call(call: &ToolCall) -> Value {
    let arguments = match &call.args {
        Arguments::Object(json) => json.to_string(),
        Arguments::Unreadable { .. } => "{}".to_owned(),
    };
    json!({"id": &*call.id, "type": "function", "function": {"name": &*call.name, "arguments": arguments}})
}

/// The events of one frame.
pub(super) fn decode(data: &Json, out: &mut Vec<Event>) {
    let tree = data.tree();
    if says_error(tree) {
        return out.push(broken(FailureKind::Down));
    }
    if let Some(choice) = tree["choices"].get(0) {
        let delta = &choice["delta"];
        for key in ["reasoning_content", "reasoning"] {
            out.extend(text(&delta[key]).map(Event::Reasoning));
        }
        out.extend(text(&delta["content"]).map(Event::Text));
        for (place, call) in delta["tool_calls"].as_array().into_iter().flatten().enumerate() {
            out.push(Event::Tool(tool(place, call)));
        }
        if let Some(reason) = choice["finish_reason"].as_str() {
            out.push(Event::End(stop(reason)));
        }
    }
    let usage = &tree["usage"];
    if let (Some(read), Some(written)) = (usage["prompt_tokens"].as_u64(), usage["completion_tokens"].as_u64()) {
        out.push(Event::Usage(Tokens { read, written }));
    }
}

fn text(value: &Value) -> Option<Text> {
    value.as_str().filter(|text| !text.is_empty()).map(Text::from)
}

fn tool(place: usize, call: &Value) -> Piece {
    let slot = call["index"].as_u64().unwrap_or(place as u64);
    let args = match &call["function"]["arguments"] {
        Value::String(piece) if !piece.is_empty() => Args::Piece(piece.as_str().into()),
        Value::Object(_) => Args::Whole(Json::from_tree(call["function"]["arguments"].clone())),
        _ => Args::None,
    };
    Piece {
        slot: u32::try_from(slot).unwrap_or(u32::MAX),
        id: text(&call["id"]),
        name: text(&call["function"]["name"]),
        args,
    }
}

fn stop(reason: &str) -> Stop {
    match reason {
        "tool_calls" | "function_call" => Stop::Tools,
        "length" => Stop::Length,
        "content_filter" => Stop::Declined,
        _ => Stop::Done,
    }
}
