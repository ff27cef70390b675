//! The browser of this hub, and its sessions for their owners, who can list and revoke them. A stored login is a standing permission, so
//! its owner must be able to end it. Callers can also watch the pages that their calls use.

use std::sync::{Arc, OnceLock};

use crate::browser::{Browser, PageInUse, SessionSeen};
use bytes::Bytes;
use interlingua_model::{Fault, FaultKind, Noun, Principal};

use super::keeper::HubKeeper;
use interlingua_hub::Hub;
use interlingua_hub::audit::AuditLine;

/// What drives websites; opened once, before peers are registered.
#[derive(Debug, Default)]
pub struct Sites {
    opened: OnceLock<Opened>,
}

#[derive(Debug)]
pub(super) struct Opened {
    pub(super) browser: Arc<Browser>,
    /// What the browser needs of the hub.
    pub(super) keeper: Arc<HubKeeper>,
}

impl Sites {
    pub(super) fn set(&self, browser: Arc<Browser>, keeper: HubKeeper) {
        // Peers are registered once in the life of a hub.
        let _ = self.opened.set(Opened { browser, keeper: Arc::new(keeper) });
    }

    pub(super) fn opened(&self) -> Option<&Opened> {
        self.opened.get()
    }

    /// Theirs; all of them for the hub's own Owner. Who is not known has none.
    pub async fn sessions(&self, by: &Principal) -> Vec<SessionSeen> {
        let Some(Opened { browser, keeper }) = self.opened() else { return Vec::new() };
        let mut seen = browser.sessions(&**keeper).await;
        seen.retain(|seen| !by.is_anonymous() && (by.is_hub_owner() || seen.key.owner == by.owner()));
        seen
    }

    /// The pages in use that they may watch: those of their own calls, and of agents that work for them, at sites that they may use. The
    /// hub's own Owner may watch all.
    pub fn pages(&self, hub: &Hub, by: &Principal) -> Vec<PageInUse> {
        let Some(Opened { browser, .. }) = self.opened() else { return Vec::new() };
        let visible = hub.visible(by);
        let owner = by.owner();
        let theirs = |page: &PageInUse| page.owner.0.starts_with(&owner.0) && visible.has_peer(&page.site);
        let may = |page: &PageInUse| !by.is_anonymous() && (by.is_hub_owner() || theirs(page));
        browser.pages().into_iter().filter(may).collect()
    }

    /// What one of these pages looks like, as JPEG. The audit log says when somebody watches the call of another.
    pub async fn picture(&self, hub: &Hub, by: &Principal, id: &str) -> Result<Bytes, Fault> {
        let none = || Fault::caller(FaultKind::NotFound(Noun::Resource), "no such page is in use");
        let pages = self.pages(hub, by);
        let page = pages.into_iter().find(|page| page.id.to_string() == id).ok_or_else(none)?;
        if page.owner != by.owner() {
            let watched = format!("{}/{}", page.site, page.action);
            hub.write_audit(AuditLine::new("watch_site", by.owner()).on(watched));
        }
        let Opened { browser, .. } = self.opened().ok_or_else(none)?;
        browser.picture(page.id).await.ok_or_else(none)
    }

    /// Ends one by its id, and forgets what was kept of it. One of somebody else's is not there.
    pub async fn end_session(&self, hub: &Hub, by: &Principal, id: &str) -> Result<(), Fault> {
        let none = || Fault::caller(FaultKind::NotFound(Noun::Resource), "no such session");
        let seen = self.sessions(by).await;
        let found = seen.into_iter().find(|seen| *seen.key.id() == *id).ok_or_else(none)?;
        let Opened { browser, keeper } = self.opened().ok_or_else(none)?;
        browser.end_session(&**keeper, &found.key).await;
        let session = format!("{}/{}", found.key.site, found.key.name);
        hub.write_audit(AuditLine::new("end_site_session", by.owner()).on(session));
        Ok(())
    }
}
