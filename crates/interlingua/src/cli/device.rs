//! `device`: this machine as a device of a hub, or of another AIP server.
//!
//! A hub of its own runs inside it, with the tools of the configuration or the built-in ones; commands of the device call those. It has a
//! data directory of its own, so it does not conflict with another hub on this machine.

use std::path::PathBuf;
use std::time::Duration;

use interlingua_model::FaultKind;
use interlingua_process::machine::Machine;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use super::arguments::DeviceArguments;
use super::screen::Screen;
use super::serve::not_started;
use super::{Exit, Failure, lived};
use crate::config::{self, GivenPeer, Listen, Loaded, Overrides};
use crate::server::run::Server;
use crate::server::storage;
use crate::telemetry::Telemetry;
use interlingua_aip::device::{Device, Join, Word};

/// How long spans that wait may take to be sent at the end.
const TELEMETRY_PATIENCE: Duration = Duration::from_secs(1);

pub(super) fn device(arguments: DeviceArguments) -> Result<Exit, Failure> {
    let loaded = load(&arguments)?;
    lived(run(arguments, loaded))
}

fn load(arguments: &DeviceArguments) -> Result<Loaded, Failure> {
    let environment = |name: &str| std::env::var(name).ok();
    // Nobody is told a port without a file: it is commanded through its own connection.
    let listen = arguments.config.is_none().then(Listen::any_port);
    let data = arguments.data.clone().or_else(|| arguments.config.is_none().then(|| PathBuf::from("device-data")));
    let overrides = Overrides { listen, data, peers: GivenPeer::all("mcp", &arguments.mcp).collect() };
    let loaded = match &arguments.config {
        Some(file) => config::load(file, &overrides, &environment),
        None => config::without_file(&overrides),
    };
    loaded.map_err(|rejected| Failure::new(Exit::Configuration, rejected.render()))
}

async fn run(arguments: DeviceArguments, loaded: Loaded) -> Result<Exit, Failure> {
    let config = &loaded.config;
    let failed = |error: &dyn std::fmt::Display| Failure::new(Exit::Failed, error.to_string());
    let mut terminate = signal(SignalKind::terminate()).map_err(|error| failed(&error))?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(|error| failed(&error))?;
    let telemetry = Telemetry::start(&config.telemetry, config.hub.name()).map_err(|error| failed(&error))?;
    let server = Server::start(config).await.map_err(|fault| not_started(&fault))?;
    let id = arguments.id.unwrap_or_else(|| Machine::default().look(config.data()).hostname);
    let join = Join {
        url: arguments.hub.clone(),
        id: id.clone(),
        key: arguments.key.map(|key| key.0),
        ca: arguments.ca,
        disk: config.data().to_path_buf(),
    };
    let device = Device::new(server.hub.clone(), join);
    let device = device.map_err(|fault| {
        let example = if fault.kind == FaultKind::InvalidInput { "; expected such as ws://127.0.0.1:7447" } else { "" };
        Failure::new(Exit::Usage, format!("--hub: {}{example}", fault.public))
    })?;
    let stop = CancellationToken::new();
    let screen = Screen::people();
    let tell = |word: Word| match word {
        Word::Joined => screen.note(&format!("joined {} as {id}", arguments.hub)),
        Word::Away(why) => screen.note(&format!("not connected: {why}; trying again")),
        Word::Complaint(text) => screen.note(&format!("the server says: {text}")),
    };
    let running = device.run(stop.clone(), tell);
    let mut running = std::pin::pin!(running);
    let exit = tokio::select! {
        () = running.as_mut() => Ok(Exit::Done),
        _ = terminate.recv() => Ok(Exit::Done),
        _ = interrupt.recv() => Ok(Exit::Interrupted),
        () = server.store_failed() => Err(Failure::new(Exit::Failed, storage::FAILED)),
    };
    stop.cancel();
    running.await;
    server.stop().await;
    telemetry.stop(TELEMETRY_PATIENCE).await;
    exit
}
