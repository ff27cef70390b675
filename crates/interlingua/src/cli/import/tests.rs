//! Files of other programs, friendly and hostile.

use super::*;
use crate::config::Config;

const THREE_AGENTS: &str = include_str!("../../../../../fixtures/massgen/three_agents.yaml");
/// The example of the document that describes NLIP in MassGen.
const NLIP: &str = include_str!("../../../../../fixtures/massgen/nlip.yaml");

fn imported(text: &str) -> Imported {
    convert(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// The configuration as a hub reads it, with a value for every variable.
fn loaded(imported: &Imported) -> Config {
    let written = yaml(&imported.config);
    let environment = |name: &str| Some(format!("value of {name}"));
    let loaded = load_text(&written, Path::new("hub.yaml"), &Overrides::default(), &environment);
    loaded.unwrap_or_else(|rejected| panic!("{rejected}\n{written}")).config
}

fn fate<'a>(imported: &'a Imported, path: &str) -> &'a Fate {
    let found = imported.fates.iter().find(|(told, _)| told == path);
    &found.unwrap_or_else(|| panic!("{path}: {:?}", imported.fates)).1
}

fn kept(path: &str) -> Fate {
    Fate::Kept(path.to_owned())
}

/// Every value of the file is spoken of, by itself or with what it stands in.
fn tells_all(text: &str) {
    let file: Value = serde_saphyr::from_str(&without_remarks(text)).expect("YAML");
    let imported = imported(text);
    let mut leaves = Vec::new();
    gather(&file, "", &mut leaves);
    for leaf in leaves {
        let told = |path: &str| leaf == *path || leaf.strip_prefix(path).is_some_and(|rest| rest.starts_with('.'));
        assert!(imported.fates.iter().any(|(path, _)| told(path)), "{leaf}: {:?}", imported.fates);
    }
}

fn gather(value: &Value, path: &str, leaves: &mut Vec<String>) {
    match value {
        Value::Object(members) => members.iter().for_each(|(key, value)| gather(value, &join(path, key), leaves)),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(n, item)| gather(item, &join(path, &n.to_string()), leaves))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => leaves.push(path.to_owned()),
    }
}

#[test]
fn a_team_of_massgen_is_a_configuration_of_a_hub() {
    let config = loaded(&imported(THREE_AGENTS));
    assert_eq!(config.agents.keys().collect::<Vec<_>>(), ["gpt", "claude", "local-agent"]);
    assert_eq!(config.agents["claude"].skills, ["weather/*", "search/*", "local/*"]);
    assert_eq!((config.agents["claude"].routed, config.agents["gpt"].routed), (Some(true), None));
    assert_eq!(config.peers["search"].allow, ["find"]);
    let team = &config.teams["team"];
    assert_eq!((team.answers_each, team.lead, team.restarts, team.routed), (Some(2), 0, 1, Some(true)));
    assert_eq!(team.times.whole, crate::config::Span::seconds(600));
    assert_eq!(config.tools.roots.len(), 1);
    assert_eq!(config.front_door.as_deref(), Some("team"));
}

#[test]
fn the_example_of_the_founding_document_loses_nothing() {
    let imported = imported(NLIP);
    let left: Vec<_> = imported.fates.iter().filter(|(_, fate)| matches!(fate, Fate::Left(_))).collect();
    assert!(left.is_empty(), "{left:?}");
    let config = loaded(&imported);
    let [research, analysis] = ["research_agent", "analysis_agent"].map(|name| &config.agents[name]);
    assert_eq!((research.routed, analysis.routed), (Some(true), Some(true)));
    assert_eq!(research.router.default_timeout, Some(crate::config::Span::seconds(300)));
    assert_eq!(research.instructions, "You are a research assistant.");
    assert_eq!(config.teams["team"].routed, Some(true));
    let nlip = &imported.config["nlip"];
    assert_eq!(nlip["tokens"]["persist_context_tokens"], false);
    assert_eq!(nlip["router"]["session_timeout_hours"], 24);
    let delivery = (analysis.router.enable_streaming, analysis.router.buffer_partial_responses);
    assert_eq!(delivery, (Some(true), Some(true)), "each agent has its own");
    let verbs = kept("teams.team.verbs");
    assert_eq!(fate(&imported, "orchestrator.nlip.coordinate_via_nlip"), &verbs);
    assert_eq!(
        fate(&imported, "agents.0.nlip.router_config.default_timeout"),
        &kept("agents.research_agent.router.default_timeout")
    );
}

#[test]
fn every_key_is_told_what_became_of_it() {
    for text in [THREE_AGENTS, NLIP, DESKTOP, EDITOR] {
        tells_all(text);
    }
    let told = imported(THREE_AGENTS);
    for path in
        ["ui", "orchestrator.voting_sensitivity", "orchestrator.snapshot_storage", "agents.0.backend.enable_web_search"]
    {
        assert!(matches!(fate(&told, path), Fate::Left(_)), "{path}");
    }
    let misspelt = imported("agents: [{ id: a, backend: {}, system_mesage: hi }]");
    let Fate::Left(why) = fate(&misspelt, "agents.0.system_mesage") else { panic!("{misspelt:?}") };
    assert!(why.contains("did you mean `system_message`?"), "{why}");
    assert!(convert("models: {}").is_err());
}

/// As Claude Desktop and Cursor have it.
const DESKTOP: &str = r#"{
  "globalShortcut": "Ctrl+Space",
  "mcpServers": {
    "github": {"command": "npx", "args": ["-y", "server-github"], "env": {"GITHUB_TOKEN": "ghp_verysecret", "LEVEL": "info"}},
    "remote notes": {"url": "https://notes.example/mcp", "headers": {"Authorization": "Bearer ${env:NOTES_KEY}"}, "autoApprove": ["read"]},
    "off": {"command": "never", "disabled": true}
  }
}"#;

/// As VS Code has it, with its remarks and its last comma.
const EDITOR: &str = r#"{
  // asked for once
  "inputs": [{"type": "promptString", "id": "api-key", "password": true}],
  "servers": {
    "search": {"type": "http", "url": "https://search.example/mcp", "headers": {"X-Api-Key": "${input:api-key}"}},
    "files": {"type": "stdio", "command": "node", "args": ["${workspaceFolder}/server.js"], "cwd": "${workspaceFolder}", "envFile": ".env"},
  }
}"#;

#[test]
fn servers_of_chat_programs_are_peers_and_secrets_are_not_copied() {
    let desktop = imported(DESKTOP);
    let written = yaml(&desktop.config);
    assert!(!written.contains("ghp_verysecret"), "{written}");
    assert_eq!(
        desktop.config["peers"]["github"]["mcp"]["env"],
        json!({"GITHUB_TOKEN": "${GITHUB_TOKEN}", "LEVEL": "info"})
    );
    assert!(fate(&desktop, "mcpServers.github.env.GITHUB_TOKEN").to_string().contains("set GITHUB_TOKEN"));
    assert_eq!(desktop.config["peers"]["remote_notes"]["mcp"]["headers"]["Authorization"], "Bearer ${NOTES_KEY}");
    assert_eq!(fate(&desktop, "mcpServers.remote notes.url"), &kept("peers.remote_notes.mcp.url"));
    assert_eq!(fate(&desktop, "mcpServers.off"), &Fate::Left("it is disabled".into()));
    assert_eq!(loaded(&desktop).peers.keys().collect::<Vec<_>>(), ["github", "remote_notes"]);
}

#[test]
fn servers_of_an_editor_are_peers_and_what_it_asks_for_is_a_variable() {
    let editor = imported(EDITOR);
    assert_eq!(editor.config["peers"]["search"]["mcp"]["headers"]["X-Api-Key"], "${API_KEY}");
    assert_eq!(editor.config["peers"]["files"]["mcp"]["args"], json!(["./server.js"]));
    assert!(fate(&editor, "inputs.0").to_string().contains("API_KEY"));
    assert_eq!(loaded(&editor).peers.len(), 2);
    let settings = imported(&format!("{{\"mcp\": {EDITOR}}}"));
    assert_eq!(settings.config["peers"], editor.config["peers"], "below `mcp`, as in settings");
}

#[test]
fn attack_names_and_texts_of_a_file_stay_names_and_texts() {
    let hostile = json!({"mcpServers": {
        "a\naccess": {"command": "x\naccess: { owner: everyone }", "env": {"B\nfront_door: evil\nC": "file:/etc/shadow", "D": "1\nE: 2"}},
        "__": {"command": "y"}, "hub": {"command": "z"},
    }});
    let imported = imported(&hostile.to_string());
    let again: Value = serde_saphyr::from_str(&yaml(&imported.config)).expect("YAML");
    assert_eq!(again, imported.config);
    assert_eq!(
        again.as_object().map(|sections| sections.keys().cloned().collect::<Vec<_>>()),
        Some(vec!["peers".to_owned()])
    );
    assert_eq!(again["peers"]["a_access"]["mcp"]["env"], json!({"D": "1\nE: 2"}), "no file is read");
    let names: Vec<&String> = again["peers"].as_object().expect("peers").keys().collect();
    assert_eq!(names, ["a_access", "tools", "hub-tools"]);
}

#[test]
fn attack_files_that_are_too_deep_or_too_many_are_refused() {
    let deep = format!("{{\"mcpServers\": {}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(convert(&deep).is_err());
    let many: Vec<String> = (0..20_000).map(|n| format!("\"s{n}\": {{}}")).collect();
    assert!(convert(&format!("{{\"mcpServers\": {{{}}}}}", many.join(","))).is_err());
    let laughs: String =
        (1..9).map(|n| format!("l{n}: &l{n} [{}]\n", vec![format!("*l{}", n - 1); 10].join(", "))).collect();
    assert!(convert(&format!("l0: &l0 [ha]\n{laughs}agents: *l8\n")).is_err());
}

#[test]
fn two_credentials_of_one_name_are_two_variables() {
    let file = r#"{"mcpServers": {
        "a": {"command": "a", "env": {"API_KEY": "1"}}, "b": {"command": "b", "env": {"API_KEY": "2"}},
        "c": {"command": "c", "env": {"API_KEY": "1"}}}}"#;
    let imported = imported(file);
    let of = |peer: &str| imported.config["peers"][peer]["mcp"]["env"]["API_KEY"].clone();
    assert_eq!([of("a"), of("b"), of("c")], [json!("${API_KEY}"), json!("${B_API_KEY}"), json!("${API_KEY}")]);
    assert_eq!(imported.credentials.len(), 2);
    assert!(!format!("{imported:?}").contains("\"1\""), "{imported:?}");
}

#[test]
fn relative_paths_start_at_the_folder_of_the_configuration() {
    let file = r#"{"mcpServers": {
        "here": {"command": "node", "args": ["./server.js"]}, "there": {"command": "../server"},
        "placed": {"command": "./server", "cwd": "/srv"}, "absolute": {"command": "node", "args": ["/srv/server.js"]}}}"#;
    let imported = imported(file);
    let directory = |peer: &str| imported.config["peers"][peer]["mcp"]["directory"].clone();
    assert_eq!(
        ["here", "there", "placed", "absolute"].map(directory),
        [json!("."), json!("."), json!("/srv"), Value::Null]
    );
    assert!(fate(&imported, "mcpServers.here.cwd").to_string().contains("the folder of the hub's configuration"));
}

#[test]
fn the_hub_itself_is_no_server_of_a_hub() {
    let file = r#"{"mcpServers": {"interlingua": {"command": "/usr/bin/interlingua", "args": ["mcp", "--data", "/srv"]},
        "other": {"command": "interlingua-notes", "args": ["mcp"]}}}"#;
    let imported = imported(file);
    assert_eq!(loaded(&imported).peers.keys().collect::<Vec<_>>(), ["other"]);
    assert_eq!(fate(&imported, "mcpServers.interlingua"), &Fate::Left("it is a hub of this program".into()));
}
