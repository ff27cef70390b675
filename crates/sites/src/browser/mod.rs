//! Browser automation: drives the machine's own Chromium over a pipe, with a fresh context for every call that names no session.
//!
//! Reading order: `find` (which program), `chromium` (one process), `link` (the DevTools protocol, as far as it is needed), `page` (one
//! context with one page), `engine.js` (runs beside a page and finds, waits and reads), [`Browser`] (the pool), `lease` (the page of a
//! call), `sessions` (contexts that persist) and `state` (their stored state), `play` (a bound sequence, step by step), `repair` (when an
//! element has moved), `fingerprints` (the appearance of elements), `weight` (the memory limit of pages), `watch` (what pages look like while
//! they are used), [`proxy`] (the hosts a page may contact), [`SitePeer`] (a site as the hub calls it), `questions` (progress and questions to the caller), [`BrowserHost`] (what a site
//! needs of the hub), [`mod@file`] (definitions on disk).
//!
//! # Sandbox
//!
//! A call has cookies, storage and cache of its own, which are discarded afterwards, also when it fails, unless it names a session, which
//! is its owner's alone. Pages reach the network through the hub's proxy only, which admits the origins of the definition and checks the
//! address that a name resolves to; downloads, permissions, dialogs, file choosers and new windows are refused. Chromium's own sandbox is
//! on unless the operator switches it off, as is necessary where the hub runs as root. A page above its memory limit is killed. The process
//! ends with its pipe, so that none outlives the hub.
//!
//! Deliberately absent: frames of other origins (they are neither searched nor pressed), closed shadow roots, scripts in definitions, and
//! any model of its own: the hub's model is asked, for one element of a list or for values on the page.

mod chromium;
pub mod file;
mod find;
mod fingerprints;
mod host;
mod lease;
mod link;
mod page;
mod peer;
mod play;
mod pool;
pub mod proxy;
mod questions;
mod repair;
mod sessions;
mod state;
#[cfg(test)]
mod tests;
mod watch;
mod weight;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

pub use find::{NotFound, find};
pub use host::{Advice, BrowserHost};
pub use peer::SitePeer;
pub use play::{Played, Stopped};
pub use pool::{Browser, Sandbox, Settings, Shown};
pub use sessions::{KIND as SESSIONS, Key as SessionKey, Seen as SessionSeen, Stands as SessionStands};
pub use watch::PageInUse;

/// Runs work beside the calls: whoever holds the browser decides where, and awaits it when it stops.
pub type Background = Arc<dyn Fn(Pin<Box<dyn Future<Output = ()> + Send>>) + Send + Sync>;
