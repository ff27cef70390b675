//! One call in a session: it waits for its turn, uses the page, and leaves it for the next call.

use std::sync::Arc;
use std::time::Duration;

use crate::definition::Trouble;
use crate::definition::session::Sessions;
use interlingua_model::Time;
use interlingua_model::address::Origin;
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Instant;

use super::{Key, Session, Table};
use crate::browser::page::Page;
use crate::browser::state::BrowserState;

/// Another page in place of one that hangs.
const RENEWING: Duration = Duration::from_secs(30);

/// How a call found its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Found {
    /// It is new.
    Begun,
    /// As the call before left it.
    Continued,
    /// In another process, with the cookies and storage it had.
    Moved,
    /// As it was written down.
    Restored,
    /// What it had is lost with the browser.
    Anew,
}

impl Found {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Found::Begun => "begun",
            Found::Continued => "continued",
            Found::Moved => "moved",
            Found::Restored => "restored",
            Found::Anew => "anew",
        }
    }

    /// What its caller should know before anything is believed of it.
    pub(crate) fn note(self, name: &str) -> Option<String> {
        match self {
            Found::Begun | Found::Continued => None,
            Found::Moved => Some(format!("the session {name} moved to a fresh browser with its cookies and storage")),
            Found::Restored => Some(format!("the session {name} is back with the cookies and storage that were kept")),
            Found::Anew => {
                Some(format!("the session {name} ended with its browser and begins anew: nobody is logged in"))
            }
        }
    }
}

/// A turn in a session. Dropped, the next one has it.
pub(crate) struct Visit {
    table: Arc<Table>,
    session: Arc<Session>,
    _turn: OwnedSemaphorePermit,
}

impl Table {
    /// Waits for a turn, for this long.
    pub(crate) async fn enter(
        self: &Arc<Table>,
        key: &Key,
        how: &Sessions,
        beside: usize,
        now: Time,
        queue: Duration,
    ) -> Result<Visit, Trouble> {
        let end = Instant::now() + queue;
        loop {
            let session = self.claim(key, how, beside, now)?;
            let turn = tokio::time::timeout_at(end, Arc::clone(&session.turn).acquire_owned()).await;
            let turn = turn.ok().and_then(Result::ok).ok_or(Trouble::PoolExhausted)?;
            // It ended while we waited: then there is another, or none.
            if !session.has_ended() {
                let mut rest = session.rest();
                (rest.keep, rest.used) = (how.keep, now);
                drop(rest);
                return Ok(Visit { table: Arc::clone(self), session, _turn: turn });
            }
        }
    }

    /// The turn of one that rests, if nobody has it.
    pub(crate) fn enter_idle(self: &Arc<Table>, session: Arc<Session>) -> Option<Visit> {
        let turn = Arc::clone(&session.turn).try_acquire_owned().ok()?;
        (!session.has_ended()).then(|| Visit { table: Arc::clone(self), session, _turn: turn })
    }
}

impl Visit {
    /// The page as it was left.
    pub(crate) fn take(&self) -> Option<Page> {
        self.session.rest().page.take()
    }

    /// What the next call should know beyond what it sees.
    pub(crate) fn take_note(&self) -> Option<Found> {
        self.session.rest().note.take()
    }

    /// Somebody was in it before.
    pub(crate) fn was_used(&self) -> bool {
        self.session.rest().calls > 0
    }

    pub(crate) fn state(&self) -> BrowserState {
        self.session.rest().state.clone()
    }

    pub(crate) fn set_state(&self, state: BrowserState) {
        self.session.rest().state = state;
    }

    pub(crate) fn set_begun(&self, begun: Time) {
        self.session.rest().begun = begun;
    }

    pub(crate) fn begun(&self) -> Time {
        self.session.rest().begun
    }

    pub(crate) fn origins(&self) -> Arc<[Origin]> {
        Arc::clone(&self.session.rest().origins)
    }

    pub(crate) fn set_origins(&self, origins: &[Origin]) {
        self.session.rest().origins = origins.into();
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.session.has_ended()
    }

    /// Waits until the session is taken back.
    pub(crate) fn ending(&self) -> impl Future<Output = ()> + Send + use<> {
        let mut ended = self.session.ended.subscribe();
        async move {
            // The sender lives as long as the session; without it nothing more can be heard.
            if ended.wait_for(|ended| *ended).await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }

    /// Leaves the page for the next call.
    pub(crate) fn leave(self, page: Page) {
        self.used();
        self.put(page);
    }

    /// The same where no call was made: its time goes on.
    pub(crate) fn resettle(self, page: Page, note: Found) {
        self.session.rest().note = Some(note);
        self.put(page);
    }

    fn used(&self) {
        let mut rest = self.session.rest();
        rest.until = Instant::now() + rest.keep;
        rest.calls += 1;
    }

    fn put(&self, page: Page) {
        let before = self.session.rest().page.replace(page);
        drop(before);
        // Ended meanwhile: nobody else would let go of it.
        if self.has_ended() {
            drop(self.take());
        }
    }

    /// The same for a page that hangs or was left halfway: the next call has another one in the same context.
    pub(crate) fn leave_worn(self, mut page: Page) {
        let background = Arc::clone(&self.table.background);
        background(Box::pin(async move {
            let renewed = tokio::time::timeout(RENEWING, page.renew()).await;
            match renewed {
                Ok(Ok(())) => self.leave(page),
                Ok(Err(_)) | Err(_) => self.lose(),
            }
        }));
    }

    /// What it had is gone; the next call is told.
    pub(crate) fn lose(self) {
        self.used();
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        // One that never had a page is none.
        let unborn = {
            let rest = self.session.rest();
            rest.calls == 0 && rest.page.is_none()
        };
        if unborn {
            self.table.end_this(&self.session);
        }
    }
}
