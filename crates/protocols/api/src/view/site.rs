//! Sessions of driven websites.

use interlingua_endpoint::ports::SiteSession;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A login, or whatever else a website keeps for somebody from call to call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SiteSessionView {
    /// By this it is ended.
    pub id: String,
    /// The peer that drives the website.
    pub site: String,
    /// What calls name it by.
    pub name: String,
    pub owner: String,
    /// `in_use` by a call, `idle` in the browser, or `kept` on disk until the next call.
    pub state: String,
    pub begun: String,
    /// When the last call came to it.
    pub used: String,
    /// When it ends if nobody uses it.
    pub expires: String,
    /// How many calls it had since the browser has it.
    pub calls: u64,
}

impl From<SiteSession> for SiteSessionView {
    fn from(session: SiteSession) -> SiteSessionView {
        SiteSessionView {
            id: session.id,
            site: session.site,
            name: session.name,
            owner: session.owner,
            state: session.state.into(),
            begun: session.begun.to_string(),
            used: session.used.to_string(),
            expires: session.expires.to_string(),
            calls: session.calls,
        }
    }
}
