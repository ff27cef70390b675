//! The configuration of clients, and what happens to their files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::ValueEnum as _;
use interlingua_model::Secret;
use serde_json::{Value, json};

use super::Way;
use super::clients::{Client, Homes};
use super::file::{self, Change, Edit};
use super::handover::{self, ClientList};

fn program() -> Way {
    let args = vec!["mcp".into(), "-c".into(), "/etc/hub.yaml".into()];
    Way::Program { command: "/opt/interlingua".into(), args, env: BTreeMap::new() }
}

/// Puts an entry and removes nothing.
fn with(text: &str, key: &str, name: &str, entry: &Value) -> Result<(String, Change), String> {
    file::with(text, key, &Edit { name, entry, without: &[] })
}

fn put(place: &Path, key: &str, name: &str, entry: &Value) -> Result<Change, crate::cli::Failure> {
    file::put(place, key, &Edit { name, entry, without: &[] }).map(|done| done.change)
}

#[test]
fn every_client_has_a_file_and_can_start_the_program() {
    let homes =
        Homes { home: Some(PathBuf::from("/srv/ada")), settings: None, project: Some(PathBuf::from("/srv/here")) };
    for client in Client::value_variants() {
        let place = client.place(&homes).expect("a place");
        assert!(place.starts_with("/srv/ada") || place.starts_with("/srv/here"), "{client:?}: {}", place.display());
        let entry = client.entry(&program()).expect("every client can start a program");
        let command = if *client == Client::Goose { &entry["cmd"] } else { &entry["command"] };
        assert_eq!(command, "/opt/interlingua", "{client:?}");
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
    assert_eq!(spelled(Client::LmStudio), Some(json!({"url": url, "headers": shown})));
    assert_eq!(spelled(Client::Cline), Some(json!({"type": "streamableHttp", "url": url, "headers": shown})));
    assert_eq!(spelled(Client::Junie), None);
    assert!(!Client::Junie.takes_address());
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

#[test]
fn variables_of_the_entry_are_spelt_as_each_client_wants_them() {
    let env = BTreeMap::from([("API_KEY".to_owned(), Secret::new("k1"))]);
    let way = Way::Program { command: "/opt/interlingua".into(), args: vec!["mcp".into()], env };
    for client in Client::value_variants() {
        let entry = client.entry(&way).expect("an entry");
        let key = if *client == Client::Goose { "envs" } else { "env" };
        assert_eq!(entry[key], json!({"API_KEY": "k1"}), "{client:?}");
    }
    let codex = Client::Codex.entry(&way).expect("an entry");
    assert!(Client::Codex.snippet("hub", &codex).contains("env = { API_KEY = \"k1\" }"));
    let goose = Client::Goose.entry(&way).expect("an entry");
    let snippet = Client::Goose.snippet("hub", &goose);
    assert!(snippet.starts_with("extensions:\n  hub:\n    name: Interlingua\n    type: stdio\n"), "{snippet}");
    assert!(!format!("{way:?}").contains("k1"), "a credential is never printed");
}

#[test]
fn entries_are_removed_by_name_and_a_copy_of_the_file_is_kept_each_time() {
    let folder = tempfile::tempdir().expect("a folder");
    let place = folder.path().join("mcp.json");
    let old =
        r#"{"mcpServers": {"a": {"command": "a"}, "b": {"command": "b", "env": {"KEY": "k"}}, "c": {"url": "c"}}}"#;
    let entry = json!({"command": "hub"});
    let without = ["a".to_owned(), "b".to_owned(), "hub".to_owned()];
    let edit = Edit { name: "hub", entry: &entry, without: &without };
    for copy in ["mcp.json.before-interlingua", "mcp.json.before-interlingua-2"] {
        std::fs::write(&place, old).expect("written");
        let done = file::put(&place, "mcpServers", &edit).expect("plain JSON");
        assert_eq!((done.change, done.copy.as_deref()), (Change::Added, Some(folder.path().join(copy).as_path())));
        let new: Value = serde_json::from_slice(&std::fs::read(&place).expect("there")).expect("JSON");
        assert_eq!(new, json!({"mcpServers": {"c": {"url": "c"}, "hub": {"command": "hub"}}}));
        assert_eq!(std::fs::read_to_string(folder.path().join(copy)).expect("a copy"), old);
    }
    // There is nothing left to remove: nothing is written, and no further copy is made.
    let again = file::put(&place, "mcpServers", &edit).expect("plain JSON");
    assert_eq!((again.change, again.copy), (Change::None, None));
    assert_eq!(std::fs::read_dir(folder.path()).expect("there").count(), 3);
}

/// The file of a client with two servers, one of which has a credential and one a name with a dot.
const CLIENT: &str = r#"{"mcpServers": {
    "git.hub": {"command": "github-server", "args": ["--all"], "env": {"API_KEY": "of github", "LEVEL": "info"}},
    "notes": {"url": "https://notes.example/mcp", "headers": {"Authorization": "Bearer of notes"}},
    "search": {"command": "search-server", "env": {"API_KEY": "of search"}},
    "interlingua": {"command": "/opt/interlingua", "args": ["mcp", "-c", "/etc/hub.yaml"], "env": {"OTHER": "mine"}}
}}"#;

/// A configuration in a folder of its own, and what a client with [`CLIENT`] hands over to it.
fn handed_over(yaml: &str) -> handover::Handover {
    let folder = tempfile::tempdir().expect("a folder");
    let config = folder.path().join("hub.yaml");
    std::fs::write(&config, yaml).expect("written");
    handover::of(&config, Some(ClientList { text: CLIENT, key: "mcpServers", own: "interlingua" }))
}

#[test]
fn what_was_imported_is_covered_and_gets_its_credentials() {
    let imported = crate::cli::import::convert(CLIENT).expect("servers");
    let yaml = crate::cli::import::yaml(&imported.config);
    assert!(!yaml.contains("interlingua"), "the hub is no peer of itself: {yaml}");
    let all = handed_over(&yaml);
    assert_eq!(all.covered, ["git.hub", "notes", "search"]);
    assert_eq!(all.problems, None, "{yaml}");
    let given: Vec<(&str, Option<&str>)> = all.env.iter().map(|(name, value)| (name.as_str(), value.text())).collect();
    assert_eq!(
        given,
        [
            ("API_KEY", Some("of github")),
            ("NOTES_AUTHORIZATION", Some("Bearer of notes")),
            ("SEARCH_API_KEY", Some("of search")),
        ],
        "two servers have a variable of the same name and another value"
    );
}

#[test]
fn what_the_configuration_has_not_is_neither_covered_nor_handed_over() {
    let changed = handed_over(
        "peers: { github: { mcp: { command: github-server, args: [--some], env: { API_KEY: \"${API_KEY}\", LEVEL: info } } } }\n",
    );
    assert_eq!(changed.covered, [""; 0], "other arguments are another server");
    assert_eq!(changed.env.keys().collect::<Vec<_>>(), ["API_KEY"]);
    let renamed = handed_over(
        "peers: { code: { mcp: { command: github-server, args: [--all], env: { API_KEY: \"${API_KEY}\", LEVEL: info } } } }\n",
    );
    assert_eq!(renamed.covered, ["git.hub"], "whatever the peer is called");
    let kept = handed_over("hub: { name: \"${OTHER}\" }\n");
    let given: Vec<_> = kept.env.iter().map(|(name, value)| (name.as_str(), value.text())).collect();
    assert_eq!(given, [("OTHER", Some("mine"))], "what the entry sets already stays");
    let missing = handed_over("hub: { name: \"${NOBODY_SETS_THIS}\" }\n");
    assert!(missing.problems.is_some_and(|told| told.contains("NOBODY_SETS_THIS")));
}

#[test]
fn attack_a_clients_file_that_is_no_list_of_servers_stops_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let config = folder.path().join("hub.yaml");
    std::fs::write(&config, "hub: { name: mine }\n").expect("written");
    let large = format!(r#"{{"mcpServers": {{"a": {{"command": "{}"}}}}}}"#, "x".repeat(2 << 20));
    let deep = "[".repeat(100_000);
    for text in [
        "[]",
        "null",
        "1",
        "{",
        r#"{"mcpServers": []}"#,
        r#"{"mcpServers": {"a": 1, "b": null, "c": []}}"#,
        &large,
        &deep,
    ] {
        let list = ClientList { text, key: "mcpServers", own: "interlingua" };
        let handed = handover::of(&config, Some(list));
        assert!(handed.covered.is_empty() && handed.env.is_empty() && handed.problems.is_none(), "{handed:?}");
    }
}
