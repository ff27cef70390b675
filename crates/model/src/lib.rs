//! The common model. Every protocol is decoded into it and encoded from it; none shapes it.
//!
//! Reading order: [`call`] (requests), [`event`] and [`step`] (responses), [`transcript`] (the same as one answer), [`question`],
//! [`fault`], [`loss`] (what could not be carried), [`content`], [`card`] (the description of peers), [`device`] (the state of one) and
//! [`device_load`] (what a scheduler compares of it), [`principal`] (authenticated callers), [`origin`] and [`consent`] (provenance of a
//! call, and what it may do without approval), [`journal`] (records), [`schema`] (cost of validation), [`json`], [`percent`] and
//! [`address`] (encodings), [`glob`] (the patterns of lists), [`ports`], [`peer`] and [`policy`] (traits for drivers).
//!
//! Deliberately absent: I/O, a runtime, clocks (time is always passed in), and the name of any protocol. `Serialize` on a type here is the
//! form of the journal and of records, never that of a wire: every wire has types of its own and converts.

#![warn(missing_docs)]

pub mod address;
pub mod call;
pub mod card;
pub mod consent;
pub mod content;
pub mod conversation;
pub mod device;
pub mod device_load;
pub mod digest;
pub mod event;
pub mod fault;
pub mod glob;
pub mod id;
pub mod journal;
pub mod json;
pub mod loss;
pub mod notice;
pub mod origin;
pub mod peer;
pub mod percent;
pub mod plain_text;
pub mod policy;
pub mod ports;
pub mod principal;
pub mod public_ip;
pub mod question;
pub mod schema;
pub mod secret;
pub mod step;
pub mod transcript;
pub mod visible;
pub mod visit;
mod weight;
pub mod wire;

pub use call::*;
pub use card::*;
pub use consent::{Consent, Consents};
pub use content::*;
pub use conversation::*;
pub use device::{DeviceReport, DeviceState};
pub use device_load::DeviceLoad;
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
pub use step::{MAX_STEP, Step, StepKind, StepState};
pub use transcript::Transcript;
pub use visit::{BadLink, WebLink};
pub use wire::{Raw, Wire};
