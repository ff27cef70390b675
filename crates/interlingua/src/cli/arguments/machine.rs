//! Commands that are a hub, join one, or look at this machine: none of them needs a hub that runs already.

use std::path::PathBuf;

use clap::Args;

use super::hub::Token;
use crate::cli::connect::Client;
use crate::config::{GivenPeer, Listen, Overrides};

/// What `serve` is started with.
#[derive(Debug, Clone, Default, Args)]
#[command(after_help = "\
Examples:
  interlingua serve                                        no file: everything is kept in ./data
  interlingua serve -c hub.yaml                            read again when it changes, and on SIGHUP
  interlingua serve --nlip http://127.0.0.1:9003/nlip      with one more peer
  interlingua serve --nlip desk=http://127.0.0.1:9003/nlip    and its name
  interlingua serve --a2a hotels=http://127.0.0.1:9002     with an A2A agent
  interlingua serve --mcp 'npx -y @modelcontextprotocol/server-filesystem .'    an MCP server
  interlingua serve --site airline.yaml                    with a website that a browser drives")]
pub struct ServeArguments {
    /// The configuration file
    #[arg(short, long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Address and port, instead of the file's
    #[arg(long, value_name = "ADDR")]
    pub listen: Option<Listen>,
    /// The data directory, instead of the file's
    #[arg(long, value_name = "DIR", env = "INTERLINGUA_DATA")]
    pub data: Option<PathBuf>,
    /// One more peer that speaks NLIP; may be given several times
    #[arg(long, value_name = "[NAME=]URL")]
    pub nlip: Vec<String>,
    /// One more A2A agent, by its address or that of its card; may be given several times
    #[arg(long, value_name = "[NAME=]URL")]
    pub a2a: Vec<String>,
    /// One more MCP server, by its URL or the command that starts it; may be given several times
    #[arg(long, value_name = "[NAME=]URL|COMMAND")]
    pub mcp: Vec<String>,
    /// One more website, by the file that says how to use it; may be given several times
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
    /// End when the story is told
    #[arg(long)]
    pub script: bool,
    /// The script that tells it; default: that of the checkout around this directory or this program
    #[arg(long, value_name = "FILE")]
    pub story: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct McpArguments {
    /// The configuration file
    #[arg(short, long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// The data directory, instead of the file's
    #[arg(long, value_name = "DIR", env = "INTERLINGUA_DATA")]
    pub data: Option<PathBuf>,
    /// Only what this view of the configuration (`mcp.views`) shows
    #[arg(long, value_name = "NAME", value_parser = entry_name)]
    pub view: Option<String>,
}

#[derive(Debug, Args)]
pub struct DeviceArguments {
    /// The server to join; without a path, that of this program's hubs
    #[arg(long, value_name = "URL", env = "INTERLINGUA_HUB")]
    pub hub: String,
    /// What the device is called; default: the name of this machine
    #[arg(long)]
    pub id: Option<String>,
    /// The server's key, or the device's own
    #[arg(long, value_name = "KEY", env = "INTERLINGUA_DEVICE_KEY", hide_env_values = true)]
    pub key: Option<Token>,
    /// The configuration whose tools are offered
    #[arg(short, long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// The data directory of the device; default: the file's, or ./device-data
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Trust the authorities in this PEM file instead of the machine's own
    #[arg(long, value_name = "FILE")]
    pub ca: Option<PathBuf>,
    /// One more MCP server whose tools are offered, by its URL or the command that starts it; may be given several times
    #[arg(long, value_name = "[NAME=]URL|COMMAND")]
    pub mcp: Vec<String>,
}

#[derive(Debug, Args)]
pub struct CheckArguments {
    /// The file
    pub file: PathBuf,
    /// For programs: one JSON object
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct MigrateArguments {
    /// The file as MassGen reads it
    pub file: PathBuf,
}

#[derive(Debug, Args)]
pub struct DoctorArguments {
    /// The configuration file
    #[arg(short, long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// The data directory, instead of the file's
    #[arg(long, value_name = "DIR", env = "INTERLINGUA_DATA")]
    pub data: Option<PathBuf>,
    /// Address and port, instead of the file's
    #[arg(long, value_name = "ADDR")]
    pub listen: Option<Listen>,
    /// For programs: one JSON object
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct ConnectArguments {
    /// Which client
    pub client: Client,
    /// Put it into the client's file; everything else in there stays as it is
    #[arg(long)]
    pub write: bool,
    /// The configuration the hub is started with
    #[arg(short, long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// The data directory the hub is started with, or of the hub that --hub names
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// A running hub: the client opens its address instead of starting the program, and is given a token of its own
    #[arg(long, value_name = "URL", conflicts_with = "config")]
    pub hub: Option<String>,
    /// The Owner's token of that hub, where its data directory is not on this machine
    #[arg(long, value_name = "TOKEN", env = "INTERLINGUA_TOKEN", hide_env_values = true)]
    pub token: Option<Token>,
    /// Only what this view of the configuration (`mcp.views`) shows
    #[arg(long, value_name = "NAME", value_parser = entry_name)]
    pub view: Option<String>,
    /// What the client calls it
    #[arg(long, default_value = "interlingua", value_parser = entry_name)]
    pub name: String,
    /// The client's file, instead of where it usually is
    #[arg(long, value_name = "FILE")]
    pub file: Option<PathBuf>,
    /// For programs: one JSON object
    #[arg(long)]
    pub json: bool,
}

fn entry_name(text: &str) -> Result<String, &'static str> {
    let fits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    fits.then(|| text.to_owned()).ok_or("a name is letters, digits, `-` and `_`")
}
