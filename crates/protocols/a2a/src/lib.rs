//! Agent2Agent (A2A) 1.0 and 0.3: tasks and messages between agents, over JSON-RPC, HTTP with JSON, and gRPC.
//!
//! [`wire`] has the data model both generations share; [`json`] reads and writes it in each generation's spelling, [`proto`] converts that
//! to protocol buffers and back, [`grpc`] frames them, and [`request`] determines the operation of a frame in each binding. From there one
//! [`decode()`](decode::decode) leads into the model and one [`encode()`](encode::encode) out of it, whatever the binding. [`fault`] is the
//! table of errors, [`discover`] the agent cards, [`ext`] our own extension for what the protocol has no field for. In these modules the
//! following is deliberately absent: which peer a path or tenant means, who may see a task, and everything that waits.
//!
//! [`inbound`] serves the hub's agents over JSON-RPC, HTTP with JSON and gRPC, in both generations of the protocol; webhooks are sent the
//! events of a task. [`outbound`] calls other agents.
//!
//! Every peer of the hub is an agent with a card and an address of its own; the hub itself is one for all of them.

pub mod client;
pub mod decode;
pub mod discover;
pub mod encode;
pub mod ext;
pub mod fault;
#[doc(hidden)]
pub mod fuzzing;
pub mod grpc;
pub mod invalid;
pub mod json;
pub mod method;
pub mod proto;
pub mod request;
#[cfg(test)]
mod tests;
pub mod wire;

/// The header, query parameter and metadata key by which a client says which version it speaks (section 3.6).
pub const VERSION_HEADER: &str = "a2a-version";
/// Extensions a client activates, and a server confirms; the second is the spelling of 0.3.
pub const EXTENSIONS_HEADER: &str = "a2a-extensions";
pub const OLD_EXTENSIONS_HEADER: &str = "x-a2a-extensions";
/// The media type of 1.0.1; `application/json` is as good.
pub const MEDIA: &str = "application/a2a+json";

/// A generation of the protocol. Patch versions are never on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Version {
    V1,
    V03,
}

impl Version {
    /// What a header, parameter or metadata key says: nothing is 0.3, a patch part does not matter (section 3.6.2).
    pub fn parse(text: Option<&str>) -> Result<Version, invalid::Invalid> {
        let text = text.map(str::trim).unwrap_or_default();
        let mut numbers = text.split('.');
        match (numbers.next(), numbers.next()) {
            (Some(""), None) | (Some("0"), Some("3")) => Ok(Version::V03),
            (Some("1"), Some("0")) => Ok(Version::V1),
            _ => Err(invalid::Invalid::version(text)),
        }
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Version::V1 => "1.0",
            Version::V03 => "0.3",
        }
    }

    /// What calls say they came by.
    pub fn wire(self) -> interlingua_model::Wire {
        interlingua_model::Wire(std::borrow::Cow::Borrowed(match self {
            Version::V1 => "a2a/1.0",
            Version::V03 => "a2a/0.3",
        }))
    }
}

mod called_agents;
pub mod inbound;
pub mod outbound;
mod protocol;
mod push;
pub mod refusal;
mod server_state;
pub mod settings;
mod signing;

pub use called_agents::CalledAgents;
pub use protocol::A2a;
pub(crate) use push::KIND as WEBHOOKS;
pub use push::{Private, Push};
pub use server_state::ServerState;
pub use settings::Settings;
pub use signing::Signing;

/// The HTTP side of A2A.
pub type Endpoint = interlingua_endpoint::Endpoint<ServerState>;

/// What metrics call it.
pub const PROTOCOL: &str = "a2a";
