//! Test only: starts real hubs and real peers as processes of their own, and speaks to them over real sockets.
//!
//! - [`Hub`]: the hub's program on a free port with a data directory that is removed afterwards; killed, stopped, restarted.
//! - [`Peer`]: another project's server, started from a command, such as the reference NLIP server in Python.
//! - [`Driver`]: another project's client, driven by lines of JSON.
//! - [`Scripted`]: a peer whose every answer the test decides, and which records what it was sent.
//! - [`pages`]: a few pages for a browser.
//! - [`provider`]: a fake provider of models, which answers in four formats and with every failure.
//! - [`Collector`]: where a hub sends its traces; [`Disk`]: a disk that holds only what was synced;
//!   [`Names`]: one name that leads where a test says; [`WallClock`]: a time of day that a test says; [`HurriedClock`]: time that passes faster;
//!   [`SocketOptions`]: what a hub asks of its connections.
//! - [`Connection`]: HTTP/1.1, HTTP/2 without TLS, or TLS; [`raw`]: bytes no well-behaved client would send.
//! - [`grpc`]: a call, message by message, with its status.
//! - [`WebSocket`]: whole messages; [`raw::WebSocketFrames`]: frames one by one.
//! - [`PostgresServer`]: a database server of the test's own.
//! - [`proxy`]: a line that breaks: cut, stalled, half open, slow, repeating itself.
//! - [`mcp`]: the official MCP suite, servers and SDK, and the fixture server the suite is run against.
//! - [`browser`]: a person who signs in; [`as_another_user`]: another user of this machine.
//! - [`skipped`]: what this machine cannot show is named at the end of the run.
//! - [`hostile`]: the corpus of input meant to break a server, each with its allowed answers.
//!
//! Every wait has a limit and panics with what it was waiting for: a test that hangs shows nothing. Nothing here knows the hub's types; it
//! sees the hub as any stranger does.

pub mod browser;
mod clock;
mod collector;
mod connection;
mod disk;
mod driver;
pub mod grpc;
pub mod hostile;
mod hub;
pub mod mcp;
mod names;
mod options;
pub mod pages;
mod peer;
pub mod port;
mod postgres;
mod process;
pub mod provider;
pub mod proxy;
pub mod raw;
pub mod scripted;
mod shim;
mod skip;
mod websocket;

pub use clock::{HurriedClock, WallClock};
pub use collector::{Collector, Exported};
pub use connection::{Answer, Connection, Events, post, request};
pub use disk::{Disk, DiskFault, Random};
pub use driver::{Driver, Pending};
pub use hub::{Hub, HubBuilder, OWNER_TOKEN};
pub use mcp::{beside_the_tests, finished};
pub use names::Names;
pub use options::SocketOptions;
pub use peer::{Peer, root, run_script, run_script_as};
pub use postgres::{PostgresBuilder, PostgresServer, postgres};
pub use process::{Process, kill_by_id};
pub use scripted::{Heard, Piece, Say, Scripted};
pub use skip::{NOBODY, as_another_user, skipped};
pub use websocket::WebSocket;

use std::time::Duration;

/// How long anything may take before a test gives up on it. Generous, because machines that run tests are busy.
pub const PATIENCE: Duration = Duration::from_secs(180);

/// Waits for `what`, and panics with its name when it does not come.
pub async fn within<T>(what: &str, future: impl Future<Output = T>) -> T {
    match tokio::time::timeout(PATIENCE, future).await {
        Ok(value) => value,
        Err(_) => panic!("{what}: nothing after {} s", PATIENCE.as_secs()),
    }
}
