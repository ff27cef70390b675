//! Building blocks of settings. What the settings of every component are made of: values with units, secrets, what is common to
//! all peers, places in a file, and what is wrong at them.
//!
//! [`document`] gives a tree whose values know their places; [`check`] gathers what types cannot say; [`watch`] says when a file
//! has changed. Each component has its own section, made of these, and checks it itself.
//!
//! Deliberately absent: the sections, and the file as a whole, which is put together from them.

pub mod check;
pub mod document;
pub mod peer;
pub mod phrases;
pub mod problem;
pub mod scalar;
pub mod secret;
pub mod watch;

pub use check::Found;
pub use document::Environment;
pub use peer::{EffectsOverride, Peer, SkillSettings};
pub use phrases::Phrases;
pub use problem::{At, Problem, Sources, nearest, unreadable};
pub use scalar::{Flow, Rate, Size, Span};
pub use secret::{Key, Secret};
