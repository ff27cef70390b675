//! Known MCP clients: where each stores its list of servers, and the format of an entry.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use serde_json::{Map, Value, json};

use super::Way;
use crate::cli::import::yaml;

/// A client that can be connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Client {
    /// Claude Desktop
    ClaudeDesktop,
    /// Claude Code, for this project
    ClaudeCode,
    /// Cline on the command line; with --file, Cline in an editor
    Cline,
    /// Codex
    Codex,
    /// Cursor
    Cursor,
    /// Gemini CLI
    Gemini,
    /// Goose
    Goose,
    /// Junie, of JetBrains
    Junie,
    /// LM Studio
    LmStudio,
    /// Visual Studio Code, for this project
    Vscode,
    /// Windsurf
    Windsurf,
    /// Zed
    Zed,
}

/// Where files of this person, of their programs and of this project are.
#[derive(Debug, Default)]
pub(super) struct Homes {
    pub(super) home: Option<PathBuf>,
    pub(super) settings: Option<PathBuf>,
    pub(super) project: Option<PathBuf>,
}

impl Homes {
    /// Those of whoever runs this program.
    pub(super) fn here() -> Homes {
        let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        Homes {
            home: variable("HOME").or_else(|| variable("USERPROFILE")),
            settings: variable("XDG_CONFIG_HOME"),
            project: std::env::current_dir().ok(),
        }
    }

    fn home(&self, path: &str) -> Option<PathBuf> {
        self.home.as_deref().map(|home| home.join(path))
    }

    fn project(&self, path: &str) -> Option<PathBuf> {
        self.project.as_deref().map(|project| project.join(path))
    }

    /// Below the folder in which the system keeps programs' settings.
    fn settings(&self, path: &str) -> Option<PathBuf> {
        if cfg!(target_os = "macos") {
            return self.home(&Path::new("Library/Application Support").join(path).to_string_lossy());
        }
        self.unix_settings(path)
    }

    /// The same for programs that use one place on every Unix, macOS included.
    fn unix_settings(&self, path: &str) -> Option<PathBuf> {
        let folder = self.settings.clone().or_else(|| self.home(".config"))?;
        Some(folder.join(path))
    }
}

impl Client {
    pub(in crate::cli) fn title(self) -> &'static str {
        match self {
            Client::ClaudeDesktop => "Claude Desktop",
            Client::ClaudeCode => "Claude Code",
            Client::Cline => "Cline",
            Client::Codex => "Codex",
            Client::Cursor => "Cursor",
            Client::Gemini => "Gemini CLI",
            Client::Goose => "Goose",
            Client::Junie => "Junie",
            Client::LmStudio => "LM Studio",
            Client::Vscode => "Visual Studio Code",
            Client::Windsurf => "Windsurf",
            Client::Zed => "Zed",
        }
    }

    /// The file in which it looks.
    pub(super) fn place(self, homes: &Homes) -> Option<PathBuf> {
        match self {
            Client::ClaudeDesktop => homes.settings("Claude/claude_desktop_config.json"),
            Client::ClaudeCode => homes.project(".mcp.json"),
            Client::Cline => homes.home(".cline/data/settings/cline_mcp_settings.json"),
            Client::Codex => homes.home(".codex/config.toml"),
            Client::Cursor => homes.home(".cursor/mcp.json"),
            Client::Gemini => homes.home(".gemini/settings.json"),
            Client::Goose => homes.unix_settings("goose/config.yaml"),
            Client::Junie => homes.home(".junie/mcp/mcp.json"),
            Client::LmStudio => homes.home(".lmstudio/mcp.json"),
            Client::Vscode => homes.project(".vscode/mcp.json"),
            Client::Windsurf => homes.home(".codeium/windsurf/mcp_config.json"),
            Client::Zed => homes.unix_settings("zed/settings.json"),
        }
    }

    /// The key under which its JSON file lists servers; none where the file is not plain JSON.
    pub(super) fn key(self) -> Option<&'static str> {
        match self {
            Client::ClaudeDesktop
            | Client::ClaudeCode
            | Client::Cline
            | Client::Cursor
            | Client::Gemini
            | Client::Junie
            | Client::LmStudio
            | Client::Windsurf => Some("mcpServers"),
            Client::Vscode => Some("servers"),
            // TOML, YAML, and JSON with comments.
            Client::Codex | Client::Goose | Client::Zed => None,
        }
    }

    /// An entry of its list; none where it has no way to say an address.
    pub(super) fn entry(self, way: &Way) -> Option<Value> {
        match way {
            Way::Program { command, args, env } => {
                let env: Map<String, Value> =
                    env.iter().map(|(name, value)| (name.clone(), value.text().unwrap_or_default().into())).collect();
                Some(self.started(command, args, env))
            }
            Way::Address { url, token } => self.at(url, &json!({ "Authorization": format!("Bearer {token}") })),
        }
    }

    /// An entry with a program, and the variables that are set for it, if there are any.
    fn started(self, command: &str, args: &[String], env: Map<String, Value>) -> Value {
        let (mut entry, variables) = match self {
            Client::Goose => (
                json!({ "name": "Interlingua", "type": "stdio", "enabled": true, "timeout": 300, "cmd": command }),
                "envs",
            ),
            Client::Vscode => (json!({ "type": "stdio", "command": command }), "env"),
            Client::ClaudeDesktop
            | Client::ClaudeCode
            | Client::Cline
            | Client::Codex
            | Client::Cursor
            | Client::Gemini
            | Client::Junie
            | Client::LmStudio
            | Client::Windsurf
            | Client::Zed => (json!({ "command": command }), "env"),
        };
        entry["args"] = json!(args);
        if !env.is_empty() {
            entry[variables] = env.into();
        }
        entry
    }

    /// An entry with an address, and the headers it shows there.
    fn at(self, url: &str, headers: &Value) -> Option<Value> {
        match self {
            Client::Vscode | Client::ClaudeCode => Some(json!({ "type": "http", "url": url, "headers": headers })),
            Client::Cline => Some(json!({ "type": "streamableHttp", "url": url, "headers": headers })),
            Client::Cursor | Client::LmStudio | Client::Zed => Some(json!({ "url": url, "headers": headers })),
            Client::Codex => Some(json!({ "url": url, "http_headers": headers })),
            Client::Gemini => Some(json!({ "httpUrl": url, "headers": headers })),
            Client::Goose => Some(json!({
                "name": "Interlingua", "type": "streamable_http", "enabled": true, "timeout": 300, "uri": url, "headers": headers,
            })),
            Client::Windsurf => Some(json!({ "serverUrl": url, "headers": headers })),
            Client::ClaudeDesktop | Client::Junie => None,
        }
    }

    pub(super) fn takes_address(self) -> bool {
        self.at("", &Value::Null).is_some()
    }

    /// What the hub knows it by.
    pub(in crate::cli) fn caller(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }

    /// What a person adds to the file by hand.
    pub(super) fn snippet(self, name: &str, entry: &Value) -> String {
        match self {
            Client::Codex => toml(name, entry),
            Client::Goose => yaml(&json!({ "extensions": { name: entry } })).trim_end().to_owned(),
            Client::Zed => format!("{:#}", json!({ "context_servers": { name: entry } })),
            Client::ClaudeDesktop
            | Client::ClaudeCode
            | Client::Cline
            | Client::Cursor
            | Client::Gemini
            | Client::Junie
            | Client::LmStudio
            | Client::Vscode
            | Client::Windsurf => {
                format!("{:#}", json!({ self.key().unwrap_or("mcpServers"): { name: entry } }))
            }
        }
    }
}

/// An entry in TOML. Its strings are spelled as in JSON, whose escapes TOML's basic strings share.
fn toml(name: &str, entry: &Value) -> String {
    let fields = entry.as_object().into_iter().flatten();
    let spelled = |value: &Value| match value {
        Value::Object(fields) => {
            let fields = fields.iter().map(|(key, value)| format!("{key} = {value}"));
            format!("{{ {} }}", fields.collect::<Vec<_>>().join(", "))
        }
        value => value.to_string(),
    };
    let lines = fields.map(|(key, value)| format!("{key} = {}", spelled(value)));
    format!("[mcp_servers.{name}]\n{}", lines.collect::<Vec<_>>().join("\n"))
}
