//! Conversion of the tool servers that an editor or a chat program is configured with: `mcpServers` (Claude Desktop, Cursor and most others),
//! `servers` of `mcp.json` (VS Code), the same below `mcp` in its settings, or `context_servers` (Zed).

use std::path::Path;

use serde_json::{Map, Value, json};

use super::values::{is_secret, literal, variable, with_references};
use super::{Conversion, Unreadable, join, named};

/// Where servers stand in a file.
const PLACES: [&[&str]; 5] =
    [&["mcpServers"], &["servers"], &["mcp", "servers"], &["mcp", "mcpServers"], &["context_servers"]];

/// How many servers one file may have.
const MOST: usize = 1_000;

/// The servers of a file and where they stand in it.
pub(super) fn found(file: &Value) -> Option<(String, &Map<String, Value>)> {
    PLACES.iter().find_map(|place| {
        let servers = place.iter().fold(file, |value, key| &value[*key]).as_object()?;
        Some((place.join("."), servers))
    })
}

pub(super) fn convert(conversion: &mut Conversion, at: &str, servers: &Map<String, Value>) -> Result<(), Unreadable> {
    if servers.len() > MOST {
        return Err(Unreadable(format!("a file with more than {MOST} servers is not imported")));
    }
    for (name, server) in servers {
        self::server(conversion, &join(at, name), name, server);
    }
    Ok(())
}

/// What VS Code asks its user for is a variable of the environment here.
pub(super) fn inputs(conversion: &mut Conversion, file: &Value) {
    for (index, input) in file["inputs"].as_array().into_iter().flatten().enumerate() {
        let id = input["id"].as_str().unwrap_or_default();
        let text = format!("kept as the variable {} of the hub's environment: set it", variable(id));
        conversion.note(format!("inputs.{index}"), text);
    }
}

/// One server, and the name of the peer that it became. Nothing of it is run here: the hub starts it when it runs with the configuration.
pub(super) fn server(conversion: &mut Conversion, path: &str, name: &str, server: &Value) -> Option<String> {
    if server["disabled"] == true || server["enabled"] == false {
        conversion.left(path, "it is disabled");
        return None;
    }
    if is_hub(server) {
        conversion.left(path, "it is a hub of this program");
        return None;
    }
    let peer = match conversion.peer(&named(name, "tools"), server) {
        Ok(peer) => peer,
        Err(same) => {
            conversion.kept(path, format!("peers.{same}"));
            return Some(same);
        }
    };
    let mut mcp = Map::new();
    let mut below = json!({});
    for (key, value) in server.as_object().into_iter().flatten() {
        let at = join(path, key);
        let new = match key.as_str() {
            "name" => {
                conversion.kept(&at, format!("peers.{peer}"));
                continue;
            }
            "command" => text(value).map(|text| ("command", text)),
            "url" | "serverUrl" | "httpUrl" => text(value).map(|text| ("url", text)),
            "cwd" => text(value).map(|text| ("directory", text)),
            "args" => texts(value).map(|texts| ("args", texts)),
            "env" => secrets(conversion, (&at, &peer), Field::Variable, value).map(|env| ("env", env)),
            "headers" => secrets(conversion, (&at, &peer), Field::Header, value).map(|headers| ("headers", headers)),
            "allowedTools" | "includeTools" | "allowed_tools" | "tools" if value.is_array() => {
                beside(conversion, &mut below, &peer, (&at, "allow"), texts(value));
                continue;
            }
            "excludeTools" | "disabledTools" | "exclude_tools" => {
                beside(conversion, &mut below, &peer, (&at, "deny"), texts(value));
                continue;
            }
            "description" => {
                beside(
                    conversion,
                    &mut below,
                    &peer,
                    (&at, "description"),
                    value.as_str().and_then(literal).map(Value::from),
                );
                continue;
            }
            _ => {
                conversion.left(&at, reason(key));
                continue;
            }
        };
        match new {
            Some((new, value)) => {
                conversion.kept(&at, format!("peers.{peer}.mcp.{new}"));
                mcp.insert(new.into(), value);
            }
            None => conversion.left(&at, "it is not of the form that a server has, or would make the hub read a file"),
        }
    }
    if mcp.contains_key("command") == mcp.contains_key("url") {
        conversion.left(path, "a server has a `command` or a `url`, and not both");
        return None;
    }
    if !mcp.contains_key("directory") && [mcp.get("command"), mcp.get("args")].into_iter().flatten().any(is_relative) {
        // Whoever starts the hub, from wherever: a relative path leads to the same file.
        mcp.insert("directory".into(), ".".into());
        let text = format!("paths of peers.{peer} that are relative start at the folder of the hub's configuration");
        conversion.note(format!("{path}.cwd"), text);
    }
    conversion.kept(path, format!("peers.{peer}"));
    below["mcp"] = mcp.into();
    conversion.put("peers", &peer, below);
    Some(peer)
}

/// A key of the peer itself.
fn beside(conversion: &mut Conversion, below: &mut Value, peer: &str, (at, new): (&str, &str), value: Option<Value>) {
    match value {
        Some(value) => {
            below[new] = value;
            conversion.kept(at, format!("peers.{peer}.{new}"));
        }
        None => conversion.left(at, "it is not of the form that a server has"),
    }
}

fn reason(key: &str) -> &'static str {
    match key {
        "type" | "transport" => "`command` or `url` says it",
        "disabled" | "enabled" => "every peer of a configuration is used",
        "autoApprove" | "alwaysAllow" | "trust" => {
            "what needs an approval is decided by effects: see `peers.NAME.effects` and `confirm`"
        }
        "timeout" => "programs disagree about its unit: set `peers.NAME.timeout`",
        "security" => "the hub has rules of its own: see `peers.NAME.mcp.insecure` and `peers.NAME.origins`",
        "envFile" | "env_file" => "the hub has one environment: set the variables there",
        "oauth" | "auth" => "set `peers.NAME.mcp.oauth`; a hub signs in by itself where a server asks for it",
        "icon" | "gallery" | "dev" | "version" => "it is for the program that the file belongs to",
        _ => "the hub knows no such key of a server",
    }
}

fn text(value: &Value) -> Option<Value> {
    value.as_str().and_then(with_references).map(Value::from)
}

fn texts(value: &Value) -> Option<Value> {
    let texts = value.as_array()?.iter().map(text).collect::<Option<Vec<Value>>>()?;
    Some(texts.into())
}

/// What `connect` writes: as a peer it would be a hub before itself.
pub(in crate::cli) fn is_hub(server: &Value) -> bool {
    let program = server["command"].as_str().and_then(|command| Path::new(command).file_stem());
    program.is_some_and(|name| name == "interlingua") && server["args"][0] == "mcp"
}

/// Does a text, or one of a list, name a file from where the program is started?
fn is_relative(value: &Value) -> bool {
    match value {
        Value::String(text) => text.starts_with("./") || text.starts_with("../"),
        Value::Array(items) => items.iter().any(is_relative),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => false,
    }
}

/// Where a credential stands. The name of a variable is known to the program that reads it; the name of a header says nothing without its
/// server.
#[derive(Debug, Clone, Copy)]
enum Field {
    Variable,
    Header,
}

/// Values of which some are credentials. A credential that stands in the file is not copied: the hub reads it from its environment.
fn secrets(conversion: &mut Conversion, (path, peer): (&str, &str), field: Field, values: &Value) -> Option<Value> {
    let mut new = Map::new();
    for (name, value) in values.as_object()? {
        let at = join(path, name);
        let plain = match value {
            Value::String(text) => text.clone(),
            Value::Number(_) | Value::Bool(_) => value.to_string(),
            Value::Null | Value::Array(_) | Value::Object(_) => {
                conversion.left(&at, "it is not a text");
                continue;
            }
        };
        let written = match with_references(&plain) {
            None => {
                conversion.left(&at, "it would make the hub read a file");
                continue;
            }
            Some(_) if is_secret(name) && !plain.contains("${") && !plain.is_empty() => {
                let of_peer = variable(&format!("{peer}_{name}"));
                let first = match field {
                    Field::Variable => variable(name),
                    Field::Header => of_peer.clone(),
                };
                let variable = conversion.credential([first, of_peer], &plain);
                let text =
                    format!("kept as a reference, the secret is not copied: set {variable} in the hub's environment");
                conversion.note(&at, text);
                format!("${{{variable}}}")
            }
            Some(written) => written,
        };
        new.insert(name.clone(), written.into());
    }
    Some(new.into())
}
