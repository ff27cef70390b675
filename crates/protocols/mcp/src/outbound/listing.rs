//! Cached tool lists: what a server listed, stored in records, so that a restarted hub shows it while the server starts.
//!
//! The definitions are stored unchanged; the hub converts them again with the current configuration.

use crate::client::list::{List, Server};
use crate::{Era, Version};
use bytes::Bytes;
use interlingua_model::ports::Expect;
use interlingua_model::{Digest, Fault, Json, Text};
use serde::{Deserialize, Serialize};

use interlingua_hub::Hub;

const KIND: &str = "mcp-listing";
/// A larger one is fetched anew at every start.
const LARGEST: usize = 16 << 20;

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Listing {
    version: String,
    pub(super) title: Option<Text>,
    pub(super) server_version: Option<Text>,
    pub(super) instructions: Option<Text>,
    pub(super) completions: bool,
    pub(super) tools: Vec<Json>,
    pub(super) prompts: Vec<Json>,
    pub(super) resources: Vec<Json>,
    pub(super) templates: Vec<Json>,
}

impl Listing {
    pub(super) fn greeted(&mut self, version: Version, server: &Server) {
        version.as_str().clone_into(&mut self.version);
        self.title.clone_from(&server.title);
        self.server_version.clone_from(&server.version);
        self.instructions.clone_from(&server.instructions);
        self.completions = server.completions;
    }

    pub(super) fn version(&self) -> Version {
        Version::parse(&self.version).unwrap_or(Version::LATEST)
    }

    /// What the server spoke when it was last greeted.
    pub(super) fn era(&self) -> Option<Era> {
        Version::parse(&self.version).map(Version::era)
    }

    pub(super) fn of(&mut self, list: List) -> &mut Vec<Json> {
        match list {
            List::Tools => &mut self.tools,
            List::Prompts => &mut self.prompts,
            List::Resources => &mut self.resources,
            List::Templates => &mut self.templates,
        }
    }
}

/// Where a peer's listing is kept: another server under the same name is another place.
#[derive(Debug, Clone)]
pub(super) struct Kept(String);

impl Kept {
    pub(super) fn of(peer: &str, place: &str) -> Kept {
        Kept(Digest::of_fields([peer.as_bytes(), place.as_bytes()]).to_string())
    }

    pub(super) fn key(&self) -> &str {
        &self.0
    }

    pub(super) async fn load(&self, hub: &Hub) -> Option<Listing> {
        let item = hub.records(KIND).get(&self.0).await.ok()??;
        serde_json::from_slice(&item.value).ok()
    }

    pub(super) async fn keep(&self, hub: &Hub, listing: &Listing) -> Result<(), Fault> {
        let bytes = serde_json::to_vec(listing).map_err(Fault::internal)?;
        if bytes.len() > LARGEST {
            return Ok(());
        }
        hub.records(KIND).put(&self.0, Bytes::from(bytes), None, Expect::Anything).await?;
        Ok(())
    }
}
