//! The section `nlip`, and the settings of an NLIP peer.

mod configured;

pub use configured::{Nlip, Router, SchemaVersion, Tokens, Translation};

use std::path::PathBuf;

use crate::client::{CHAT, chat_input};
use interlingua_model::Schema;
use schemars::JsonSchema;
use serde::Deserialize;

use interlingua_endpoint::sections::{NamedBy, PeerSection};
use interlingua_settings::check::{authorities, is_open, url};
use interlingua_settings::{Found, Secret};

/// How an NLIP peer is reached.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NlipPeer {
    /// Its door, such as `https://agent.example/nlip`, or `wss://` for a WebSocket.
    pub url: String,
    /// Default: `http` for `http://` and `https://`, `ws` for `ws://` and `wss://`.
    pub binding: Option<Binding>,
    /// Sent as the authentication token.
    pub token: Option<Secret>,
    /// A PEM file of authorities to trust instead of the machine's own.
    pub ca: Option<PathBuf>,
    /// Speak to it even where all can be read on the way, the token too (neither TLS nor loopback).
    #[serde(default)]
    pub insecure: bool,
}

impl NlipPeer {
    pub fn new(url: impl Into<String>) -> NlipPeer {
        NlipPeer { url: url.into(), binding: None, token: None, ca: None, insecure: false }
    }

    pub fn binding(&self) -> Binding {
        let socket = self.url.starts_with("ws://") || self.url.starts_with("wss://");
        self.binding.unwrap_or(if socket { Binding::Ws } else { Binding::Http })
    }
}

impl PeerSection for NlipPeer {
    fn known_inputs(&self) -> Vec<(String, Schema)> {
        vec![(CHAT.into(), chat_input())]
    }

    fn paths(&mut self) -> Vec<&mut PathBuf> {
        self.ca.iter_mut().collect()
    }

    fn names_addresses(&self) -> bool {
        true
    }

    fn of_words(text: &str) -> Result<NlipPeer, &'static str> {
        Ok(NlipPeer::new(text))
    }

    fn named_by(&self) -> NamedBy<'_> {
        NamedBy::Url(&self.url, Some("nlip"))
    }

    fn check(&self, path: &str, found: &mut Found) {
        let schemes: &[&str] = match self.binding() {
            Binding::Http => &["http", "https"],
            // A WebSocket begins as an HTTP request, so its address may be written either way.
            Binding::Ws | Binding::WsText => &["ws", "wss", "http", "https"],
        };
        let uri = match url(&self.url, schemes) {
            Ok(uri) => uri,
            Err(message) => return found.refuse(format!("{path}.url"), message),
        };
        if !self.insecure && is_open(&uri) {
            let (key, what) = match self.token {
                Some(_) => ("token", "the token"),
                None => ("url", "what is said"),
            };
            let why = format!("{what} would travel unencrypted; use https or wss, or set `insecure: true` here");
            found.refuse(format!("{path}.{key}"), why);
        }
        authorities(path, self.ca.as_deref(), found);
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Binding {
    Http,
    /// A WebSocket with CBOR messages.
    Ws,
    /// A WebSocket with JSON messages.
    WsText,
}
