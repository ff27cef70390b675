//! Settings of NLWeb sites, which are asked in natural language.

use std::path::PathBuf;

use crate::client::{ASK, ask_input};
use interlingua_model::Schema;
use schemars::JsonSchema;
use serde::Deserialize;

use interlingua_endpoint::sections::{NamedBy, PeerSection};
use interlingua_settings::check::{authorities, is_open, url};
use interlingua_settings::{Found, Secret};

/// How a site that can be asked is reached.
#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NlwebPeer {
    /// Its door, such as `https://recipes.example/ask`; without a path, `/ask` or what the site's `llms.txt` says.
    pub url: String,
    /// Sent as the bearer token; a caller's own is never sent.
    pub token: Option<Secret>,
    /// A PEM file of authorities to trust instead of the machine's own.
    pub ca: Option<PathBuf>,
    /// Send the token even where it can be read on the way (neither TLS nor loopback).
    #[serde(default)]
    pub insecure: bool,
}

impl PeerSection for NlwebPeer {
    fn known_inputs(&self) -> Vec<(String, Schema)> {
        vec![(ASK.into(), ask_input())]
    }

    fn paths(&mut self) -> Vec<&mut PathBuf> {
        self.ca.iter_mut().collect()
    }

    fn names_addresses(&self) -> bool {
        true
    }

    fn named_by(&self) -> NamedBy<'_> {
        NamedBy::Url(&self.url, None)
    }

    fn check(&self, path: &str, found: &mut Found) {
        let uri = match url(&self.url, &["http", "https"]) {
            Ok(uri) => uri,
            Err(message) => return found.refuse(format!("{path}.url"), message),
        };
        if self.token.is_some() && !self.insecure && is_open(&uri) {
            found.refuse(
                format!("{path}.token"),
                "the token would travel unencrypted; use https, or set `insecure: true` here",
            );
        }
        authorities(path, self.ca.as_deref(), found);
    }
}
