//! A canary in every place that holds a secret; then all output and files of the hub are searched for them.
//!
//! Peers of every protocol are there, some that refuse every caller and some that are unreachable. The peers for which a canary is meant
//! receive it, so the test can fail.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use futures_util::FutureExt;
use http::Method;
use interlingua_testkit::{Answer, Collector, Hub, HubBuilder};
use rcgen::KeyPair;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use super::{call, program, with_token};
use crate::support::{builder, send, until};

/// The secrets of the configuration, each in a variable of the hub's environment by this name.
const PLANTED: &[&str] = &[
    "CALLER_TOKEN",
    "NLIP_TOKEN",
    "MCP_TOKEN",
    "MCP_HEADER",
    "MCP_CHILD",
    "OAUTH_SECRET",
    "A2A_KEY",
    "A2A_HEADER",
    "A2A_TOKEN",
    "A2A_PASSWORD",
    "AIP_PEER",
    "AIP_KEY",
    "AIP_DEVICE",
    "NLWEB_TOKEN",
    "MODEL_KEY",
    "NOBODY_ASKS",
];

fn canary(name: &str) -> String {
    format!("canary-{}-5c1f", name.to_lowercase().replace('_', "-"))
}

/// Keys are bytes: their canaries are digits.
const OUTER: &str = "c0ffee00c0ffee01c0ffee02c0ffee03c0ffee04c0ffee05c0ffee06c0ffee07";
const SESSIONS: &str = "decade00decade01decade02decade03decade04decade05decade06decade07";

fn config(turns_away: u16, nobody: u16, traces: &str) -> String {
    format!(
        r#"
telemetry: {{ otlp: "{traces}", log: {{ level: trace }} }}
store: {{ encryption: {{ key: "file:outer.key" }} }}
tools: {{ directory: ./tools }}
access:
  tokens: [{{ name: ana, token: "${{CALLER_TOKEN}}" }}]
peers:
  by-nlip: {{ nlip: {{ url: "http://127.0.0.1:{turns_away}/nlip", token: "${{NLIP_TOKEN}}" }} }}
  by-mcp: {{ mcp: {{ url: "http://127.0.0.1:{turns_away}/mcp", token: "${{MCP_TOKEN}}", headers: {{ x-more: "${{MCP_HEADER}}" }} }} }}
  by-child: {{ mcp: {{ command: sh, args: ["-c", "echo started >&2; exec sleep 600"], env: {{ CHILD_KEY: "${{MCP_CHILD}}" }} }} }}
  by-oauth: {{ mcp: {{ url: "http://127.0.0.1:{turns_away}/oauth/mcp", oauth: {{ grant: client_credentials, client_id: hub, client_secret: "${{OAUTH_SECRET}}" }} }} }}
  by-a2a: {{ a2a: {{ url: "http://127.0.0.1:{turns_away}", api_key: "${{A2A_KEY}}", headers: {{ x-more: "${{A2A_HEADER}}" }} }} }}
  by-a2a-token: {{ a2a: {{ url: "http://127.0.0.1:{nobody}", token: "${{A2A_TOKEN}}" }} }}
  by-a2a-password: {{ a2a: {{ url: "http://127.0.0.1:{turns_away}/basic", basic: {{ user: hub, password: "${{A2A_PASSWORD}}" }} }} }}
  by-aip: {{ aip: {{ url: "ws://127.0.0.1:{turns_away}/ws", target: lab, key: "${{AIP_PEER}}" }} }}
  by-nlweb: {{ nlweb: {{ url: "http://127.0.0.1:{turns_away}/ask", token: "${{NLWEB_TOKEN}}" }} }}
models:
  default: {{ provider: openai, model: m, base_url: "http://127.0.0.1:{turns_away}/v1/", api_key: "${{MODEL_KEY}}", attempts: 1 }}
agents: {{ thinker: {{ model: default }} }}
aip: {{ key: "${{AIP_KEY}}", devices: {{ kitchen: {{ key: "${{AIP_DEVICE}}" }} }} }}
a2a: {{ sign_with: "file:./card.pem", push_private_addresses: true }}
nlip: {{ tokens: {{ key: "{SESSIONS}" }} }}
"#
    )
}

/// A server that answers 401 to everything, and what it was sent.
struct TurnsAway {
    port: u16,
    heard: Arc<Mutex<String>>,
    _serving: JoinSet<()>,
}

impl TurnsAway {
    async fn start() -> TurnsAway {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let heard = Arc::new(Mutex::new(String::new()));
        let mut serving = JoinSet::new();
        serving.spawn(turn_away(listener, heard.clone()));
        TurnsAway { port, heard, _serving: serving }
    }

    fn heard(&self) -> String {
        self.heard.lock().expect("nobody panics with it").clone()
    }
}

async fn turn_away(listener: TcpListener, heard: Arc<Mutex<String>>) {
    let mut connections = JoinSet::new();
    while let Ok((mut stream, _)) = listener.accept().await {
        let heard = heard.clone();
        connections.spawn(async move {
            let mut piece = vec![0; 16 * 1024];
            let read = stream.read(&mut piece).await.unwrap_or(0);
            heard.lock().expect("nobody panics with it").push_str(&String::from_utf8_lossy(&piece[..read]));
            let answer = "HTTP/1.1 401 Unauthorized\r\nwww-authenticate: Bearer\r\ncontent-length: 2\r\nconnection: close\r\n\r\nno";
            // Whoever asked may have left.
            let _left = stream.write_all(answer.as_bytes()).await;
        });
    }
}

/// All that came out, and where each piece of it did.
#[derive(Default)]
pub(super) struct Seen(Vec<(String, Vec<u8>)>);

impl Seen {
    pub(super) fn add(&mut self, place: impl Into<String>, bytes: impl Into<Vec<u8>>) {
        self.0.push((place.into(), bytes.into()));
    }

    pub(super) fn answer(&mut self, place: &str, answer: &Answer) {
        self.add(format!("{place} (headers)"), format!("{:?}", answer.headers));
        self.add(place, answer.text());
    }

    /// Where these bytes are.
    pub(super) fn places(&self, secret: &str) -> Vec<&str> {
        let holds = |bytes: &[u8]| bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
        self.0.iter().filter(|(_, bytes)| holds(bytes)).map(|(place, _)| place.as_str()).collect()
    }
}

fn prepared(config: &str, key: &KeyPair) -> HubBuilder {
    let planted = PLANTED.iter().fold(builder(), |builder, name| builder.environment(name, &canary(name)));
    planted.file("outer.key", OUTER).file("card.pem", key.serialize_pem()).config(config)
}

/// Lists, pages, documents: whatever can be read.
pub(super) async fn read_everything(hub: &Hub, seen: &mut Seen) {
    let paths = [
        "/",
        "/healthz",
        "/readyz",
        "/metrics",
        "/who",
        "/sites",
        "/.well-known/agent-card.json",
        "/agents/thinker/.well-known/agent-card.json",
        "/api/openapi.json",
        "/api/peers",
        "/api/skills",
        "/api/agents",
        "/api/tasks",
        "/api/artifacts",
        "/api/messages",
        "/api/confirmations",
        "/api/conversations",
        "/api/audit",
        "/api/keys",
        "/api/clients",
        "/api/health",
        "/nothing-here",
    ];
    for path in paths {
        seen.answer(path, &hub.get(path).await);
    }
}

/// Calls that fail, each in its own way.
async fn call_everybody(hub: &Hub, seen: &mut Seen) {
    let peers = [
        "by-nlip",
        "by-mcp",
        "by-child",
        "by-oauth",
        "by-a2a",
        "by-a2a-token",
        "by-a2a-password",
        "by-aip",
        "by-nlweb",
    ];
    for peer in peers.into_iter().chain(["thinker", "hub"]) {
        for skill in ["chat", "ask", "echo"] {
            let named = json!({"skill": format!("{peer}/{skill}"), "text": "hello", "deadline": "5s"});
            seen.answer(&format!("call {peer}/{skill}"), &hub.post_json("/api/exchanges", &named).await);
        }
        let talk = json!({"peer": peer, "text": "hello", "deadline": "5s"});
        seen.answer(&format!("talk {peer}"), &hub.post_json("/api/exchanges", &talk).await);
        let nlip = json!({"format": "text", "subformat": "english", "content": "hello"});
        seen.answer(&format!("nlip {peer}"), &hub.post_json(&format!("/agents/{peer}/nlip"), &nlip).await);
        let form = "application/x-www-form-urlencoded";
        let asked = hub.post(&format!("/agents/{peer}/ask"), form, "query=hello").await;
        seen.answer(&format!("ask {peer}"), &asked);
    }
}

/// What callers bring is theirs: right, wrong, and in every place where a wire has one.
const BROUGHT: &[&str] = &[
    "canary-wrong-bearer",
    "ilg_canary-wrong-own",
    "eyJhbGciOiJFUzI1NiJ9.canary-jwt.sig",
    "canary-nlip-token",
    "canary-query-key",
    "canary-push-token",
    "canary-push-credential",
    "canary-envelope-token",
    "canary-api-key",
];

async fn come_in_with_secrets(hub: &Hub, seen: &mut Seen) {
    for token in [&BROUGHT[..3], &[canary("CALLER_TOKEN").as_str()]].concat() {
        let bearer = format!("Bearer {token}");
        for path in ["/api/peers", "/mcp", "/.well-known/agent-card.json", "/metrics", "/who"] {
            let headers = [("authorization", bearer.as_str()), ("x-api-key", BROUGHT[8])];
            seen.answer("come in", &send(hub, Method::GET, path, &headers, None).await);
        }
    }
    let message = with_token(call("hub/echo", &json!({"text": "hello"})), BROUGHT[3]);
    // An NLIP token that the hub does not know is the caller's, and is given back to that caller; so only the log counts.
    hub.post_json("/nlip", &message).await;
    hub.post_json("/nlip", &with_token(call("hub/echo", &json!({"text": "hello"})), &canary("CALLER_TOKEN"))).await;
    let routed = json!({"nlip_version": "1.0", "message_id": "m1", "message_type": "request",
        "control": {"auth_token": BROUGHT[7]}, "content": {"messages": [{"role": "user", "content": "hello"}]}});
    seen.answer("envelope", &hub.post_json("/nlip/route", &routed).await);
    seen.answer("device", &hub.get(&format!("/ws?token={}", BROUGHT[4])).await);
    seen.answer("device", &hub.get(&format!("/aip/ws?token={}", canary("AIP_KEY"))).await);
    let push = json!({"url": "http://127.0.0.1:9/hook", "token": BROUGHT[5],
        "authentication": {"scheme": "Bearer", "credentials": BROUGHT[6]}});
    let sent = json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {
        "message": {"messageId": "m1", "role": "ROLE_USER", "parts": [{"text": "hello"}]},
        "configuration": {"taskPushNotificationConfig": push, "returnImmediately": true}}});
    let headers = [("a2a-version", "1.0")];
    seen.answer("push", &send(hub, Method::POST, "/a2a", &headers, Some(sent)).await);
}

/// What the program says of this hub and of its configuration.
fn ask_the_program(hub: &Hub, seen: &mut Seen) {
    hub.write("wrong.yaml", "access: { tokens: [{ name: ana, token: \"${CALLER_TOKEN}\", rolse: [x] }] }\nstore: { encryption: { key: \"${MODEL_KEY}\" } }\n");
    let commands: [&[&str]; 12] = [
        &["--help"],
        &["serve", "--help"],
        &["keys", "--help"],
        &["check", "interlingua.yaml"],
        &["check", "--json", "interlingua.yaml"],
        &["check", "wrong.yaml"],
        &["serve", "-c", "wrong.yaml", "--listen", "127.0.0.1:0"],
        &["doctor", "-c", "interlingua.yaml", "--data", "data"],
        &["explain", "user:ana", "call", "hub/echo"],
        &["peers"],
        &["keys", "list"],
        &["call", "by-mcp/echo", "--token", "canary-typed-token"],
    ];
    for arguments in commands {
        let mut command = Command::new(program());
        command.current_dir(hub.directory()).env_remove("INTERLINGUA_HUB").env("INTERLINGUA_DATA", "data");
        command.envs(PLANTED.iter().map(|name| (name, canary(name))));
        command.env("INTERLINGUA_TOKEN", "canary-token-of-the-environment").stdin(Stdio::null());
        let output = command.args(arguments).output().expect("it runs");
        seen.add(format!("interlingua {}", arguments.join(" ")), [output.stdout, output.stderr].concat());
    }
}

/// The command lines of the hub and of what it started, and the environments of the latter.
fn look_at_processes(hub: &Hub, seen: &mut Seen) -> Vec<u32> {
    let own = hub.id();
    seen.add("command line of the hub", std::fs::read(format!("/proc/{own}/cmdline")).expect("it runs"));
    let mut started = Vec::new();
    for entry in std::fs::read_dir("/proc").expect("processes").flatten() {
        let Some(id) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        // In the fourth field; the second is a name in brackets.
        let stat = std::fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let parent = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(1)?.parse::<u32>().ok());
        if parent == Some(own) {
            started.push(id);
            seen.add("command line of a child", std::fs::read(entry.path().join("cmdline")).unwrap_or_default());
            let environment = std::fs::read(entry.path().join("environ")).unwrap_or_default();
            // Its own is its own.
            let text = String::from_utf8_lossy(&environment).replace(&canary("MCP_CHILD"), "");
            seen.add("environment of a child", text);
        }
    }
    started
}

pub(super) fn read_files(dir: &Path, seen: &mut Seen) {
    for entry in std::fs::read_dir(dir).expect("a directory") {
        let path = entry.expect("a name").path();
        if path.is_dir() {
            read_files(&path, seen);
        } else {
            // A socket cannot be read.
            seen.add(format!("file {}", path.display()), std::fs::read(&path).unwrap_or_default());
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_secret_is_in_anything_the_hub_says_or_writes() {
    let (peer, mut traces) = (TurnsAway::start().await, Collector::start().await);
    let key = KeyPair::generate().expect("a key");
    let nobody = interlingua_testkit::port::free().port();
    let yaml = config(peer.port, nobody, traces.endpoint());
    let mut hub = prepared(&yaml, &key).keeping_lines(2_000_000).start().await;
    let mut seen = Seen::default();
    read_everything(&hub, &mut seen).await;
    call_everybody(&hub, &mut seen).await;
    seen.add("log", hub.log());
    come_in_with_secrets(&hub, &mut seen).await;
    seen.add("log", hub.log());
    until("a child runs", async || !look_at_processes(&hub, &mut Seen::default()).is_empty()).await;
    look_at_processes(&hub, &mut seen);
    ask_the_program(&hub, &mut seen);
    hub.reload();
    until("it was read again", async || hub.log().contains("configuration applied")).await;
    read_everything(&hub, &mut seen).await;
    // Secrets that are used reach those they are for.
    for name in ["NLIP_TOKEN", "MCP_TOKEN", "MCP_HEADER", "A2A_HEADER", "MODEL_KEY"] {
        until(name, async || peer.heard().contains(&canary(name))).await;
    }
    read_files(&hub.data(), &mut seen);
    hub.stop().await;
    read_files(&hub.data(), &mut seen);
    seen.add("log", hub.log());
    while let Some(export) = traces.next().now_or_never() {
        seen.add("traces", export.message.to_vec());
    }
    assert!(hub.log().contains("TRACE"), "the log is as loud as it can be");
    for name in PLANTED {
        assert_eq!(seen.places(&canary(name)), Vec::<&str>::new(), "{name}");
    }
    // A key is also not there as its bytes in another spelling.
    let middle = key.serialize_pem().lines().nth(1).expect("a line").to_owned();
    let typed = ["canary-typed-token", "canary-token-of-the-environment"];
    for secret in [OUTER, SESSIONS, middle.as_str()].iter().chain(BROUGHT).chain(&typed) {
        assert_eq!(seen.places(secret), Vec::<&str>::new(), "{secret}");
    }
}
