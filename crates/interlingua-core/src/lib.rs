//! The model in the middle. Every protocol is decoded into it and encoded from it; none shapes it.
//!
//! Reading order: [`call`] (what comes in), [`event`] (what goes out), [`transcript`] (the same as one answer), [`question`], [`fault`], [`card`] (who can be
//! called), [`task`] (the state machine of a kept exchange), [`agent`] (a model that uses skills), [`team`] (several that
//! answer and vote), [`graph`] (a plan of many calls), [`site`] (a website that is driven), [`bus`] (agents that write to one
//! another), [`model`] (what a model says), [`journal`] (what is written down), [`audit`] (what was decided),
//! [`limit`] (how often), [`schema`] (what checking a value costs), [`json`] and [`percent`] (how what is carried is spelt), [`glob`] (the patterns of lists), [`ports`], [`peer`] and [`policy`] (what the outside world must offer).
//!
//! What is deliberately absent: I/O, a runtime, clocks (time is always passed in), and the name of any protocol.
//! `Serialize` on a type here is the form of the journal and of records, never that of a wire: every wire has types of
//! its own and converts.

pub mod agent;
pub mod audit;
pub mod bus;
pub mod call;
pub mod card;
pub mod content;
pub mod conversation;
pub mod digest;
pub mod event;
pub mod fault;
pub mod glob;
pub mod graph;
pub mod id;
pub mod journal;
pub mod json;
pub mod limit;
pub mod loss;
pub mod model;
pub mod notice;
pub mod origin;
pub mod peer;
pub mod percent;
pub mod policy;
pub mod ports;
pub mod principal;
pub mod question;
pub mod reach;
pub mod schema;
pub mod secret;
pub mod session;
pub mod site;
pub mod task;
pub mod team;
pub mod transcript;
pub mod visible;
pub mod visit;
mod weight;
pub mod words;

pub use call::*;
pub use card::*;
pub use content::*;
pub use conversation::*;
pub use digest::Digest;
pub use event::*;
pub use fault::*;
pub use id::*;
pub use journal::{Entry, Log, Record, Selected, Sent};
pub use json::Json;
pub use loss::*;
pub use notice::*;
pub use origin::{Chosen, Maker, Origin};
pub use principal::*;
pub use question::*;
pub use secret::*;
pub use transcript::Transcript;
pub use visit::{BadLink, WebLink};
