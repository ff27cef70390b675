//! Facts about a connection that are known before a byte of it is read as a request.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};

use interlingua_model::Digest;

/// Put into every request's extensions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Connection {
    /// Names it within this hub.
    pub id: u64,
    pub from: From,
    pub encrypted: bool,
    /// The SHA-256 of the certificate its client showed, which one of the configured authorities issued.
    pub certificate: Option<Digest>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum From {
    /// The socket in the data directory, its user checked.
    LocalSocket,
    /// TCP, from wherever: whose the other end is, only a credential says. No address, user or header does.
    Elsewhere(SocketAddr),
}

static NEXT: AtomicU64 = AtomicU64::new(1);

impl Connection {
    pub fn new(from: From, encrypted: bool) -> Connection {
        Connection { id: NEXT.fetch_add(1, Ordering::Relaxed), from, encrypted, certificate: None }
    }
}
