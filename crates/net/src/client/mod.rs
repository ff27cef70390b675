//! HTTP client side. What every edge shares that calls others over the network: one way to connect, to verify, to try again, to
//! know who is there. Nothing here knows a protocol.
//!
//! [`http`] is a pool of connections, [`answers`] how much is read of what comes back, [`h2_pool`] those that many calls share, [`tls`] whom to believe, [`credentials`] what the hub shows of itself, [`oauth`] how it
//! comes by a token that a server wants, [`transport_error`] why nothing came back, [`call_failure`] what the hub is told then, [`retry`] when to try again, [`health`] whether a peer
//! can be reached, [`websocket`] a connection that is wanted again, [`place`] which other addresses are still a peer's own,
//! [`guard`] which are called at all when others choose them, [`live`] and [`going`] work that goes on, [`starting`] a peer that has not been
//! heard yet.
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
