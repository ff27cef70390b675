//! Settings of an A2A agent.

use std::path::PathBuf;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::Deserialize;

use interlingua_settings::Secret;

#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct A2aPeer {
    /// Where it is, such as `https://agent.example`; its card is looked for there. Or the address of the card itself.
    pub url: String,
    /// Speak to it this way only. Default: the first interface of its card that works.
    pub binding: Option<A2aBinding>,
    /// Sent as the bearer token. A caller's own is never sent.
    pub token: Option<Secret>,
    /// Sent as name and password.
    pub basic: Option<Basic>,
    /// Sent in the header that its card names, else in `X-API-Key`.
    pub api_key: Option<Secret>,
    /// More headers to send.
    #[serde(default)]
    pub headers: IndexMap<String, Secret>,
    /// What a signature on its card is worth.
    #[serde(default)]
    pub signature: A2aSignature,
    /// A file of public keys that may sign its card: PEM, a JSON Web Key, or a set of them.
    pub keys: Option<PathBuf>,
    /// Addresses of key sets that may sign its card, where the signature names one of them.
    #[serde(default)]
    pub key_urls: Vec<String>,
    /// A PEM file of authorities to trust instead of the machine's own.
    pub ca: Option<PathBuf>,
    /// Send credentials even where they can be read on the way (neither TLS nor loopback).
    #[serde(default)]
    pub insecure: bool,
}

#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Basic {
    pub user: String,
    pub password: Secret,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum A2aBinding {
    /// JSON-RPC.
    Jsonrpc,
    /// HTTP with JSON.
    Http,
    /// gRPC.
    Grpc,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum A2aSignature {
    /// A card that is not signed by one of the keys is not taken.
    Require,
    /// It is looked at and shown; every card is taken.
    #[default]
    Check,
    /// It is not looked at.
    Off,
}

impl A2aPeer {
    pub fn new(url: impl Into<String>) -> A2aPeer {
        A2aPeer {
            url: url.into(),
            binding: None,
            token: None,
            basic: None,
            api_key: None,
            headers: IndexMap::new(),
            signature: A2aSignature::default(),
            keys: None,
            key_urls: Vec::new(),
            ca: None,
            insecure: false,
        }
    }

    /// Is there anything that must not be read on the way?
    pub fn has_secret(&self) -> bool {
        self.token.is_some() || self.basic.is_some() || self.api_key.is_some() || !self.headers.is_empty()
    }
}
