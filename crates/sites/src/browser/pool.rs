//! Browser pool: one warm Chromium, as many contexts at once as configured, a spare context, and a new process when the old one has served
//! long enough, grown too large or died. `lease` is what a call gets from it.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::definition::Trouble;
use bytes::Bytes;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::Background;
use super::chromium::{Chromium, sweep};
use super::find::find;
use super::page::Page;
use super::sessions::Table;
use super::watch::{PageInUse, Watched};
use interlingua_process::waiting::InLine;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The program; `None` looks for one.
    pub path: Option<PathBuf>,
    /// How many calls have a page at once.
    pub contexts: usize,
    /// How many sessions rest between calls, of all owners; one owner has at most half.
    pub sessions: usize,
    /// Where each process keeps what it needs while it lives.
    pub directory: PathBuf,
    /// How long a call waits for a context.
    pub queue: Duration,
    /// After this many calls, this much time or half of this memory a fresh process takes over.
    pub calls: u32,
    pub age: Duration,
    /// Above the whole of it the largest of the browser's processes is ended at once.
    pub memory: u64,
    /// A page that holds more is ended, and the call with it.
    pub page_memory: u64,
    pub sandbox: Sandbox,
    pub shown: Shown,
}

/// Whether people at this machine see the pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Shown {
    #[default]
    Nowhere,
    /// In windows on the display of this machine.
    InWindows,
}

impl Shown {
    /// A window needs a display.
    pub fn possible(self, display: Option<&str>) -> Result<(), String> {
        match (self, display) {
            (Shown::InWindows, None) => {
                Err("`browser.headless: false` needs a display, and neither DISPLAY nor WAYLAND_DISPLAY is set"
                    .to_owned())
            }
            (Shown::InWindows, Some(_)) | (Shown::Nowhere, _) => Ok(()),
        }
    }
}

/// Whether Chromium contains its own pages: what takes one over is then still outside of the hub's files and network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sandbox {
    #[default]
    On,
    Off,
}

impl Sandbox {
    /// Chromium does not start with it as root. Whoever wants that says so.
    pub fn possible(self) -> Result<(), String> {
        match self {
            Sandbox::On if rustix::process::geteuid().is_root() => Err(
                "Chromium's sandbox cannot work for root: run the hub as another user, or set `browser.sandbox: off`"
                    .to_owned(),
            ),
            Sandbox::On | Sandbox::Off => Ok(()),
        }
    }
}

impl Settings {
    pub fn new(directory: impl Into<PathBuf>) -> Settings {
        Settings {
            path: None,
            contexts: 8,
            sessions: 16,
            directory: directory.into(),
            queue: Duration::from_secs(30),
            calls: 2_000,
            age: Duration::from_secs(3_600),
            memory: 4 * 1024 * 1024 * 1024,
            page_memory: 1024 * 1024 * 1024,
            sandbox: Sandbox::On,
            shown: Shown::Nowhere,
        }
    }
}

/// How many calls may wait for a context.
const MAX_WAITING: usize = 256;
/// Pages opened for nobody yet.
pub(super) const OPENING: Duration = Duration::from_secs(20);
/// After so many calls the memory is looked at.
const WEIGH_EVERY: u32 = 16;

/// The browser of a hub. Nothing is started before the first call.
pub struct Browser {
    settings: Settings,
    background: Background,
    places: Arc<Semaphore>,
    /// Calls that have a page and wait for a person.
    asides: Arc<Semaphore>,
    pub(super) sessions: Arc<Table>,
    pub(super) watched: Arc<Watched>,
    waiting: AtomicUsize,
    /// One process is started at a time.
    starting: Semaphore,
    state: Mutex<PoolState>,
}

impl std::fmt::Debug for Browser {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Browser").field("settings", &self.settings).finish_non_exhaustive()
    }
}

#[derive(Default)]
struct PoolState {
    current: Option<Arc<Chromium>>,
    spare: Option<Spare>,
    swept: bool,
    stopped: bool,
}

struct Spare {
    proxy: SocketAddr,
    page: Page,
}

impl Browser {
    pub fn new(settings: Settings, background: Background) -> Arc<Browser> {
        let places = Arc::new(Semaphore::new(settings.contexts.max(1)));
        let asides = Arc::new(Semaphore::new(settings.contexts.max(1)));
        let sessions = Table::new(settings.sessions, Arc::clone(&background));
        Arc::new(Browser {
            settings,
            background,
            places,
            asides,
            sessions,
            watched: Arc::default(),
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
        let ended = {
            let mut state = self.state();
            state.stopped = true;
            (state.spare.take(), state.current.take())
        };
        self.sessions.end_all();
        drop(ended);
    }

    /// The pages in use.
    pub fn pages(&self) -> Vec<PageInUse> {
        self.watched.list()
    }

    /// What a page in use looks like now, as JPEG.
    pub async fn picture(&self, id: u64) -> Option<Bytes> {
        self.watched.picture(id).await
    }

    pub(super) fn queue(&self) -> Duration {
        self.settings.queue
    }

    /// The process that takes one more call.
    pub(super) async fn taking(&self) -> Result<Arc<Chromium>, Trouble> {
        let chromium = self.chromium().await?;
        chromium.calls.fetch_add(1, Ordering::Relaxed);
        Ok(chromium)
    }

    /// The spare page if it fits, else a new one.
    pub(super) async fn page(&self, chromium: &Arc<Chromium>, proxy: SocketAddr) -> Result<Page, Trouble> {
        let fits = |spare: &mut Spare| spare.proxy == proxy && Arc::ptr_eq(&spare.page.chromium, chromium);
        let spare = self.state().spare.take_if(fits);
        match spare.filter(|spare| !spare.page.is_gone()) {
            Some(spare) => Ok(spare.page),
            None => open(Arc::clone(chromium), proxy).await,
        }
    }

    /// A place among the pages that wait for a person; they are not waited for.
    pub(super) fn aside(&self) -> Result<OwnedSemaphorePermit, Trouble> {
        Arc::clone(&self.asides).try_acquire_owned().map_err(|_| Trouble::PoolExhausted)
    }

    /// A place in the line of those who wait.
    pub(super) fn line(&self) -> Result<InLine<'_>, Trouble> {
        InLine::join(&self.waiting, MAX_WAITING).ok_or(Trouble::PoolExhausted)
    }

    pub(super) async fn place(&self) -> Result<OwnedSemaphorePermit, Trouble> {
        if let Ok(place) = Arc::clone(&self.places).try_acquire_owned() {
            return Ok(place);
        }
        let line = self.line()?;
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
        let started = Chromium::start(&program, &self.settings, &self.background).await;
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
            || current.silent.load(Ordering::Relaxed)
            || calls >= self.settings.calls
            || current.born.elapsed() > self.settings.age
            || current.memory.load(Ordering::Relaxed) > self.settings.memory / 2;
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
    pub(super) fn prepare_spare(self: &Arc<Browser>, chromium: Arc<Chromium>, proxy: SocketAddr) {
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

    fn state(&self) -> MutexGuard<'_, PoolState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A page is also how the process is seen to be well: one that opens none in time is replaced.
pub(super) async fn open(chromium: Arc<Chromium>, proxy: SocketAddr) -> Result<Page, Trouble> {
    let crashed = Trouble::BrowserCrashed { step: 0 };
    match tokio::time::timeout(OPENING, Page::open(Arc::clone(&chromium), proxy)).await {
        Ok(Ok(page)) => Ok(page),
        Ok(Err(lost)) => {
            tracing::debug!(%lost, "no page");
            Err(crashed)
        }
        Err(_) => {
            chromium.silent.store(true, Ordering::Relaxed);
            Err(crashed)
        }
    }
}
