//! Commands that start a hub, join one, or check this machine: none of them needs a running hub.

use std::path::PathBuf;

use clap::Args;

use super::hub::Token;
use crate::cli::connect::Client;
use crate::config::{GivenPeer, Listen, Overrides};

/// What `serve` is started with.
#[derive(Debug, Clone, Default, Args)]
#[command(after_help = "\
Examples:
  interlingua serve                                        run without a file; keep data in ./data
  interlingua serve -c hub.yaml                            reload the file on change and on SIGHUP
  interlingua serve --nlip http://127.0.0.1:9003/nlip      add a peer
  interlingua serve --nlip desk=http://127.0.0.1:9003/nlip    add a peer and name it
  interlingua serve --a2a hotels=http://127.0.0.1:9002     add an A2A agent
  interlingua serve --mcp 'npx -y @modelcontextprotocol/server-filesystem .'    add an MCP server
  interlingua serve --site airline.yaml                    add a website that a browser drives")]
pub struct ServeArguments {
    /// Read the configuration from this file
    #[arg(short, long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Listen on this address and port instead of the file's
    #[arg(long, value_name = "ADDR")]
    pub listen: Option<Listen>,
    /// Use this data directory instead of the file's
    #[arg(long, value_name = "DIR", env = "INTERLINGUA_DATA")]
    pub data: Option<PathBuf>,
    /// Add a peer that speaks NLIP; repeat the flag to add several
    #[arg(long, value_name = "[NAME=]URL")]
    pub nlip: Vec<String>,
    /// Add an A2A agent by its address or the address of its card; repeat the flag to add several
    #[arg(long, value_name = "[NAME=]URL")]
    pub a2a: Vec<String>,
    /// Add an MCP server by its URL or the command that starts it; repeat the flag to add several
    #[arg(long, value_name = "[NAME=]URL|COMMAND")]
    pub mcp: Vec<String>,
    /// Add a website by the file that describes how to use it; repeat the flag to add several
    #[arg(long, value_name = "[NAME=]FILE")]
    pub site: Vec<String>,
}

impl ServeArguments {
    pub fn overrides(&self) -> Overrides {
        let given = [("nlip", &self.nlip), ("a2a", &self.a2a), ("mcp", &self.mcp), ("site", &self.site)];
        let peers = given.into_iter().flat_map(|(key, texts)| GivenPeer::all(key, texts)).collect();
        Overrides { listen: self.listen, data: self.data.clone(), peers }
    }
}

#[derive(Debug, Args)]
pub struct DemoArguments {
    /// Exit when the demo is finished
    #[arg(long)]
    pub script: bool,
    /// Run this demo script; default: the one in the checkout around this directory or this program
    #[arg(long, value_name = "FILE")]
    pub story: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct McpArguments {
    /// Read the configuration from this file
    #[arg(short, long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Use this data directory instead of the file's
    #[arg(long, value_name = "DIR", env = "INTERLINGUA_DATA")]
    pub data: Option<PathBuf>,
    /// Show only what this view of the configuration (`mcp.views`) shows
    #[arg(long, value_name = "NAME", value_parser = entry_name)]
    pub view: Option<String>,
}

#[derive(Debug, Args)]
pub struct DeviceArguments {
    /// Join this server; without a path, the path that hubs of this program use
    #[arg(long, value_name = "URL", env = "INTERLINGUA_HUB")]
    pub hub: String,
    /// Name the device; default: the name of this machine
    #[arg(long)]
    pub id: Option<String>,
    /// Authenticate with this key: the server's, or the device's own
    #[arg(long, value_name = "KEY", env = "INTERLINGUA_DEVICE_KEY", hide_env_values = true)]
    pub key: Option<Token>,
    /// Offer the tools of this configuration
    #[arg(short, long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Use this data directory for the device; default: the file's, or ./device-data
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Trust the certificate authorities in this PEM file instead of the machine's own
    #[arg(long, value_name = "FILE")]
    pub ca: Option<PathBuf>,
    /// Offer the tools of an MCP server, by its URL or the command that starts it; repeat the flag to add several
    #[arg(long, value_name = "[NAME=]URL|COMMAND")]
    pub mcp: Vec<String>,
}

#[derive(Debug, Args)]
pub struct CheckArguments {
    /// Check this file
    pub file: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct ImportArguments {
    /// Read this file: a MassGen configuration, or the MCP servers of an editor or a chat program
    pub file: PathBuf,
    /// Write the configuration to this new file instead of printing it
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct DoctorArguments {
    /// Read the configuration from this file
    #[arg(short, long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Use this data directory instead of the file's
    #[arg(long, value_name = "DIR", env = "INTERLINGUA_DATA")]
    pub data: Option<PathBuf>,
    /// Listen on this address and port instead of the file's
    #[arg(long, value_name = "ADDR")]
    pub listen: Option<Listen>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct ConnectArguments {
    /// Connect this client
    pub client: Client,
    /// Write the entry into the client's file; nothing else in the file changes
    #[arg(long)]
    pub write: bool,
    /// Remove the servers that the configuration has too from the client's list; a copy of the file stays beside it
    #[arg(long, requires = "write")]
    pub replace: bool,
    /// Start the hub with this configuration; default: hub.yaml in this directory, if it is there
    #[arg(short, long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Start the hub with this data directory; with --hub, the data directory of that hub
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Connect the client to this running hub with a token of its own, instead of starting the program
    #[arg(long, value_name = "URL", conflicts_with = "config")]
    pub hub: Option<String>,
    /// Authenticate as the Owner of that hub, if its data directory is not on this machine
    #[arg(long, value_name = "TOKEN", env = "INTERLINGUA_TOKEN", hide_env_values = true)]
    pub token: Option<Token>,
    /// Show only what this view of the configuration (`mcp.views`) shows
    #[arg(long, value_name = "NAME", value_parser = entry_name)]
    pub view: Option<String>,
    /// Name the entry in the client's file
    #[arg(long, default_value = "interlingua", value_parser = entry_name)]
    pub name: String,
    /// Use this client file instead of the usual one
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

fn entry_name(text: &str) -> Result<String, &'static str> {
    let fits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    fits.then(|| text.to_owned()).ok_or("a name is letters, digits, `-` and `_`")
}
