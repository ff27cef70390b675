//! The pool: one warm Chromium, as many contexts at once as configured, a spare one ready, and a new process when the old
//! one has served long enough, grown too large or died.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use interlingua_core::site::Trouble;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::Background;
use super::chromium::{Chromium, sweep};
use super::find::find;
use super::page::Page;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The program; `None` looks for one.
    pub path: Option<PathBuf>,
    /// How many calls have a page at once.
    pub contexts: usize,
    /// Where each process keeps what it needs while it lives.
    pub directory: PathBuf,
    /// How long a call waits for a context.
    pub queue: Duration,
    /// After this many calls, this much time or this much memory a fresh process takes over.
    pub calls: u32,
    pub age: Duration,
    pub memory: u64,
}

impl Settings {
    pub fn new(directory: impl Into<PathBuf>) -> Settings {
        Settings {
            path: None,
            contexts: 8,
            directory: directory.into(),
            queue: Duration::from_secs(30),
            calls: 2_000,
            age: Duration::from_secs(3_600),
            memory: 4 * 1024 * 1024 * 1024,
        }
    }
}

/// How many calls may wait for a context.
const MAX_WAITING: usize = 256;
/// Pages opened for nobody yet.
const OPENING: Duration = Duration::from_secs(20);
/// After so many calls the memory is looked at.
const WEIGH_EVERY: u32 = 16;

/// The browser of a hub. Nothing is started before the first call.
pub struct Browser {
    settings: Settings,
    background: Background,
    places: Arc<Semaphore>,
    waiting: AtomicUsize,
    /// One process is started at a time.
    starting: Semaphore,
    state: Mutex<State>,
}

impl std::fmt::Debug for Browser {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Browser").field("settings", &self.settings).finish_non_exhaustive()
    }
}

#[derive(Default)]
struct State {
    current: Option<Arc<Chromium>>,
    spare: Option<Spare>,
    swept: bool,
    stopped: bool,
}

struct Spare {
    proxy: SocketAddr,
    page: Page,
}

/// A page for one call. Dropped, its context is disposed of while others go on.
pub(super) struct Lease {
    pub(super) page: Page,
    _place: OwnedSemaphorePermit,
}

impl Browser {
    pub fn new(settings: Settings, background: Background) -> Arc<Browser> {
        let places = Arc::new(Semaphore::new(settings.contexts.max(1)));
        Arc::new(Browser {
            settings,
            background,
            places,
            waiting: AtomicUsize::new(0),
            starting: Semaphore::new(1),
            state: Mutex::default(),
        })
    }

    pub fn background(&self) -> &Background {
        &self.background
    }

    /// Ends the process; calls under way end with it.
    pub fn stop(&self) {
        let mut state = self.state();
        state.stopped = true;
        state.spare = None;
        state.current = None;
    }

    /// A fresh page behind this proxy.
    pub(super) async fn lease(self: &Arc<Browser>, proxy: SocketAddr) -> Result<Lease, Trouble> {
        let place = self.place().await?;
        let chromium = self.chromium().await?;
        chromium.calls.fetch_add(1, Ordering::Relaxed);
        let spare = self.state().spare.take_if(|spare| spare.proxy == proxy);
        let page = match spare.filter(|spare| !spare.page.is_gone()) {
            Some(spare) => spare.page,
            None => open(Arc::clone(&chromium), proxy).await?,
        };
        self.prepare_spare(chromium, proxy);
        Ok(Lease { page, _place: place })
    }

    async fn place(&self) -> Result<OwnedSemaphorePermit, Trouble> {
        if let Ok(place) = Arc::clone(&self.places).try_acquire_owned() {
            return Ok(place);
        }
        let line = InLine::join(&self.waiting).ok_or(Trouble::PoolExhausted)?;
        let place = tokio::time::timeout(self.settings.queue, Arc::clone(&self.places).acquire_owned()).await;
        drop(line);
        place.ok().and_then(Result::ok).ok_or(Trouble::PoolExhausted)
    }

    #[cfg(test)]
    pub(super) fn running(&self) -> Option<Arc<Chromium>> {
        self.state().current.clone()
    }

    /// The process that takes calls now; started if there is none.
    async fn chromium(&self) -> Result<Arc<Chromium>, Trouble> {
        if let Some(current) = self.current() {
            return Ok(current);
        }
        // The semaphore is never closed.
        let _one = self.starting.acquire().await.map_err(|_| Trouble::PoolExhausted)?;
        if let Some(current) = self.current() {
            return Ok(current);
        }
        let program = find(self.settings.path.as_deref()).map_err(|error| Trouble::NoBrowser(error.to_string()))?;
        if !std::mem::replace(&mut self.state().swept, true) {
            sweep(&self.settings.directory);
        }
        let started = Chromium::start(&program, &self.settings.directory, &self.background).await;
        let chromium = Arc::new(started.map_err(Trouble::NoBrowser)?);
        let mut state = self.state();
        if state.stopped {
            return Err(Trouble::NoBrowser("the hub is stopping".to_owned()));
        }
        state.current = Some(Arc::clone(&chromium));
        Ok(chromium)
    }

    /// The current process if it may take another call. One that may not ends with the last call it has.
    fn current(&self) -> Option<Arc<Chromium>> {
        let mut state = self.state();
        let current = state.current.as_ref()?;
        let calls = current.calls.load(Ordering::Relaxed);
        if calls % WEIGH_EVERY == WEIGH_EVERY - 1 {
            current.weigh();
        }
        let spent = current.link.is_gone()
            || calls >= self.settings.calls
            || current.born.elapsed() > self.settings.age
            || current.memory.load(Ordering::Relaxed) > self.settings.memory;
        if !spent {
            return Some(Arc::clone(current));
        }
        let retired = (state.current.take(), state.spare.take());
        // Killing takes a moment; nobody should wait for the lock over it.
        drop(state);
        drop(retired);
        None
    }

    /// So that the next call finds its page made.
    fn prepare_spare(self: &Arc<Browser>, chromium: Arc<Chromium>, proxy: SocketAddr) {
        let browser = Arc::clone(self);
        (self.background)(Box::pin(async move {
            let Ok(page) = open(Arc::clone(&chromium), proxy).await else { return };
            let unused = {
                let mut state = browser.state();
                let wanted =
                    !state.stopped && state.current.as_ref().is_some_and(|current| Arc::ptr_eq(current, &chromium));
                match wanted {
                    true => state.spare.replace(Spare { proxy, page }).map(|old| old.page),
                    false => Some(page),
                }
            };
            drop(unused);
        }));
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn open(chromium: Arc<Chromium>, proxy: SocketAddr) -> Result<Page, Trouble> {
    let crashed = Trouble::BrowserCrashed { step: 0 };
    match tokio::time::timeout(OPENING, Page::open(chromium, proxy)).await {
        Ok(Ok(page)) => Ok(page),
        Ok(Err(lost)) => {
            tracing::debug!(%lost, "no page");
            Err(crashed)
        }
        Err(_) => Err(crashed),
    }
}

/// A place among those who wait; given up when dropped.
struct InLine<'a>(&'a AtomicUsize);

impl InLine<'_> {
    fn join(waiting: &AtomicUsize) -> Option<InLine<'_>> {
        let place = InLine(waiting);
        (waiting.fetch_add(1, Ordering::Relaxed) < MAX_WAITING).then_some(place)
    }
}

impl Drop for InLine<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
