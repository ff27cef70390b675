//! Fake model provider: answers as the test says, in OpenAI's, Anthropic's, Gemini's or Ollama's own format, with any failure on the way:
//! answers in tiny pieces, connections that close early, errors, silence.
//!
//! One connection a request, closed by the provider: what it does not send is missing.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// Whose spelling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spelling {
    Openai,
    Anthropic,
    Gemini,
    Ollama,
}

/// What a model says, whatever its spelling.
#[derive(Debug, Clone, Default)]
pub struct Reply {
    pub text: String,
    /// Name and arguments.
    pub calls: Vec<(String, Value)>,
}

impl Reply {
    pub fn text(text: &str) -> Reply {
        Reply { text: text.to_owned(), calls: Vec::new() }
    }

    pub fn call(name: &str, arguments: Value) -> Reply {
        Reply { text: String::new(), calls: vec![(name.to_owned(), arguments)] }
    }
}

/// What the provider does with one request.
#[derive(Debug, Clone)]
pub enum Turn {
    /// Answers, in pieces of this many bytes, each sent on its own.
    Says(Reply, usize),
    /// Closes after this share of the answer, in percent.
    Breaks(Reply, usize),
    /// The first half of a frame, then garbage.
    Garbles(Reply),
    /// Waits so long before each piece of 16 bytes.
    Drips(Reply, Duration),
    /// A status, and how many seconds to wait.
    Status(u16, Option<u32>),
}

/// The provider. Dropped, it is gone.
#[derive(Debug)]
pub struct Provider {
    address: SocketAddr,
    asked: Arc<Mutex<Vec<Asked>>>,
    _serving: JoinSet<()>,
}

/// What the provider was asked.
#[derive(Debug, Clone)]
pub struct Asked {
    /// Method and path.
    pub line: String,
    pub headers: String,
    pub body: Value,
}

impl Provider {
    /// Answers one request with each turn, in order; after the last, with 500.
    pub async fn start(spelling: Spelling, turns: Vec<Turn>) -> Provider {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let asked = Arc::new(Mutex::new(Vec::new()));
        let mut serving = JoinSet::new();
        serving.spawn(serve(listener, spelling, turns, asked.clone()));
        Provider { address, asked, _serving: serving }
    }

    /// What the configuration calls `base_url`.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1/", self.address)
    }

    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

async fn serve(listener: TcpListener, spelling: Spelling, turns: Vec<Turn>, asked: Arc<Mutex<Vec<Asked>>>) {
    let mut turns = turns.into_iter();
    let mut connections = JoinSet::new();
    while let Ok((mut stream, _)) = listener.accept().await {
        let Some(request) = read(&mut stream).await else { continue };
        asked.lock().unwrap_or_else(PoisonError::into_inner).push(request);
        let turn = turns.next().unwrap_or(Turn::Status(500, None));
        connections.spawn(answer(stream, spelling, turn));
    }
}

async fn read(stream: &mut TcpStream) -> Option<Asked> {
    let mut bytes = Vec::new();
    loop {
        let mut chunk = [0; 8192];
        let count = stream.read(&mut chunk).await.ok().filter(|count| *count > 0)?;
        bytes.extend_from_slice(&chunk[..count]);
        let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let (line, headers) = head.split_once("\r\n").unwrap_or((&head, ""));
        let headers = headers.to_ascii_lowercase();
        let length = headers.lines().find_map(|line| line.strip_prefix("content-length:"));
        let length: usize = length.and_then(|length| length.trim().parse().ok()).unwrap_or(0);
        if bytes.len() >= end + 4 + length {
            let body = serde_json::from_slice(&bytes[end + 4..end + 4 + length]).unwrap_or_default();
            return Some(Asked { line: line.to_owned(), headers, body });
        }
    }
}

async fn answer(mut stream: TcpStream, spelling: Spelling, turn: Turn) {
    let _ = stream.set_nodelay(true);
    // A hub that has heard enough closes; then nothing more is sent.
    let _ = spoken(&mut stream, spelling, turn).await;
}

async fn spoken(stream: &mut TcpStream, spelling: Spelling, turn: Turn) -> std::io::Result<()> {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    match turn {
        Turn::Status(status, after) => {
            let after = after.map(|after| format!("retry-after: {after}\r\n")).unwrap_or_default();
            let body = "{\"error\":{\"message\":\"the key sk-secret is not liked\"}}";
            let head =
                format!("HTTP/1.1 {status} No\r\n{after}content-length: {}\r\nconnection: close\r\n\r\n", body.len());
            stream.write_all(format!("{head}{body}").as_bytes()).await?;
        }
        Turn::Says(reply, piece) => {
            stream.write_all(head.as_bytes()).await?;
            pieces(stream, spell(spelling, &reply).as_bytes(), piece, Duration::ZERO).await?;
        }
        Turn::Drips(reply, pause) => {
            stream.write_all(head.as_bytes()).await?;
            pieces(stream, spell(spelling, &reply).as_bytes(), 16, pause).await?;
        }
        Turn::Breaks(reply, percent) => {
            stream.write_all(head.as_bytes()).await?;
            let whole = spell(spelling, &reply);
            stream.write_all(&whole.as_bytes()[..whole.len() * percent / 100]).await?;
        }
        Turn::Garbles(reply) => {
            stream.write_all(head.as_bytes()).await?;
            let whole = spell(spelling, &reply);
            let cut = whole.find('{').map_or(0, |at| at + 3);
            stream.write_all(&whole.as_bytes()[..cut]).await?;
            stream.write_all(b"\n\n\n\n").await?;
        }
    }
    stream.shutdown().await
}

async fn pieces(stream: &mut TcpStream, bytes: &[u8], piece: usize, pause: Duration) -> std::io::Result<()> {
    for chunk in bytes.chunks(piece.max(1)) {
        if !pause.is_zero() {
            tokio::time::sleep(pause).await;
        }
        stream.write_all(chunk).await?;
        stream.flush().await?;
    }
    Ok(())
}

fn sse(frames: &[Value]) -> String {
    frames.iter().map(|frame| format!("data: {frame}\n\n")).collect()
}

/// Arguments in two halves, as models write them.
fn halves(arguments: &Value) -> [String; 2] {
    let text = arguments.to_string();
    let middle = (0..=text.len() / 2).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    [text[..middle].to_owned(), text[middle..].to_owned()]
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(' ')
}

/// The whole answer as the provider streams it.
fn spell(spelling: Spelling, reply: &Reply) -> String {
    match spelling {
        Spelling::Openai => openai(reply),
        Spelling::Anthropic => anthropic(reply),
        Spelling::Gemini => gemini(reply),
        Spelling::Ollama => ollama(reply),
    }
}

fn openai(reply: &Reply) -> String {
    let delta = |delta: Value| json!({"choices": [{"index": 0, "delta": delta, "finish_reason": null}]});
    let mut frames: Vec<Value> = words(&reply.text).map(|word| delta(json!({"content": word}))).collect();
    for (index, (name, arguments)) in reply.calls.iter().enumerate() {
        let [first, second] = halves(arguments);
        let call =
            json!({"index": index, "id": format!("call_{index}"), "function": {"name": name, "arguments": first}});
        frames.push(delta(json!({"tool_calls": [call]})));
        frames.push(delta(json!({"tool_calls": [{"index": index, "function": {"arguments": second}}]})));
    }
    let reason = if reply.calls.is_empty() { "stop" } else { "tool_calls" };
    frames.push(json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}));
    frames.push(json!({"choices": [], "usage": {"prompt_tokens": 20, "completion_tokens": 5}}));
    format!("{}data: [DONE]\n\n", sse(&frames))
}

fn anthropic(reply: &Reply) -> String {
    let delta = |index: usize, delta: Value| json!({"type": "content_block_delta", "index": index, "delta": delta});
    let mut frames = vec![json!({"type": "message_start", "message": {"usage": {"input_tokens": 20}}})];
    frames.extend(words(&reply.text).map(|word| delta(0, json!({"type": "text_delta", "text": word}))));
    for (index, (name, arguments)) in (1..).zip(&reply.calls) {
        let block = json!({"type": "tool_use", "id": format!("toolu_{index}"), "name": name, "input": {}});
        frames.push(json!({"type": "content_block_start", "index": index, "content_block": block}));
        for half in halves(arguments) {
            frames.push(delta(index, json!({"type": "input_json_delta", "partial_json": half})));
        }
        frames.push(json!({"type": "content_block_stop", "index": index}));
    }
    let reason = if reply.calls.is_empty() { "end_turn" } else { "tool_use" };
    frames.push(json!({"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 5}}));
    frames.push(json!({"type": "message_stop"}));
    frames
        .iter()
        .map(|frame| format!("event: {}\ndata: {frame}\n\n", frame["type"].as_str().unwrap_or_default()))
        .collect()
}

fn gemini(reply: &Reply) -> String {
    let parts = |parts: Value| json!({"candidates": [{"content": {"role": "model", "parts": parts}}]});
    let mut frames: Vec<Value> = words(&reply.text).map(|word| parts(json!([{"text": word}]))).collect();
    let calls = reply.calls.iter().map(|(name, args)| json!({"functionCall": {"name": name, "args": args}}));
    let counts = json!({"promptTokenCount": 20, "candidatesTokenCount": 5});
    let content = json!({"role": "model", "parts": calls.collect::<Vec<_>>()});
    frames.push(json!({"candidates": [{"content": content, "finishReason": "STOP"}], "usageMetadata": counts}));
    sse(&frames)
}

fn ollama(reply: &Reply) -> String {
    let message = |message: Value| json!({"message": message, "done": false});
    let mut frames: Vec<Value> =
        words(&reply.text).map(|word| message(json!({"role": "assistant", "content": word}))).collect();
    let calls = reply.calls.iter().map(|(name, args)| json!({"function": {"name": name, "arguments": args}}));
    let calls: Vec<Value> = calls.collect();
    if !calls.is_empty() {
        frames.push(message(json!({"role": "assistant", "content": "", "tool_calls": calls})));
    }
    let last = json!({"done": true, "done_reason": "stop", "prompt_eval_count": 20, "eval_count": 5});
    frames.push(last);
    frames.iter().map(|frame| format!("{frame}\n")).collect()
}
