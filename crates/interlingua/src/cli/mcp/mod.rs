//! `mcp`: the hub as an MCP server on standard input and output, for desktop clients (MCP, transports, stdio).
//!
//! It attaches to the hub that holds the data directory, through its socket; if there is none it becomes that hub for as long as its client
//! is connected. Standard output carries messages and nothing else, log lines go to standard error, and the end of standard input ends it.
//!
//! It is a bridge and not a second server: each message goes to the hub's own endpoint, so both eras, names, permissions and questions are
//! the same as over HTTP. It adds what a pipe lacks: closing a stream, and headers.

mod bridge;
mod lines;

use std::path::Path;
use std::time::Duration;

use tokio::net::UnixStream;

use super::arguments::{HubArguments, McpArguments};
use super::client::Way;
use super::{Exit, Failure, lived, view};
use crate::config::{self, Config, Listen, Loaded, Overrides};
use crate::server::run::Server;
use crate::server::storage;
use crate::telemetry::Telemetry;

/// How long spans that wait may take to be sent at the end.
const TELEMETRY_PATIENCE: Duration = Duration::from_secs(1);

pub(super) fn mcp(arguments: &McpArguments) -> Result<Exit, Failure> {
    let loaded = load(arguments)?;
    lived(run(loaded, arguments.view.as_deref()))
}

fn load(arguments: &McpArguments) -> Result<Loaded, Failure> {
    let environment = |name: &str| std::env::var(name).ok();
    let overrides = Overrides { data: arguments.data.clone(), ..Overrides::default() };
    let loaded = match &arguments.config {
        Some(file) => config::load(file, &overrides, &environment),
        None => config::without_file(&overrides),
    };
    let mut loaded = loaded.map_err(|rejected| Failure::new(Exit::Configuration, rejected.render()))?;
    loaded.config.listen = port(loaded.config.listen);
    Ok(loaded)
}

/// This client needs no port: it speaks through the socket. One that configuration names is taken if it is free; the usual one
/// is left to the hub that is started by itself, and one that is taken, by the hub of another client perhaps, is no reason to
/// fail.
fn port(configured: Listen) -> Listen {
    if configured != Listen::default() && std::net::TcpListener::bind(configured.0).is_ok() {
        return configured;
    }
    Listen::any_port()
}

async fn run(loaded: Loaded, view: Option<&str>) -> Result<Exit, Failure> {
    let config = &loaded.config;
    let socket = config.socket();
    if answers(&socket).await {
        return attach(config, view).await;
    }
    if let Some(view) = view {
        view::of_config(config, view)?;
    }
    let failed = |error: &dyn std::fmt::Display| Failure::new(Exit::Failed, error.to_string());
    let telemetry = Telemetry::start(&config.telemetry, config.hub.name()).map_err(|error| failed(&error))?;
    let server = match Server::start(config).await {
        Ok(server) => server,
        // Two clients that start at once: one of them became the hub.
        Err(_) if answers(&socket).await => return attach(config, view).await,
        Err(error) => return Err(failed(&error)),
    };
    let exit = tokio::select! {
        exit = bridge::run(Way::Socket(socket), bridge::endpoint(view)) => exit,
        () = server.store_failed() => Err(Failure::new(Exit::Failed, storage::FAILED)),
    };
    server.stop().await;
    telemetry.stop(TELEMETRY_PATIENCE).await;
    exit
}

/// To the hub that runs.
async fn attach(config: &Config, view: Option<&str>) -> Result<Exit, Failure> {
    if let Some(view) = view {
        let hub = HubArguments { data: Some(config.data().to_path_buf()), ..HubArguments::default() };
        view::of_hub(&hub, view).await?;
    }
    bridge::run(Way::Socket(config.socket()), bridge::endpoint(view)).await
}

async fn answers(socket: &Path) -> bool {
    UnixStream::connect(socket).await.is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_taken_only_where_it_is_asked_for_and_free() {
        assert_eq!(port(Listen::default()), Listen::any_port());
        let taken = std::net::TcpListener::bind(Listen::any_port().0).expect("a port");
        let address = Listen(taken.local_addr().expect("an address"));
        assert_eq!(port(address), Listen::any_port());
        drop(taken);
        assert_eq!(port(address), address);
    }
}
