//! NLWeb where it meets HTTP: the hub asked like a site ([`inbound`]), and sites that are asked ([`outbound`]).

pub mod inbound;
pub mod outbound;
mod protocol;
pub mod refusal;
pub mod settings;

pub use protocol::Nlweb;

/// What it is called in counts.
pub const PROTOCOL: &str = "nlweb";
