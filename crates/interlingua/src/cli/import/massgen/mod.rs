//! Conversion of a MassGen configuration: its agents, models, tool servers, NLIP settings and the rules of its orchestrator.
//!
//! What has no counterpart is told and not guessed.

mod orchestrator;

use serde_json::{Map, Value, json};

use super::values::{literal, variable, with_references};
use super::{Conversion, Unreadable, join, mcp_servers, named};

/// The name of the team the file becomes.
pub(super) const TEAM: &str = "team";

/// The blocks of `nlip` that a hub has under the same names.
const NLIP: [(&str, &[&str]); 3] = [
    (
        "router",
        &[
            "enabled",
            "enable_message_tracking",
            "enable_state_management",
            "session_timeout_hours",
            "enable_streaming",
            "buffer_partial_responses",
            "max_parallel_calls",
        ],
    ),
    ("translation", &["mcp_enabled", "custom_tools_enabled", "builtin_tools_enabled"]),
    ("tokens", &["auto_generate_sessions", "track_conversation_turns", "persist_context_tokens"]),
];

pub(super) fn convert(conversion: &mut Conversion, file: &Value) -> Result<(), Unreadable> {
    let agents = match (&file["agents"], &file["agent"]) {
        (Value::Array(agents), Value::Null) => {
            agents.iter().enumerate().map(|(n, agent)| (format!("agents.{n}"), agent)).collect()
        }
        (Value::Null, agent @ Value::Object(_)) => vec![("agent".to_owned(), agent)],
        _ => {
            let text = "it is neither a configuration of MassGen (a list `agents`, or one `agent`) nor one of MCP servers (`mcpServers`)";
            return Err(Unreadable(text.into()));
        }
    };
    conversion.unknown(file, "", &["agents", "agent", "orchestrator", "ui", "memory", "timeout_settings", "nlip"]);
    conversion.without(file, "", "ui", "the hub shows every run in its timeline");
    conversion.without(file, "", "memory", "agents and teams of a hub remember their conversations by themselves");
    nlip(conversion, &file["nlip"]);
    let mut members = Vec::new();
    for (index, (path, agent)) in agents.into_iter().enumerate() {
        members.push(self::agent(conversion, &path, agent, index));
    }
    let door = match members.as_slice() {
        [only] => only.name.clone(),
        _ => {
            orchestrator::team(conversion, file, &members);
            TEAM.to_owned()
        }
    };
    conversion.config.insert("front_door".into(), door.into());
    Ok(())
}

/// An agent that was converted.
pub(super) struct Member {
    pub(super) name: String,
    pub(super) share: Option<String>,
}

/// The block of the whole file: a hub has the same.
fn nlip(conversion: &mut Conversion, nlip: &Value) {
    let mut block = Map::new();
    for (key, value) in nlip.as_object().into_iter().flatten() {
        match (key.as_str(), value) {
            ("enabled", Value::Bool(_)) | ("schema_version", Value::String(_)) => {
                block.insert(key.clone(), value.clone());
                conversion.kept(format!("nlip.{key}"), format!("nlip.{key}"));
            }
            _ => {
                let known = NLIP.iter().find(|(name, _)| name == key);
                let Some(((name, known), members)) = known.zip(value.as_object()) else { continue };
                let mut kept = Map::new();
                for (key, value) in
                    members.iter().filter(|(key, value)| known.contains(&key.as_str()) && is_plain(value))
                {
                    kept.insert(key.clone(), value.clone());
                    conversion.kept(format!("nlip.{name}.{key}"), format!("nlip.{name}.{key}"));
                }
                if let (&"router", Some(seconds)) = (name, members.get("default_timeout").and_then(Value::as_u64)) {
                    kept.insert("default_timeout".into(), format!("{seconds}s").into());
                    conversion.kept("nlip.router.default_timeout", "nlip.router.default_timeout");
                }
                block.insert(name.to_owned().into(), kept.into());
            }
        }
    }
    if !block.is_empty() {
        conversion.config.insert("nlip".into(), block.into());
    }
}

fn is_plain(value: &Value) -> bool {
    value.is_boolean() || value.is_u64()
}

fn agent(conversion: &mut Conversion, path: &str, agent: &Value, index: usize) -> Member {
    let known = ["id", "backend", "system_message", "enable_nlip", "nlip", "subagent_agents", "subtask"];
    conversion.unknown(agent, path, &known);
    conversion.without(agent, path, "subagent_agents", "an agent of a hub talks to others by their `chat` skill");
    let id = agent["id"].as_str().map_or_else(|| format!("agent{}", index + 1), |id| named(id, "agent"));
    let id = conversion.free("agents", &id);
    if !agent["id"].is_null() {
        conversion.kept(join(path, "id"), format!("agents.{id}"));
    }
    let backend = &agent["backend"];
    let mut new = json!({ "model": id });
    if let Some(text) = agent["system_message"].as_str().and_then(literal) {
        new["instructions"] = text.into();
        conversion.kept(join(path, "system_message"), format!("agents.{id}.instructions"));
    }
    routed(conversion, (path, &id), agent, &mut new);
    let backend_path = join(path, "backend");
    let model = model(conversion, backend, &backend_path, &id);
    conversion.put("models", &id, model);
    let skills = servers(conversion, backend, &backend_path);
    let mut patterns: Vec<String> = skills.iter().map(|peer| format!("{peer}/*")).collect();
    if let Some(cwd) = backend["cwd"].as_str().and_then(literal) {
        patterns.push("local/*".into());
        let workspace = if cwd.starts_with('/') { cwd } else { format!("./{}", cwd.trim_start_matches("./")) };
        conversion.put("tools", "workspace", workspace.into());
        conversion.kept(join(&backend_path, "cwd"), "tools.workspace");
    }
    if !patterns.is_empty() {
        new["skills"] = patterns.into();
    }
    conversion.put("agents", &id, new);
    let share = agent["subtask"].as_str().and_then(literal);
    if share.is_some() {
        conversion.kept(join(path, "subtask"), format!("teams.{TEAM}.shares.{id}"));
    }
    Member { name: id, share }
}

/// How its calls travel.
fn routed(conversion: &mut Conversion, (path, id): (&str, &str), agent: &Value, new: &mut Value) {
    for (key, value) in [("enable_nlip", &agent["enable_nlip"]), ("nlip.enabled", &agent["nlip"]["enabled"])] {
        if let Some(nlip) = value.as_bool() {
            new["nlip"] = nlip.into();
            conversion.kept(join(path, key), format!("agents.{id}.nlip"));
        }
    }
    let path = join(path, "nlip.router_config");
    for (key, value) in agent["nlip"]["router_config"].as_object().into_iter().flatten() {
        let at = join(&path, key);
        match (key.as_str(), value) {
            ("default_timeout", Value::Number(seconds)) if seconds.as_u64().is_some_and(|seconds| seconds > 0) => {
                new["router"]["default_timeout"] = format!("{seconds}s").into();
                conversion.kept(at, format!("agents.{id}.router.default_timeout"));
            }
            ("max_parallel_calls", Value::Number(_)) => {
                new["router"]["max_parallel_calls"] = value.clone();
                conversion.kept(at, format!("agents.{id}.router.max_parallel_calls"));
            }
            ("enable_streaming" | "buffer_partial_responses", Value::Bool(_)) => {
                new["router"][key] = value.clone();
                conversion.kept(at, format!("agents.{id}.router.{key}"));
            }
            _ => conversion.left(at, "the router of an agent has no such setting"),
        }
    }
}

fn model(conversion: &mut Conversion, backend: &Value, path: &str, id: &str) -> Value {
    let taken = ["type", "model", "api_key", "base_url", "cwd", "mcp_servers"];
    for key in backend.as_object().into_iter().flat_map(Map::keys).filter(|key| !taken.contains(&key.as_str())) {
        let why = match key.as_str() {
            "custom_tools" => "each is a manifest and a program in `tools.directory`",
            "exclude_tools" => "say with `skills` what the agent may use",
            _ => "the provider's own default holds; tools come from peers of the hub",
        };
        conversion.left(join(path, key), why);
    }
    let kind = backend["type"].as_str().unwrap_or("openai");
    let Some((provider, base)) = provider(kind) else {
        let text = format!("`{kind}` is a program of its own: give it to the hub as a peer");
        conversion.left(join(path, "type"), text);
        return json!({ "provider": "openai", "model": backend["model"].as_str().and_then(literal).unwrap_or_else(|| kind.to_owned()) });
    };
    if !backend["type"].is_null() {
        conversion.kept(join(path, "type"), format!("models.{id}.provider"));
    }
    let mut model = json!({ "provider": provider });
    for key in ["model", "base_url"] {
        if let Some(value) = backend[key].as_str().and_then(with_references) {
            model[key] = value.into();
            conversion.kept(join(path, key), format!("models.{id}.{key}"));
        }
    }
    if let Some(key) = api_key(conversion, &backend["api_key"], path, id) {
        model["api_key"] = key.into();
    }
    match (base, backend["base_url"].is_null()) {
        (Some(base), true) => model["base_url"] = base.into(),
        (None, true) if kind == "chatcompletion" => {
            conversion.note(join(path, "base_url"), "where is this provider? The hub needs its `base_url`");
        }
        _ => {}
    }
    model
}

/// A key that stands in the file is not copied.
fn api_key(conversion: &mut Conversion, key: &Value, path: &str, id: &str) -> Option<String> {
    let at = join(path, "api_key");
    let key = key.as_str()?;
    if key.contains("${") {
        conversion.kept(at, format!("models.{id}.api_key"));
        return with_references(key);
    }
    let variable = variable(&format!("{id}_api_key"));
    conversion
        .note(at, format!("kept as a reference, the secret is not copied: set {variable} in the hub's environment"));
    Some(format!("${{{variable}}}"))
}

/// Tool servers become peers of the hub; every agent that named one may use it.
fn servers(conversion: &mut Conversion, backend: &Value, path: &str) -> Vec<String> {
    let path = join(path, "mcp_servers");
    let listed = backend["mcp_servers"].as_array().into_iter().flatten();
    let listed = listed.enumerate().map(|(index, server)| (index.to_string(), server["name"].as_str(), server));
    let by_name = backend["mcp_servers"].as_object().into_iter().flatten();
    let by_name = by_name.map(|(name, server)| (name.clone(), Some(name.as_str()), server));
    let servers = listed.chain(by_name);
    servers
        .filter_map(|(key, name, server)| {
            mcp_servers::server(conversion, &join(&path, &key), name.unwrap_or("tools"), server)
        })
        .collect()
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
