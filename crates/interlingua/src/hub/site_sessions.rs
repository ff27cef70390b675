//! Sessions of driven websites, for those whose they are: seen, and taken back. A kept login is a standing right, so whoever
//! has one can end it.

use std::sync::Arc;

use interlingua_core::{Fault, FaultKind, Noun, Principal};
use interlingua_drivers::browser::{Browser, Keeper, SessionSeen};

use super::Hub;
use super::audit::AuditLine;

impl Hub {
    /// Theirs; all of them for the hub's own Owner. Who is not known has none.
    pub async fn site_sessions(&self, by: &Principal) -> Vec<SessionSeen> {
        let Some((browser, keeper)) = self.site_keeper() else { return Vec::new() };
        let mut seen = browser.sessions(&**keeper).await;
        seen.retain(|seen| !by.is_anonymous() && (by.is_hub_owner() || seen.key.owner == by.owner()));
        seen
    }

    /// Ends one by its id, and forgets what was kept of it. One of somebody else's is not there.
    pub async fn end_site_session(&self, by: &Principal, id: &str) -> Result<(), Fault> {
        let none = || Fault::caller(FaultKind::NotFound(Noun::Resource), "no such session");
        let seen = self.site_sessions(by).await;
        let found = seen.into_iter().find(|seen| *seen.key.id() == *id).ok_or_else(none)?;
        let (browser, keeper) = self.site_keeper().ok_or_else(none)?;
        browser.end_session(&**keeper, &found.key).await;
        self.audit
            .write(AuditLine::new("end_site_session", by.owner()).on(format!("{}/{}", found.key.site, found.key.name)));
        Ok(())
    }

    fn site_keeper(&self) -> Option<(&Arc<Browser>, &Arc<dyn Keeper>)> {
        Some((self.browser.get()?, self.site_keeper.get()?))
    }
}
