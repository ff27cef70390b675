//! Shared HTTP layer of all protocols: authentication of requests, size limits, the form of refusals, the end of streams with their
//! credential, links to content, and the pages of OAuth. It knows no protocol.

pub mod catch_panic;
pub mod content;
pub mod error_format;
#[doc(hidden)]
pub mod fuzzing;
mod gate;
pub mod guard;
pub mod html;
pub mod oauth;
pub mod paths;
pub mod ports;
pub mod protocol;
pub mod revocation;
pub mod sections;

use std::net::SocketAddr;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use arc_swap::{ArcSwap, ArcSwapOption};
use http::HeaderMap;
use interlingua_model::{Fault, Principal, Secret, Subject};

use error_format::ErrorFormat;
use interlingua_access::{Access, Shown};
use interlingua_hub::Hub;
use interlingua_hub::audit::AuditLine;
use interlingua_hub::byte_budget::ByteBudget;
pub use interlingua_net::client::oauth::{SignIn, SignIns};
use interlingua_net::connection::Connection;
use interlingua_net::connection_limits::ConnectionLimits;
use interlingua_net::counted::Allowance;
use interlingua_telemetry::meters::Phase;
use paths::PathTable;

/// State that the HTTP sides of all protocols share.
#[derive(Debug)]
pub struct Shared {
    pub hub: Arc<Hub>,
    pub access: Arc<Access>,
    pub bounds: ArcSwap<Bounds>,
    pub room: Arc<ByteBudget>,
    /// Limit for WebSockets of callers that are not authenticated.
    pub strangers: ConnectionLimits,
    /// The listening address, once it is known.
    pub address: OnceLock<SocketAddr>,
    /// The path rules of protocols.
    pub paths: PathTable,
    /// Pending sign-ins for peers that require a token.
    pub sign_ins: Arc<SignIns>,
    /// The hub's own address, if it is configured.
    pub url: ArcSwapOption<String>,
}

/// The state of one protocol's HTTP side: the shared state, and its own.
#[derive(Debug)]
pub struct Endpoint<T> {
    pub shared: Arc<Shared>,
    pub own: T,
}

impl<T> Endpoint<T> {
    pub fn new(shared: &Arc<Shared>, own: T) -> Arc<Endpoint<T>> {
        Arc::new(Endpoint { shared: shared.clone(), own })
    }
}

impl<T> Deref for Endpoint<T> {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.shared
    }
}

/// Limits of one message.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    pub body: u64,
    /// Of a caller that is not authenticated.
    pub anonymous_body: u64,
    /// How long a whole message of a WebSocket may take.
    pub message_time: Duration,
    /// Of one upload.
    pub upload: u64,
    pub depth: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Bounds {
            body: 64 * 1024 * 1024,
            anonymous_body: 1024 * 1024,
            message_time: Duration::from_secs(60),
            upload: 10 * 1024 * 1024 * 1024,
            depth: 128,
        }
    }
}

impl Shared {
    /// The form of errors at a path.
    pub fn error_format(&self, path: &str) -> &'static dyn ErrorFormat {
        self.paths.error_format(path)
    }

    /// The form of errors where no protocol has one.
    pub fn default_format(&self) -> &'static dyn ErrorFormat {
        self.paths.default
    }

    /// The current limits; configuration may change them.
    pub fn bounds(&self) -> Bounds {
        **self.bounds.load()
    }

    /// The hub's address: as configured, else as the other side reached it (the guard has checked that name), else the listening address.
    pub fn base(&self, connection: &Connection, host: Option<&str>) -> String {
        if let Some(url) = &*self.url.load() {
            return url.as_ref().clone();
        }
        let scheme = if connection.encrypted { "https" } else { "http" };
        match (host, self.address.get()) {
            (Some(host), _) => format!("{scheme}://{host}"),
            (None, Some(address)) => format!("{scheme}://{address}"),
            (None, None) => String::new(),
        }
    }

    /// The limits of every WebSocket.
    pub fn allowance(&self) -> Allowance {
        Allowance { room: self.room.clone(), message_time: self.bounds().message_time }
    }

    /// Updates the gauges.
    pub fn observe(&self) {
        self.hub.observe();
        self.hub.meters().bodies.set(f64::from(u32::try_from(self.room.taken()).unwrap_or(u32::MAX)));
    }

    /// What a request at this path showed of who it is from.
    pub fn shown(&self, connection: Connection, path: &str, headers: &HeaderMap) -> Shown {
        if self.paths.takes_sessions(path) {
            Shown::with_session(connection, headers)
        } else {
            Shown::of(connection, headers)
        }
    }

    /// `authenticate`: the connection and its headers, completed by what the message itself brings.
    pub fn authenticate(
        &self,
        connection: &Connection,
        headers: &HeaderMap,
        credentials: &[Secret],
    ) -> Result<Principal, Fault> {
        self.authenticate_shown(&Shown::of(*connection, headers), credentials)
    }

    /// The same of what was shown at a path.
    pub fn authenticate_shown(&self, shown: &Shown, credentials: &[Secret]) -> Result<Principal, Fault> {
        let mut laps = self.hub.meters().laps();
        let now = self.hub.now();
        let transport = self.access.shown(shown, now);
        let proven = transport.and_then(|transport| self.access.complete(transport, credentials, now));
        laps.done(Phase::Authenticate);
        proven.inspect_err(|fault| {
            self.hub.write_audit(AuditLine::new("authenticate", Subject::Anonymous).refused(fault.kind));
        })
    }
}
