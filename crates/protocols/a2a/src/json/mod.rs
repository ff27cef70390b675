//! A2A in JSON: one pass in, one buffer out.
//!
//! There are three spellings. 1.0 is ProtoJSON of `a2a.proto` on every binding. 0.3 has two: its JSON-RPC is the shape of its
//! TypeScript definitions (`kind`, states in lower case), its HTTP binding is ProtoJSON of the older proto (`content` for
//! `parts`, resource names for ids). The dialect is known before a byte is read: a value is never probed for its generation.

pub(super) mod field;
mod names;
mod parts;
mod push;
pub mod read;
pub mod write;

use super::Version;

pub(crate) use field::base64;
pub use names::{state, state_name};

/// How the data model is spelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    V1,
    /// JSON-RPC of 0.3.
    V03,
    /// HTTP with JSON of 0.3.
    V03Proto,
}

impl Dialect {
    pub fn of_rpc(version: Version) -> Dialect {
        match version {
            Version::V1 => Dialect::V1,
            Version::V03 => Dialect::V03,
        }
    }

    pub fn of_http(version: Version) -> Dialect {
        match version {
            Version::V1 => Dialect::V1,
            Version::V03 => Dialect::V03Proto,
        }
    }

    pub fn version(self) -> Version {
        match self {
            Dialect::V1 => Version::V1,
            Dialect::V03 | Dialect::V03Proto => Version::V03,
        }
    }
}
