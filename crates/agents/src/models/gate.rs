//! Rate limiter of a model provider: a request waits here for its turn, in the order of arrival as far as the runtime keeps it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use interlingua_machines::llm::{Lane, Pace, Wait};
use interlingua_model::Time;
use tokio::sync::Notify;
use tokio::time::{Duration, Instant, sleep_until};

#[derive(Debug)]
pub struct Gate {
    lane: Mutex<Lane>,
    left: Notify,
    since: Instant,
}

/// The right to ask one question. Dropping it makes room for the next.
#[derive(Debug)]
pub struct Pass(Arc<Gate>);

impl Gate {
    pub fn new(pace: Pace) -> Arc<Gate> {
        Arc::new(Gate { lane: Mutex::new(Lane::new(pace, Time(0))), left: Notify::new(), since: Instant::now() })
    }

    pub async fn enter(self: &Arc<Self>) -> Pass {
        loop {
            // Asked for before looking, so that a place freed in between is not missed.
            let freed = self.left.notified();
            let entered = self.lane().enter(self.now());
            match entered {
                Ok(()) => return Pass(Arc::clone(self)),
                Err(Wait::ForOthers) => freed.await,
                Err(Wait::Until(at)) => sleep_until(self.since + Duration::from_millis(at.0)).await,
            }
        }
    }

    fn lane(&self) -> MutexGuard<'_, Lane> {
        self.lane.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> Time {
        Time(u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX))
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        self.0.lane().leave();
        self.0.left.notify_one();
    }
}
