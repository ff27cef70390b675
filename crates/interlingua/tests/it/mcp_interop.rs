//! The hub between MCP programs other people wrote: the official SDK's clients of both eras in front of it, the official
//! servers behind it, and every pair of eras.

use std::fmt::Write as _;

use interlingua_testkit::mcp::{self, Era, Sdk};
use interlingua_testkit::{Hub, HubBuilder};
use serde_json::{Value, json};

/// A hub with the fixture as a program of its own, spoken to over stdio.
fn before_the_fixture(era: Era) -> HubBuilder {
    let program = mcp::fixture_program();
    // For `interlingua mcp`, which is a hub of its own here: several of them run beside each other.
    let listen = interlingua_testkit::port::free();
    let yaml = format!(
        "listen: {listen}\npeers: {{ fixture: {{ mcp: {{ command: {program:?}, args: [--era, {}] }}, effects: reads, public: true }} }}\n",
        era.name()
    );
    Hub::builder(env!("CARGO_BIN_EXE_interlingua")).config(&yaml)
}

async fn over_http(sdk: Sdk, mode: Option<&str>, era: Era) {
    let hub = before_the_fixture(era).start().await;
    known(&hub, "fixture").await;
    sdk.check(mode, "fixture__", &[hub.url("/mcp")]).await;
}

/// `interlingua mcp` as a desktop client starts it.
async fn over_stdio(sdk: Sdk, mode: Option<&str>) {
    let hub = before_the_fixture(Era::Both);
    let file = hub.directory().join("interlingua.yaml");
    let data = hub.directory().join("data");
    let command = [env!("CARGO_BIN_EXE_interlingua").into(), "mcp".into(), "-c".into(), file, "--data".into(), data];
    let command: Vec<String> = command.map(|word: std::path::PathBuf| word.to_string_lossy().into_owned()).to_vec();
    sdk.check(mode, "fixture__", &command).await;
}

/// Waits until the hub has listed a peer's skills: a client that comes earlier sees a shorter list.
async fn known(hub: &Hub, peer: &str) {
    for _ in 0..600 {
        let listed = request(hub, "tools/list", None, json!({})).await;
        let listed = listed["tools"].as_array().cloned().unwrap_or_default();
        if listed.iter().any(|tool| tool["name"].as_str().is_some_and(|name| name.starts_with(&format!("{peer}__")))) {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    panic!("{peer} was not listed:\n{}", hub.log());
}

/// One request of revision 2026-07-28, and its result.
async fn request(hub: &Hub, method: &str, name: Option<&str>, mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let mut request = interlingua_testkit::post("/mcp", "application/json", body.to_string());
    let headers = [("accept", "application/json, text/event-stream"), ("mcp-protocol-version", "2026-07-28")];
    for (header, value) in
        headers.into_iter().chain([("mcp-method", method)]).chain(name.map(|name| ("mcp-name", name)))
    {
        request.headers_mut().insert(header, value.parse().expect("a header"));
    }
    let answer = hub.connect().await.send(request).await;
    let text = answer.text();
    let line = text.lines().rev().find_map(|line| line.strip_prefix("data: ")).unwrap_or(&text);
    let answer: Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("{method} was answered with {text}"));
    assert!(answer["error"].is_null(), "{method}: {answer}");
    answer["result"].clone()
}

async fn call(hub: &Hub, tool: &str, arguments: Value) -> String {
    let result = request(hub, "tools/call", Some(tool), json!({ "name": tool, "arguments": arguments })).await;
    assert_ne!(result["isError"], true, "{tool}: {result}");
    let mut text = String::new();
    for block in result["content"].as_array().into_iter().flatten() {
        write!(text, "{}", block["text"].as_str().unwrap_or_default()).expect("a string takes everything");
    }
    text
}

#[tokio::test]
async fn python_1_over_http() {
    over_http(Sdk::Python1, None, Era::Both).await;
}

#[tokio::test]
async fn python_2_over_http() {
    over_http(Sdk::Python2, Some("auto"), Era::Both).await;
}

#[tokio::test]
async fn typescript_1_over_http() {
    over_http(Sdk::TypeScript1, None, Era::Both).await;
}

#[tokio::test]
async fn typescript_2_over_http() {
    over_http(Sdk::TypeScript2, Some("auto"), Era::Both).await;
}

#[tokio::test]
async fn m_16_m_17_a_modern_client_of_a_modern_server() {
    over_http(Sdk::Python2, Some("2026-07-28"), Era::Modern).await;
}

#[tokio::test]
async fn m_16_m_17_a_modern_client_of_a_legacy_server() {
    over_http(Sdk::Python2, Some("2026-07-28"), Era::Legacy).await;
    over_http(Sdk::TypeScript2, Some("2026-07-28"), Era::Legacy).await;
}

#[tokio::test]
async fn m_16_m_17_a_legacy_client_of_a_modern_server() {
    over_http(Sdk::Python1, None, Era::Modern).await;
    over_http(Sdk::TypeScript1, None, Era::Modern).await;
}

#[tokio::test]
async fn m_16_m_17_a_legacy_client_of_a_legacy_server() {
    over_http(Sdk::Python2, Some("legacy"), Era::Legacy).await;
}

#[tokio::test]
async fn m_42_python_over_stdio() {
    over_stdio(Sdk::Python1, None).await;
    over_stdio(Sdk::Python2, Some("auto")).await;
}

#[tokio::test]
async fn m_42_typescript_over_stdio() {
    over_stdio(Sdk::TypeScript1, None).await;
    over_stdio(Sdk::TypeScript2, Some("auto")).await;
}

/// A program for Node as a peer's command.
fn node_peer(path: &str, arguments: &[&str]) -> String {
    let command = mcp::node(path);
    let words = command.get_args().map(|word| word.to_string_lossy().into_owned());
    let words: Vec<String> = words.chain(arguments.iter().map(ToString::to_string)).collect();
    format!("{{ mcp: {{ command: {:?}, args: {words:?} }}, effects: reads }}", command.get_program())
}

#[tokio::test]
async fn the_official_servers_work_together() {
    let builder = Hub::builder(env!("CARGO_BIN_EXE_interlingua")).file("shared/a.txt", "what stands in the file\n");
    let shared = builder.directory().canonicalize().expect("it is there").join("shared");
    let shared = shared.to_str().expect("UTF-8").to_owned();
    let everything = node_peer("node_modules/@modelcontextprotocol/server-everything/dist/index.js", &["stdio"]);
    let files = node_peer("node_modules/@modelcontextprotocol/server-filesystem/dist/index.js", &[&shared]);
    let time = format!(
        "{{ mcp: {{ command: {:?}, args: [-m, mcp_server_time, --local-timezone, UTC] }}, effects: reads }}",
        mcp::python(1)
    );
    let yaml = format!("peers:\n  everything: {everything}\n  files: {files}\n  time: {time}\n");
    let hub = builder.config(&yaml).start().await;
    for peer in ["everything", "files", "time"] {
        known(&hub, peer).await;
    }
    let path = format!("{shared}/a.txt");
    assert_eq!(call(&hub, "files__read_text_file", json!({ "path": path })).await.trim(), "what stands in the file");
    assert_eq!(call(&hub, "everything__echo", json!({ "message": "hello" })).await, "Echo: hello");
    assert!(call(&hub, "time__get_current_time", json!({ "timezone": "UTC" })).await.contains("UTC"));
    let converted = json!({ "source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo" });
    assert!(call(&hub, "time__convert_time", converted).await.contains("21:00"));
}

/// A hub with the two small servers of `shop.py`, and no other configuration than this.
async fn shop(yaml: &str) -> Hub {
    let (python, script) = (mcp::python(2), mcp::interop("shop.py"));
    let peer = |name: &str| {
        format!("{name}: {{ mcp: {{ command: {python:?}, args: [{script:?}, {name}] }}, effects: reads }}")
    };
    let yaml = format!("peers:\n  {}\n  {}\n{yaml}\n", peer("orders"), peer("stock"));
    let hub = Hub::builder(env!("CARGO_BIN_EXE_interlingua")).config(&yaml).start().await;
    for skill in ["orders/get_order", "stock/item_price"] {
        crate::support::until(skill, async || hub.get("/api/skills?limit=200").await.text().contains(skill)).await;
    }
    hub
}

/// Over HTTP in both eras, and over stdio.
async fn as_a_model_uses_it(hub: &Hub, more: &[&str]) {
    let data = hub.data().to_string_lossy().into_owned();
    let program = env!("CARGO_BIN_EXE_interlingua").to_owned();
    let ways = [
        ("auto", vec![hub.url("/mcp")]),
        ("legacy", vec![hub.url("/mcp")]),
        ("auto", vec![program, "mcp".to_owned(), "--data".to_owned(), data]),
    ];
    for (mode, target) in ways {
        let mut command = std::process::Command::new(mcp::python(2));
        command.arg(mcp::interop("shop_client.py")).args(["--mode", mode]).args(more).args(&target);
        command.env("INTERLINGUA_TOKEN", hub.token().expect("a token")).env("PYTHONDONTWRITEBYTECODE", "1");
        let (success, output) = mcp::finished(command, "a client of the official SDK").await;
        assert!(success, "{mode} {target:?}:\n{output}");
    }
}

#[tokio::test]
async fn a_model_sees_the_tools_of_the_servers_alone_and_calls_them() {
    as_a_model_uses_it(&shop("").await, &[]).await;
}

#[tokio::test]
async fn m_43_a_model_finds_and_calls_what_is_too_much_to_list() {
    as_a_model_uses_it(&shop("mcp: { search_above: 1 }").await, &["--searches"]).await;
}
