//! The hub as a client of MCP servers: programs and HTTP, modern, legacy and of 2024, healthy and failing.

mod callers;
mod calls;
mod children;
mod eras;
mod faults;
mod follow;
mod lists;
mod oauth;
mod questions;
mod scripted;
mod sessions;
mod wire;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use interlingua_testkit::{Hub, HubBuilder, Peer, root};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::mcp::Modern;
use crate::support::until;

/// What a server wrote down, in a directory of its own.
struct Log {
    _directory: TempDir,
    path: PathBuf,
}

impl Log {
    fn new() -> Log {
        let directory = tempfile::tempdir().expect("a directory");
        Log { path: directory.path().join("log"), _directory: directory }
    }

    fn lines(&self, begin: &str) -> Vec<String> {
        let text = std::fs::read_to_string(&self.path).unwrap_or_default();
        text.lines().filter(|line| line.starts_with(begin)).map(str::to_owned).collect()
    }

    fn count(&self, begin: &str) -> usize {
        self.lines(begin).len()
    }
}

fn python() -> PathBuf {
    root().join(".venv/bin/python")
}

fn script() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/mcp_client/server.py")
}

/// The configuration of a server that is a program.
fn program(era: &str, log: &Log) -> String {
    let args = [script().display().to_string(), "stdio".into(), era.into(), log.path.display().to_string()];
    format!("{{ trust_hints: true, mcp: {{ command: {}, args: {} }} }}", python().display(), json!(args))
}

/// A server over HTTP.
async fn server(era: &str, log: &Log) -> Peer {
    Peer::listening(|address| at(address, era, log)).await
}

fn at(address: SocketAddr, era: &str, log: &Log) -> std::process::Command {
    let mut command = std::process::Command::new(python());
    command.arg(script()).arg(address.to_string()).arg(era).arg(&log.path);
    command
}

fn url(server: &Peer) -> String {
    format!("{{ trust_hints: true, mcp: {{ url: \"http://{}/mcp\" }} }}", server.address())
}

fn builder(peers: &[(&str, String)]) -> HubBuilder {
    builder_with(peers, "")
}

/// With more lines of configuration.
fn builder_with(peers: &[(&str, String)], more: &str) -> HubBuilder {
    let lines: String = peers.iter().map(|(name, line)| format!("  {name}: {line}\n")).collect();
    Hub::builder(env!("CARGO_BIN_EXE_interlingua")).config(&format!("{more}peers:\n{lines}"))
}

/// A hub with these peers, once they have been listed.
async fn hub(peers: &[(&str, String)]) -> Hub {
    let hub = builder(peers).start().await;
    for (name, _) in peers {
        listed(&hub, name).await;
    }
    hub
}

async fn listed(hub: &Hub, name: &str) {
    until("a server that is listed", async || peer(hub, name).await["skills"].as_u64() > Some(0)).await;
}

/// What the hub shows of a peer.
async fn peer(hub: &Hub, name: &str) -> Value {
    let peers = hub.get("/api/peers").await.json();
    let found = peers["items"].as_array().into_iter().flatten().find(|peer| peer["name"] == name);
    found.cloned().unwrap_or_default()
}

async fn call(hub: &Hub, skill: &str, arguments: Value) -> Value {
    hub.post_json("/api/exchanges", &json!({"skill": skill, "arguments": arguments})).await.json()
}

/// A routing envelope with one call, by the name MCP clients know the tool by.
fn enveloped(tool: &str) -> Value {
    json!({
        "format": {"content_type": "application/json"},
        "control": {"message_type": "request", "message_id": format!("of {tool}")},
        "content": {},
        "tool_calls": [{"tool_id": "t", "tool_name": format!("mcp__{tool}"), "parameters": {}}],
    })
}

/// The words of the first part of an outcome.
fn said(exchange: &Value) -> String {
    exchange["finished"]["parts"][0]["text"].as_str().unwrap_or_else(|| panic!("no text in {exchange}")).to_owned()
}

fn fault(exchange: &Value) -> &Value {
    &exchange["finished"]["fault"]["kind"]
}

/// The same server in every way it can be reached: a name, and what must live as long as the test.
struct Everywhere {
    hub: Hub,
    names: Vec<&'static str>,
    logs: Vec<Log>,
    _servers: Vec<Peer>,
}

impl Everywhere {
    async fn start(ways: &[(&'static str, &str, &str)]) -> Everywhere {
        let (mut peers, mut logs, mut servers) = (Vec::new(), Vec::new(), Vec::new());
        for (name, transport, era) in ways {
            let log = Log::new();
            peers.push((
                *name,
                if *transport == "stdio" {
                    program(era, &log)
                } else {
                    let server = server(era, &log).await;
                    let line = url(&server);
                    servers.push(server);
                    line
                },
            ));
            logs.push(log);
        }
        Everywhere { hub: hub(&peers).await, names: ways.iter().map(|way| way.0).collect(), logs, _servers: servers }
    }

    /// Both eras, both transports, and the transport of 2024.
    async fn all() -> Everywhere {
        Everywhere::start(&[
            ("modern-program", "stdio", "modern"),
            ("legacy-program", "stdio", "legacy"),
            ("modern-http", "http", "modern"),
            ("legacy-http", "http", "legacy"),
            ("old-http", "http", "old"),
        ])
        .await
    }
}
