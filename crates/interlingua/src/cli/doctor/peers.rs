//! Reachability of the configured peers. A connection is opened and closed again: nothing is sent, and no program is started. A hub runs
//! without a peer that is down, so every problem here is at most a warning.

use std::io::{self, ErrorKind};
use std::net::{TcpStream, ToSocketAddrs};
use std::path::Path;
use std::time::Duration;

use http::Uri;
use interlingua_process::programs;

use super::{Finding, Verdict, finding};
use crate::config::{Config, McpPeer, McpPlace, Peer, Speaks};

/// How long one may take to be reached.
const PATIENCE: Duration = Duration::from_secs(2);
/// How many are looked for at once.
const AT_ONCE: usize = 16;

/// In the order of configuration.
pub(super) fn peers(config: &Config) -> Vec<Finding> {
    let peers: Vec<(&String, &Peer)> = config.peers.iter().collect();
    let mut findings = Vec::new();
    for some in peers.chunks(AT_ONCE) {
        std::thread::scope(|scope| {
            let looks: Vec<_> = some.iter().map(|(name, peer)| scope.spawn(|| look(name, peer))).collect();
            findings.extend(looks.into_iter().filter_map(|look| look.join().ok().flatten()));
        });
    }
    findings
}

/// Nothing of a website: its file was checked with the configuration, and what drives it is the browser.
fn look(name: &str, peer: &Peer) -> Option<Finding> {
    match &peer.speaks {
        Speaks::Nlip(nlip) => address(name, &nlip.url),
        Speaks::A2a(a2a) => address(name, &a2a.url),
        Speaks::Aip(aip) => address(name, &aip.url),
        Speaks::Nlweb(nlweb) => address(name, &nlweb.url),
        Speaks::Mcp(mcp) => match mcp.place() {
            McpPlace::Url(url) => address(name, url),
            McpPlace::Program { command, .. } => Some(started(name, command, mcp)),
        },
        Speaks::Site(_) => None,
    }
}

/// Only host and port are told: the rest of an address may hold what is nobody's to read.
fn address(name: &str, url: &str) -> Option<Finding> {
    let uri: Uri = url.parse().ok()?;
    let host = uri.host()?;
    let port = uri.port_u16().unwrap_or(if matches!(uri.scheme_str(), Some("https" | "wss")) { 443 } else { 80 });
    Some(match reach(host.trim_matches(['[', ']']), port) {
        Ok(()) => finding("peer", Verdict::Good, format!("{name}: {host}:{port} is there")),
        Err(error) => {
            let why = match error.kind() {
                ErrorKind::ConnectionRefused => "nothing listens there".to_owned(),
                ErrorKind::TimedOut | ErrorKind::WouldBlock => "no answer".to_owned(),
                _ => error.to_string(),
            };
            let detail = format!(
                "{name}: {host}:{port}: {why}; start it, or mend `peers.{name}`. A hub runs without it, and calls of it fail until it is there"
            );
            finding("peer", Verdict::Warning, detail)
        }
    })
}

/// By whichever address of the host lets us in.
fn reach(host: &str, port: u16) -> io::Result<()> {
    let mut last = io::Error::from(ErrorKind::NotFound);
    for address in (host, port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, PATIENCE) {
            Ok(_) => return Ok(()),
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn started(name: &str, command: &str, mcp: &McpPeer) -> Finding {
    let home = mcp.directory.as_deref().unwrap_or(Path::new("."));
    match programs::find(command, home) {
        Some(file) => finding("peer", Verdict::Good, format!("{name}: {} is there to be started", file.display())),
        None => {
            let detail = format!(
                "{name}: there is no program `{command}`; install it, or give its whole path in `peers.{name}.mcp.command`"
            );
            finding("peer", Verdict::Warning, detail)
        }
    }
}
