//! Where protocols meet the outside: each speaks one wire, decodes to the model, goes through the hub's door and encodes
//! what comes back. No edge knows another.

pub mod a2a;
pub mod aip;
pub mod api;
pub mod envelope;
pub mod hooks;
pub mod local;
pub mod mcp;
pub mod nlip;
pub mod nlweb;
pub mod site;
pub mod status;
