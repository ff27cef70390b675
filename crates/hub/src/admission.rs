//! Admission control, the one layer before every call: a rate limit for each owner, a concurrency limit, and a bounded queue
//! in order of priority then arrival. A waiting call gains one step of priority every two seconds, so nothing starves.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwap;
use interlingua_machines::limit::{Buckets, Pace, again_in};
use interlingua_model::{Fault, FaultKind, Owner, Principal, Priority, Retry};
use tokio::sync::oneshot;
use tokio::time::Instant;

/// How long a call waits to be worth one step of priority more.
const STEP: Duration = Duration::from_secs(2);
/// How many owners' rates are remembered.
const MAX_OWNERS: usize = 10_000;

/// The concurrency limit and rate limit of calls: `limits` of the configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AdmissionLimits {
    /// How many exchanges run at once.
    pub in_flight: usize,
    /// How many more wait for their turn; beyond that a call is refused as busy.
    pub queue: usize,
    /// For each owner; `None` leaves all but Anonymous callers free.
    pub rate: Option<Rate>,
    /// For all Anonymous callers together.
    pub anonymous_rate: Rate,
}

/// So many calls in such a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    /// How many calls.
    pub count: u32,
    /// In which time.
    pub per: Duration,
}

impl Default for AdmissionLimits {
    fn default() -> Self {
        AdmissionLimits {
            in_flight: 4096,
            queue: 4096,
            rate: None,
            anonymous_rate: Rate { count: 200, per: Duration::from_secs(1) },
        }
    }
}

/// Admission control: a bounded number of running calls, a bounded queue by priority and age, and a rate limit for each
/// owner.
#[derive(Debug)]
pub struct Admission {
    limits: ArcSwap<AdmissionLimits>,
    started: Instant,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    running: usize,
    /// Smallest key first. Aging is linear and the same for all, so the order of two waiting calls never changes and the key
    /// can be fixed at arrival: arrival minus priority times [`STEP`].
    waiting: BTreeMap<(Reverse<i128>, u64), oneshot::Sender<()>>,
    arrivals: u64,
    rates: Buckets<Owner>,
}

impl Default for State {
    fn default() -> State {
        State { running: 0, waiting: BTreeMap::new(), arrivals: 0, rates: Buckets::new(MAX_OWNERS) }
    }
}

/// The right to run; given back when dropped.
#[derive(Debug)]
pub(crate) struct Permit {
    admission: Arc<Admission>,
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.admission.release();
    }
}

impl Admission {
    pub(crate) fn new(limits: AdmissionLimits) -> Arc<Admission> {
        Arc::new(Admission { limits: ArcSwap::from_pointee(limits), started: Instant::now(), state: Mutex::default() })
    }

    /// Replaces the limits. Raised ones admit waiting calls; lowered ones hold once enough running calls have ended.
    pub fn set_limits(&self, limits: AdmissionLimits) {
        self.limits.store(Arc::new(limits));
        let mut state = self.state();
        while state.running < limits.in_flight
            && let Some((_, next)) = state.waiting.pop_first()
        {
            if next.send(()).is_ok() {
                state.running += 1;
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many run and how many wait.
    pub fn load(&self) -> (usize, usize) {
        let state = self.state();
        (state.running, state.waiting.len())
    }

    /// Counts a call against its owner's rate.
    pub fn check_rate(&self, by: &Principal) -> Result<(), Fault> {
        let limits = self.limits.load();
        let rate = match limits.rate {
            Some(rate) => rate,
            None if by.is_anonymous() => limits.anonymous_rate,
            None => return Ok(()),
        };
        let pace = Pace::new(rate.count.into(), rate.per, None);
        let taken = self.state().rates.take(&by.owner(), 1, pace, self.started.elapsed());
        taken.map_err(|wait| {
            let text = format!("too many calls from you: slow down; {}", again_in(wait));
            Fault::caller(FaultKind::Busy, text).retry(Retry::After(Some(wait)))
        })
    }

    /// Waits for a place. Dropping the future gives up the place in the queue.
    pub(crate) async fn enter(self: &Arc<Self>, priority: Priority) -> Result<Permit, Fault> {
        let (key, woken) = {
            let mut state = self.state();
            if state.running < self.limits.load().in_flight {
                state.running += 1;
                return Ok(Permit { admission: self.clone() });
            }
            self.queue(&mut state, priority)?
        };
        let mut place = Place { admission: self, key: Some(key) };
        let admitted = woken.await;
        place.key = None;
        match admitted {
            Ok(()) => Ok(Permit { admission: self.clone() }),
            Err(_) => Err(Fault::shutting_down()),
        }
    }

    /// A slot for a call that a running exchange waits for. It is counted and never waits: its parent holds a slot until it has ended, so
    /// if all slots were held by parents, none would ever be released.
    pub(crate) fn enter_for_parent(self: &Arc<Self>) -> Permit {
        self.state().running += 1;
        Permit { admission: self.clone() }
    }

    #[allow(clippy::type_complexity, reason = "the key is private to this file and spelt once")]
    fn queue(
        &self,
        state: &mut State,
        priority: Priority,
    ) -> Result<((Reverse<i128>, u64), oneshot::Receiver<()>), Fault> {
        if state.waiting.len() >= self.limits.load().queue {
            let fault = Fault::hub(FaultKind::Busy, "the hub is at its limit and its queue is full");
            return Err(fault.retry(Retry::After(Some(Duration::from_secs(1)))));
        }
        let arrival = i128::try_from(self.started.elapsed().as_micros()).unwrap_or(i128::MAX);
        let credit = i128::from(priority.level()) * i128::try_from(STEP.as_micros()).unwrap_or_default();
        state.arrivals += 1;
        let key = (Reverse(credit - arrival), state.arrivals);
        let (wake, woken) = oneshot::channel();
        state.waiting.insert(key, wake);
        Ok((key, woken))
    }

    /// Hands the place to the next in the queue, or frees it.
    fn release(&self) {
        let most = self.limits.load().in_flight;
        let mut state = self.state();
        while state.running <= most
            && let Some((_, next)) = state.waiting.pop_first()
        {
            if next.send(()).is_ok() {
                return;
            }
        }
        state.running -= 1;
    }
}

/// A place in the queue, left when the waiting future is dropped.
struct Place<'a> {
    admission: &'a Arc<Admission>,
    key: Option<(Reverse<i128>, u64)>,
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let Some(key) = self.key else { return };
        if self.admission.state().waiting.remove(&key).is_none() {
            // It was woken in the same moment: the place it was given goes to the next.
            self.admission.release();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex as StdMutex;

    use super::*;

    const TWO: Rate = Rate { count: 2, per: Duration::from_secs(1) };

    fn limits(in_flight: usize, queue: usize) -> AdmissionLimits {
        AdmissionLimits { in_flight, queue, rate: Some(TWO), anonymous_rate: TWO }
    }

    #[tokio::test(start_paused = true)]
    async fn what_a_running_exchange_waits_for_does_not_wait_behind_others() {
        let admission = Admission::new(limits(1, 16));
        let parent = admission.enter(Priority::NORMAL).await.expect("free");
        let child = admission.enter_for_parent();
        assert_eq!(admission.load(), (2, 0));
        let other = admission.clone();
        let mut waiting = std::pin::pin!(other.enter(Priority::NORMAL));
        assert!(pends(waiting.as_mut()).await);
        drop(child);
        assert!(pends(waiting.as_mut()).await, "one too many ran: nobody is let in for it");
        drop(parent);
        waiting.await.expect("its turn");
    }

    async fn pends(mut future: std::pin::Pin<&mut impl Future>) -> bool {
        std::future::poll_fn(|cx| std::task::Poll::Ready(future.as_mut().poll(cx).is_pending())).await
    }

    #[tokio::test(start_paused = true)]
    async fn r_37_priority_orders_waiting_calls_and_waiting_earns_priority() {
        let admission = Admission::new(limits(1, 16));
        let held = admission.enter(Priority::NORMAL).await.expect("free");
        let order = Arc::new(StdMutex::new(Vec::new()));
        let mut tasks = tokio::task::JoinSet::new();
        // (name, priority, seconds to wait before it arrives)
        for (name, level, delay) in
            [("old low", 0, 0), ("young high", 9, 17), ("young low", 0, 17), ("late top", 9, 19)]
        {
            let (admission, order) = (admission.clone(), order.clone());
            tasks.spawn(async move {
                tokio::time::sleep(Duration::from_secs(delay)).await;
                let permit = admission.enter(Priority::new(level).expect("level")).await.expect("queued");
                order.lock().expect("lock").push(name);
                drop(permit);
            });
        }
        tokio::time::sleep(Duration::from_secs(20)).await;
        drop(held);
        while tasks.join_next().await.is_some() {}
        // 17 seconds of waiting are worth 8.5 steps: the old call stands between the two urgent ones.
        assert_eq!(*order.lock().expect("lock"), ["young high", "old low", "late top", "young low"]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_full_queue_sheds_and_a_call_that_gives_up_leaves_no_hole() {
        let admission = Admission::new(limits(1, 1));
        let held = admission.enter(Priority::NORMAL).await.expect("free");
        let waiting = tokio::time::timeout(Duration::from_secs(1), admission.enter(Priority::NORMAL));
        let (waited, shed) = tokio::join!(waiting, async {
            tokio::time::sleep(Duration::from_millis(10)).await;
            admission.enter(Priority::NORMAL).await
        });
        assert!(waited.is_err(), "it gave up");
        assert_eq!(shed.expect_err("shed").kind, FaultKind::Busy);
        assert_eq!(admission.load(), (1, 0));
        drop(held);
        assert_eq!(admission.load(), (0, 0));
        admission.enter(Priority::NORMAL).await.expect("free again");
    }

    #[tokio::test(start_paused = true)]
    async fn raised_limits_let_in_who_waits_and_lowered_ones_hold_when_enough_has_ended() {
        let admission = Admission::new(limits(1, 4));
        let first = admission.enter(Priority::NORMAL).await.expect("free");
        let (second, ()) = tokio::join!(admission.enter(Priority::NORMAL), async {
            tokio::time::sleep(Duration::from_millis(10)).await;
            assert_eq!(admission.load(), (1, 1));
            admission.set_limits(limits(2, 4));
        });
        let second = second.expect("let in");
        admission.set_limits(limits(1, 4));
        let waiting = tokio::time::timeout(Duration::from_secs(1), admission.enter(Priority::NORMAL));
        let (waited, ()) = tokio::join!(waiting, async {
            tokio::time::sleep(Duration::from_millis(10)).await;
            drop(first);
        });
        assert!(waited.is_err(), "one still runs, and one is the limit");
        drop(second);
        assert_eq!(admission.load(), (0, 0));
    }

    #[tokio::test(start_paused = true)]
    async fn a_rate_is_each_owners_own_and_says_when_to_come_back() {
        let admission = Admission::new(limits(1, 1));
        let anyone = Principal::anonymous();
        let owner = Principal::hub_owner(interlingua_model::Proof::LocalSocket);
        for _ in 0..2 {
            admission.check_rate(&anyone).expect("within the rate");
        }
        let fault = admission.check_rate(&anyone).expect_err("over the rate");
        assert_eq!(fault.retry, Retry::After(Some(Duration::from_millis(500))));
        admission.check_rate(&owner).expect("another owner");
        tokio::time::sleep(Duration::from_millis(500)).await;
        admission.check_rate(&anyone).expect("after the wait");
    }
}
