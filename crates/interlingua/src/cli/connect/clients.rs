//! Known MCP clients: where each stores its list of servers, and the format of an entry.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use serde_json::{Value, json};

use super::Way;

/// A client that can be connected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Client {
    /// Claude Desktop
    ClaudeDesktop,
    /// Claude Code, for this project
    ClaudeCode,
    /// Codex
    Codex,
    /// Cursor
    Cursor,
    /// Gemini CLI
    Gemini,
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
        let folder = self.settings.clone().or_else(|| self.home(".config"))?;
        Some(folder.join(path))
    }
}

impl Client {
    pub(super) fn title(self) -> &'static str {
        match self {
            Client::ClaudeDesktop => "Claude Desktop",
            Client::ClaudeCode => "Claude Code",
            Client::Codex => "Codex",
            Client::Cursor => "Cursor",
            Client::Gemini => "Gemini CLI",
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
            Client::Codex => homes.home(".codex/config.toml"),
            Client::Cursor => homes.home(".cursor/mcp.json"),
            Client::Gemini => homes.home(".gemini/settings.json"),
            Client::Vscode => homes.project(".vscode/mcp.json"),
            Client::Windsurf => homes.home(".codeium/windsurf/mcp_config.json"),
            Client::Zed => {
                homes.settings.clone().or_else(|| homes.home(".config")).map(|at| at.join("zed/settings.json"))
            }
        }
    }

    /// The key under which its JSON file lists servers; none where the file is not plain JSON.
    pub(super) fn key(self) -> Option<&'static str> {
        match self {
            Client::ClaudeDesktop | Client::ClaudeCode | Client::Cursor | Client::Gemini | Client::Windsurf => {
                Some("mcpServers")
            }
            Client::Vscode => Some("servers"),
            // TOML, and JSON with comments.
            Client::Codex | Client::Zed => None,
        }
    }

    /// An entry of its list; none where it has no way to say an address.
    pub(super) fn entry(self, way: &Way) -> Option<Value> {
        match (self, way) {
            (Client::Vscode, Way::Program { command, args }) => {
                Some(json!({ "type": "stdio", "command": command, "args": args }))
            }
            (_, Way::Program { command, args }) => Some(json!({ "command": command, "args": args })),
            (client, Way::Address { url, token }) => {
                client.at(url, &json!({ "Authorization": format!("Bearer {token}") }))
            }
        }
    }

    /// An entry with an address, and the headers it shows there.
    fn at(self, url: &str, headers: &Value) -> Option<Value> {
        match self {
            Client::Vscode | Client::ClaudeCode => Some(json!({ "type": "http", "url": url, "headers": headers })),
            Client::Cursor | Client::Zed => Some(json!({ "url": url, "headers": headers })),
            Client::Codex => Some(json!({ "url": url, "http_headers": headers })),
            Client::Gemini => Some(json!({ "httpUrl": url, "headers": headers })),
            Client::Windsurf => Some(json!({ "serverUrl": url, "headers": headers })),
            Client::ClaudeDesktop => None,
        }
    }

    pub(super) fn takes_address(self) -> bool {
        self.at("", &Value::Null).is_some()
    }

    /// What the hub knows it by.
    pub(super) fn caller(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }

    /// What a person adds to the file by hand.
    pub(super) fn snippet(self, name: &str, entry: &Value) -> String {
        match self {
            Client::Codex => toml(name, entry),
            Client::Zed => format!("{:#}", json!({ "context_servers": { name: entry } })),
            Client::ClaudeDesktop
            | Client::ClaudeCode
            | Client::Cursor
            | Client::Gemini
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
