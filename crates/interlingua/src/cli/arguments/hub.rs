//! Options that select the hub and the credential of a command.

use std::path::PathBuf;

use clap::Args;

/// Which hub to talk to. Without any of these: the socket in the data directory, else 127.0.0.1:7447.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Hub")]
pub struct HubArguments {
    /// Connect to the hub at this address
    #[arg(long, value_name = "URL", env = "INTERLINGUA_HUB")]
    pub hub: Option<String>,
    /// Authenticate with this access token
    #[arg(long, value_name = "TOKEN", env = "INTERLINGUA_TOKEN", hide_env_values = true)]
    pub token: Option<Token>,
    /// Connect to the hub on this machine that uses this data directory
    #[arg(long, value_name = "DIR", env = "INTERLINGUA_DATA")]
    pub data: Option<PathBuf>,
    /// Trust the certificate authorities in this PEM file instead of the machine's own
    #[arg(long, value_name = "FILE")]
    pub ca: Option<PathBuf>,
    /// Print JSON instead of tables
    #[arg(long)]
    pub json: bool,
}

/// A token from the command line or the environment; never printed.
#[derive(Clone)]
pub struct Token(pub(crate) String);

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(…)")
    }
}

impl std::str::FromStr for Token {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Token, Self::Err> {
        let fits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
        fits.then(|| Token(text.to_owned())).ok_or("a token is printable ASCII without spaces")
    }
}
