//! HTTP/2 connection pool to one peer, for calls that may stay open for long.
//!
//! A server accepts a limited number of concurrent streams on one connection (RFC 9113, section 5.1.2); the next call would wait until
//! another ends, and a cancel would wait behind the call that it is to end. So a connection gets no more streams than servers are known to
//! accept, and then the pool opens another one. The caller chooses the server: all requests of a pool go to the same peer.

use std::sync::{Arc, Mutex, PoisonError};

use http::{Request, Response};
use rustls::ClientConfig;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::answers::{Answers, Coming};
use super::guard::Reach;
use super::http::{Body, Pool};
use super::transport_error::TransportError;
use interlingua_hub::supervisor::Supervisor;

/// Calls at a time on one connection: what RFC 9113 asks every server to take at least.
const CALLS: usize = 100;
/// Connections at most.
const LANES: usize = 64;

pub struct H2Pool {
    tls: ClientConfig,
    supervisor: Supervisor,
    reach: Reach,
    answers: Answers,
    lanes: Mutex<Vec<Lane>>,
}

#[derive(Clone)]
struct Lane {
    pool: Pool,
    room: Arc<Semaphore>,
}

/// A call's place on a connection, until it is dropped.
#[derive(Debug)]
pub struct Seat {
    _held: OwnedSemaphorePermit,
}

impl std::fmt::Debug for H2Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("H2Pool").finish_non_exhaustive()
    }
}

impl H2Pool {
    pub fn new(tls: ClientConfig, supervisor: &Supervisor, reach: Reach, answers: &Answers) -> H2Pool {
        H2Pool { tls, supervisor: supervisor.clone(), reach, answers: answers.clone(), lanes: Mutex::default() }
    }

    /// Sends a request. The seat is to be kept for as long as its answer is read.
    pub async fn send(&self, request: Request<Body>) -> Result<(Response<Coming>, Seat), TransportError> {
        let (pool, seat) =
            self.seat().ok_or_else(|| TransportError::unconnected("too many calls are open at this peer"))?;
        Ok((pool.send(request).await?, seat))
    }

    /// On the first connection that has room: those behind it fall idle and are closed.
    fn seat(&self) -> Option<(Pool, Seat)> {
        let mut lanes = self.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = lanes.iter().find_map(Lane::seat) {
            return Some(found);
        }
        if lanes.len() >= LANES {
            return None;
        }
        let pool = Pool::http2(self.tls.clone(), &self.supervisor, self.reach.clone(), &self.answers);
        let lane = Lane { pool, room: Arc::new(Semaphore::new(CALLS)) };
        lanes.push(lane.clone());
        lane.seat()
    }
}

impl Lane {
    fn seat(&self) -> Option<(Pool, Seat)> {
        let held = self.room.clone().try_acquire_owned().ok()?;
        Some((self.pool.clone(), Seat { _held: held }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::guard::Private;
    use crate::client::tls::{Trust, config};

    #[tokio::test]
    async fn a_full_connection_takes_no_more_and_one_that_is_left_takes_again() {
        let supervisor = Supervisor::new();
        let lanes = H2Pool::new(
            config(&Trust::Nobody).expect("no authorities"),
            &supervisor,
            Reach::of_nobody(Private::Allowed),
            &Answers::default(),
        );
        let count = || lanes.lanes.lock().expect("no panic").len();
        let mut seats: Vec<_> = (0..CALLS).map(|_| lanes.seat().expect("room")).collect();
        assert_eq!(count(), 1);
        let other = lanes.seat().expect("room on another");
        assert_eq!(count(), 2);
        seats.pop();
        drop(other);
        seats.push(lanes.seat().expect("room on the first"));
        seats.extend((0..CALLS * (LANES - 1)).map(|_| lanes.seat().expect("room")));
        assert_eq!(count(), LANES);
        assert!(lanes.seat().is_none());
    }
}
