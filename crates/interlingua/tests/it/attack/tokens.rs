//! Tokens: a token that the Owner makes is never the Owner's own, is valid at once, and is revoked at once.

use std::process::{Command, Output, Stdio};

use http::Method;
use interlingua_testkit::{Answer, Hub};
use serde_json::{Value, json};

use crate::support::{send, until};

async fn hub() -> Hub {
    Hub::builder(env!("CARGO_BIN_EXE_interlingua")).start().await
}

/// The program in the directory of the hub, which it finds by the socket in there.
fn typed(hub: &Hub, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_interlingua"));
    command.current_dir(hub.directory()).env_remove("INTERLINGUA_TOKEN").env_remove("INTERLINGUA_HUB");
    command.env_remove("INTERLINGUA_DATA").args(arguments).stdin(Stdio::null()).output().expect("the program runs")
}

fn printed(hub: &Hub, arguments: &[&str]) -> String {
    let ended = typed(hub, arguments);
    assert!(ended.status.success(), "{arguments:?}: {ended:?}");
    String::from_utf8_lossy(&ended.stdout).trim().to_owned()
}

async fn as_(hub: &Hub, token: &str, method: Method, path: &str, body: Option<Value>) -> Answer {
    send(hub, method, path, &[("authorization", &format!("Bearer {token}"))], body).await
}

async fn echoes(hub: &Hub, token: &str) -> u16 {
    let call = json!({"skill": "hub/echo", "arguments": {"text": "hello"}});
    as_(hub, token, Method::POST, "/api/exchanges", Some(call)).await.status
}

#[tokio::test]
async fn a_token_counts_at_once_over_a_restart_and_until_it_is_revoked() {
    let mut hub = hub().await;
    let ann = printed(&hub, &["token", "create", "ann", "--skill", "hub/*"]);
    assert_eq!(echoes(&hub, &ann).await, 200);
    let write = json!({"skill": "local/write_file", "arguments": {"path": "a", "content": "a"}});
    assert_eq!(
        as_(&hub, &ann, Method::POST, "/api/exchanges", Some(write)).await.status,
        404,
        "it reaches what it was made for"
    );
    assert_eq!(typed(&hub, &["token", "create", "ann"]).status.code(), Some(2), "one for each");
    assert!(printed(&hub, &["token", "list"]).contains("ann"));
    assert_eq!(printed(&hub, &["token", "owner"]), hub.token().expect("the Owner's"));
    hub.restart().await;
    assert_eq!(echoes(&hub, &ann).await, 200);
    printed(&hub, &["token", "revoke", "ann"]);
    assert_eq!(echoes(&hub, &ann).await, 401);
    assert!(!printed(&hub, &["token", "list"]).contains("ann"));
    assert_ne!(typed(&hub, &["token", "revoke", "ann"]).status.code(), Some(0));
    for file in ["hub.db", "hub.db-wal"] {
        let kept = std::fs::read(hub.data().join(file)).unwrap_or_default();
        assert!(
            !kept.windows(ann.len()).any(|bytes| bytes == ann.as_bytes()),
            "the token itself is kept nowhere: {file}"
        );
    }
}

#[tokio::test]
async fn attack_a_caller_with_a_token_makes_and_reads_no_other() {
    let hub = hub().await;
    let ann = printed(&hub, &["token", "create", "ann", "--approve", "--register"]);
    let wish = json!({"name": "eve", "approve": true});
    for (method, path, body) in [
        (Method::POST, "/api/tokens", Some(wish.clone())),
        (Method::GET, "/api/tokens", None),
        (Method::DELETE, "/api/tokens/ann", None),
        (Method::POST, "/api/keys/rotate", Some(json!({"what": "owner_token"}))),
    ] {
        assert_eq!(as_(&hub, &ann, method.clone(), path, body.clone()).await.status, 403, "{path} by a caller");
        let sent = interlingua_testkit::request(method, path).header("content-type", "application/json");
        let body = body.map(|body| body.to_string()).unwrap_or_default();
        let answer = hub
            .connect_anonymous()
            .await
            .send(sent.body(http_body_util::Full::new(body.into())).expect("a request"))
            .await;
        assert_eq!(answer.status, 403, "{path} by nobody: {}", answer.text());
    }
    assert_eq!(printed(&hub, &["token", "list", "--json"]).matches("\"name\"").count(), 1);
    assert_eq!(hub.post_json("/api/tokens", &json!({"name": "a>owner"})).await.status, 422);
}

#[tokio::test]
async fn attack_a_client_that_is_connected_finds_no_owners_token_and_says_no_yes() {
    let hub = hub().await;
    let file = hub.directory().join("client.json");
    let place = file.to_str().expect("UTF-8");
    let connect = |client: &str| printed(&hub, &["connect", client, "--hub", &hub.url(""), "--write", "--file", place]);
    connect("cursor");
    let written = || std::fs::read_to_string(&file).expect("written");
    let entry = |key: &str| -> Value {
        serde_json::from_str::<Value>(&written()).expect("JSON")["mcpServers"]["interlingua"][key].clone()
    };
    assert!(!written().contains(&hub.token().expect("the Owner's")), "{}", written());
    let shown = entry("headers")["Authorization"].as_str().expect("a header").to_owned();
    let token = shown.strip_prefix("Bearer ").expect("a bearer token").to_owned();
    let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&file).expect("there").permissions());
    assert_eq!(mode & 0o077, 0, "a new file with a token is its owner's alone");
    assert_eq!(echoes(&hub, &token).await, 200);
    let call = json!({"skill": "local/write_file", "arguments": {"path": "a", "content": "a"}, "confirm": true});
    let waiting = as_(&hub, &token, Method::POST, "/api/exchanges", Some(call)).await.json();
    let question = waiting["questions"][0]["id"].as_str().unwrap_or_else(|| panic!("{waiting}"));
    let yes = Some(json!({"approve": true}));
    let said = as_(&hub, &token, Method::POST, &format!("/api/confirmations/{question}"), yes).await;
    assert!(said.status >= 400, "{}", said.text());
    assert!(!hub.data().join("workspace/a").exists());
    // A second time it has another token, and the first counts no more.
    connect("cursor");
    assert_ne!(entry("headers")["Authorization"].as_str(), Some(shown.as_str()));
    assert_eq!(echoes(&hub, &token).await, 401);
}

#[tokio::test]
async fn attack_an_old_owners_token_is_refused_and_what_it_opened_ends() {
    let hub = hub().await;
    let old = hub.token().expect("a token");
    let mut open = hub.frames("/nlip/ws/text", &[]).await.expect("opened");
    printed(&hub, &["keys", "rotate", "--owner-token"]);
    assert_eq!(open.read_close_code().await, Some(1008));
    assert_eq!(echoes(&hub, &old).await, 401);
    assert_eq!(echoes(&hub, &printed(&hub, &["token", "owner"])).await, 200);
}

#[tokio::test]
async fn a_list_that_is_not_there_yet_is_empty_and_counts_once_it_is() {
    let yaml = "access: { tokens: file:./tokens.yaml }\n";
    let hub = Hub::builder(env!("CARGO_BIN_EXE_interlingua")).config(yaml).start().await;
    printed(&hub, &["check", "interlingua.yaml"]);
    let ann = printed(&hub, &["token", "create", "ann", "-c", "interlingua.yaml"]);
    assert!(std::fs::read_to_string(hub.directory().join("tokens.yaml")).expect("made").contains("ann"));
    until("the token counts", async || echoes(&hub, &ann).await == 200).await;
}

/// What an anonymous caller is told of what is there and of what is not: the same, and what to do about it.
#[tokio::test]
async fn attack_nobody_learns_from_a_refusal_what_there_is() {
    let hub = hub().await;
    let refused = async |path: &str, headers: &[(&str, &str)], body: Value| {
        let mut sent = interlingua_testkit::request(Method::POST, path).header("content-type", "application/json");
        for (name, value) in headers {
            sent = sent.header(*name, *value);
        }
        let sent = sent.body(http_body_util::Full::new(body.to_string().into())).expect("a request");
        hub.connect_anonymous().await.send(sent).await.text()
    };
    let nlip = |skill: &str| {
        let call = json!({"format": "structured", "subformat": "json", "label": "interlingua-call",
            "content": {"skill": skill, "arguments": {}}});
        json!({"format": "text", "subformat": "english", "content": "", "submessages": [call]})
    };
    let mcp = |tool: &str| {
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": {},
        "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}}})
    };
    let a2a = |skill: &str| {
        json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": {"messageId": "m",
        "role": "ROLE_USER", "parts": [{"data": {}}], "metadata": {"urn:interlingua:hub:1": {"skill": skill}}}}})
    };
    let (real, none) = ("local/read_file", "local/read_fool");
    let (tool, no_tool) = ("local__read_file", "local__read_fool");
    let modern = |tool: &'static str| {
        [
            ("accept", "application/json, text/event-stream"),
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", "tools/call"),
            ("mcp-name", tool),
        ]
    };
    let told = [
        (
            "/api",
            refused("/api/exchanges", &[], json!({"skill": real, "arguments": {}})).await,
            refused("/api/exchanges", &[], json!({"skill": none, "arguments": {}})).await,
        ),
        ("NLIP", refused("/nlip", &[], nlip(real)).await, refused("/nlip", &[], nlip(none)).await),
        ("MCP", refused("/mcp", &modern(tool), mcp(tool)).await, refused("/mcp", &modern(no_tool), mcp(no_tool)).await),
        (
            "A2A",
            refused("/a2a", &[("a2a-version", "1.0")], a2a(real)).await,
            refused("/a2a", &[("a2a-version", "1.0")], a2a(none)).await,
        ),
    ];
    for (wire, there, not) in told {
        assert!(there.contains("you are anonymous here; show a token"), "{wire}: {there}");
        let same = |text: &str| text.replace("read_file", "X").replace("read_fool", "X");
        let comparable = |text: &str| {
            let text = same(text);
            text.split("anonymous here").next().unwrap_or_default().len()
        };
        assert_eq!(comparable(&there), comparable(&not), "{wire}:\n{there}\n{not}");
    }
}

/// Without what is random in it: ids, tokens and times.
fn masked(text: &str) -> String {
    let is_random = |word: &&str| word.len() >= 12 && word.chars().any(|c| c.is_ascii_digit());
    let split: Vec<&str> = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').collect();
    let words = split.into_iter().filter(is_random).collect::<Vec<_>>();
    words.iter().fold(text.to_owned(), |text, word| text.replace(word, "X"))
}

/// The same of things that are the Owner's, by their ids, and of peers, by their names.
#[tokio::test]
async fn attack_nobody_learns_from_a_refusal_which_ids_are_somebodys() {
    const NONE: &str = "0123456789abcdef0123456789abcdef";
    let hub = hub().await;
    let owner = hub.token().expect("the Owner's");
    let task =
        as_(&hub, &owner, Method::POST, "/api/tasks", Some(json!({"skill": "hub/echo", "arguments": {"text": "a"}})));
    let task = task.await.json();
    let shared =
        as_(&hub, &owner, Method::POST, "/api/artifacts", Some(json!({"name": "a", "content": "a"}))).await.json();
    let (task, shared) = (task["id"].as_str().expect("a task"), shared["artifact_id"].as_str().expect("an artifact"));
    let ids = |path: &str, id: &str| (path.replace("{}", id), path.replace("{}", NONE));
    let named = |path: &str| (path.replace("{}", "local"), path.replace("{}", "nobody"));
    let asked = json!({"query": "read a file", "streaming": false});
    let tells = json!({"jsonrpc": "2.0", "id": 1, "method": "GetTask", "params": {"id": NONE}});
    let rows = [
        (Method::GET, ids("/api/tasks/{}", task), None),
        (Method::DELETE, ids("/api/tasks/{}", task), None),
        (Method::GET, ids("/api/tasks/{}/events", task), None),
        (Method::GET, ids("/api/tasks/{}/timeline", task), None),
        (Method::POST, ids("/api/tasks/{}/signals", task), Some(json!({"cancel": true}))),
        (Method::GET, ids("/a2a/tasks/{}", task), None),
        (Method::POST, ids("/a2a/tasks/{}:cancel", task), Some(json!({}))),
        (Method::GET, ids("/api/artifacts/{}", shared), None),
        (Method::GET, ids("/api/artifacts/{}/content", shared), None),
        (Method::DELETE, ids("/api/artifacts/{}", shared), None),
        (Method::GET, named("/agents/{}/.well-known/agent-card.json"), None),
        (Method::POST, named("/agents/{}/a2a"), Some(tells)),
        (Method::POST, named("/agents/{}/ask"), Some(asked)),
        (Method::GET, named("/api/messages?agent={}"), None),
    ];
    for (method, (there, not), body) in rows {
        let told = async |path: &str| {
            let page = [("sec-fetch-site", "same-origin"), ("a2a-version", "1.0")];
            let answer = send(&hub, method.clone(), path, &page, body.clone()).await;
            (answer.status, masked(&answer.text().replace("nobody", "local")))
        };
        let (there, not) = ((told(&there).await, there), (told(&not).await, not));
        assert_eq!(there.0, not.0, "{} and {}", there.1, not.1);
        assert!(there.0.1.contains("you are anonymous here; show a token"), "{}: {}", there.1, there.0.1);
    }
}
