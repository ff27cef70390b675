//! The accept loop: one port carries HTTP/1.1, HTTP/2 and WebSocket; a socket in the data directory carries the same.

use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use arc_swap::ArcSwapOption;
use axum::Router;
use axum::body::Body;
use http::Method;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use interlingua_model::Digest;
use metrics::Gauge;
use rustls::ServerConfig;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream, UnixListener};
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tower::Service;
use tracing::Instrument;

use crate::connection::{Connection, From};
use crate::connection_limits::ConnectionLimits;
use crate::stall_timeout::{Outgoing, StallTimeout};
use crate::upgrade::Arrival;
use interlingua_hub::supervisor::Supervisor;
use interlingua_telemetry::trace;

/// How long a client may take to say anything.
pub(super) const FIRST_PATIENCE: Duration = Duration::from_secs(30);
/// How long a client may take over its request head, and a TLS handshake.
const HEAD_PATIENCE: Duration = Duration::from_secs(10);
/// How long what is written may wait for the other side to take it.
pub(super) const READ_PATIENCE: Duration = Duration::from_secs(60);
/// How long a stream of HTTP/2 may be left standing on a connection that is read.
pub(super) const STREAM_PATIENCE: Duration = Duration::from_secs(600);
/// How large a request head may be.
const MAX_HEAD: usize = 64 * 1024;
/// After an accept error (out of descriptors), before the next try.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// How often it is said that connections cannot be accepted.
const TELL_EVERY: Duration = Duration::from_secs(1);

/// The certificate in use, when there is one: renewed while the hub runs, it is shown to the next connection.
pub type LiveTls = Arc<ArcSwapOption<ServerConfig>>;

/// Serves connections until the hub stops.
#[derive(Clone)]
pub struct Acceptor {
    pub router: Router,
    pub supervisor: Supervisor,
    pub connections: ConnectionLimits,
    /// How many are open.
    pub open: Gauge,
}

/// Counts a connection for as long as it is open.
struct Open(Gauge);

impl Open {
    fn new(open: &Gauge) -> Open {
        open.increment(1.0);
        Open(open.clone())
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.decrement(1.0);
    }
}

impl std::fmt::Debug for Acceptor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Acceptor")
    }
}

/// Connections that could not be accepted: said once a second, with their number, however many there are.
#[derive(Debug, Default)]
struct Failures {
    untold: u64,
    told: Option<Instant>,
}

impl Failures {
    fn count(&mut self, error: &std::io::Error) {
        self.untold += 1;
        if self.told.is_none_or(|told| told.elapsed() >= TELL_EVERY) {
            tracing::warn!(event = "connections_not_accepted", %error, times = self.untold, "connections could not be accepted");
            (self.untold, self.told) = (0, Some(Instant::now()));
        }
    }
}

/// A descriptor to give up when there is no other.
fn spare() -> Option<std::fs::File> {
    std::fs::File::open("/dev/null").ok()
}

/// The next connection. What is written to it leaves at once: an event must not wait until the one before it is acknowledged.
async fn accepted(listener: &TcpListener) -> std::io::Result<(TcpStream, SocketAddr)> {
    let (stream, theirs) = listener.accept().await?;
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "small writes to a connection may be held back");
    }
    Ok((stream, theirs))
}

impl Acceptor {
    pub async fn tcp(self, listener: TcpListener, tls: LiveTls) {
        let mut failures = Failures::default();
        loop {
            let (stream, theirs) = match accepted(&listener).await {
                Ok(accepted) => accepted,
                Err(error) => {
                    failures.count(&error);
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                    continue;
                }
            };
            let Some(seat) = self.connections.seat(theirs.ip()) else {
                tracing::debug!(from = %theirs.ip(), "an address has as many connections as one may");
                continue;
            };
            let Some(place) = self.connections.take(Some(seat)).await else { return };
            let stream = StallTimeout::new(stream, READ_PATIENCE).that_begins(FIRST_PATIENCE).at(place);
            let (acceptor, tls) = (self.clone(), tls.load_full());
            self.supervisor.run(async move {
                let mut connection = Connection::new(From::Elsewhere(theirs), tls.is_some());
                let address = Some(theirs.ip());
                match tls {
                    None => acceptor.serve(stream, connection, address).await,
                    Some(tls) => match tokio::time::timeout(HEAD_PATIENCE, TlsAcceptor::from(tls).accept(stream)).await
                    {
                        Ok(Ok(stream)) => {
                            let shown = stream.get_ref().1.peer_certificates().and_then(<[_]>::first);
                            connection.certificate = shown.map(|certificate| Digest::of(certificate));
                            acceptor.serve(stream, connection, address).await;
                        }
                        Ok(Err(error)) => tracing::debug!(%error, "a TLS handshake failed"),
                        Err(_) => tracing::debug!("a TLS handshake took too long"),
                    },
                }
            });
        }
    }

    /// The socket in the data directory: its directory is 0700, and the other end's user is checked.
    pub async fn unix(self, listener: UnixListener) {
        let own = rustix::process::getuid().as_raw();
        let (mut failures, mut spare) = (Failures::default(), spare());
        loop {
            let stream = match listener.accept().await {
                Ok((stream, _)) => stream,
                Err(error) => {
                    failures.count(&error);
                    // With no descriptor left, the one that was kept is for the Owner.
                    if spare.take().is_none() {
                        tokio::time::sleep(ACCEPT_PAUSE).await;
                        spare = self::spare();
                    }
                    continue;
                }
            };
            spare = spare.or_else(self::spare);
            if stream.peer_cred().map(|credentials| credentials.uid()).ok() != Some(own) {
                continue;
            }
            let Some(place) = self.connections.take(None).await else { return };
            let (acceptor, stream) = (self.clone(), StallTimeout::new(stream, READ_PATIENCE).at(place));
            self.supervisor.run(async move {
                acceptor.serve(stream, Connection::new(From::LocalSocket, false), None).await;
            });
        }
    }

    /// `address`: of the other end, where it has one.
    pub(super) async fn serve<S>(self, stream: S, connection: Connection, address: Option<IpAddr>)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let stopping: CancellationToken = self.supervisor.stopping().clone();
        let _counted = Open::new(&self.open);
        let (router, outgoing, places) = (self.router, Outgoing::new(), self.connections);
        let watched = outgoing.clone();
        let service = hyper::service::service_fn(move |request: Request<hyper::body::Incoming>| {
            let mut request = request.map(Body::new);
            request.extensions_mut().insert(connection);
            if request.method() == Method::CONNECT || request.headers().contains_key(http::header::UPGRADE) {
                request.extensions_mut().insert(Arrival { address, places: places.clone() });
            }
            let watched = (request.version() == http::Version::HTTP_2).then(|| watched.clone());
            answer(router.clone(), request, watched)
        });
        let builder = builder(self.supervisor);
        let serving = builder.serve_connection_with_upgrades(TokioIo::new(stream), service);
        let mut serving = std::pin::pin!(serving);
        let served = tokio::select! {
            served = serving.as_mut() => served,
            () = outgoing.starved(STREAM_PATIENCE) => return tracing::debug!("a client does not read what it asked for"),
            () = stopping.cancelled() => {
                serving.as_mut().graceful_shutdown();
                serving.await
            }
        };
        if let Err(error) = served {
            tracing::debug!(%error, "a connection ended badly");
        }
    }
}

/// One request, answered within its trace; the answer says which trace that was.
async fn answer(
    mut router: Router,
    request: Request<Body>,
    outgoing: Option<Outgoing>,
) -> Result<Response<Body>, Infallible> {
    let begun = trace::request(request.headers());
    let answering = trace::within(begun.context.clone(), router.call(request)).instrument(begun.span);
    let mut response = answering.await?;
    trace::parent_to_headers(&begun.context, response.headers_mut());
    Ok(match outgoing {
        Some(outgoing) => response.map(|body| outgoing.watch(body)),
        None => response,
    })
}

fn builder(supervisor: Supervisor) -> Builder<Tracked> {
    let mut builder = Builder::new(Tracked(supervisor));
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_PATIENCE)
        .max_buf_size(MAX_HEAD)
        .keep_alive(true)
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(Duration::from_secs(30))
        .keep_alive_timeout(Duration::from_secs(20))
        .max_header_list_size(u32::try_from(MAX_HEAD).unwrap_or(u32::MAX))
        .max_concurrent_streams(256)
        .enable_connect_protocol();
    builder
}

/// HTTP/2 streams run on the supervisor too.
#[derive(Debug, Clone)]
struct Tracked(Supervisor);

impl<F> hyper::rt::Executor<F> for Tracked
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    fn execute(&self, work: F) {
        self.0.run(async move {
            work.await;
        });
    }
}

/// Binds the socket in the data directory, replacing one that a crashed hub left: the directory's lock is ours.
pub fn bind_unix(path: &Path) -> std::io::Result<UnixListener> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let listener = UnixListener::bind(path)?;
    std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    Ok(listener)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn m_45_small_writes_are_not_held_back() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let (theirs, ours) = tokio::join!(TcpStream::connect(address), accepted(&listener));
        assert!(!theirs.expect("connected").nodelay().expect("TCP has the option"), "not by itself");
        assert!(ours.expect("accepted").0.nodelay().expect("TCP has the option"));
    }
}
