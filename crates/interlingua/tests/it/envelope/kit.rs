//! A hub in this process, behind its real socket, with a peer whose tools do what their names say.

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex, Weak,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
};

use interlingua::config::{self, Config};
use interlingua::server::run::Server;
use interlingua_hub::Hub;
use interlingua_model::peer::{Calling, Dispatch, Duplex, Peer, Reply};
use interlingua_model::{
    Card, CardFrom, Channel, Effects, Event, Fault, FaultKind, Finished, Health, Level, Output, Part, Party, Piece,
    Provenance, Record, RouteClass, Schema, Signal, Skill, SkillId, SkillKind, TaskId, Time,
};
use interlingua_testkit::{Answer, Connection, Events, request};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::Semaphore;

const PATH: &str = "/nlip/route";

/// A configuration from its text; relative paths start in `directory`.
pub(super) fn config(directory: &std::path::Path, yaml: &str) -> Config {
    let yaml = format!("listen: 127.0.0.1:0\nstore: {{ embedded: ./data }}\n{yaml}");
    let file = directory.join("interlingua.yaml");
    let environment = &|name: &str| std::env::var(name).ok();
    match config::load_text(&yaml, &file, &config::Overrides::default(), environment) {
        Ok(loaded) => loaded.config,
        Err(rejected) => panic!("{}", rejected.render()),
    }
}

/// A hub that serves, its bench of tools, and where it keeps its data.
pub(super) struct Route {
    pub(super) server: Server,
    pub(super) bench: Arc<Bench>,
    pub(super) directory: TempDir,
}

impl Route {
    pub(super) async fn start(yaml: &str) -> Route {
        Route::in_directory(tempfile::tempdir().expect("a directory"), yaml).await
    }

    pub(super) async fn in_directory(directory: TempDir, yaml: &str) -> Route {
        let server = Server::start(&config(directory.path(), yaml)).await.expect("the hub starts");
        let bench = Arc::new(Bench::new(&server.hub));
        server.hub.register(card(), bench.clone()).await.expect("the bench registers");
        Route { server, bench, directory }
    }

    /// Stops the hub and starts it again on the same data.
    pub(super) async fn restarted(self, yaml: &str) -> Route {
        let Route { server, directory, .. } = self;
        server.stop().await;
        Route::in_directory(directory, yaml).await
    }

    pub(super) fn hub(&self) -> &Arc<Hub> {
        &self.server.hub
    }

    pub(super) async fn connect(&self) -> Connection {
        let token = std::fs::read_to_string(self.directory.path().join("data/token")).expect("the Owner's token");
        Connection::http1(self.server.address).await.showing(Some(token))
    }

    /// Sends a message with these headers.
    pub(super) async fn send_with(&self, message: &Value, headers: &[(&str, &str)]) -> Answer {
        self.send_to(PATH, message, headers).await
    }

    /// The same, to another path than the front one.
    pub(super) async fn send_to(&self, path: &str, message: &Value, headers: &[(&str, &str)]) -> Answer {
        self.connect().await.send(post(path, message, headers)).await
    }

    /// Sends a message as the hub's owner.
    pub(super) async fn send(&self, message: &Value) -> Answer {
        self.send_with(message, &[]).await
    }

    /// Sends a message from a page of the hub's own origin: it runs on the owner's machine, but bears no token.
    pub(super) async fn send_anonymous(&self, message: &Value) -> Answer {
        let origin = format!("http://{}", self.server.address);
        self.send_with(message, &[("origin", &origin)]).await
    }

    /// Sends a message, and hands over the events it is answered with.
    pub(super) async fn stream(&self, message: &Value) -> Events {
        self.connect().await.events(post(PATH, message, &[("accept", "text/event-stream")])).await
    }
}

fn post(path: &str, message: &Value, headers: &[(&str, &str)]) -> http::Request<http_body_util::Full<bytes::Bytes>> {
    let mut builder = request(http::Method::POST, path).header("content-type", "application/json");
    for (name, value) in headers {
        builder = builder.header(*name, *value);
    }
    builder.body(http_body_util::Full::new(message.to_string().into())).expect("a request")
}

/// The responses of an answer.
pub(super) fn list(answer: &Answer) -> Vec<Value> {
    answer.json().as_array().cloned().unwrap_or_else(|| panic!("not a list: {}", answer.text()))
}

/// The one response of an answer.
pub(super) fn one(answer: &Answer) -> Value {
    let mut all = list(answer);
    assert_eq!(all.len(), 1, "{}", answer.text());
    all.remove(0)
}

/// The one error of a refused message, its status and its code.
pub(super) fn refused(answer: &Answer) -> (u16, String) {
    let error = one(answer);
    assert_eq!(error["control"]["message_type"], "error", "{error}");
    assert!(error["content"]["error"].is_string(), "{error}");
    (answer.status, error["content"]["code"].as_str().unwrap_or_default().to_owned())
}

/// All events to the end of a stream.
pub(super) async fn all(mut events: Events) -> Vec<Value> {
    let mut messages = Vec::new();
    while let Some(data) = events.next().await {
        messages.push(serde_json::from_str(&data).expect("JSON"));
    }
    messages
}

/// A message as the seed's own schema dumps it.
pub(super) fn message(kind: &str, id: &str) -> Value {
    json!({
        "format": {"content_type": "application/json", "encoding": "utf-8", "schema_version": "1.0", "compression": null},
        "control": {"message_type": kind, "message_id": id, "correlation_id": null,
            "timestamp": "2026-01-01T00:00:00.000000Z", "priority": 0, "timeout": null, "retry_count": 0},
        "token": {"session_id": null, "context_token": null, "state_token": null, "conversation_turn": 0},
        "content": {}, "tool_calls": null, "tool_results": null, "metadata": {},
    })
}

/// A request with these tool calls: id, name, parameters.
pub(super) fn calling(id: &str, calls: &[(&str, &str, Value)]) -> Value {
    let mut asked = message("request", id);
    let calls = calls.iter().map(|(tool, name, parameters)| {
        json!({"tool_id": tool, "tool_name": name, "parameters": parameters, "require_confirmation": false})
    });
    asked["tool_calls"] = calls.collect();
    asked
}

/// A request with one call of a tool of the bench.
pub(super) fn call(id: &str, tool: &str, parameters: Value) -> Value {
    calling(id, &[("t1", &format!("mcp__bench__{tool}"), parameters)])
}

/// The same in a session.
pub(super) fn within(mut asked: Value, session: &str) -> Value {
    asked["token"]["session_id"] = session.into();
    asked
}

/// What the tools of the bench did.
pub(super) struct Bench {
    hub: Weak<Hub>,
    /// Which tool ran, with which `n`, in the order they began.
    pub(super) began: Mutex<Vec<(String, Value)>>,
    pub(super) running: AtomicUsize,
    /// The most that ran at the same time.
    pub(super) most: AtomicUsize,
    /// Calls that were dropped before they ended.
    pub(super) dropped: Arc<AtomicUsize>,
    /// `gate` waits for one of these.
    pub(super) gate: Semaphore,
    /// Whether the task of a call was in the journal when its tool began.
    pub(super) kept: Mutex<Vec<bool>>,
}

impl Bench {
    fn new(hub: &Arc<Hub>) -> Bench {
        Bench {
            hub: Arc::downgrade(hub),
            began: Mutex::default(),
            running: AtomicUsize::new(0),
            most: AtomicUsize::new(0),
            dropped: Arc::default(),
            gate: Semaphore::new(0),
            kept: Mutex::default(),
        }
    }

    /// How often a tool was begun.
    pub(super) fn count(&self, tool: &str) -> usize {
        self.began.lock().expect("no test panicked").iter().filter(|(name, _)| name == tool).count()
    }

    pub(super) fn order(&self) -> Vec<Value> {
        self.began.lock().expect("no test panicked").iter().map(|(_, n)| n.clone()).collect()
    }

    /// Waits until so many calls of a tool have begun.
    pub(super) async fn begun(&self, tool: &str, times: usize) {
        until(&format!("{times} calls of {tool}"), || self.count(tool) >= times).await;
    }

    async fn is_kept(&self, task: TaskId) -> bool {
        let hub = self.hub.upgrade().expect("the hub runs");
        hub.journal().task(task).await.expect("the journal reads").is_some()
    }
}

/// Waits until something holds, and panics with its name when it does not come to.
pub(super) async fn until(what: &str, holds: impl Fn() -> bool) {
    for _ in 0..3_000 {
        if holds() {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    panic!("{what}: it did not come to that");
}

struct Dropped(Arc<AtomicUsize>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

impl Peer for Bench {
    fn call(self: Arc<Self>, dispatch: Dispatch) -> Calling {
        Box::pin(async move {
            let tool = dispatch.skill.id.skill.to_string();
            let args = dispatch.call.input().and_then(|input| input.args.clone()).expect("arguments");
            let n = args.get("n").cloned().unwrap_or_default();
            self.began.lock().expect("no test panicked").push((tool.clone(), n));
            let running = self.running.fetch_add(1, Ordering::SeqCst) + 1;
            self.most.fetch_max(running, Ordering::SeqCst);
            let finished = match tool.as_str() {
                "write" => {
                    let kept = self.is_kept(dispatch.task).await;
                    self.kept.lock().expect("no test panicked").push(kept);
                    let count = self.count("write");
                    completed(json!({ "count": count }))
                }
                "gate" | "gate_writing" => {
                    self.gate.acquire().await.expect("the gate stands").forget();
                    completed(args.tree().clone())
                }
                "hang" | "hang_writing" => {
                    let _told = Dropped(self.dropped.clone());
                    std::future::pending().await
                }
                "fail" => {
                    Finished::failed(Fault::new(FaultKind::PeerFailed, Party::Peer("bench".into()), "the disk is full"))
                }
                // As a tool server that sets `isError` is told by its edge: failed, and what it said beside it.
                "is_error" => Finished {
                    output: Output { parts: vec![Part::text("no such city", Provenance::hub())], ..Output::default() },
                    ..Finished::failed(Fault::new(FaultKind::PeerFailed, Party::Peer("bench".into()), "no such city"))
                },
                "broken" => Finished::failed(Fault::internal(std::io::Error::other("/secret/path: token=hunter2"))),
                "stream" => {
                    self.running.fetch_sub(1, Ordering::SeqCst);
                    return Ok(Reply::Live(Box::new(Script(streaming()))));
                }
                _ => completed(args.tree().clone()),
            };
            self.running.fetch_sub(1, Ordering::SeqCst);
            Ok(Reply::Done(Box::new(finished), None))
        })
    }
}

fn completed(value: Value) -> Finished {
    Finished::completed(Output { structured: Some(value.into()), ..Output::default() })
}

struct Script(VecDeque<Record>);

impl Duplex for Script {
    fn poll_next(&mut self, _: &mut Context<'_>) -> Poll<Option<Record>> {
        Poll::Ready(self.0.pop_front())
    }

    fn signal(&mut self, _: Signal) -> Result<(), Fault> {
        Ok(())
    }
}

fn streaming() -> VecDeque<Record> {
    let said = |text: &str, channel, piece| {
        let parts = vec![Part::text(text, Provenance::hub())];
        Record::emitted(Event::Said { message: text.into(), channel, piece, parts })
    };
    [
        said("one", Channel::Answer, Piece::Whole),
        said("looking around", Channel::Note(Level::Info), Piece::Whole),
        said("two", Channel::Answer, Piece::Whole),
        Record::emitted(Event::Finished(Finished::completed(Output::default()))),
    ]
    .into()
}

fn card() -> Card {
    let reads = Effects::reads_only(CardFrom::Configuration);
    let writes = Effects { writes: true, idempotent: false, ..reads };
    let skill = |name: &str, effects: Effects| {
        let schema = json!({"type": "object", "properties": {"n": {}}});
        let skill =
            Skill::new(SkillId::new("bench", name), SkillKind::Tool, name, Schema(schema.into()), effects).sealed();
        Skill { public: name == "public", ..skill }
    };
    Card {
        peer: "bench".into(),
        title: "Bench".into(),
        description: "".into(),
        version: "1".into(),
        class: RouteClass::InProcess,
        provider: None,
        skills: ["say", "public", "gate", "hang", "fail", "is_error", "broken", "stream"]
            .map(|name| skill(name, reads))
            .into_iter()
            .chain(["write", "hang_writing", "gate_writing"].map(|name| skill(name, writes)))
            .collect(),
        resources: Vec::new(),
        sources: Vec::new(),
        health: Health::Up,
        telemetry: None,
        seen: Time(0),
        raw: None,
    }
}
