//! Browser automation. A browser that is driven: the machine's own Chromium, over a pipe, one fresh context for every call that
//! names no session.
//!
//! Reading order: `find` (which program), `chromium` (one process), `link` (the DevTools protocol, as far as it is needed),
//! `page` (one context with one page), `engine.js` (what runs beside a page and finds, waits and reads), [`Browser`] (the
//! pool), `lease` (what a call is lent of it), `sessions` (contexts that stay) and `state` (what they keep), `play` (a bound sequence, step by step), `mend` (when an element is not where it was), `memory` (what elements
//! looked like), `weight` (how much memory pages take), [`proxy`] (who a page may speak to), [`SitePeer`] (a site as the hub calls it), `voice` (what its callers
//! hear and are asked), [`BrowserHost`] (what it needs of the hub), [`mod@file`] (definitions on disk).
//!
//! # What is contained
//!
//! A call has cookies, storage and cache of its own, which are gone afterwards, also when it fails, unless it names a session,
//! which is its owner's alone. Pages speak to the
//! world through the hub's proxy only, which admits the origins of the definition and looks at the address a name resolves
//! to; downloads, permissions, dialogs, file choosers and new windows are refused. Chromium's own sandbox is on unless
//! the operator switches it off, as they must where the hub runs as root. A page that takes more memory than it may is ended. The process ends with its pipe, so that none outlives the hub.
//!
//! Deliberately absent: frames of other origins (they are neither searched nor pressed), closed shadow roots, scripts in
//! definitions, and any model of its own: the hub's is asked, for one element of a list or for values that stand on the page.

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
mod weight;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

pub use find::{NotFound, find};
pub use host::{Advice, BrowserHost};
pub use peer::SitePeer;
pub use play::{Played, Stopped};
pub use pool::{Browser, Sandbox, Settings};
pub use sessions::{KIND as SESSIONS, Key as SessionKey, Seen as SessionSeen, Stands as SessionStands};

/// Runs work beside the calls: whoever holds the browser decides where, and awaits it when it stops.
pub type Background = Arc<dyn Fn(Pin<Box<dyn Future<Output = ()> + Send>>) + Send + Sync>;
