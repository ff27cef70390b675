//! Adapters that connect parts of the hub which do not depend on each other.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use interlingua_model::{ConversationId, Fault, Owner, Principal};
use interlingua_sites::browser::{PageInUse, SessionSeen};

use interlingua_endpoint::ports::{Memories, SitePage, SiteSession, SiteSessions};
use interlingua_hub::Hub;
use interlingua_sites::Sites;

/// Sessions of the hub's browser.
#[derive(Debug)]
pub(super) struct BrowserSessions {
    pub(super) hub: Arc<Hub>,
    pub(super) sites: Arc<Sites>,
}

impl SiteSessions for BrowserSessions {
    fn pages(&self, by: &Principal) -> Vec<SitePage> {
        self.sites.pages(&self.hub, by).into_iter().map(page).collect()
    }

    fn picture<'a>(&'a self, by: &'a Principal, id: &'a str) -> BoxFuture<'a, Result<Bytes, Fault>> {
        Box::pin(self.sites.picture(&self.hub, by, id))
    }

    fn list<'a>(&'a self, by: &'a Principal) -> BoxFuture<'a, Vec<SiteSession>> {
        Box::pin(async move { self.sites.sessions(by).await.iter().map(session).collect() })
    }

    fn end<'a>(&'a self, by: &'a Principal, id: &'a str) -> BoxFuture<'a, Result<(), Fault>> {
        Box::pin(self.sites.end_session(&self.hub, by, id))
    }
}

fn page(seen: PageInUse) -> SitePage {
    SitePage {
        id: seen.id.to_string(),
        site: seen.site.to_string(),
        action: seen.action.to_string(),
        owner: seen.owner.to_string(),
        begun: seen.begun,
        step: seen.step,
        steps: seen.steps,
    }
}

fn session(seen: &SessionSeen) -> SiteSession {
    SiteSession {
        id: seen.key.id().to_string(),
        site: seen.key.site.to_string(),
        name: seen.key.name.to_string(),
        owner: seen.key.owner.to_string(),
        state: seen.stands.as_str(),
        begun: seen.begun,
        used: seen.used,
        expires: seen.until,
        calls: seen.calls,
    }
}

/// What agents of this hub remember.
#[derive(Debug)]
pub(super) struct AgentMemories(pub(super) Arc<Hub>);

impl Memories for AgentMemories {
    fn forget<'a>(&'a self, owner: &'a Owner, conversation: &'a ConversationId) -> BoxFuture<'a, Result<bool, Fault>> {
        Box::pin(interlingua_agents::forget(&self.0, owner, conversation))
    }
}
