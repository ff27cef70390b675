//! One module for each group of decoders: their invariants for any bytes.

pub(crate) mod a2a;
pub(crate) mod a2a_client;
pub(crate) mod addresses;
pub(crate) mod aip;
pub(crate) mod aip_binary;
pub(crate) mod audit;
pub(crate) mod cookies;
pub(crate) mod core;
pub(crate) mod database;
pub(crate) mod envelope;
pub(crate) mod files;
pub(crate) mod forms;
pub(crate) mod gguf;
pub(crate) mod http_head;
pub(crate) mod ids;
pub(crate) mod journal;
pub(crate) mod mcp;
pub(crate) mod mcp_client;
pub(crate) mod nlip;
pub(crate) mod nlweb;
pub(crate) mod oauth;
pub(crate) mod planted;
pub(crate) mod providers;
pub(crate) mod rules;
pub(crate) mod small;
pub(crate) mod words;
