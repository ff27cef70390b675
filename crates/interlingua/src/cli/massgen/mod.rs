//! Conversion of a MassGen configuration: its agents, models, tool servers and the rules of its orchestrator.
//!
//! What has no counterpart is reported and not guessed. Keys that MassGen itself only warns about are reported, too: a misspelt limit would
//! not be enforced.

mod orchestrator;
mod write;

use serde_json::{Map, Value, json};

use interlingua_hub::names::is_reserved;
use interlingua_settings::nearest;
pub use write::yaml;

/// A hub's configuration, and what a person should know about how it came to be.
#[derive(Debug, Clone, PartialEq)]
pub struct Converted {
    pub config: Value,
    /// A path in the old file, and a word about it.
    pub notes: Vec<(String, String)>,
}

/// The name of the team the file becomes.
const TEAM: &str = "team";

/// Why a file is not a configuration of MassGen.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NotMassgen(String);

/// Reads a file of MassGen's.
pub fn convert(text: &str) -> Result<Converted, NotMassgen> {
    let file: Value = serde_saphyr::from_str(text).map_err(|error| NotMassgen(error.to_string()))?;
    let agents = match (&file["agents"], &file["agent"]) {
        (Value::Array(agents), Value::Null) => agents.clone(),
        (Value::Null, agent @ Value::Object(_)) => vec![agent.clone()],
        _ => return Err(NotMassgen("a configuration of MassGen has a list `agents`, or one `agent`".into())),
    };
    let mut convert = Convert::default();
    convert.unknown(&file, "", &["agents", "agent", "orchestrator", "ui", "memory", "timeout_settings", "nlip"]);
    for (key, why) in [
        ("ui", "the hub shows every run in its timeline"),
        ("memory", "agents of a hub remember their conversations"),
        ("nlip", "MassGen does not read this here; see `nlip` of an agent or of the team"),
    ] {
        convert.dropped(&file, "", key, why);
    }
    for (index, agent) in agents.iter().enumerate() {
        convert.agent(agent, index);
    }
    if convert.names.len() > 1 {
        orchestrator::team(&mut convert, &file);
    }
    let door =
        if convert.names.len() > 1 { TEAM.to_owned() } else { convert.names.first().cloned().unwrap_or_default() };
    convert.config.insert("front_door".into(), door.into());
    Ok(Converted { config: Value::Object(convert.config), notes: convert.notes })
}

#[derive(Default)]
struct Convert {
    config: Map<String, Value>,
    notes: Vec<(String, String)>,
    names: Vec<String>,
}

impl Convert {
    fn note(&mut self, path: impl Into<String>, text: impl Into<String>) {
        self.notes.push((path.into(), text.into()));
    }

    /// A key that MassGen does not know would only be warned about there.
    fn unknown(&mut self, map: &Value, path: &str, known: &[&str]) {
        for key in map.as_object().into_iter().flat_map(Map::keys).filter(|key| !known.contains(&key.as_str())) {
            let hint = nearest(key, known.iter().copied()).map(|meant| format!("; did you mean `{meant}`?"));
            self.notes.push((join(path, key), format!("unknown key{}", hint.unwrap_or_default())));
        }
    }

    fn dropped(&mut self, map: &Value, path: &str, key: &str, why: &str) {
        if !map[key].is_null() {
            self.note(join(path, key), format!("not taken over: {why}"));
        }
    }

    /// Puts a value below a section, under a name.
    fn put(&mut self, section: &str, name: &str, value: Value) {
        let section = self.config.entry(section).or_insert_with(|| json!({}));
        if let Some(section) = section.as_object_mut() {
            section.insert(name.to_owned(), value);
        }
    }

    fn agent(&mut self, agent: &Value, index: usize) {
        let path = format!("agents.{index}");
        self.unknown(agent, &path, &["id", "backend", "system_message", "enable_nlip", "nlip", "subagent_agents"]);
        self.dropped(agent, &path, "subagent_agents", "an agent of a hub talks to others by their `chat` skill");
        let id = agent["id"].as_str().map_or_else(|| format!("agent{}", index + 1), named);
        let backend = &agent["backend"];
        let mut new = json!({ "model": id });
        if let Some(text) = agent["system_message"].as_str() {
            new["instructions"] = text.into();
        }
        let nlip = agent["enable_nlip"].as_bool().or(agent["nlip"]["enabled"].as_bool());
        if let Some(nlip) = nlip {
            new["nlip"] = nlip.into();
        }
        let model = self.model(backend, &join(&path, "backend"));
        self.put("models", &id, model);
        let skills = self.servers(backend, &join(&path, "backend"));
        let mut patterns: Vec<String> = skills.iter().map(|peer| format!("{peer}/*")).collect();
        if let Some(cwd) = backend["cwd"].as_str() {
            patterns.push("local/*".into());
            self.put("tools", "workspace", format!("./{}", cwd.trim_start_matches("./")).into());
        }
        if !patterns.is_empty() {
            new["skills"] = patterns.into();
        }
        self.put("agents", &id, new);
        self.names.push(id);
    }

    fn model(&mut self, backend: &Value, path: &str) -> Value {
        let taken = ["type", "model", "api_key", "base_url", "cwd", "mcp_servers"];
        for key in backend.as_object().into_iter().flat_map(Map::keys).filter(|key| !taken.contains(&key.as_str())) {
            let why = match key.as_str() {
                "custom_tools" => "each is a manifest and a program in `tools.directory`",
                "exclude_tools" => "say with `skills` what the agent may use",
                _ => "the provider's own default holds; tools come from peers of the hub",
            };
            self.notes.push((join(path, key), format!("not taken over: {why}")));
        }
        let kind = backend["type"].as_str().unwrap_or("openai");
        let Some((provider, base)) = provider(kind) else {
            self.note(join(path, "type"), format!("`{kind}` is a program of its own: give it to the hub as a peer"));
            return json!({ "provider": "openai", "model": backend["model"] });
        };
        let mut model = json!({ "provider": provider });
        for key in ["model", "api_key", "base_url"] {
            if let Some(value) = backend[key].as_str() {
                model[key] = value.into();
            }
        }
        match (base, backend["base_url"].is_null()) {
            (Some(base), true) => model["base_url"] = base.into(),
            (None, true) if kind == "chatcompletion" => {
                self.note(join(path, "base_url"), "where is this provider? The hub needs its `base_url`");
            }
            _ => {}
        }
        model
    }

    /// Tool servers become peers of the hub; every agent that named one may use it.
    fn servers(&mut self, backend: &Value, path: &str) -> Vec<String> {
        let mut peers = Vec::new();
        for (index, server) in backend["mcp_servers"].as_array().into_iter().flatten().enumerate() {
            let path = format!("{path}.mcp_servers.{index}");
            let known = [
                "name",
                "type",
                "command",
                "args",
                "env",
                "url",
                "headers",
                "allowed_tools",
                "exclude_tools",
                "security",
            ];
            self.unknown(server, &path, &known);
            self.dropped(server, &path, "security", "the hub has rules of its own");
            let name = server["name"].as_str().map_or_else(|| format!("tools{}", index + 1), named);
            let mut mcp = Map::new();
            for key in ["command", "args", "env", "url", "headers"] {
                if !server[key].is_null() {
                    mcp.insert(key.into(), server[key].clone());
                }
            }
            let mut peer = json!({ "mcp": mcp });
            for (old, new) in [("allowed_tools", "allow"), ("exclude_tools", "deny")] {
                if !server[old].is_null() {
                    peer[new] = server[old].clone();
                }
            }
            self.put("peers", &name, peer);
            peers.push(name);
        }
        peers
    }
}

/// Our provider for a backend of MassGen's, and where it is.
fn provider(kind: &str) -> Option<(&'static str, Option<&'static str>)> {
    Some(match kind {
        "openai" => ("openai", None),
        "claude" => ("anthropic", None),
        "gemini" => ("gemini", None),
        "ollama" => ("ollama", None),
        "chatcompletion" | "azure_openai" | "inference" => ("openai", None),
        "grok" => ("openai", Some("https://api.x.ai/v1/")),
        "groq" => ("openai", Some("https://api.groq.com/openai/v1/")),
        "openrouter" => ("openai", Some("https://openrouter.ai/api/v1/")),
        "together" => ("openai", Some("https://api.together.xyz/v1/")),
        "fireworks" => ("openai", Some("https://api.fireworks.ai/inference/v1/")),
        "cerebras" => ("openai", Some("https://api.cerebras.ai/v1/")),
        "lmstudio" => ("openai", Some("http://127.0.0.1:1234/v1/")),
        "vllm" => ("openai", Some("http://127.0.0.1:8000/v1/")),
        "sglang" => ("openai", Some("http://127.0.0.1:30000/v1/")),
        _ => return None,
    })
}

/// A name that peers may have.
fn named(id: &str) -> String {
    let plain = |letter: char| if letter.is_ascii_alphanumeric() || letter == '-' { letter } else { '_' };
    let name: String = id.chars().map(plain).take(50).collect();
    let name = name.trim_matches(['-', '_']).replace("__", "_");
    match name.as_str() {
        "" => "agent".to_owned(),
        taken if is_reserved(taken) => format!("{taken}-agent"),
        _ => name,
    }
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Overrides, load_text};

    const FILE: &str = include_str!("../../../../../fixtures/massgen/three_agents.yaml");

    #[test]
    fn a_team_of_massgen_is_a_configuration_of_a_hub() {
        let converted = convert(FILE).expect("a configuration of MassGen");
        let text = yaml(&converted.config);
        let environment = |name: &str| (name == "OPENAI_API_KEY").then(|| "sk".to_owned());
        let loaded = load_text(&text, std::path::Path::new("hub.yaml"), &Overrides::default(), &environment);
        let config = loaded.unwrap_or_else(|rejected| panic!("{rejected}\n{text}")).config;
        assert_eq!(config.agents.keys().collect::<Vec<_>>(), ["gpt", "claude", "local-agent"]);
        assert_eq!(config.agents["claude"].skills, ["weather/*", "search/*", "local/*"]);
        assert_eq!((config.agents["claude"].routed, config.agents["gpt"].routed), (Some(true), None));
        assert_eq!(config.peers["search"].allow, ["find"]);
        let team = &config.teams[TEAM];
        assert_eq!((team.answers_each, team.lead, team.restarts, team.routed), (Some(2), 0, 1, Some(true)));
        assert_eq!(team.times.whole, crate::config::Span::seconds(600));
        assert_eq!(config.tools.roots.len(), 1);
        assert_eq!(config.front_door.as_deref(), Some(TEAM));
    }

    #[test]
    fn what_is_not_taken_over_is_told_and_a_misspelt_key_is_named() {
        let converted = convert(FILE).expect("a configuration of MassGen");
        let told: Vec<&str> = converted.notes.iter().map(|(path, _)| path.as_str()).collect();
        for path in [
            "ui",
            "orchestrator.voting_sensitivity",
            "orchestrator.snapshot_storage",
            "agents.0.backend.enable_web_search",
        ] {
            assert!(told.contains(&path), "{path}: {told:?}");
        }
        let misspelt = convert("agents: [{ id: a, backend: {}, system_mesage: hi }]").expect("read");
        let note = misspelt.notes.iter().find(|(path, _)| path == "agents.0.system_mesage").expect("told");
        assert!(note.1.contains("did you mean `system_message`?"), "{note:?}");
        assert!(convert("models: {}").is_err());
    }
}
