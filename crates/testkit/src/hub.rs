//! A real hub: the program itself, on a free port, with a data directory of its own.

use std::{
    fs,
    net::SocketAddr,
    path::{Path, PathBuf},
    process::{Command, ExitStatus},
    time::{Duration, Instant},
};

use bytes::Bytes;
use http::Method;
use http_body_util::Full;
use rustix::process::Signal;
use serde_json::Value;
use tempfile::TempDir;

use crate::{Answer, Connection, PATIENCE, Process, WebSocket, connection, port, raw::WebSocketFrames};

/// The Owner's token of hubs that are made with [`HubBuilder::known_owner`].
pub const OWNER_TOKEN: &str = "ilg_0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

/// What a hub is started with.
#[derive(Debug)]
pub struct HubBuilder {
    program: PathBuf,
    directory: TempDir,
    arguments: Vec<String>,
    environment: Vec<(String, String)>,
    scheme: Scheme,
    listen: Option<SocketAddr>,
    /// How many lines it may say, where that is more than usual.
    lines: Option<usize>,
    /// The section `store` that its configuration gets, unless it has one.
    store: Option<String>,
}

/// The outer key of hubs on PostgreSQL.
const OUTER_KEY: &str = "1111111111111111111111111111111111111111111111111111111111111111";

/// A section `store` for a schema of its own in this database.
fn on_postgres(url: &str) -> String {
    let schema = format!("hub_{}", unique());
    format!("store: {{ postgres: {{ url: '{url}', schema: {schema} }}, encryption: {{ key: '{OUTER_KEY}' }} }}\n")
}

/// Never the same twice on this machine.
fn unique() -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    format!("{}_{}_{}", since.as_nanos(), std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scheme {
    Plain,
    Tls,
}

impl HubBuilder {
    /// Writes the configuration. Without it the hub starts with none, as a newcomer's would.
    pub fn config(mut self, yaml: &str) -> Self {
        let yaml = self.with_store(yaml);
        self = self.file("interlingua.yaml", yaml);
        self.arguments.extend(["-c".to_owned(), "interlingua.yaml".to_owned()]);
        self
    }

    /// Writes a file beside the configuration; a path in the configuration is relative to there.
    pub fn file(self, path: &str, content: impl AsRef<[u8]>) -> Self {
        let path = self.directory.path().join(path);
        fs::create_dir_all(path.parent().expect("a file is in a directory")).expect("the directory can be made");
        fs::write(&path, content).expect("the file can be written");
        self
    }

    /// Keeps its data in a schema of its own in this database. Called before [`HubBuilder::config`].
    pub fn on_postgres(mut self, url: &str) -> Self {
        self.store = Some(on_postgres(url));
        self
    }

    /// Keeps its data where that hub does.
    pub fn on_the_database_of(mut self, other: &Hub) -> Self {
        self.store.clone_from(&other.builder.store);
        self
    }

    /// A configuration with the section `store`, unless it says itself where its data is.
    fn with_store(&self, yaml: &str) -> String {
        let own = yaml.starts_with('{') || yaml.lines().any(|line| line.starts_with("store:"));
        match &self.store {
            Some(store) if !own => format!("{yaml}\n{store}"),
            Some(_) | None => yaml.to_owned(),
        }
    }

    /// A hub without a configuration gets one where its data is in a database.
    fn complete(self) -> Self {
        if self.store.is_some() && !self.arguments.iter().any(|argument| argument == "-c") {
            self.config("")
        } else {
            self
        }
    }

    /// Adds command-line arguments after `serve`.
    pub fn arguments(mut self, arguments: &[&str]) -> Self {
        self.arguments.extend(arguments.iter().map(ToString::to_string));
        self
    }

    /// Has a token of the Owner's that others know before it starts, [`OWNER_TOKEN`]: a hub that is another's peer, say.
    pub fn known_owner(self) -> Self {
        self.file("data/token", OWNER_TOKEN)
    }

    /// Sets an environment variable of the hub.
    pub fn environment(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Says that the configuration turns TLS on, so readiness is seen by the open port rather than by `/healthz`.
    pub fn tls(mut self) -> Self {
        self.scheme = Scheme::Tls;
        self
    }

    /// Listens there instead of on a free loopback port.
    pub fn listen(mut self, address: SocketAddr) -> Self {
        self.listen = Some(address);
        self
    }

    /// Keeps so many lines of what it says, for a hub that says a lot.
    pub fn keeping_lines(mut self, lines: usize) -> Self {
        self.lines = Some(lines);
        self
    }

    /// The directory that the configuration's relative paths start from.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// Starts the hub and waits until it answers.
    pub async fn start(self) -> Hub {
        let this = self.complete();
        let address = this.listen.unwrap_or_else(port::free);
        let process = this.process(address);
        let mut hub = Hub { builder: this, address, process };
        hub.wait_until_up().await;
        hub
    }

    /// Starts a hub that is expected to refuse, and returns how it ended and what it said.
    pub async fn refused(self) -> (ExitStatus, String) {
        let this = self.complete();
        let mut process = Process::start(this.command(this.listen.unwrap_or_else(port::free)));
        let status = crate::within("a hub that refuses its configuration", async {
            loop {
                if let Some(status) = process.ended() {
                    return status;
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        })
        .await;
        (status, process.whole_output())
    }

    fn process(&self, address: SocketAddr) -> Process {
        match self.lines {
            None => Process::start(self.command(address)),
            Some(lines) => Process::keeping(&mut self.command(address), lines),
        }
    }

    fn command(&self, address: SocketAddr) -> Command {
        let mut command = Command::new(&self.program);
        command.current_dir(self.directory.path()).env_remove("INTERLINGUA_TOKEN").env_remove("INTERLINGUA_HUB");
        // Tests may run as root, where Chromium has no sandbox. A hub that is to miss it takes the word back.
        command.env("INTERLINGUA_BROWSER_SANDBOX", "off");
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command.arg("serve").args(["--listen", &address.to_string(), "--data", "data"]).args(&self.arguments);
        command
    }
}

/// A running hub. Dropped, it is killed and its data directory removed.
#[derive(Debug)]
pub struct Hub {
    builder: HubBuilder,
    address: SocketAddr,
    process: Process,
}

impl Hub {
    /// Prepares a hub of the given program, `env!("CARGO_BIN_EXE_interlingua")` in an integration test.
    pub fn builder(program: impl Into<PathBuf>) -> HubBuilder {
        HubBuilder {
            program: program.into(),
            directory: tempfile::tempdir().expect("a temporary directory"),
            arguments: Vec::new(),
            environment: Vec::new(),
            scheme: Scheme::Plain,
            listen: None,
            lines: None,
            // `make test-postgres`: every hub is on this database.
            store: std::env::var("INTERLINGUA_TEST_POSTGRES").ok().map(|url| on_postgres(&url)),
        }
    }

    /// Starts a hub with a configuration.
    pub async fn start(program: impl Into<PathBuf>, yaml: &str) -> Self {
        Self::builder(program).config(yaml).start().await
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// An absolute URL of a path.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The data directory.
    pub fn data(&self) -> PathBuf {
        self.builder.directory().join("data")
    }

    /// The directory that holds configuration and data.
    pub fn directory(&self) -> &Path {
        self.builder.directory()
    }

    /// Writes a file beside the configuration while the hub runs.
    pub fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let content = content.as_ref();
        let whole = match std::str::from_utf8(content) {
            Ok(yaml) if path == "interlingua.yaml" => self.builder.with_store(yaml).into_bytes(),
            Ok(_) | Err(_) => content.to_vec(),
        };
        fs::write(self.directory().join(path), whole).expect("the file can be written");
    }

    /// Everything it has logged or printed, since its last start.
    pub fn log(&self) -> String {
        self.process.output()
    }

    /// Whether it has not ended yet.
    pub fn is_running(&mut self) -> bool {
        self.process.ended().is_none()
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// The Owner's token, once there is one.
    pub fn token(&self) -> Option<String> {
        fs::read_to_string(self.data().join("token")).ok().map(|token| token.trim().to_owned())
    }

    /// One HTTP/1.1 connection of the Owner's: every request that says nothing of who it is from shows the Owner's token.
    pub async fn connect(&self) -> Connection {
        Connection::http1(self.address).await.showing(self.token())
    }

    /// The same over HTTP/2.
    pub async fn connect_h2c(&self) -> Connection {
        Connection::h2c(self.address).await.showing(self.token())
    }

    /// One HTTP/1.1 connection of nobody's.
    pub async fn connect_anonymous(&self) -> Connection {
        Connection::http1(self.address).await
    }

    /// A GET on a connection of its own.
    pub async fn get(&self, path: &str) -> Answer {
        let request = connection::request(Method::GET, path).body(Full::default()).expect("a path");
        self.connect().await.send(request).await
    }

    /// A POST of JSON on a connection of its own.
    pub async fn post_json(&self, path: &str, body: &Value) -> Answer {
        self.post(path, "application/json", body.to_string()).await
    }

    /// A POST on a connection of its own.
    pub async fn post(&self, path: &str, content_type: &str, body: impl Into<Bytes>) -> Answer {
        self.connect().await.send(connection::post(path, content_type, body)).await
    }

    /// A WebSocket of the Owner's.
    pub async fn websocket(&self, path: &str) -> WebSocket {
        WebSocket::open_with(self.address, path, self.token().as_deref()).await
    }

    /// A WebSocket of the Owner's, unless these headers say who it is from; the status when the hub refuses.
    pub async fn frames(&self, path: &str, headers: &[(&str, &str)]) -> Result<WebSocketFrames, u16> {
        WebSocketFrames::open_showing(self.address, path, headers, self.token().as_deref()).await
    }

    /// The header line with the Owner's token, for a request written by hand.
    pub fn bearer_line(&self) -> String {
        self.token().map(|token| format!("Authorization: Bearer {token}\r\n")).unwrap_or_default()
    }

    /// Kills it with SIGKILL, in the middle of whatever it does. The data directory stays.
    pub fn kill_9(&mut self) {
        self.process.kill_9();
    }

    /// Stops it with SIGTERM and returns how it ended. The data directory stays.
    pub async fn stop(&mut self) -> ExitStatus {
        self.process.stop().await
    }

    /// Sends SIGHUP: the configuration is read again.
    pub fn reload(&mut self) {
        self.signal(Signal::HUP);
    }

    /// Sends a signal.
    pub fn signal(&mut self, signal: Signal) {
        self.process.signal(signal);
    }

    /// Sets an environment variable of the hub's, from its next start on.
    pub fn set_environment(&mut self, name: &str, value: &str) {
        self.builder.environment.push((name.to_owned(), value.to_owned()));
    }

    /// Starts it again on the same address and data directory. A hub still running is killed first.
    pub async fn restart(&mut self) {
        self.process.kill_9();
        self.process = self.builder.process(self.address);
        self.wait_until_up().await;
    }

    async fn wait_until_up(&mut self) {
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE {
            if let Some(status) = self.process.ended() {
                panic!("the hub ended with {status}:\n{}", self.process.output());
            }
            if self.answers().await {
                return;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!("the hub does not answer:\n{}", self.process.output());
    }

    async fn answers(&self) -> bool {
        let Ok(stream) = tokio::net::TcpStream::connect(self.address).await else { return false };
        drop(stream);
        match self.builder.scheme {
            Scheme::Tls => true,
            Scheme::Plain => {
                let request = connection::request(Method::GET, "/healthz").body(Full::default()).expect("a path");
                self.connect().await.try_send(request).await.is_ok_and(|answer| answer.status == 200)
            }
        }
    }
}
