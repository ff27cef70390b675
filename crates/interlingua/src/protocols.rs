//! The table of protocols. A protocol is its own crate and one line here; no other file of the program names one, except for the command
//! line.
//!
//! What needs types of its own is generated from the table: the sections of the configuration, the protocol of a peer
//! ([`Speaks`](crate::config::Speaks)), and [`Endpoints`](crate::endpoints::Endpoints). The traits
//! [`Configured`](interlingua_endpoint::protocol::Configured) and [`Spoken`](interlingua_endpoint::protocol::Spoken) define what a crate
//! must offer for that.

/// Gives the table to another macro. A line says what the protocol is called and what implements it; then, where there are such,
/// the key of its section in the configuration, or of the section of the protocol that it extends, and the key of peers that
/// speak it. Of two lines that know a path, the first decides.
macro_rules! table {
    ($then:ident) => {
        $then! {
            envelope: interlingua_envelope::Envelope, extends nlip;
            nlip: interlingua_nlip::Nlip, section nlip, peer nlip;
            mcp: interlingua_mcp::Mcp, section mcp, peer mcp;
            a2a: interlingua_a2a::A2a, section a2a, peer a2a;
            aip: interlingua_aip::Aip, section aip, peer aip;
            nlweb: interlingua_nlweb::Nlweb, peer nlweb;
        }
    };
}
pub(crate) use table;

/// Types of the sections, for programs that make a configuration without a file.
pub mod settings {
    pub use interlingua_a2a::settings::{A2a, A2aBinding, A2aPeer, A2aSignature, Basic};
    pub use interlingua_aip::settings::{Aip, AipDevice, AipPeer};
    pub use interlingua_mcp::settings::{
        HubTools, Mcp, McpChanges, McpCredentials, McpPeer, McpPlace, McpView, McpViewTool, SkillRef, ToolNames,
    };
    pub use interlingua_nlip::settings::{Binding, Nlip, NlipPeer, Router, SchemaVersion, Tokens, Translation};
    pub use interlingua_nlweb::settings::NlwebPeer;
}

/// The hub's own interface: its error format holds where no protocol has one.
pub(crate) mod own {
    pub(crate) use interlingua_api::Api;
    pub(crate) use interlingua_api::refusal::{ApiErrors, PATHS};
}
