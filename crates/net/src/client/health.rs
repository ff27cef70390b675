//! Circuit breaker and health probe of a peer. Every exchange reports its result; the probe runs when there are no exchanges.
//!
//! After three connection failures in a row the peer is down: calls are refused at once instead of waiting for a connection. After a hold
//! time, which doubles, one call is let through as a trial; if it succeeds, all are.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http::Uri;
use interlingua_model::peer::{Peer, Standing};
use interlingua_model::{Fault, FaultKind, Health, PeerId, Principal, Retry, Text, Time};
use tokio::time::Instant;

use super::retry::jittered;
use super::transport_error::{TransportError, Why};
use interlingua_hub::Hub;
use interlingua_hub::supervisor::round;

const FAILURES: u32 = 3;
const FIRST_HOLD: Duration = Duration::from_secs(1);
const LONGEST_HOLD: Duration = Duration::from_secs(60);
const PROBE_EVERY: Duration = Duration::from_secs(30);
/// A door that takes longer to answer a knock is slow.
const SLOW: Duration = Duration::from_secs(1);

/// How much the latest attempt counts in what is remembered, and what a slow answer is worth in the score.
const LATEST: f64 = 0.1;
const SLOW_COUNTS: f64 = 0.5;

/// How an attempt to reach the peer went. `knock`: how long an answer took that costs the peer nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Went {
    Reached { knock: Option<Duration> },
    Missed,
}

#[derive(Debug)]
pub struct Breaker(Mutex<State>);

#[derive(Debug)]
struct State {
    failures: u32,
    hold: Duration,
    /// Nobody is let through before.
    until: Option<Instant>,
    shown: Health,
    /// How often it is reached, and how often quickly, from 0 to 1; `None` until somebody tried.
    reached: Option<f64>,
    score: Option<f64>,
    /// In seconds.
    latency: Option<f64>,
    last: Option<Time>,
    /// Why it could not be reached the last time, for whoever runs the hub.
    trouble: Option<Text>,
}

/// What was, and what is now, of which the latest counts so much.
fn averaged(before: Option<f64>, now: f64) -> Option<f64> {
    Some(before.map_or(now, |before| before + LATEST * (now - before)))
}

/// A share of a hundred.
fn percent(share: f64) -> u8 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped just before")]
    let percent = (share.clamp(0.0, 1.0) * 100.0).round() as u8;
    percent
}

impl Default for Breaker {
    fn default() -> Breaker {
        Breaker::new()
    }
}

impl Breaker {
    pub fn new() -> Breaker {
        Breaker(Mutex::new(State {
            failures: 0,
            hold: FIRST_HOLD,
            until: None,
            shown: Health::Starting,
            reached: None,
            score: None,
            latency: None,
            last: None,
            trouble: None,
        }))
    }

    /// Remembers why it cannot be reached; true when that is news.
    fn troubled(&self, why: Option<Text>) -> bool {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut state.trouble, why.clone()) != why
    }

    fn trouble(&self) -> Option<Text> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).trouble.clone()
    }

    /// May a call go out? If not, how long until one may. Whoever is let through after a hold is the one that tries: the
    /// next hold begins with it, so an attempt that is dropped blocks nobody for longer.
    pub fn admit(&self, now: Instant) -> Result<(), Duration> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match state.until {
            None => Ok(()),
            Some(until) if now < until => Err(until - now),
            Some(_) => {
                state.until = Some(now + state.hold);
                Ok(())
            }
        }
    }

    /// Takes note; the health to show, when that changes it.
    pub fn note(&self, went: Went, now: Instant, time: Time) -> Option<Health> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match went {
            Went::Reached { knock } => state.reached(knock, time),
            Went::Missed => state.missed(now, time),
        }
    }

    /// `None` until somebody tried.
    pub fn standing(&self) -> Option<Standing> {
        let state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Some(Standing {
            score: percent(state.score?),
            reached: percent(state.reached?),
            latency: state.latency.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
            last: state.last,
        })
    }

    /// How long to wait before the next probe.
    pub fn pause(&self) -> Duration {
        let state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if state.failures == 0 { PROBE_EVERY } else { state.hold }
    }
}

impl State {
    fn reached(&mut self, knock: Option<Duration>, time: Time) -> Option<Health> {
        (self.failures, self.hold, self.until) = (0, FIRST_HOLD, None);
        self.last = Some(time);
        self.reached = averaged(self.reached, 1.0);
        self.score = averaged(self.score, if knock.is_some_and(|took| took > SLOW) { SLOW_COUNTS } else { 1.0 });
        if let Some(took) = knock {
            self.latency = averaged(self.latency, took.as_secs_f64());
        }
        let health = match (knock, self.shown) {
            (Some(took), _) if took > SLOW => Health::Slow,
            (None, Health::Slow) => Health::Slow,
            (Some(_), _) | (None, Health::Starting | Health::Up | Health::Down { .. }) => Health::Up,
        };
        self.show(health)
    }

    fn missed(&mut self, now: Instant, time: Time) -> Option<Health> {
        self.failures = self.failures.saturating_add(1);
        (self.reached, self.score) = (averaged(self.reached, 0.0), averaged(self.score, 0.0));
        if self.failures < FAILURES {
            return None;
        }
        if self.failures > FAILURES {
            self.hold = (self.hold * 2).min(LONGEST_HOLD);
        }
        self.until = Some(now + self.hold);
        match self.shown {
            Health::Down { .. } => None,
            Health::Starting | Health::Up | Health::Slow => self.show(Health::Down { since: time, quarantined: false }),
        }
    }

    fn show(&mut self, health: Health) -> Option<Health> {
        (std::mem::replace(&mut self.shown, health) != health).then_some(health)
    }
}

/// A peer that can be asked whether it is there.
pub trait Probed: Peer + 'static {
    fn name(&self) -> &PeerId;
    fn breaker(&self) -> &Breaker;
    /// Looks, and notes how that went.
    fn probe(&self, hub: &Hub) -> impl Future<Output = ()> + Send;

    /// Notes how an attempt went, and shows it where that changes something.
    fn note(&self, hub: &Hub, went: Went) {
        let Some(health) = self.breaker().note(went, Instant::now(), hub.now()) else { return };
        tracing::info!(event = "peer_health", peer = %self.name(), health = word(health), "the health of a peer changed");
        if let Err(fault) = hub.set_health(self.name(), health) {
            tracing::error!(event = "peer_health_not_shown", peer = %self.name(), error = %fault, "the health of a peer could not be updated");
        }
    }

    /// Takes note of why it cannot be reached, or that it can be. One line of the log for each change; true when it is one.
    fn troubled(&self, why: Option<Text>) -> bool {
        if !self.breaker().troubled(why.clone()) {
            return false;
        }
        match why {
            Some(why) => {
                tracing::warn!(event = "peer_unreachable", peer = %self.name(), %why, "the peer cannot be reached")
            }
            None => tracing::info!(event = "peer_reachable", peer = %self.name(), "the peer can be reached again"),
        }
        true
    }

    /// For a call that is not tried because the peer is down. Why is the Owner's to know, as the peer's problems are.
    fn down(&self, by: &Principal, wait: Duration) -> Fault {
        let why = self.breaker().trouble().filter(|_| by.is_hub_owner());
        let why = why.map(|why| format!(": {why}")).unwrap_or_default();
        let fault = super::call_failure::fault(self.name(), FaultKind::Unreachable, &format!("cannot be reached{why}"));
        fault.retry(Retry::After(Some(wait)))
    }
}

fn word(health: Health) -> &'static str {
    match health {
        Health::Starting => "starting",
        Health::Up => "up",
        Health::Slow => "slow",
        Health::Down { quarantined: false, .. } => "down",
        Health::Down { quarantined: true, .. } => "quarantined",
    }
}

/// Waits for the answer to a knock at this address, and notes how that went.
pub async fn knocked<P: Probed>(
    peer: &P,
    hub: &Hub,
    at: &Uri,
    knocking: impl Future<Output = Result<(), TransportError>> + Send,
) {
    let started = Instant::now();
    let (went, why) = match knocking.await {
        Ok(()) => (Went::Reached { knock: Some(started.elapsed()) }, None),
        Err(lost) if lost.why == Why::Refused => {
            let why = lost.to_string();
            if peer.troubled(Some(why.as_str().into())) {
                refused(hub, peer.name(), &why);
            }
            return peer.note(hub, Went::Missed);
        }
        Err(lost) => (Went::Missed, Some(unreached(at, &lost))),
    };
    peer.note(hub, went);
    if peer.troubled(why.clone())
        && let Err(fault) = hub.set_problems(peer.name(), why.into_iter())
    {
        tracing::error!(event = "peer_problems_not_shown", peer = %peer.name(), error = %fault, "the problems of a peer could not be updated");
    }
}

/// Where nobody was reached, and what the system said. A query may hold a key, so it is not told.
pub fn unreached(at: &Uri, lost: &TransportError) -> Text {
    format!("{}: {}", told(at), lost.root()).into()
}

/// An address as whoever runs the hub is told it.
pub fn told(at: &Uri) -> String {
    let port = at.port_u16().map(|port| format!(":{port}")).unwrap_or_default();
    let (scheme, host) = (at.scheme_str().unwrap_or("http"), at.host().unwrap_or_default());
    format!("{scheme}://{host}{port}{}", at.path())
}

/// An address of this peer, or one that it named, is not called: whoever looks after the hub is told why, and what to set.
pub fn refused(hub: &Hub, peer: &PeerId, why: &str) {
    tracing::warn!(event = "peer_address_refused", %peer, why, "an address is not called");
    if let Err(fault) = hub.set_problems(peer, std::iter::once(why.into())) {
        tracing::error!(event = "peer_problems_not_shown", %peer, error = %fault, "the problems of a peer could not be updated");
    }
}

/// Probes a peer for as long as it is registered.
pub fn watch<P: Probed>(hub: &Arc<Hub>, peer: &Arc<P>) {
    let (watched, known) = (Arc::downgrade(peer), Arc::downgrade(hub));
    hub.spawn_until_stop(async move {
        loop {
            let (Some(hub), Some(peer)) = (known.upgrade(), watched.upgrade()) else { return };
            if !is_registered(&hub, &peer) {
                return;
            }
            round("probe", peer.probe(&hub)).await;
            let pause = peer.breaker().pause();
            drop((hub, peer));
            tokio::time::sleep(pause / 2 + jittered(pause / 2)).await;
        }
    });
}

/// Another may stand under its name by now.
pub fn is_registered<P: Probed>(hub: &Hub, peer: &Arc<P>) -> bool {
    let catalogue = hub.catalogue();
    catalogue
        .peers
        .get(peer.name())
        .is_some_and(|registered| std::ptr::addr_eq(Arc::as_ptr(&registered.peer), Arc::as_ptr(peer)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const UP: Went = Went::Reached { knock: None };

    #[tokio::test(start_paused = true)]
    async fn three_misses_close_the_way_and_one_reach_opens_it() {
        let (breaker, now) = (Breaker::new(), Instant::now());
        assert_eq!(breaker.note(UP, now, Time(1)), Some(Health::Up));
        assert_eq!(breaker.note(Went::Missed, now, Time(2)), None);
        assert_eq!(breaker.note(Went::Missed, now, Time(3)), None);
        assert_eq!(breaker.admit(now), Ok(()));
        let down = Health::Down { since: Time(4), quarantined: false };
        assert_eq!(breaker.note(Went::Missed, now, Time(4)), Some(down));
        assert_eq!(breaker.admit(now), Err(FIRST_HOLD));
        assert_eq!(breaker.note(UP, now, Time(5)), Some(Health::Up));
        assert_eq!(breaker.admit(now), Ok(()));
    }

    #[tokio::test(start_paused = true)]
    async fn m_28_after_a_hold_one_may_try_and_holds_double_up_to_a_minute() {
        let (breaker, start) = (Breaker::new(), Instant::now());
        for _ in 0..FAILURES {
            breaker.note(Went::Missed, start, Time(1));
        }
        let later = start + FIRST_HOLD;
        assert_eq!(breaker.admit(later), Ok(()), "one tries");
        assert!(breaker.admit(later).is_err(), "the others wait");
        breaker.note(Went::Missed, later, Time(2));
        assert_eq!(breaker.admit(later), Err(FIRST_HOLD * 2));
        for _ in 0..20 {
            breaker.note(Went::Missed, later, Time(3));
        }
        assert_eq!(breaker.admit(later), Err(LONGEST_HOLD));
    }

    #[tokio::test(start_paused = true)]
    async fn its_standing_says_how_often_and_how_quickly_a_peer_is_reached_and_forgets_slowly() {
        let (breaker, now) = (Breaker::new(), Instant::now());
        assert_eq!(breaker.standing(), None, "nobody tried");
        let standing = || breaker.standing().expect("somebody tried");
        breaker.note(Went::Missed, now, Time(1));
        assert_eq!(standing(), Standing { score: 0, reached: 0, latency: None, last: None });
        breaker.note(UP, now, Time(2));
        assert_eq!(standing(), Standing { score: 10, reached: 10, latency: None, last: Some(Time(2)) });
        for _ in 0..100 {
            breaker.note(UP, now, Time(3));
        }
        assert_eq!(standing().score, 100);
        breaker.note(Went::Reached { knock: Some(SLOW * 2) }, now, Time(4));
        assert_eq!(standing(), Standing { score: 95, reached: 100, latency: Some(SLOW * 2), last: Some(Time(4)) });
        breaker.note(Went::Reached { knock: Some(Duration::ZERO) }, now, Time(5));
        assert_eq!(standing().latency, Some(SLOW * 2 * 9 / 10));
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_knock_shows_and_stays_until_a_quick_one() {
        let (breaker, now) = (Breaker::new(), Instant::now());
        let knock = |took| Went::Reached { knock: Some(took) };
        assert_eq!(breaker.note(knock(SLOW * 2), now, Time(1)), Some(Health::Slow));
        assert_eq!(breaker.note(UP, now, Time(2)), None);
        assert_eq!(breaker.note(knock(SLOW / 2), now, Time(3)), Some(Health::Up));
    }
}
