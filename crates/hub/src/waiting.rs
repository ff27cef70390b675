//! Limit of pending questions: how many exchanges of one caller may wait for an answer or an approval at the same time. They do not count
//! as running, so without this bound one caller could fill the list of approvers, and the table of live tasks, for as long as a question is
//! open.
//!
//! [`super::shares`] defines what counts as one caller: agents count for the caller that they act for, and all orchestrators, which choose
//! their own names, count as one. The Owner is not limited.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use interlingua_model::{Fault, FaultKind, Principal, Text};

use super::shares::{HUB_OWNER, whose};

/// There are no more callers in it than exchanges that wait.
#[derive(Debug, Clone, Default)]
pub(super) struct WaitingCounts(Arc<Mutex<HashMap<Text, u64>>>);

/// Given up when the exchange waits no more.
#[derive(Debug)]
pub(super) struct Place {
    of: Text,
    counts: WaitingCounts,
}

impl WaitingCounts {
    fn counts(&self) -> MutexGuard<'_, HashMap<Text, u64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place for an exchange that has not waited before.
    pub(super) fn take(&self, by: &Principal, most: u64) -> Result<Place, Fault> {
        let of = whose(&by.owner());
        let mut counts = self.counts();
        let count = counts.get(&of).copied().unwrap_or_default();
        if count >= most && &*of != HUB_OWNER {
            let text =
                format!("{count} of your calls wait for an answer or an approval already: no more than that may");
            return Err(Fault::caller(FaultKind::Busy, text));
        }
        counts.insert(of.clone(), count + 1);
        Ok(Place { of, counts: self.clone() })
    }

    /// The same for an exchange that is resumed: it is counted, and never refused for it.
    pub(super) fn hold(&self, by: &Principal) -> Result<Place, Fault> {
        self.take(by, u64::MAX)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut counts = self.counts.counts();
        if let Some(count) = counts.get_mut(&self.of) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                counts.remove(&self.of);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use interlingua_model::{Link, Proof, Subject};

    use super::*;

    fn named(name: &str) -> Principal {
        of(Subject::User(name.into()))
    }

    fn of(subject: Subject) -> Principal {
        Principal::new(Link { subject, proof: Proof::None, scopes: Vec::new(), until: None })
    }

    #[test]
    fn a_caller_has_so_many_places_and_others_have_their_own() {
        let waiting = WaitingCounts::default();
        let places: Vec<Place> = (0..2).map(|_| waiting.take(&named("ann"), 2).expect("a place")).collect();
        let refused = waiting.take(&named("ann"), 2).expect_err("no more");
        assert_eq!(refused.kind, FaultKind::Busy);
        drop(waiting.take(&named("bob"), 2).expect("his own"));
        drop(waiting.hold(&named("ann")).expect("one that goes on is not refused"));
        drop(places);
        assert!(waiting.counts().is_empty(), "nothing is left of those who wait no more");
    }

    #[test]
    fn an_orchestrator_has_no_more_places_under_other_names() {
        let waiting = WaitingCounts::default();
        let _first = waiting.take(&of(Subject::Orchestrator("one".into())), 1).expect("a place");
        waiting.take(&of(Subject::Orchestrator("two".into())), 1).expect_err("the same key under another name");
    }
}
