//! Building blocks of settings: values with units, secrets, the settings common to all peers, positions in a file, and problems at them.
//!
//! [`document`] gives a tree whose values have positions; [`check`] checks what types cannot express; [`watch`] reports when a file has
//! changed. Each component defines its own section from these and checks it itself.
//!
//! Deliberately absent: the sections, and the file as a whole, which is assembled from them.

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
