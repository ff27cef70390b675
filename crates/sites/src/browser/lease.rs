//! Page lease for one call: a fresh page that is discarded afterwards, or the page of a session, which the next call finds as this one left
//! it. The lease also counts toward the limit of open pages; a call gives up its place while it waits for a person.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::definition::Trouble;
use crate::definition::session::Sessions;
use interlingua_model::address::Origin;
use tokio::sync::OwnedSemaphorePermit;

use super::chromium::Chromium;
use super::host::BrowserHost;
use super::page::Page;
use super::pool::{Browser, OPENING, open};
use super::sessions::visit::{Found, Visit};
use super::sessions::{Key, Seen, kept};

/// Dropped, a fresh context is disposed of while others go on, and that of a session is left for its next call.
pub(super) struct Lease {
    /// Gone only when the lease is.
    page: Option<Page>,
    seat: Seat,
    visit: Option<(Visit, Found)>,
    whole: bool,
}

impl Lease {
    pub(super) fn parts(&mut self) -> Option<(&mut Page, &Seat)> {
        Some((self.page.as_mut()?, &self.seat))
    }

    /// How the session was found; `None` for a fresh page.
    pub(super) fn found(&self) -> Option<Found> {
        self.visit.as_ref().map(|(_, found)| *found)
    }

    /// Waits until the session is taken back; a fresh page is nobody's to take.
    pub(super) fn ending(&self) -> impl Future<Output = ()> + Send + use<> {
        let ending = self.visit.as_ref().map(|(visit, _)| visit.ending());
        async move {
            match ending {
                Some(ending) => ending.await,
                None => std::future::pending().await,
            }
        }
    }

    /// The page is as a sequence leaves it: the next call may have it. Otherwise it gets another one.
    pub(super) fn settle(&mut self) {
        self.whole = true;
    }

    /// Writes the session down.
    pub(super) async fn keep(&mut self, guest: &Guest<'_>) {
        let (Some(page), Some((visit, _))) = (&mut self.page, &self.visit) else { return };
        let Ok(state) = page.take_out(&visit.state()).await else { return };
        visit.set_state(state.clone());
        kept::write(guest.keeper, guest.key, visit.begun(), state, guest.how.keep).await;
        if visit.has_ended() {
            kept::forget(guest.keeper, guest.key).await;
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let (Some(page), Some((visit, _))) = (self.page.take(), self.visit.take()) else { return };
        if visit.has_ended() || page.chromium.link.is_gone() {
            visit.lose();
        } else if self.whole && !page.is_gone() {
            visit.leave(page);
        } else {
            visit.leave_worn(page);
        }
    }
}

/// A place among the calls that have a page at once.
pub(super) struct Seat {
    browser: Arc<Browser>,
    held: Mutex<Option<OwnedSemaphorePermit>>,
}

impl Seat {
    fn held(&self) -> MutexGuard<'_, Option<OwnedSemaphorePermit>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives the place to others while a person thinks. The page stays, so not everybody can.
    pub(super) fn step_aside(&self) -> Result<OwnedSemaphorePermit, Trouble> {
        let aside = self.browser.aside()?;
        let place = self.held().take();
        drop(place);
        Ok(aside)
    }

    pub(super) async fn come_back(&self, aside: OwnedSemaphorePermit) -> Result<(), Trouble> {
        let place = self.browser.place().await?;
        *self.held() = Some(place);
        drop(aside);
        Ok(())
    }
}

/// Who comes to a session, and what the definition says of it.
pub(super) struct Guest<'a> {
    pub(super) key: &'a Key,
    pub(super) how: &'a Sessions,
    pub(super) origins: &'a [Origin],
    pub(super) keeper: &'a dyn BrowserHost,
}

impl Browser {
    /// A fresh page behind this proxy.
    pub(super) async fn lease(self: &Arc<Browser>, proxy: SocketAddr) -> Result<Lease, Trouble> {
        let (seat, chromium) = self.admit().await?;
        let page = self.page(&chromium, proxy).await?;
        self.prepare_spare(chromium, proxy);
        Ok(Lease { page: Some(page), seat, visit: None, whole: false })
    }

    /// The page of a session behind this proxy.
    pub(super) async fn lease_in(self: &Arc<Browser>, guest: &Guest<'_>, proxy: SocketAddr) -> Result<Lease, Trouble> {
        let visit = self.visit(guest).await?;
        let (seat, chromium) = self.admit().await?;
        visit.set_origins(guest.origins);
        let (page, found) = self.page_in(&visit, guest, &chromium, proxy).await?;
        Ok(Lease { page: Some(page), seat, visit: Some((visit, found)), whole: false })
    }

    /// Waits for a turn. Sessions that rest on paper count like those that rest in the browser.
    async fn visit(&self, guest: &Guest<'_>) -> Result<Visit, Trouble> {
        let beside = match guest.how.persist && !self.sessions.has(guest.key) {
            true => {
                let kept = kept::all(guest.keeper).await.into_iter().map(|seen| seen.key);
                kept.filter(|key| key.owner == guest.key.owner && key != guest.key && !self.sessions.has(key)).count()
            }
            false => 0,
        };
        let _line = self.line()?;
        self.sessions.enter(guest.key, guest.how, beside, guest.keeper.now(), self.queue()).await
    }

    async fn admit(self: &Arc<Browser>) -> Result<(Seat, Arc<Chromium>), Trouble> {
        let place = self.place().await?;
        let chromium = self.taking().await?;
        self.carry_over(&chromium);
        Ok((Seat { browser: Arc::clone(self), held: Mutex::new(Some(place)) }, chromium))
    }

    async fn page_in(
        self: &Arc<Browser>,
        visit: &Visit,
        guest: &Guest<'_>,
        chromium: &Arc<Chromium>,
        proxy: SocketAddr,
    ) -> Result<(Page, Found), Trouble> {
        match visit.take() {
            Some(page) if Arc::ptr_eq(&page.chromium, chromium) && page.proxy == proxy => {
                if let Some(page) = usable(page).await {
                    return Ok((page, visit.take_note().unwrap_or(Found::Continued)));
                }
            }
            Some(page) => {
                if let Some(page) = carried(page, visit, chromium, proxy).await {
                    return Ok((page, Found::Moved));
                }
            }
            None => {}
        }
        if guest.how.persist
            && let Some(kept) = kept::read(guest.keeper, guest.key).await
        {
            let mut page = self.page(chromium, proxy).await?;
            // One that took only half of it is of no use.
            if page.put_back(&kept.state, guest.origins).await.is_ok() {
                visit.set_state(kept.state);
                visit.set_begun(kept.begun);
                return Ok((page, Found::Restored));
            }
        }
        let found = if visit.was_used() { Found::Anew } else { Found::Begun };
        Ok((self.page(chromium, proxy).await?, found))
    }

    /// A process that was replaced ends when its last page does: sessions that rest there move to the new one.
    fn carry_over(self: &Arc<Browser>, chromium: &Arc<Chromium>) {
        for session in self.sessions.resting(|page| !Arc::ptr_eq(&page.chromium, chromium)) {
            let Some(visit) = self.sessions.enter_idle(session) else { continue };
            let chromium = Arc::clone(chromium);
            (self.background())(Box::pin(async move {
                let Some(page) = visit.take() else { return };
                let proxy = page.proxy;
                match carried(page, &visit, &chromium, proxy).await {
                    Some(page) => visit.resettle(page, Found::Moved),
                    None => visit.lose(),
                }
            }));
        }
    }

    /// Every session there is, in the browser and on paper.
    pub async fn sessions(&self, keeper: &dyn BrowserHost) -> Vec<Seen> {
        let mut seen = self.sessions.seen(keeper.now());
        let kept = kept::all(keeper).await;
        let more: Vec<Seen> = kept.into_iter().filter(|kept| !seen.iter().any(|live| live.key == kept.key)).collect();
        seen.extend(more);
        seen.sort_by(|a, b| a.key.cmp(&b.key));
        seen
    }

    /// Ends a session and forgets what was kept of it. A call that is in it ends with it.
    pub async fn end_session(&self, keeper: &dyn BrowserHost, key: &Key) {
        self.sessions.end(key);
        kept::forget(keeper, key).await;
    }
}

/// A page whose renderer died is replaced; what its context keeps is still there.
async fn usable(mut page: Page) -> Option<Page> {
    if !page.is_gone() {
        return Some(page);
    }
    if page.chromium.link.is_gone() {
        return None;
    }
    tokio::time::timeout(OPENING, page.renew()).await.ok()?.ok()?;
    Some(page)
}

/// The same cookies and storage in a context of this process.
async fn carried(mut old: Page, visit: &Visit, chromium: &Arc<Chromium>, proxy: SocketAddr) -> Option<Page> {
    let state = old.take_out(&visit.state()).await.ok()?;
    let mut page = open(Arc::clone(chromium), proxy).await.ok()?;
    page.put_back(&state, &visit.origins()).await.ok()?;
    visit.set_state(state);
    Some(page)
}
