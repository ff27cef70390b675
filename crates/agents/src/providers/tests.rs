//! Real streams of each provider, cut into pieces of every size; and every possible failure on the way.

use std::sync::Arc;

use interlingua_machines::llm::{
    Arguments, Assembler, Bounds, Broken, Event, FailureKind, Message, Offered, Prompt, Reply, Stop, Tokens, ToolCall,
};
use interlingua_model::{Blob, Body, Json, Part, Provenance, Schema};
use serde_json::{Value, json};

use super::{Listener, Provider};

const ALL: [Provider; 4] = [Provider::Openai, Provider::Anthropic, Provider::Gemini, Provider::Ollama];

/// Reads a stream in pieces of this many bytes, as the core would.
fn hear(provider: Provider, stream: &str, piece: usize) -> Result<Reply, Broken> {
    let mut listener = Listener::new(provider);
    let mut assembler = Assembler::new(Bounds::default());
    'all: for bytes in stream.as_bytes().chunks(piece) {
        listener.feed(bytes);
        while let Some(event) = listener.next_event() {
            if !assembler.push(&event) {
                break 'all;
            }
        }
    }
    assembler.finish()
}

fn sse(frames: &[Value]) -> String {
    frames.iter().map(|frame| format!("data: {frame}\n\n")).collect()
}

fn lines(frames: &[Value]) -> String {
    frames.iter().map(|frame| format!("{frame}\n")).collect()
}

/// Words, then two calls with arguments in pieces, one with an escape cut in two.
fn stream(provider: Provider) -> String {
    match provider {
        Provider::Openai => {
            let delta = |delta: Value| json!({"choices": [{"index": 0, "delta": delta, "finish_reason": null}]});
            let call = |index: u32, id: Value, name: Value, piece: &str| {
                delta(
                    json!({"tool_calls": [{"index": index, "id": id, "function": {"name": name, "arguments": piece}}]}),
                )
            };
            let mut text = sse(&[
                delta(json!({"role": "assistant", "content": ""})),
                delta(json!({"content": "Let me "})),
                delta(json!({"content": "look."})),
                call(0, json!("a"), json!("search"), ""),
                call(0, Value::Null, Value::Null, "{\"q\": \"caf\\u00"),
                call(1, json!("b"), json!("read"), "{}"),
                call(0, Value::Null, Value::Null, "e9\"}"),
                json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}),
                json!({"choices": [], "usage": {"prompt_tokens": 20, "completion_tokens": 9}}),
            ]);
            text.push_str("data: [DONE]\n\n");
            text
        }
        Provider::Anthropic => {
            let delta =
                |index: u32, delta: Value| json!({"type": "content_block_delta", "index": index, "delta": delta});
            let start = |index: u32, block: Value| json!({"type": "content_block_start", "index": index, "content_block": block});
            sse(&[
                json!({"type": "message_start", "message": {"usage": {"input_tokens": 15, "cache_read_input_tokens": 5}}}),
                start(0, json!({"type": "text", "text": ""})),
                json!({"type": "ping"}),
                delta(0, json!({"type": "text_delta", "text": "Let me "})),
                delta(0, json!({"type": "text_delta", "text": "look."})),
                json!({"type": "content_block_stop", "index": 0}),
                start(1, json!({"type": "tool_use", "id": "a", "name": "search", "input": {}})),
                delta(1, json!({"type": "input_json_delta", "partial_json": ""})),
                delta(1, json!({"type": "input_json_delta", "partial_json": "{\"q\": \"caf\\u00"})),
                delta(1, json!({"type": "input_json_delta", "partial_json": "e9\"}"})),
                start(2, json!({"type": "tool_use", "id": "b", "name": "read", "input": {}})),
                json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 9}}),
                json!({"type": "message_stop"}),
            ])
        }
        Provider::Gemini => {
            let parts = |parts: Value| json!({"candidates": [{"content": {"role": "model", "parts": parts}}]});
            let counts = json!({"promptTokenCount": 20, "candidatesTokenCount": 7, "thoughtsTokenCount": 2});
            let call = |name: &str, args: Value| json!({"functionCall": {"name": name, "args": args}});
            let calls = json!([call("search", json!({"q": "café"})), call("read", json!({}))]);
            sse(&[
                parts(json!([{"text": "Let me "}])),
                parts(json!([{"text": "look."}])),
                json!({"candidates": [{"content": {"parts": calls}, "finishReason": "STOP"}], "usageMetadata": counts}),
            ])
        }
        Provider::Ollama => {
            let call = |name: &str, args: Value| json!({"function": {"name": name, "arguments": args}});
            let calls = json!([call("search", json!({"q": "café"})), call("read", json!({}))]);
            lines(&[
                json!({"message": {"role": "assistant", "content": "Let me "}, "done": false}),
                json!({"message": {"role": "assistant", "content": "look."}, "done": false}),
                json!({"message": {"role": "assistant", "content": "", "tool_calls": calls}, "done": false}),
                json!({"message": {"content": ""}, "done": true, "done_reason": "stop", "prompt_eval_count": 20, "eval_count": 9}),
            ])
        }
    }
}

#[test]
fn every_provider_streams_words_and_two_calls_cut_anywhere() {
    for provider in ALL {
        let stream = stream(provider);
        for piece in [1, 2, 3, 7, 64, stream.len()] {
            let reply =
                hear(provider, &stream, piece).unwrap_or_else(|broken| panic!("{provider:?} {piece}: {broken:?}"));
            assert_eq!(&*reply.text, "Let me look.", "{provider:?} {piece}");
            let calls: Vec<(&str, Option<&Json>)> = (reply.calls.iter())
                .map(|call| match &call.args {
                    Arguments::Object(json) => (&*call.name, Some(json)),
                    Arguments::Unreadable { .. } => (&*call.name, None),
                })
                .collect();
            let wanted = [("search", json!({"q": "café"})), ("read", json!({}))];
            for ((name, args), (wanted, form)) in calls.iter().zip(&wanted) {
                assert_eq!((*name, args.map(|json| json.tree())), (*wanted, Some(form)), "{provider:?} {piece}");
            }
            assert_eq!(calls.len(), 2);
            assert_eq!(reply.tokens, Some(Tokens { read: 20, written: 9 }), "{provider:?}");
            let ids: std::collections::BTreeSet<_> = reply.calls.iter().map(|call| &call.id).collect();
            assert_eq!(ids.len(), 2, "calls without ids are told apart: {provider:?}");
        }
    }
}

/// Wherever a connection closes, also between two events as if nothing were missing: no answer is whole before its end mark.
#[test]
fn a_stream_that_closes_early_is_a_failure_wherever_it_closes() {
    for provider in ALL {
        let whole = stream(provider);
        let mark = match provider {
            Provider::Openai => "finish_reason\":\"tool_calls\"",
            Provider::Anthropic => "message_stop",
            Provider::Gemini => "finishReason",
            Provider::Ollama => "\"done\":true",
        };
        let end = whole.find(mark).expect("an end mark");
        for cut in (0..end).filter(|cut| whole.is_char_boundary(*cut)) {
            let broken = hear(provider, &whole[..cut], 16).expect_err("cut");
            assert_eq!(broken.failure.kind, FailureKind::Cut, "{provider:?} at {cut}");
        }
    }
}

#[test]
fn a_frame_that_is_no_json_is_a_failure_and_nothing_after_it_is_read() {
    for provider in ALL {
        let frame = match provider {
            Provider::Ollama => "{\"message\": {\"content\": \n".to_owned(),
            Provider::Openai | Provider::Anthropic | Provider::Gemini => "data: {\"choices\": [\n\n".to_owned(),
        };
        let broken = hear(provider, &format!("{frame}{}", stream(provider)), 64).expect_err("garbled");
        assert_eq!(broken.failure.kind, FailureKind::Garbled, "{provider:?}");
    }
}

#[test]
fn a_provider_that_fails_half_way_says_so_and_its_words_are_not_repeated() {
    let secret = "key sk-123 is over its limit";
    let frames = [
        (Provider::Openai, sse(&[json!({"error": {"message": secret}})])),
        (
            Provider::Anthropic,
            sse(&[json!({"type": "error", "error": {"type": "overloaded_error", "message": secret}})]),
        ),
        (Provider::Gemini, sse(&[json!({"error": {"code": 500, "message": secret}})])),
        (Provider::Ollama, lines(&[json!({"error": secret})])),
    ];
    for (provider, stream) in frames {
        let broken = hear(provider, &stream, 9).expect_err("failed");
        let busy = provider == Provider::Anthropic;
        assert_eq!(broken.failure.kind, if busy { FailureKind::Busy } else { FailureKind::Down }, "{provider:?}");
        assert!(!format!("{broken:?}").contains("sk-123"), "{broken:?}");
    }
}

#[test]
fn reasons_to_stop_mean_the_same_everywhere() {
    let stops = [
        (Provider::Openai, sse(&[json!({"choices": [{"delta": {}, "finish_reason": "length"}]})]), Stop::Length),
        (
            Provider::Openai,
            sse(&[json!({"choices": [{"delta": {}, "finish_reason": "content_filter"}]})]),
            Stop::Declined,
        ),
        (
            Provider::Anthropic,
            sse(&[
                json!({"type": "message_delta", "delta": {"stop_reason": "max_tokens"}}),
                json!({"type": "message_stop"}),
            ]),
            Stop::Length,
        ),
        (Provider::Gemini, sse(&[json!({"candidates": [{"finishReason": "SAFETY"}]})]), Stop::Declined),
        (Provider::Gemini, sse(&[json!({"promptFeedback": {"blockReason": "OTHER"}})]), Stop::Declined),
        (Provider::Ollama, lines(&[json!({"done": true, "done_reason": "length"})]), Stop::Length),
    ];
    for (provider, stream, stop) in stops {
        assert_eq!(hear(provider, &stream, 5).expect("ended").stop, stop, "{provider:?}");
    }
}

#[test]
fn reasoning_is_told_apart_from_the_answer() {
    let thinks = [
        (Provider::Openai, sse(&[json!({"choices": [{"delta": {"reasoning_content": "hm"}}]})])),
        (
            Provider::Anthropic,
            sse(&[
                json!({"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "hm"}}),
            ]),
        ),
        (Provider::Gemini, sse(&[json!({"candidates": [{"content": {"parts": [{"text": "hm", "thought": true}]}}]})])),
        (Provider::Ollama, lines(&[json!({"message": {"content": "", "thinking": "hm"}})])),
    ];
    for (provider, stream) in thinks {
        let mut listener = Listener::new(provider);
        listener.feed(stream.as_bytes());
        assert_eq!(listener.next_event(), Some(Event::Reasoning("hm".into())), "{provider:?}");
    }
}

#[test]
fn a_flood_without_a_frame_is_bounded() {
    for provider in ALL {
        let mut listener = Listener::new(provider);
        let flood = vec![b'x'; 1024 * 1024];
        let failed = (0..16).any(|_| {
            listener.feed(&flood);
            matches!(listener.next_event(), Some(Event::Error(failure)) if failure.kind == FailureKind::TooMuch)
        });
        assert!(failed, "{provider:?}");
    }
}

fn prompt() -> Prompt {
    let mut picture = Part::new(Body::Blob(Blob::Inline("png".into())), Provenance::caller());
    picture.media = Some("image/png".into());
    let call = ToolCall { id: "c1".into(), name: "search".into(), args: Arguments::Object(json!({"q": 1}).into()) };
    let schema = Schema(json!({"type": "object"}).into());
    Prompt {
        system: "Be brief.".into(),
        messages: vec![
            Arc::new(Message::User(vec![Part::text("What is this?", Provenance::caller()), picture])),
            Arc::new(Message::Agent { parts: Vec::new(), calls: vec![call] }),
            Arc::new(Message::Tool {
                call: "c1".into(),
                name: "search".into(),
                parts: vec![Part::text("a cat", Provenance::peer("web".into()))],
                failed: false,
            }),
            Arc::new(Message::User(vec![Part::text("And?", Provenance::caller())])),
        ],
        tools: vec![Offered { name: "search".into(), description: "Searches.".into(), input: schema.clone() }],
        max_tokens: Some(100),
        output: Some(schema),
    }
}

fn body(provider: Provider) -> (String, Value) {
    let asked = provider.encode("m-1", &prompt());
    (asked.path, serde_json::from_slice(&asked.body).expect("JSON"))
}

#[test]
fn what_openai_is_asked() {
    let (path, body) = body(Provider::Openai);
    assert_eq!(path, "chat/completions");
    assert_eq!((&body["model"], &body["stream"]), (&json!("m-1"), &json!(true)));
    let messages = &body["messages"];
    assert_eq!(messages[0], json!({"role": "system", "content": "Be brief."}));
    assert_eq!(messages[1]["content"][1]["image_url"]["url"], "data:image/png;base64,cG5n");
    assert_eq!(messages[2]["tool_calls"][0]["function"]["arguments"], "{\"q\":1}");
    assert_eq!(messages[3], json!({"role": "tool", "tool_call_id": "c1", "content": "a cat"}));
    assert_eq!(body["tools"][0]["function"]["name"], "search");
    assert_eq!(body["max_completion_tokens"], 100);
}

#[test]
fn what_anthropic_is_asked() {
    let (path, body) = body(Provider::Anthropic);
    assert_eq!((path.as_str(), &body["system"], &body["max_tokens"]), ("messages", &json!("Be brief."), &json!(100)));
    let messages = body["messages"].as_array().expect("messages");
    let roles: Vec<&Value> = messages.iter().map(|message| &message["role"]).collect();
    assert_eq!(roles, ["user", "assistant", "user"], "results and words of the user are one turn");
    assert_eq!(messages[1]["content"][0]["type"], "tool_use");
    assert_eq!(messages[2]["content"][0]["tool_use_id"], "c1");
    assert_eq!(messages[2]["content"][1]["text"], "And?");
}

#[test]
fn what_gemini_is_asked() {
    let (path, body) = body(Provider::Gemini);
    assert_eq!(path, "models/m-1:streamGenerateContent?alt=sse");
    assert_eq!(body["systemInstruction"]["parts"][0]["text"], "Be brief.");
    assert_eq!(body["contents"][0]["parts"][1]["inlineData"]["data"], "cG5n");
    assert_eq!(body["contents"][1]["parts"][0]["functionCall"]["args"], json!({"q": 1}));
    assert_eq!(body["contents"][2]["parts"][0]["functionResponse"]["response"]["result"], "a cat");
    assert_eq!(body["generationConfig"]["maxOutputTokens"], 100);
}

#[test]
fn what_ollama_is_asked() {
    let (path, body) = body(Provider::Ollama);
    assert_eq!(path, "api/chat");
    assert_eq!(body["messages"][1]["images"], json!(["cG5n"]));
    assert_eq!(body["messages"][2]["tool_calls"][0]["function"]["arguments"], json!({"q": 1}));
    assert_eq!(body["messages"][3], json!({"role": "tool", "tool_name": "search", "content": "a cat"}));
    assert_eq!(body["options"]["num_predict"], 100);
}

#[test]
fn a_large_budget_is_no_limit_of_one_answer() {
    let prompt = Prompt { max_tokens: Some(1_000_000), ..prompt() };
    for provider in ALL {
        let body = String::from_utf8(provider.encode("m", &prompt).body.to_vec()).expect("text");
        assert!(!body.contains("1000000"), "{provider:?}: providers refuse more than their model writes");
    }
}
