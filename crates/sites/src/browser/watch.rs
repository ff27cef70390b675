//! Live view: which pages are in use now, and what they look like.
//!
//! A page is watched without its call: the picture is taken beside the steps. A picture is taken at most twice a second, whoever asks and
//! how often. Fields with secrets are masked in the page itself, before anything is typed into them. This module does not decide who may
//! watch.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use interlingua_model::{Owner, PeerId, Text, Time};
use tokio::sync::Semaphore;
use tokio::time::Instant;

use super::link::Link;
use super::page::{Page, picture};

/// A picture is shown again for so long.
const FRESH: Duration = Duration::from_millis(500);

/// A page in use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageInUse {
    /// Numbers the pages of this process.
    pub id: u64,
    /// The peer that drives the website.
    pub site: PeerId,
    pub action: Text,
    /// The caller.
    pub owner: Owner,
    pub begun: Time,
    /// The step it is at, from 1; 0 before the first.
    pub step: usize,
    pub steps: usize,
}

/// All pages in use: as many as there are calls with a page, which the pool limits.
#[derive(Debug, Default)]
pub(super) struct Watched {
    pages: Mutex<BTreeMap<u64, Arc<Watch>>>,
    count: AtomicU64,
}

#[derive(Debug)]
struct Watch {
    page: PageInUse,
    step: AtomicUsize,
    link: Link,
    session: String,
    /// One picture is taken at a time; who waited for it gets it too.
    turn: Semaphore,
    last: Mutex<Option<(Instant, Bytes)>>,
}

/// The page is in use until this is dropped.
#[derive(Debug)]
pub(super) struct InUse {
    watched: Arc<Watched>,
    watch: Arc<Watch>,
}

/// What a page is used for.
#[derive(Debug)]
pub(super) struct Use {
    pub(super) site: PeerId,
    pub(super) action: Text,
    pub(super) owner: Owner,
    pub(super) begun: Time,
    pub(super) steps: usize,
}

impl Watched {
    pub(super) fn enter(self: &Arc<Watched>, page: &Page, used: Use) -> InUse {
        let Use { site, action, owner, begun, steps } = used;
        let id = self.count.fetch_add(1, Ordering::Relaxed) + 1;
        let watch = Arc::new(Watch {
            page: PageInUse { id, site, action, owner, begun, step: 0, steps },
            step: AtomicUsize::new(0),
            link: page.chromium.link.clone(),
            session: page.session.clone(),
            turn: Semaphore::new(1),
            last: Mutex::default(),
        });
        self.pages().insert(id, Arc::clone(&watch));
        InUse { watched: Arc::clone(self), watch }
    }

    fn pages(&self) -> MutexGuard<'_, BTreeMap<u64, Arc<Watch>>> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn list(&self) -> Vec<PageInUse> {
        self.pages().values().map(|watch| watch.seen()).collect()
    }

    /// What the page looks like, or looked like half a second ago; `None` if it is not in use, or shows nothing.
    pub(super) async fn picture(&self, id: u64) -> Option<Bytes> {
        let watch = self.pages().get(&id).cloned()?;
        let _turn = watch.turn.acquire().await.ok()?;
        let known = watch.last().clone().filter(|(at, _)| at.elapsed() < FRESH);
        if let Some((_, known)) = known {
            return Some(known);
        }
        let taken = picture(&watch.link, &watch.session).await?;
        *watch.last() = Some((Instant::now(), taken.clone()));
        Some(taken)
    }
}

impl Watch {
    fn last(&self) -> MutexGuard<'_, Option<(Instant, Bytes)>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn seen(&self) -> PageInUse {
        PageInUse { step: self.step.load(Ordering::Relaxed), ..self.page.clone() }
    }
}

impl InUse {
    /// It is at this step now.
    pub(super) fn at(&self, step: usize) {
        self.watch.step.store(step, Ordering::Relaxed);
    }
}

impl Drop for InUse {
    fn drop(&mut self) {
        self.watched.pages().remove(&self.watch.page.id);
    }
}
