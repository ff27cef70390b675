//! What `connect` writes works wherever a desktop client starts it.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use interlingua_testkit::Hub;
use serde_json::{Value, json};

use super::{err, out, program};
use crate::support::builder;

const CONFIG: &str = "
tools: { directory: ./tools }
mcp: { views: { counting: { allow: ['local/steps'] } } }
";

/// The entry that `connect` writes for a client, run in this folder.
fn connected(folder: &Path, arguments: &[&str]) -> Value {
    let file = folder.join("client.json");
    let mut command = program();
    command.args(["connect", "cursor", "--write", "--file"]).arg(&file).args(arguments).current_dir(folder);
    let written = command.output().expect("it runs");
    assert!(written.status.success(), "{}", err(&written));
    let file: Value = serde_json::from_slice(&fs::read(&file).expect("a file")).expect("JSON");
    file["mcpServers"]["interlingua"].clone()
}

/// Starts what the entry says from `/`, as a desktop client does, and lists its tools.
fn tools(entry: &Value) -> Vec<String> {
    let arguments: Vec<&str> = entry["args"].as_array().expect("arguments").iter().filter_map(Value::as_str).collect();
    let mut command = Command::new(entry["command"].as_str().expect("a command"));
    command.args(arguments).current_dir("/").env_remove("INTERLINGUA_DATA");
    let mut server =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("started");
    let mut input = server.stdin.take().expect("a pipe");
    let mut lines = BufReader::new(server.stdout.take().expect("a pipe")).lines();
    let mut ask = |message: Value| {
        writeln!(input, "{message}").expect("sent");
        let wanted = message["id"].clone();
        loop {
            let line = lines.next().expect("an answer").expect("UTF-8");
            let answer: Value = serde_json::from_str(&line).expect("JSON");
            if answer["id"] == wanted {
                return answer;
            }
        }
    };
    ask(json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18",
        "capabilities": {}, "clientInfo": {"name": "desktop", "version": "1"}}}));
    let listed = ask(json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}}));
    drop(input);
    server.wait().expect("it ends with its client");
    let tools = listed["result"]["tools"].as_array().unwrap_or_else(|| panic!("{listed}"));
    tools.iter().filter_map(|tool| tool["name"].as_str().map(str::to_owned)).collect()
}

async fn hub() -> Hub {
    builder().config(CONFIG).start().await
}

#[tokio::test]
async fn what_connect_writes_finds_the_hub_from_any_folder() {
    let hub = hub().await;
    // Of ./data without a word, of a directory, and of a configuration by a relative path.
    let place = tempfile::tempdir().expect("a folder");
    std::os::unix::fs::symlink(hub.data(), place.path().join("data")).expect("a link");
    let data = hub.data();
    let named = data.to_str().expect("UTF-8");
    for arguments in [&[][..], &["--data", named][..]] {
        let entry = connected(place.path(), arguments);
        let all = tools(&entry);
        assert!(all.iter().any(|name| name == "local__steps") && all.len() > 3, "{entry}: {all:?}");
    }
    let entry = connected(place.path(), &["--view", "counting"]);
    assert_eq!(tools(&entry), ["local__steps"], "{entry}");
}

#[tokio::test]
async fn a_view_that_is_not_there_is_an_error_that_lists_the_views() {
    let hub = hub().await;
    let refused = |arguments: &[&str]| {
        let ended = program().args(arguments).current_dir(hub.directory()).stdin(Stdio::null()).output();
        let ended = ended.expect("it runs");
        assert_eq!(ended.status.code(), Some(2), "{arguments:?}: {}", err(&ended));
        assert_eq!(out(&ended), "", "{arguments:?}");
        err(&ended)
    };
    let (file, url) = ("interlingua.yaml", hub.url(""));
    let elsewhere = tempfile::tempdir().expect("a folder");
    let other = elsewhere.path().to_str().expect("UTF-8");
    for arguments in [
        // The hub that runs, by its socket and by its address; and one that the file would make.
        &["mcp", "--data", "data", "--view", "nothing"][..],
        &["mcp", "-c", file, "--data", other, "--view", "nothing"],
        &["connect", "cursor", "--view", "nothing"],
        &["connect", "cursor", "-c", file, "--view", "nothing"],
        &["connect", "cursor", "--hub", &url, "--view", "nothing"],
    ] {
        let said = refused(arguments);
        assert!(said.contains("--view nothing: there is no view of this name; there are: counting"), "{said}");
    }
    fs::write(hub.directory().join("plain.yaml"), "hub: { name: plain }\n").expect("a file");
    let said = refused(&["connect", "cursor", "-c", "plain.yaml", "--view", "nothing"]);
    assert!(said.contains("the configuration has none (`mcp.views`)"), "{said}");
    assert!(!elsewhere.path().join("hub.db").exists(), "no hub was started for it");
    // Which views there are is nobody else's business.
    let told = interlingua_testkit::request(http::Method::GET, "/mcp/nothing");
    let told = told.body(http_body_util::Full::default()).expect("a request");
    let told = hub.connect_anonymous().await.send(told).await;
    assert!(told.status == 404 && !told.text().contains("counting"), "{}", told.text());
}

#[tokio::test]
async fn a_configuration_is_named_by_its_whole_path_and_has_to_be_there() {
    let place = tempfile::tempdir().expect("a folder");
    let inner = place.path().join("inner");
    fs::create_dir(&inner).expect("a folder");
    fs::write(place.path().join("hub.yaml"), "hub: { name: mine }\n").expect("a file");
    let entry = connected(&inner, &["-c", "../hub.yaml"]);
    let whole = place.path().canonicalize().expect("a path").join("hub.yaml");
    assert_eq!(entry["args"], json!(["mcp", "-c", whole]), "{entry}");
    let all = tools(&entry);
    assert!(all.iter().any(|name| name.starts_with("local__")), "{all:?}");
    assert!(place.path().join("data").exists(), "its data is beside the file, wherever it was started");
    let missing =
        program().args(["connect", "cursor", "-c", "nowhere.yaml"]).current_dir(&inner).output().expect("it runs");
    assert_eq!(missing.status.code(), Some(2), "{}", out(&missing));
    assert!(err(&missing).contains("nowhere.yaml"), "{}", err(&missing));
}
