//! `serve`: runs the hub until it is asked to stop.
//!
//! SIGTERM and Ctrl-C stop it: nothing new is accepted, running calls may end, the store is closed; a second signal does not wait. A failed
//! store stops it, too, with an error, so that a supervisor restarts it. SIGHUP reads the configuration again, and so does a change of one
//! of its files. Messages at the start go to standard output, log lines to standard error.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use interlingua_store_sqlite::OpenFault;
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::arguments::ServeArguments;
use super::{Exit, Failure, lived, welcome};
use crate::config::watch::Watcher;
use crate::config::{self, Loaded, Rejected};
use crate::server::run::{Server, StartFault};
use crate::server::storage;
use crate::telemetry::Telemetry;

/// How long spans that wait may take to be sent at the end.
const TELEMETRY_PATIENCE: Duration = Duration::from_secs(3);

pub(super) fn serve(arguments: &ServeArguments) -> Result<Exit, Failure> {
    let loaded = load(arguments).map_err(|rejected| Failure::new(Exit::Configuration, rejected.render()))?;
    lived(run(arguments, loaded))
}

/// The file, or the defaults, with what the command line says on top.
pub(super) fn load(arguments: &ServeArguments) -> Result<Loaded, Rejected> {
    let environment = |name: &str| std::env::var(name).ok();
    match &arguments.config {
        Some(file) => config::load(file, &arguments.overrides(), &environment),
        None => config::without_file(&arguments.overrides()),
    }
}

async fn run(arguments: &ServeArguments, loaded: Loaded) -> Result<Exit, Failure> {
    let config = &loaded.config;
    let failed = |error: &dyn std::fmt::Display| Failure::new(Exit::Failed, error.to_string());
    // Before anything can fail on the way down: a signal that comes early is kept.
    let mut stop = Stop::listen().map_err(|error| failed(&error))?;
    let mut hangup = signal(SignalKind::hangup()).map_err(|error| failed(&error))?;
    let telemetry = Telemetry::start(&config.telemetry, config.hub.name()).map_err(|error| failed(&error))?;
    for warning in &loaded.warnings {
        tracing::warn!(event = "config_warning", problem = %warning, "the configuration has a problem");
    }
    warn_of_root();
    let mut files = Files::watch(loaded.files());
    let mut server = Server::start(config).await.map_err(|fault| not_started(&fault))?;
    welcome::announce(&server, config, arguments.config.as_deref())?;
    let exit = loop {
        tokio::select! {
            exit = stop.told() => break Ok(exit),
            () = server.store_failed() => break Err(Failure::new(Exit::Failed, storage::FAILED)),
            _ = hangup.recv() => {}
            () = files.changed() => {}
        }
        reload(arguments, &mut server, &telemetry, &mut files).await;
    };
    tracing::info!(event = "hub_stopping", "the hub is stopping");
    tokio::select! {
        () = server.stop() => {}
        again = stop.told() => return Ok(again),
    }
    telemetry.stop(TELEMETRY_PATIENCE).await;
    exit
}

/// What takes over a hub of root's has the machine.
fn warn_of_root() {
    if rustix::process::geteuid().is_root() {
        tracing::warn!(event = "runs_as_root", "the hub runs as root; run it as a user of its own");
    }
}

/// Why, and what to do about it where that is not plain.
pub(super) fn not_started(fault: &StartFault) -> Failure {
    let advice = match fault {
        StartFault::Listen { cause, .. } if cause.kind() == ErrorKind::AddrInUse => {
            "\nanother program listens there, perhaps another hub: stop it, or choose another port with `--listen 127.0.0.1:PORT`"
        }
        StartFault::Store(OpenFault::InUse { .. }) => {
            "\n`interlingua skills` and the other commands use that one; a second hub needs a directory of its own: `--data DIR`"
        }
        StartFault::Listen { .. }
        | StartFault::Store(_)
        | StartFault::Postgres(_)
        | StartFault::Authority(_)
        | StartFault::OtherHub { .. }
        | StartFault::Encrypted(_)
        | StartFault::Outer(_)
        | StartFault::Keys(_)
        | StartFault::Tls(_)
        | StartFault::File { .. }
        | StartFault::Fault(_) => "",
    };
    Failure::new(Exit::Failed, format!("{fault}{advice}"))
}

/// Reads the file again. The server says what came of it.
async fn reload(arguments: &ServeArguments, server: &mut Server, telemetry: &Telemetry, files: &mut Files) {
    let loaded = load(arguments);
    let log = match &loaded {
        Ok(loaded) => {
            files.set(loaded.files());
            Some(loaded.config.telemetry.clone())
        }
        Err(rejected) => {
            // The mistake may be in a file that was not part of it before, and be mended there.
            let more = rejected.sources.files().map(Path::to_path_buf);
            files.set(files.names.iter().cloned().chain(more).collect());
            None
        }
    };
    if server.reload(loaded).await.is_ok()
        && let Some(log) = log
        && let Err(fault) = telemetry.reload(&log)
    {
        tracing::error!(event = "log_level_not_applied", error = %fault, "the log level could not be changed; the previous one stays");
    }
}

/// The signals that end the hub.
struct Stop {
    terminate: Signal,
    interrupt: Signal,
}

impl Stop {
    fn listen() -> std::io::Result<Stop> {
        Ok(Stop { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    async fn told(&mut self) -> Exit {
        tokio::select! {
            _ = self.terminate.recv() => Exit::Done,
            _ = self.interrupt.recv() => Exit::Interrupted,
        }
    }
}

/// The files a configuration was read from. Where the system cannot watch them, SIGHUP still reloads.
struct Files {
    names: Vec<PathBuf>,
    watcher: Option<Watcher>,
}

impl Files {
    fn watch(names: Vec<PathBuf>) -> Files {
        let watcher = match names.as_slice() {
            [] => None,
            names => Watcher::start(names.to_vec())
                .inspect_err(|error| tracing::warn!(event = "config_not_watched", %error, "changes of the configuration files are not detected; send SIGHUP to reload"))
                .ok(),
        };
        Files { names, watcher }
    }

    /// These from now on, each once.
    fn set(&mut self, mut names: Vec<PathBuf>) {
        names.sort();
        names.dedup();
        if names != self.names {
            *self = Files::watch(names);
        }
    }

    async fn changed(&mut self) {
        match &mut self.watcher {
            Some(watcher) => watcher.changed().await,
            None => std::future::pending().await,
        }
    }
}
