//! HTTP client side, shared by every endpoint that calls others over the network: connecting, verifying, retrying and health. Nothing here
//! knows a protocol.
//!
//! [`http`] is a pool of connections, [`answers`] limits responses, [`h2_pool`] holds connections that many calls share, [`tls`] verifies
//! servers, [`credentials`] are what the hub presents, [`oauth`] obtains the token that a server requires, [`transport_error`] says why no
//! answer came, [`call_failure`] what is reported then, [`retry`] when to retry, [`health`] whether a peer can be reached, [`websocket`] is
//! a reconnecting socket, [`place`] checks which other addresses are a peer's own, [`guard`] which addresses chosen by others may be
//! called, [`live`] and [`going`] are running work, [`starting`] is a peer that has not listed its skills yet.
//!
//! Deliberately absent: redirects (a peer must not send the hub's requests elsewhere), cookies, proxies.

pub mod answers;
pub mod call_failure;
pub mod credentials;
pub mod follow;
pub mod going;
pub mod guard;
pub mod h2_pool;
pub mod health;
pub mod http;
pub mod live;
pub mod oauth;
pub mod place;
pub mod retry;
pub mod starting;
pub mod tls;
pub mod transport_error;
pub mod websocket;
