//! The configuration of clients, and what happens to their files.

use std::path::PathBuf;

use clap::ValueEnum as _;
use serde_json::{Value, json};

use super::Way;
use super::clients::{Client, Homes};
use super::file::{Change, put, with};

fn program() -> Way {
    Way::Program { command: "/opt/interlingua".into(), args: vec!["mcp".into(), "-c".into(), "/etc/hub.yaml".into()] }
}

#[test]
fn every_client_has_a_file_and_can_start_the_program() {
    let homes =
        Homes { home: Some(PathBuf::from("/srv/ada")), settings: None, project: Some(PathBuf::from("/srv/here")) };
    for client in Client::value_variants() {
        let place = client.place(&homes).expect("a place");
        assert!(place.starts_with("/srv/ada") || place.starts_with("/srv/here"), "{client:?}: {}", place.display());
        let entry = client.entry(&program()).expect("every client can start a program");
        assert_eq!(entry["command"], "/opt/interlingua", "{client:?}");
        assert_eq!(entry["args"], json!(["mcp", "-c", "/etc/hub.yaml"]), "{client:?}");
        assert!(client.snippet("interlingua", &entry).contains("/opt/interlingua"), "{client:?}");
    }
}

#[test]
fn an_address_is_spelled_as_each_client_wants_it() {
    let url = "http://127.0.0.1:7447/mcp";
    let address = Way::Address { url: url.into(), token: "ilg_1".into() };
    let shown = json!({"Authorization": "Bearer ilg_1"});
    let spelled = |client: Client| client.entry(&address);
    assert_eq!(spelled(Client::ClaudeDesktop), None);
    assert!(!Client::ClaudeDesktop.takes_address());
    assert_eq!(spelled(Client::Cursor), Some(json!({"url": url, "headers": shown})));
    assert_eq!(spelled(Client::Gemini), Some(json!({"httpUrl": url, "headers": shown})));
    assert_eq!(spelled(Client::Windsurf), Some(json!({"serverUrl": url, "headers": shown})));
    assert_eq!(spelled(Client::Vscode), Some(json!({"type": "http", "url": url, "headers": shown})));
    let codex = spelled(Client::Codex).expect("an entry");
    let snippet = Client::Codex.snippet("interlingua", &codex);
    assert!(snippet.contains(r#"http_headers = { Authorization = "Bearer ilg_1" }"#), "{snippet}");
    assert_eq!(Client::ClaudeCode.caller(), "claude-code");
}

#[test]
fn toml_is_toml() {
    let entry = Client::Codex.entry(&program()).expect("an entry");
    let snippet = Client::Codex.snippet("interlingua", &entry);
    assert_eq!(
        snippet,
        "[mcp_servers.interlingua]\ncommand = \"/opt/interlingua\"\nargs = [\"mcp\",\"-c\",\"/etc/hub.yaml\"]"
    );
}

#[test]
fn what_else_stands_in_the_file_stays_letter_by_letter() {
    let old = r#"{ "theme": "dark",  "numbers": [1.0, 2e3, 12345678901234567890],
      "mcpServers": { "other": {"command":  "x"} }, "last": null }"#;
    let (new, change) = with(old, "mcpServers", "interlingua", &json!({ "command": "i" })).expect("plain JSON");
    assert_eq!(change, Change::Added);
    for kept in [r#"[1.0, 2e3, 12345678901234567890]"#, r#"{"command":  "x"}"#] {
        assert!(new.contains(kept), "{kept} is gone from {new}");
    }
    let value: Value = serde_json::from_str(&new).expect("JSON");
    assert_eq!(value["mcpServers"]["interlingua"], json!({ "command": "i" }));
    let order: Vec<usize> = ["theme", "numbers", "mcpServers", "last"].map(|key| new.find(key).expect("kept")).to_vec();
    assert!(order.is_sorted(), "the order has changed: {new}");
}

#[test]
fn a_new_entry_is_indented_as_the_file_and_the_others_are_not_moved() {
    let old = "{\n  \"mcpServers\": {\n    \"other\": {\n      \"command\": \"x\"\n    }\n  }\n}\n";
    let (new, _) = with(old, "mcpServers", "hub", &json!({ "args": ["mcp"] })).expect("plain JSON");
    let hub = "    },\n    \"hub\": {\n      \"args\": [\n        \"mcp\"\n      ]\n    }\n";
    assert_eq!(new, old.replace("    }\n  }\n", &format!("{hub}  }}\n")));
    let (first, _) = with("", "mcpServers", "hub", &json!({ "command": "x" })).expect("an empty file");
    assert_eq!(first, old.replace("other", "hub"));
}

#[test]
fn a_second_time_changes_nothing_and_another_entry_replaces() {
    let (once, _) = with("", "servers", "hub", &json!({ "url": "a" })).expect("an empty file is an empty object");
    let (twice, change) = with(&once, "servers", "hub", &json!({ "url": "a" })).expect("plain JSON");
    assert_eq!((twice.as_str(), change), (once.as_str(), Change::None));
    let (other, change) = with(&once, "servers", "hub", &json!({ "url": "b" })).expect("plain JSON");
    assert_eq!(change, Change::Replaced);
    assert!(other.contains(r#""url": "b""#) && !other.contains(r#""url": "a""#), "{other}");
}

#[test]
fn a_file_that_is_not_plain_json_is_left_alone() {
    for text in ["// mine\n{}", "[]", r#"{"mcpServers": []}"#, "{"] {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("settings.json");
        std::fs::write(&file, text).expect("written");
        let failure = put(&file, "mcpServers", "hub", &json!({})).expect_err("it is refused");
        assert!(failure.message.contains("left as it is"), "{failure}");
        assert_eq!(std::fs::read_to_string(&file).expect("it is there"), text);
    }
}

#[test]
fn a_new_file_is_made_with_its_folder_and_nothing_else_is_left() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("deep/er/mcp.json");
    assert_eq!(put(&file, "servers", "hub", &json!({ "url": "a" })).expect("written"), Change::Added);
    let names: Vec<_> = std::fs::read_dir(folder.path().join("deep/er")).expect("made").flatten().collect();
    assert_eq!(names.len(), 1, "{names:?}");
}

#[cfg(unix)]
#[test]
fn a_link_stays_a_link_and_rights_stay_as_they_were() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().expect("a folder");
    let (real, link) = (folder.path().join("real.json"), folder.path().join("link.json"));
    std::fs::write(&real, "{}").expect("written");
    std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o600)).expect("set");
    std::os::unix::fs::symlink(&real, &link).expect("linked");
    put(&link, "servers", "hub", &json!({})).expect("written");
    assert!(std::fs::symlink_metadata(&link).expect("there").is_symlink());
    let about = std::fs::metadata(&real).expect("there");
    assert_eq!(about.permissions().mode() & 0o777, 0o600);
    assert!(about.len() > 2);
}
