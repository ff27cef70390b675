//! OAuth client: obtains the token that a server requires. It discovers the authorization server, registers as a client, sends a person to
//! sign in or uses its own credentials, stores the token, and refreshes it. Nothing here knows a protocol; the rules are in
//! [`interlingua_wire::oauth`].
//!
//! | file | what |
//! |---|---|
//! | [`authority`] | one server: its configuration, and the requests to it |
//! | [`discover`] | finds its authorization server |
//! | [`account`] | one owner's token for one server: sent, challenged, refreshed once for all that wait |
//! | [`sign_ins`] | pending sign-ins |
//! | [`kept`] | stored tokens and registrations, sealed |
//!
//! Deliberately absent: a caller's own token, which is never sent on, and any token that was not asked for the very server it is
//! shown to.

mod account;
mod authority;
mod discover;
mod kept;
mod settings;
mod sign_ins;

use interlingua_model::BadLink;
use interlingua_wire::oauth::Invalid;

use super::place::Elsewhere;
use super::transport_error::TransportError;

pub use account::{Account, Judged, Shown};
pub use authority::Authority;
pub use kept::{CLIENTS, TOKENS, retain};
pub use settings::{OAuth, OAuthGrant};
pub use sign_ins::{ReturnAddress, SIGN_IN_EXPIRES};
pub use sign_ins::{SignIn, SignIns};

/// Everything that is kept for the server at `url`, which is this peer, under one name.
pub fn place(peer: &str, url: &str) -> Option<String> {
    let server: http::Uri = url.parse().ok()?;
    Some(kept::place(&peer.into(), &server.to_string()))
}

/// Why there is no token. Its text is for the owner of the hub and the log.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    #[error("{0}")]
    Invalid(#[from] Invalid),
    #[error("its `resource_metadata`: {0}")]
    Elsewhere(Elsewhere),
    #[error(
        "the server names {named} as its authorization server, and this client belongs to {known}: nothing is sent there; if it should be, set `oauth.issuer` to {named}"
    )]
    OtherIssuer { known: String, named: String },
    #[error("its `{0}` is an address of this hub's own")]
    Own(&'static str),
    #[error("the {what} cannot be fetched: {lost}")]
    Lost { what: &'static str, lost: TransportError },
    #[error("the {what} cannot be fetched: HTTP {status}")]
    Status { what: &'static str, status: u16 },
    #[error("the authorization server refuses: {0}")]
    Refused(String),
    #[error("the server refuses the token it was shown")]
    NotTaken,
    #[error("the server wants more rights than the token can be given")]
    NoMore,
    #[error("nobody signed in: {0}")]
    Declined(String),
    #[error("the hub's own address cannot be opened in a browser: {0}")]
    Address(#[from] BadLink),
    #[error("too many are signing in")]
    Busy,
    #[error("the hub is shutting down")]
    Stopping,
    #[error("what is kept of it cannot be read or written")]
    Store,
}
