//! Allocations of one call of each main kind, counted in the process of the hub and compared with recorded counts. A count is the same on a
//! busy machine, so `make test` can check it; `make bench` measures instructions and times.
//!
//! It is a program of its own, because the allocator of a process counts for all of its tests.

use std::alloc::System;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;

use interlingua::config::{Overrides, load_text};
use interlingua::server::run::Server;
use interlingua_testkit::{Hub, OWNER_TOKEN};
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Calls that fill caches and pools, and calls that are counted.
const WARM: u64 = 200;
const COUNTED: u64 = 1_000;

/// Allocations (and growths of one) of a call in a build without optimisation, by kind. A change that raises one by more than
/// [`SLACK`] needs a reason in its commit; one that lowers it by as much writes the new count here.
const WRITTEN_DOWN: [(&str, f64); 5] = [
    ("MCP session", 227.5),
    ("MCP stateless", 219.6),
    ("NLIP echo", 103.2),
    ("A2A message", 95.1),
    ("envelope", 176.6),
];

/// The share by which a count may differ.
const SLACK: f64 = 0.05;

const STATELESS: &str = "accept: application/json, text/event-stream\r\nmcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: up__local__read_file\r\n";
const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"count","version":"1"}}}"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn allocations_of_the_main_calls_stay_within_five_percent_of_what_is_written_down() {
    let upstream = Hub::builder(env!("CARGO_BIN_EXE_interlingua"))
        .known_owner()
        .config("limits: { rate: 1000000/s }\ntools: { workspace: ./workspace }\n")
        .file("workspace/said.txt", "said-by-the-file")
        .start()
        .await;
    let directory = tempfile::tempdir().expect("a temporary directory");
    let (server, token) = measured_hub(&upstream.url("/mcp"), directory.path()).await;
    let address = server.address;
    let counted =
        tokio::task::spawn_blocking(move || count_all(address, &token)).await.expect("the calls are answered");
    server.stop().await;
    let differs = |(expected, found): (f64, f64)| (found - expected).abs() > expected * SLACK;
    let pairs = WRITTEN_DOWN.into_iter().zip(counted);
    let off = pairs.filter(|((_, expected), (_, found))| differs((*expected, *found)));
    let off: Vec<String> =
        off.map(|((kind, expected), (_, found))| format!("{kind}: {found:.1}, not {expected:.1}")).collect();
    assert!(off.is_empty(), "allocations a call: {off:?}");
}

/// A hub in this process, with another one (a process of its own) as its MCP server.
async fn measured_hub(upstream: &str, directory: &Path) -> (Server, String) {
    let config = format!(
        "limits: {{ rate: 1000000/s }}\nfront_door: hub/echo\n\
         peers: {{ up: {{ mcp: {{ url: \"{upstream}\", token: {OWNER_TOKEN} }}, effects: reads }} }}\n"
    );
    let overrides = Overrides {
        listen: Some("127.0.0.1:0".parse().expect("an address")),
        data: Some(directory.join("data")),
        ..Overrides::default()
    };
    let loaded = load_text(&config, &directory.join("interlingua.yaml"), &overrides, &|_| None);
    let server = Server::start(&loaded.expect("a valid configuration").config).await.expect("the hub starts");
    let token = std::fs::read_to_string(directory.join("data/token")).expect("the Owner's token");
    (server, token.trim().to_owned())
}

fn count_all(address: SocketAddr, token: &str) -> [(&'static str, f64); 5] {
    let session = Caller::connect(address, token).session();
    let legacy = format!(
        "accept: application/json, text/event-stream\r\nmcp-protocol-version: 2025-06-18\r\nmcp-session-id: {session}\r\n"
    );
    let call = |meta: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"up__local__read_file","arguments":{{"path":"said.txt"}}{meta}}}}}"#
        )
    };
    let meta = r#","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
    let nlip = r#"{"format":"text","subformat":"english","content":"said-@N@"}"#;
    let a2a = r#"{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"count-@N@","role":"ROLE_USER","parts":[{"text":"said-@N@"}]}}}"#;
    let envelope = r#"{"format":{"content_type":"application/json","encoding":"utf-8","schema_version":"1.0"},"control":{"message_type":"request","message_id":"count-@N@","timestamp":"2026-01-01T00:00:00Z"},"token":{"conversation_turn":0},"content":{},"tool_calls":[{"tool_id":"t1","tool_name":"mcp__hub__echo","parameters":{"text":"said-@N@"}}]}"#;
    let count = |path, headers: &str, body: &str, expected| {
        Caller::connect(address, token).count(path, headers, body, expected)
    };
    let (file, words) = ("said-by-the-file", "said-@N@");
    [
        ("MCP session", count("/mcp", &legacy, &call(""), file)),
        ("MCP stateless", count("/mcp", STATELESS, &call(meta), file)),
        ("NLIP echo", count("/nlip", "", nlip, words)),
        ("A2A message", count("/a2a", "a2a-version: 1.0\r\n", a2a, words)),
        ("envelope", count("/nlip/route", "", envelope, words)),
    ]
}

/// One connection that allocates nothing while it calls.
struct Caller<'a> {
    connection: TcpStream,
    address: SocketAddr,
    token: &'a str,
    answer: Vec<u8>,
}

impl<'a> Caller<'a> {
    fn connect(address: SocketAddr, token: &'a str) -> Self {
        let connection = TcpStream::connect(address).expect("the hub listens");
        connection.set_nodelay(true).expect("a socket option");
        Self { connection, address, token, answer: vec![0; 1 << 16] }
    }

    /// The id of a session of MCP's legacy era, initialized.
    fn session(mut self) -> String {
        let headers = "accept: application/json, text/event-stream\r\n";
        let initialize = self.request("/mcp", headers, INITIALIZE);
        let size = self.exchange(&initialize, "protocolVersion");
        let head = String::from_utf8_lossy(&self.answer[..size]).into_owned();
        let id = head.lines().find_map(|line| line.strip_prefix("mcp-session-id: ")).expect("a session").to_owned();
        let headers = format!("{headers}mcp-protocol-version: 2025-06-18\r\nmcp-session-id: {id}\r\n");
        let initialized = self.request("/mcp", &headers, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        self.exchange(&initialized, "202");
        id
    }

    fn request(&self, path: &str, headers: &str, body: &str) -> String {
        format!(
            "POST {path} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\n{headers}content-length: {}\r\n\r\n{body}",
            self.address,
            self.token,
            body.len(),
        )
    }

    /// Allocations of the whole process for one call, `@N@` in it made anew each time.
    fn count(&mut self, path: &str, headers: &str, body: &str, expected: &str) -> f64 {
        let each = |number: u64| {
            let anew = |text: &str| text.replace("@N@", &format!("{number:08}"));
            (self.request(path, headers, &anew(body)), anew(expected))
        };
        let requests: Vec<(String, String)> = (0..WARM + COUNTED).map(each).collect();
        let (warm, counted) = requests.split_at(usize::try_from(WARM).expect("a small number"));
        let (first, answer) = &requests[0];
        self.until_answered(first, answer);
        for (request, expected) in warm {
            self.exchange(request, expected);
        }
        let before = taken();
        for (request, expected) in counted {
            self.exchange(request, expected);
        }
        (taken() - before) as f64 / COUNTED as f64
    }

    /// Repeats a call until it has its answer: a hub that has just started may not know yet what its peers offer.
    fn until_answered(&mut self, request: &str, expected: &str) {
        for _ in 0..600 {
            let size = self.answer_to(request);
            if contains(&self.answer[..size], expected) {
                return;
            }
            #[expect(clippy::disallowed_methods, reason = "a client of blocking sockets in a thread of its own")]
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        panic!("{expected} is never answered");
    }

    /// Sends a request, and says how long its answer is, which has what is expected.
    fn exchange(&mut self, request: &str, expected: &str) -> usize {
        let size = self.answer_to(request);
        let answer = &self.answer[..size];
        assert!(contains(answer, expected), "{expected} is not in: {}", String::from_utf8_lossy(answer));
        size
    }

    /// Sends a request and reads the whole response.
    fn answer_to(&mut self, request: &str) -> usize {
        self.connection.write_all(request.as_bytes()).expect("a request is taken");
        let mut size = 0;
        loop {
            let read = self.connection.read(&mut self.answer[size..]).expect("an answer");
            assert!(read > 0, "the hub closed: {}", String::from_utf8_lossy(&self.answer[..size]));
            size += read;
            if is_whole(&self.answer[..size]) {
                return size;
            }
        }
    }
}

fn contains(answer: &[u8], expected: &str) -> bool {
    answer.windows(expected.len()).any(|part| part == expected.as_bytes())
}

fn taken() -> u64 {
    let stats = ALLOCATOR.stats();
    u64::try_from(stats.allocations + stats.reallocations).unwrap_or(u64::MAX)
}

/// Whether a response has come to its end: by its `content-length`, by the last chunk, or by a status without a body.
fn is_whole(answer: &[u8]) -> bool {
    let Some(end) = answer.windows(4).position(|part| part == b"\r\n\r\n") else { return false };
    let (head, body) = (&answer[..end], &answer[end + 4..]);
    let after = |name: &[u8]| {
        let at = head.windows(name.len()).position(|part| part.eq_ignore_ascii_case(name))?;
        Some(&head[at + name.len()..])
    };
    match after(b"\r\ncontent-length: ") {
        Some(rest) => {
            let digits = rest.iter().take_while(|byte| byte.is_ascii_digit());
            body.len() >= digits.fold(0, |number, byte| number * 10 + usize::from(byte - b'0'))
        }
        None if after(b"\r\ntransfer-encoding: chunked").is_some() => body.ends_with(b"0\r\n\r\n"),
        None => true,
    }
}
