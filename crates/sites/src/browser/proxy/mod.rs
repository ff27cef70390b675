//! Filtering proxy (SSRF guard) for all traffic of a site's pages, loopback too: plain requests, tunnels for TLS and WebSockets, each hop
//! of a redirect, from any frame or worker.
//!
//! A request is admitted when its origin is listed in the definition, and its name does not resolve to an internal address unless the
//! definition allows that. The connection goes to the checked address, so DNS rebinding gains nothing. A plain connection carries one
//! request: nothing is sent to a server that was meant for another.

pub(crate) mod head;

use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::definition::Site;
use interlingua_model::address::Origin;
use interlingua_model::public_ip::is_public;
use tokio::io::{AsyncReadExt, AsyncWrite, AsyncWriteExt, copy};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, oneshot};

use super::Background;
use head::Asked;

/// Connections of one site at once.
const MAX_CONNECTIONS: usize = 256;
const MAX_HEAD: usize = 64 * 1024;
const PATIENCE: Duration = Duration::from_secs(20);
/// A connection on which nothing happens in either direction for so long is closed with its call.
const LONGEST: Duration = Duration::from_secs(600);
const MAX_REFUSED: usize = 32;

/// Addresses of a host on their way.
pub type Looking = Pin<Box<dyn Future<Output = std::io::Result<Vec<SocketAddr>>> + Send>>;

/// Who knows the addresses of hosts.
pub trait Lookup: Send + Sync {
    fn look_up(&self, host: &str, port: u16) -> Looking;
}

/// The machine's own way.
pub(super) struct System;

impl System {
    pub(super) fn lookup() -> Arc<dyn Lookup> {
        Arc::new(System)
    }
}

impl Lookup for System {
    fn look_up(&self, host: &str, port: u16) -> Looking {
        let host = host.to_owned();
        Box::pin(async move { tokio::net::lookup_host((host.as_str(), port)).await.map(Iterator::collect) })
    }
}

/// What a site's pages may reach.
#[derive(Clone)]
pub struct Rules {
    origins: Arc<[Origin]>,
    private: bool,
    lookup: Arc<dyn Lookup>,
    /// What was asked for and refused, the latest last.
    refused: Arc<Mutex<Vec<String>>>,
    /// What may be reached and could not be, and why: the latest.
    unreached: Arc<Mutex<Option<String>>>,
}

impl std::fmt::Debug for Rules {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Rules").field("origins", &self.origins).field("private", &self.private).finish_non_exhaustive()
    }
}

impl Rules {
    /// With addresses from `lookup`.
    pub fn with(site: &Site, lookup: Arc<dyn Lookup>) -> Rules {
        let origins = site.origins.clone().into();
        Rules { origins, private: site.private, lookup, refused: Arc::default(), unreached: Arc::default() }
    }

    /// Takes what was refused since the last look.
    pub fn take_refused(&self) -> Vec<String> {
        std::mem::take(&mut self.refused.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes which of the site's own addresses could not be reached since the last look.
    pub fn take_unreached(&self) -> Option<String> {
        self.unreached.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn miss(&self, what: String) {
        *self.unreached.lock().unwrap_or_else(PoisonError::into_inner) = Some(what);
    }

    /// In a tunnel the scheme cannot be seen: host and port decide.
    fn admits(&self, asked: &Asked) -> Option<&Origin> {
        self.origins.iter().find(|origin| {
            let tunnel = asked.tunnel || !origin.secure;
            origin.host == asked.host && origin.port == asked.port && tunnel
        })
    }

    fn refuse(&self, what: String) {
        tracing::info!(
            event = "page_request_blocked",
            what,
            "a request of a page to an address outside its site was blocked"
        );
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        if refused.len() < MAX_REFUSED {
            refused.push(what);
        }
    }

    /// The first address of a host that may be connected to.
    async fn resolve(&self, origin: &Origin) -> Option<Vec<SocketAddr>> {
        let found = tokio::time::timeout(PATIENCE, self.lookup.look_up(&origin.host, origin.port)).await;
        let found: Vec<SocketAddr> = found.ok()?.ok()?;
        let inside_allowed = self.private || origin.is_literal();
        Some(found.into_iter().filter(|address| inside_allowed || is_public(plain(address.ip()))).collect())
    }
}

/// An address of the older kind in the dress of the newer is judged as what it is.
fn plain(address: IpAddr) -> IpAddr {
    address.to_canonical()
}

/// A proxy for the pages of one site; dropped, it listens no more.
#[derive(Debug)]
pub struct Proxy {
    address: SocketAddr,
    rules: Rules,
    _open: oneshot::Sender<()>,
}

impl Proxy {
    pub async fn open(rules: Rules, background: &Background) -> std::io::Result<Proxy> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let address = listener.local_addr()?;
        let (open, closed) = oneshot::channel();
        let (serving, spawn) = (rules.clone(), Arc::clone(background));
        background(Box::pin(async move {
            tokio::select! {
                () = accept(listener, serving, spawn) => {}
                _ = closed => {}
            }
        }));
        Ok(Proxy { address, rules, _open: open })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn rules(&self) -> &Rules {
        &self.rules
    }
}

async fn accept(listener: TcpListener, rules: Rules, background: Background) {
    let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, _)) => {
                let rules = rules.clone();
                background(Box::pin(async move {
                    let _place = place;
                    let _ = tokio::time::timeout(LONGEST, serve(stream, &rules)).await;
                }));
            }
            // Out of descriptors: others are closing theirs.
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
}

async fn serve(mut browser: TcpStream, rules: &Rules) -> std::io::Result<()> {
    let _ = browser.set_nodelay(true);
    let Ok(Ok(Some((head, rest)))) = tokio::time::timeout(PATIENCE, read_head(&mut browser)).await else {
        return Ok(());
    };
    let Some((asked, forwarded)) = head::request(&head) else {
        return refuse(&mut browser, 400).await;
    };
    let Some(origin) = rules.admits(&asked) else {
        rules.refuse(asked.to_string());
        return refuse(&mut browser, 403).await;
    };
    let addresses = match rules.resolve(origin).await {
        None => {
            rules.miss(format!("{asked} cannot be found"));
            return refuse(&mut browser, 502).await;
        }
        Some(addresses) if addresses.is_empty() => {
            rules.refuse(format!("{asked} (its address is inside)"));
            return refuse(&mut browser, 403).await;
        }
        Some(addresses) => addresses,
    };
    let connected = tokio::time::timeout(PATIENCE, TcpStream::connect(addresses.as_slice())).await;
    let Ok(Ok(mut server)) = connected else {
        rules.miss(format!("nobody answers at {asked}"));
        return refuse(&mut browser, 502).await;
    };
    let _ = server.set_nodelay(true);
    if asked.tunnel {
        browser.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await?;
        server.write_all(&rest).await?;
        return tunnel(&mut browser, &mut server).await;
    }
    server.write_all(&forwarded).await?;
    server.write_all(&rest).await?;
    relay(&mut browser, &mut server).await
}

/// A browser closes a connection as a whole, never its sending side alone. So where it ends, the request is given up, and the server
/// is told by the end of its connection: one that never answers would hold its place here otherwise, long after its page is gone.
async fn tunnel(browser: &mut TcpStream, server: &mut TcpStream) -> std::io::Result<()> {
    let (mut from_browser, mut to_browser) = browser.split();
    let (mut from_server, mut to_server) = server.split();
    let up = copy(&mut from_browser, &mut to_server);
    let down = async {
        copy(&mut from_server, &mut to_browser).await?;
        to_browser.shutdown().await
    };
    tokio::pin!(up, down);
    tokio::select! {
        sent = &mut up => if reads_no_more(&sent) { down.await } else { sent.map(drop) },
        // What the server sent last is on its way; the browser closes when it has read it.
        done = &mut down => done.and(up.await.map(drop)),
    }
}

/// The same for one plain request. The answer says that the connection ends with it, whatever the server thinks.
async fn relay(browser: &mut TcpStream, server: &mut TcpStream) -> std::io::Result<()> {
    let (mut from_browser, mut to_browser) = browser.split();
    let (mut from_server, mut to_server) = server.split();
    // A request's body may still be on its way when the answer begins.
    let up = copy(&mut from_browser, &mut to_server);
    let down = async {
        if let Some((head, rest)) = read_head(&mut from_server).await? {
            // What is no answer would not end the connection, and the browser might send on it what is for somebody else.
            let Some(answer) = head::answer(&head) else { return refuse(&mut to_browser, 502).await };
            to_browser.write_all(&answer).await?;
            to_browser.write_all(&rest).await?;
            copy(&mut from_server, &mut to_browser).await?;
        }
        to_browser.shutdown().await
    };
    tokio::pin!(up, down);
    tokio::select! {
        done = &mut down => done,
        sent = &mut up => if reads_no_more(&sent) { down.await } else { sent.map(drop) },
    }
}

/// The server has closed its side and is sent nothing more: what it said before may still be on its way.
fn reads_no_more(sent: &std::io::Result<u64>) -> bool {
    sent.as_ref().is_err_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}

/// The head of a message with its empty line, and what came after it. `None`: it ended before, or is too long.
async fn read_head(stream: &mut (impl tokio::io::AsyncRead + Unpin)) -> std::io::Result<Option<(Vec<u8>, Vec<u8>)>> {
    let mut read = Vec::new();
    let mut chunk = vec![0; 8 * 1024];
    loop {
        let count = stream.read(&mut chunk).await?;
        if count == 0 || read.len() + count > MAX_HEAD {
            return Ok(None);
        }
        let from = read.len().saturating_sub(3);
        read.extend_from_slice(&chunk[..count]);
        if let Some(at) = read[from..].windows(4).position(|four| four == b"\r\n\r\n") {
            let rest = read.split_off(from + at + 4);
            return Ok(Some((read, rest)));
        }
    }
}

async fn refuse(browser: &mut (impl AsyncWrite + Unpin), status: u16) -> std::io::Result<()> {
    let text = match status {
        400 => "Bad Request",
        403 => "Forbidden",
        _ => "Bad Gateway",
    };
    // With a text the browser shows the refused address as the page's own, and a page that was led there is known by it.
    let body = if status == 403 { "refused" } else { "" };
    let answer = format!(
        "HTTP/1.1 {status} {text}\r\nContent-Type: text/plain\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    browser.write_all(answer.as_bytes()).await?;
    browser.shutdown().await
}
