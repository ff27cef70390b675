//! JSON of the sessions and pages of driven websites.

use interlingua_endpoint::ports::{SitePage, SiteSession};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A session at a driven website, such as a login, that lasts from call to call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SiteSessionView {
    /// The id by which it is ended.
    pub id: String,
    /// The peer that drives the website.
    pub site: String,
    /// The name by which calls use it.
    pub name: String,
    pub owner: String,
    /// `in_use` by a call, `idle` in the browser, or `kept`: stored on disk until the next call.
    pub state: String,
    pub begun: String,
    /// Time of the last call.
    pub used: String,
    /// When it ends if it is not used.
    pub expires: String,
    /// Number of calls since it was opened in the browser.
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

/// The pages in use; there are no more than the browser opens at once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SitePagesView {
    pub items: Vec<SitePageView>,
}

/// A page of a driven website that a call uses now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SitePageView {
    /// The id by which it is watched.
    pub id: String,
    /// The peer that drives the website.
    pub site: String,
    /// The action that is performed.
    pub action: String,
    /// The caller.
    pub owner: String,
    pub begun: String,
    /// The step it is at, from 1; 0 before the first.
    pub step: usize,
    pub steps: usize,
}

impl From<SitePage> for SitePageView {
    fn from(page: SitePage) -> SitePageView {
        SitePageView {
            id: page.id,
            site: page.site,
            action: page.action,
            owner: page.owner,
            begun: page.begun.to_string(),
            step: page.step,
            steps: page.steps,
        }
    }
}
