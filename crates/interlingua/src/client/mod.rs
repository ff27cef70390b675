//! What every edge shares that calls others over the network: one way to connect, to verify, to try again, to know who is
//! there. Nothing here knows a protocol.
//!
//! [`http`] is a pool of connections, [`tls`] whom to believe, [`lost`] why nothing came back, [`retry`] when to try again,
//! [`health`] whether a peer can be reached, [`websocket`] a connection that is wanted again, [`place`] which other addresses
//! are still a peer's own, [`guard`] which are called at all when others choose them, [`oauth`] how the hub comes by a token
//! that a server wants.
//!
//! Deliberately absent: redirects (a peer must not send the hub's requests elsewhere), cookies, proxies.

pub(crate) mod guard;
pub(crate) mod health;
pub(crate) mod http;
pub(crate) mod lost;
pub(crate) mod oauth;
pub(crate) mod place;
pub(crate) mod retry;
pub(crate) mod tls;
pub(crate) mod websocket;
