//! Other people's servers, started for a test: the reference NLIP server and scripts in `conformance/`.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use tokio::net::TcpStream;

use crate::{Process, port};

/// A peer that listens on a loopback port.
#[derive(Debug)]
pub struct Peer {
    command: Command,
    process: Process,
    address: SocketAddr,
}

impl Peer {
    /// The NLIP server of `nlip-server` with the application `module:name`, quiet, as its documentation starts it.
    pub async fn nlip_server(application: &str) -> Self {
        Self::listening(|address| {
            let mut command = python();
            command.current_dir(root().join("conformance/nlip")).args(["-m", "uvicorn", application, "--host"]);
            command.arg(address.ip().to_string()).arg("--port").arg(address.port().to_string());
            command.args(["--log-level", "warning", "--no-access-log"]);
            command
        })
        .await
    }

    /// A script under `conformance/`, given `HOST:PORT` as its first argument.
    pub async fn script(path: &str, arguments: &[&str]) -> Self {
        Self::listening(|address| {
            let mut command = python();
            command.arg(root().join("conformance").join(path)).arg(address.to_string()).args(arguments);
            command
        })
        .await
    }

    /// Starts what `command` makes for a free address and waits until something listens there.
    pub async fn listening(command: impl FnOnce(SocketAddr) -> Command) -> Self {
        let address = port::free();
        let mut command = command(address);
        let mut process = Process::spawn(&mut command);
        listens(&mut process, address).await;
        Self { command, process, address }
    }

    /// Starts it again on the same address, as whoever looks after it would. One that still runs is killed first.
    pub async fn restart(&mut self) {
        self.process.kill_9();
        self.process = Process::spawn(&mut self.command);
        listens(&mut self.process, self.address).await;
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its process, to read its output or to kill it.
    pub fn process(&mut self) -> &mut Process {
        &mut self.process
    }
}

async fn listens(process: &mut Process, address: SocketAddr) {
    crate::within("a peer that listens", async {
        while TcpStream::connect(address).await.is_err() {
            if let Some(status) = process.ended() {
                panic!("the peer ended with {status}:\n{}", process.output());
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
}

/// Runs a script under `conformance/` to its end; panics with its output unless it succeeds.
pub async fn run_script(path: &str, arguments: &[&str]) -> String {
    run_script_as(None, path, arguments).await
}

/// The same with a token for the hub in its environment.
pub async fn run_script_as(token: Option<String>, path: &str, arguments: &[&str]) -> String {
    let mut command = python();
    command.envs(token.map(|token| ("INTERLINGUA_TOKEN", token)));
    command.arg(root().join("conformance").join(path)).args(arguments);
    // Tests may run as root, where Chromium has no sandbox.
    command.env("INTERLINGUA_BROWSER_SANDBOX", "off");
    let mut process = Process::start(command);
    let status = crate::within(path, async {
        loop {
            if let Some(status) = process.ended() {
                return status;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
    assert!(status.success(), "{path} ended with {status}:\n{}", process.output());
    process.output()
}

/// The repository's root.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().and_then(Path::parent).expect("the crate sits in crates/").to_path_buf()
}

fn python() -> Command {
    let program = root().join(".venv/bin/python");
    assert!(program.exists(), "the reference peers are not installed: run scripts/setup-python (make test does)");
    let mut command = Command::new(program);
    command.env("PYTHONUNBUFFERED", "1").env("PYTHONDONTWRITEBYTECODE", "1");
    command
}
