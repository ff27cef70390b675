//! Per-caller sessions (`credentials: caller`): each caller has a session of its own with the server, opened with a token of its own. No
//! call uses another caller's token, and messages of a session reach its own caller only.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use interlingua_model::Owner;
use tokio::time::Instant;

use super::upstream::Upstream;
use interlingua_net::client::oauth::Authority;

/// How many callers have a session at once. The one that has not called for longest gives its place up; its token is kept.
const MOST: usize = 1_000;

#[derive(Debug)]
pub(super) struct Callers {
    authority: Arc<Authority>,
    seats: Mutex<HashMap<Owner, Seat>>,
}

#[derive(Debug)]
struct Seat {
    upstream: Arc<Upstream>,
    used: Instant,
}

impl Callers {
    pub(super) fn new(authority: Arc<Authority>) -> Callers {
        Callers { authority, seats: Mutex::default() }
    }

    /// The server as this caller reaches it.
    pub(super) fn upstream(&self, hub: &Upstream, owner: Owner) -> Arc<Upstream> {
        let mut seats = self.seats.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(seat) = seats.get_mut(&owner) {
            seat.used = Instant::now();
            return seat.upstream.clone();
        }
        if seats.len() >= MOST {
            let longest = seats.iter().min_by_key(|(_, seat)| seat.used).map(|(owner, _)| owner.clone());
            longest.and_then(|owner| seats.remove(&owner));
        }
        let upstream = Arc::new(hub.of_caller(&self.authority, owner.clone()));
        seats.insert(owner, Seat { upstream: upstream.clone(), used: Instant::now() });
        upstream
    }
}
