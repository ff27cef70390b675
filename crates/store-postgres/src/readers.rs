//! Reading connections. Each carries many reads at once, one after the other on its line (pipelining). A read whose connection
//! broke is asked again on a new one: it changes nothing.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::BoxFuture;
use interlingua_model::ports::StoreFault;
use tokio::sync::Semaphore;

use super::connection::{Session, Target};
use super::fault::{Class, Refused, class};

/// Reads under way on one connection.
const PIPELINE: usize = 8;
/// A read is tried so often before the database counts as away.
const TRIES: usize = 3;

#[derive(Debug)]
pub(super) struct Readers {
    target: Arc<Target>,
    sessions: Vec<Mutex<Option<Arc<Session>>>>,
    turn: AtomicUsize,
    permits: Semaphore,
}

impl Readers {
    pub(super) fn new(target: Arc<Target>, count: usize) -> Readers {
        let count = count.max(1);
        let sessions = (0..count).map(|_| Mutex::default()).collect();
        Readers { target, sessions, turn: AtomicUsize::new(0), permits: Semaphore::new(count * PIPELINE) }
    }

    pub(super) async fn read<T, F>(&self, work: F) -> Result<T, StoreFault>
    where
        F: for<'a> Fn(&'a Session) -> BoxFuture<'a, Result<T, Refused>>,
    {
        let _permit = self.permits.acquire().await.map_err(|_| StoreFault::Closed)?;
        let slot = &self.sessions[self.turn.fetch_add(1, Ordering::Relaxed) % self.sessions.len()];
        let mut last = StoreFault::Away("no connection to the database".into());
        for _ in 0..TRIES {
            let session = match self.session(slot).await {
                Ok(session) => session,
                Err(fault) => {
                    last = fault;
                    continue;
                }
            };
            match work(&session).await {
                Err(Refused::Sql(error)) if class(&error) == Class::Lost => {
                    self.forget(slot, &session);
                    last = Refused::Sql(error).into();
                }
                done => return done.map_err(StoreFault::from),
            }
        }
        Err(match last {
            StoreFault::Away(why) => StoreFault::Away(why),
            other => StoreFault::Away(other.to_string().into()),
        })
    }

    async fn session(&self, slot: &Mutex<Option<Arc<Session>>>) -> Result<Arc<Session>, StoreFault> {
        let held = slot.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(session) = held.filter(|session| !session.is_closed()) {
            return Ok(session);
        }
        let new = self.target.connect().await.map(Arc::new).map_err(|error| {
            tracing::warn!(event = "database_away", %error, "the database cannot be reached");
            StoreFault::Away("no connection to the database".into())
        })?;
        *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(new.clone());
        Ok(new)
    }

    fn forget(&self, slot: &Mutex<Option<Arc<Session>>>, session: &Arc<Session>) {
        let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
        if slot.as_ref().is_some_and(|held| Arc::ptr_eq(held, session)) {
            *slot = None;
        }
    }

    /// No read begins from now on.
    pub(super) fn close(&self) {
        self.permits.close();
        for slot in &self.sessions {
            *slot.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
    }
}
