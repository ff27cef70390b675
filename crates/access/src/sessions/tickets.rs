//! Tickets: what `interlingua open` gives to a browser instead of a token. A ticket counts once and for a minute; only its SHA-256
//! is in memory, and nothing is stored.

use std::collections::HashMap;
use std::time::Duration;

use interlingua_model::{Digest, Fault, FaultKind, Principal, Time};

use super::secret;
use crate::KnownBy;

const LASTS: Duration = Duration::from_secs(60);
/// Of one subject at a time, so that nobody keeps the others out.
const MOST_OF_ONE: usize = 16;
/// Of all subjects.
const MOST: usize = 1024;

/// Who a ticket signs in, and what that is known by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ticket {
    pub known: KnownBy,
    pub by: Principal,
}

/// Those that are open.
#[derive(Debug, Default)]
pub struct Tickets(HashMap<Digest, (Ticket, Time)>);

impl Tickets {
    pub(super) fn make(&mut self, ticket: Ticket, now: Time) -> Result<(String, Time), Fault> {
        self.0.retain(|_, (_, until)| now < *until);
        let owner = ticket.by.owner();
        let of_one = self.0.values().filter(|(other, _)| other.by.owner() == owner).count();
        if of_one >= MOST_OF_ONE || self.0.len() >= MOST {
            return Err(Fault::caller(FaultKind::Busy, format!("{of_one} tickets are open: try again in a minute")));
        }
        let (text, until) = (secret(), now.after(LASTS));
        self.0.insert(Digest::of(text.as_bytes()), (ticket, until));
        Ok((text, until))
    }

    pub(super) fn find(&self, text: &str, now: Time) -> Option<Ticket> {
        let (ticket, until) = self.0.get(&Digest::of(text.as_bytes()))?;
        (now < *until).then(|| ticket.clone())
    }

    pub(super) fn take(&mut self, text: &str, now: Time) -> Option<Ticket> {
        let (ticket, until) = self.0.remove(&Digest::of(text.as_bytes()))?;
        (now < until).then_some(ticket)
    }
}

#[cfg(test)]
mod tests {
    use interlingua_model::{Proof, Subject};

    use super::*;

    fn of(name: &str) -> Ticket {
        let mut by = Principal::hub_owner(Proof::Token);
        if name != "owner" {
            let link = by.links()[0].clone();
            by = Principal::new(interlingua_model::Link { subject: Subject::User(name.into()), ..link });
        }
        Ticket { known: KnownBy::Connection, by }
    }

    #[test]
    fn v_73_attack_a_ticket_counts_once_and_for_a_minute() {
        let mut tickets = Tickets::default();
        let (text, until) = tickets.make(of("owner"), Time(0)).expect("made");
        assert_eq!((text.len(), until), (64, Time(60_000)));
        assert!(!format!("{tickets:?}").contains(&text), "only its digest is kept");
        assert_eq!(tickets.find(&text, Time(59_999)), Some(of("owner")));
        assert_eq!(tickets.find(&text, Time(60_000)), None, "late");
        assert_eq!(tickets.take(&text, Time(59_999)), Some(of("owner")));
        assert_eq!(tickets.take(&text, Time(59_999)), None, "replayed");
        let (late, _) = tickets.make(of("owner"), Time(0)).expect("made");
        assert_eq!(tickets.take(&late, Time(60_000)), None);
    }

    #[test]
    fn attack_one_caller_holds_sixteen_tickets_and_keeps_nobody_out() {
        let mut tickets = Tickets::default();
        for _ in 0..MOST_OF_ONE {
            tickets.make(of("ann"), Time(0)).expect("made");
        }
        assert_eq!(tickets.make(of("ann"), Time(0)).expect_err("one too many").kind, FaultKind::Busy);
        tickets.make(of("bob"), Time(0)).expect("made");
        tickets.make(of("ann"), Time(60_000)).expect("the others have expired");
        for caller in 0..MOST * 2 {
            drop(tickets.make(of(&caller.to_string()), Time(70_000)));
        }
        assert_eq!(tickets.0.len(), MOST);
    }
}
