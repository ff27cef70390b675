//! Agent cards (section 4.4, 8). [`mod@write`] makes the hub's own cards, [`read`] reads those of others in either generation,
//! [`signature`] is the signed form.
//!
//! Deliberately absent: where cards are fetched, how long they are cached, and whose signature is trusted.

pub mod read;
pub mod signature;
pub mod write;

pub use read::{AgentCard, Binding, Interface};
pub use write::{Capabilities, Credential, Facts, ListedSkill, Readers, card, modes, takes, words};
