//! `serve`: runs the hub until it is told to stop.
//!
//! SIGTERM and Ctrl-C stop it: nothing new is accepted, what runs may end, the store is closed. What is said at the start
//! goes to standard output, log lines to standard error.

use std::time::Duration;

use tokio::signal::unix::{SignalKind, signal};

use super::arguments::ServeArguments;
use super::screen::Screen;
use super::{Exit, Failure};
use crate::config::{self, Loaded};
use crate::server::run::{Server, TOKEN_FILE};
use crate::telemetry::Telemetry;

/// How long spans that wait may take to be sent at the end.
const TELEMETRY_PATIENCE: Duration = Duration::from_secs(3);

pub(super) fn serve(arguments: &ServeArguments) -> Result<Exit, Failure> {
    let loaded = load(arguments)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::new(Exit::Failed, format!("cannot start: {}", error.kind())))?;
    runtime.block_on(run(&loaded))
}

/// The file, or the defaults, with what the command line says on top.
pub(super) fn load(arguments: &ServeArguments) -> Result<Loaded, Failure> {
    let environment = |name: &str| std::env::var(name).ok();
    let loaded = match &arguments.config {
        Some(file) => config::load(file, &arguments.overrides(), &environment),
        None => config::without_file(&arguments.overrides()),
    };
    loaded.map_err(|rejected| Failure::new(Exit::Configuration, rejected.render()))
}

async fn run(loaded: &Loaded) -> Result<Exit, Failure> {
    let config = &loaded.config;
    let failed = |error: &dyn std::fmt::Display| Failure::new(Exit::Failed, error.to_string());
    // Before anything can fail on the way down: a signal that comes early is kept.
    let mut terminate = signal(SignalKind::terminate()).map_err(|error| failed(&error))?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(|error| failed(&error))?;
    let telemetry = Telemetry::start(&config.telemetry, config.hub.name()).map_err(|error| failed(&error))?;
    for warning in &loaded.warnings {
        tracing::warn!(problem = %warning, "configuration");
    }
    let server = Server::start(config).await.map_err(|error| failed(&error))?;
    announce(&server, config)?;
    let exit = tokio::select! {
        _ = terminate.recv() => Exit::Done,
        _ = interrupt.recv() => Exit::Interrupted,
    };
    tracing::info!("stopping");
    server.stop().await;
    telemetry.stop(TELEMETRY_PATIENCE).await;
    Ok(exit)
}

fn announce(server: &Server, config: &config::Config) -> Result<(), Failure> {
    let scheme = if config.tls.is_some() { "https" } else { "http" };
    let screen = Screen::people();
    screen.say(&format!("listening on {scheme}://{}", server.address))?;
    screen.say(&format!("access token {} (also in {})", server.token, config.data().join(TOKEN_FILE).display()))
}
