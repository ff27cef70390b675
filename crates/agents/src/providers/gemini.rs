//! Gemini API, generateContent, streamed as server-sent events. Tool calls arrive whole and often without an id; the end mark of an answer
//! with calls is STOP like any other.

use interlingua_machines::llm::{Args, Arguments, Event, FailureKind, Message, Piece, Prompt, Stop, Tokens};
use interlingua_model::Json;
use interlingua_model::id::Text;
use interlingua_model::json::object;
use serde_json::{Value, json};

use super::content::{Shown, shown, words};
use super::{ProviderRequest, asked, broken, limit, says_error};

pub(super) fn encode(model: &str, prompt: &Prompt) -> ProviderRequest {
    let mut body = json!({ "contents": contents(prompt) });
    if !prompt.system.is_empty() {
        body["systemInstruction"] = json!({"parts": [{"text": &*prompt.system}]});
    }
    if !prompt.tools.is_empty() {
        let tools = prompt.tools.iter().map(|tool| {
            json!({
                "name": &*tool.name, "description": &*tool.description, "parametersJsonSchema": tool.input.0.tree()
            })
        });
        body["tools"] = json!([{"functionDeclarations": tools.collect::<Vec<_>>()}]);
    }
    let mut generation = serde_json::Map::new();
    if let Some(limit) = limit(prompt) {
        generation.insert("maxOutputTokens".into(), limit.into());
    }
    if let Some(schema) = &prompt.output {
        generation.insert("responseMimeType".into(), "application/json".into());
        generation.insert("responseJsonSchema".into(), schema.0.tree().clone());
    }
    if !generation.is_empty() {
        body["generationConfig"] = generation.into();
    }
    asked(format!("models/{model}:streamGenerateContent?alt=sse"), Vec::new(), &body)
}

/// Results of calls stand together in one turn, as the calls did.
fn contents(prompt: &Prompt) -> Value {
    let mut contents: Vec<(&str, Vec<Value>)> = Vec::new();
    for message in &prompt.messages {
        let (role, parts) = parts(message);
        match contents.last_mut() {
            Some((last, all)) if *last == role => all.extend(parts),
            Some(_) | None => contents.push((role, parts)),
        }
    }
    contents.into_iter().map(|(role, parts)| json!({"role": role, "parts": parts})).collect()
}

fn parts(message: &Message) -> (&'static str, Vec<Value>) {
    match message {
        Message::User(parts) => ("user", shown(parts).iter().map(part).collect()),
        Message::Agent { parts, calls } => {
            let text = words(parts);
            let said = (!text.is_empty()).then(|| json!({"text": text}));
            let calls = calls.iter().map(|call| {
                let args = match &call.args {
                    Arguments::Object(json) => json.tree().clone(),
                    Arguments::Unreadable { .. } => json!({}),
                };
                object([("functionCall", object([("name", (&*call.name).into()), ("args", args)]))])
            });
            ("model", said.into_iter().chain(calls).collect())
        }
        Message::Tool { name, parts, failed, .. } => {
            let key = if *failed { "error" } else { "result" };
            let response = json!({"name": &**name, "response": {key: words(parts)}});
            ("user", vec![json!({ "functionResponse": response })])
        }
    }
}

fn part(piece: &Shown) -> Value {
    match piece {
        Shown::Text(text) => json!({ "text": text }),
        Shown::Image { media, base64 } => json!({"inlineData": {"mimeType": media, "data": base64}}),
    }
}

/// What is known of an answer between its frames: how many calls it has made.
#[derive(Debug, Default)]
pub(super) struct GeminiState {
    calls: u32,
}

/// The events of one frame.
pub(super) fn decode(data: &Json, memory: &mut GeminiState, out: &mut Vec<Event>) {
    let tree = data.tree();
    if says_error(tree) {
        return out.push(broken(FailureKind::Down));
    }
    let usage = &tree["usageMetadata"];
    if let Some(read) = usage["promptTokenCount"].as_u64() {
        let keys = ["candidatesTokenCount", "thoughtsTokenCount"];
        let written = keys.iter().filter_map(|key| usage[*key].as_u64()).fold(0, u64::saturating_add);
        out.push(Event::Usage(Tokens { read, written }));
    }
    if tree["promptFeedback"]["blockReason"].is_string() {
        return out.push(Event::End(Stop::Declined));
    }
    let Some(candidate) = tree["candidates"].get(0) else { return };
    for part in candidate["content"]["parts"].as_array().into_iter().flatten() {
        out.extend(said(part, memory));
    }
    if let Some(reason) = candidate["finishReason"].as_str() {
        out.push(Event::End(stop(reason)));
    }
}

fn said(part: &Value, memory: &mut GeminiState) -> Option<Event> {
    if let Some(call) = part.get("functionCall") {
        let slot = memory.calls;
        memory.calls += 1;
        let args = match &call["args"] {
            Value::Null => Args::None,
            args => Args::Whole(Json::from_tree(args.clone())),
        };
        return Some(Event::Tool(Piece { slot, id: text(&call["id"]), name: text(&call["name"]), args }));
    }
    let words = text(&part["text"])?;
    Some(if part["thought"] == true { Event::Reasoning(words) } else { Event::Text(words) })
}

fn text(value: &Value) -> Option<Text> {
    value.as_str().filter(|text| !text.is_empty()).map(Text::from)
}

fn stop(reason: &str) -> Stop {
    match reason {
        "STOP" | "FINISH_REASON_UNSPECIFIED" => Stop::Done,
        "MAX_TOKENS" => Stop::Length,
        // Safety, recitation, language, malformed calls and what will be added: there is no answer to rely on.
        _ => Stop::Declined,
    }
}
