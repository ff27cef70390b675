//! What an event carries of its publisher, so that a run which it starts has no more rights than they have.
//!
//! An event says what may follow from it: the publisher with the scopes of the credential, the wires and the trust behind it, the hubs it
//! passed, and how many runs led to it. Only the hub writes it, beside the event in the log. No wire reads or writes it.

use interlingua_model::Via;
use interlingua_model::content::Trust;
use interlingua_model::origin::Origin;
use interlingua_model::principal::{Link, Principal};
use serde::{Deserialize, Serialize};

/// How many runs may start one another by their answers. An event at this number starts nothing.
pub const MOST_HOPS: u8 = 8;

/// Who published an event, with what was behind it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sender {
    /// As authentication established it. Of an answer: the publisher of the event, through the agent that answered.
    pub by: Principal,
    /// What led to it.
    pub origin: Origin,
    /// The hubs it passed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub via: Option<Via>,
    /// How many runs led to it.
    #[serde(default)]
    pub hops: u8,
}

impl Sender {
    /// Of an event that came in; `told` is what the hubs before this one report of its origin.
    pub fn new(by: &Principal, mut origin: Origin, told: &[String], via: Option<Via>) -> Sender {
        told.iter().for_each(|told| origin.told(told));
        Sender { by: by.clone(), origin, via, hops: 0 }
    }

    /// Of the answer of a run that an event of this one started: through the agent, and with no more trust than what it says.
    #[must_use]
    pub fn answered_by(&self, agent: Link, trust: Trust) -> Sender {
        let mut origin = self.origin.clone();
        origin.lower(trust);
        Sender { by: self.by.through(agent), origin, via: self.via.clone(), hops: self.hops.saturating_add(1) }
    }

    /// Did too many runs lead to it?
    pub fn is_exhausted(&self) -> bool {
        self.hops >= MOST_HOPS
    }

    /// About how many bytes it takes to hold it.
    pub fn weight(&self) -> usize {
        let link = |link: &Link| size_of::<Link>() + link.scopes.iter().map(|scope| 32 + scope.len()).sum::<usize>();
        size_of::<Sender>() + self.by.links().iter().map(link).sum::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use interlingua_model::Wire;
    use interlingua_model::principal::{Proof, Subject};

    use super::*;

    fn link(subject: Subject, scopes: &[&str]) -> Link {
        let scopes = scopes.iter().map(|scope| (*scope).into()).collect();
        Link { subject, proof: Proof::Token, scopes, until: None }
    }

    #[test]
    fn an_answer_has_the_rights_of_both_less_trust_and_one_hop_more() {
        let ann = Principal::new(link(Subject::User("ann".into()), &["helper/*"]));
        let sent = Sender::new(&ann, Wire("api".into()).into(), &["mcp; trust=peer".to_owned()], None);
        assert_eq!(sent.origin.protocols().collect::<Vec<_>>(), ["api", "mcp"]);
        assert_eq!((sent.origin.trust(), sent.hops), (Trust::Peer, 0));
        let answer = sent.answered_by(link(Subject::Agent("helper".into()), &["web/*"]), Trust::World);
        assert_eq!(answer.by.owner().to_string(), "user:ann>agent:helper");
        assert_eq!((answer.origin.trust(), answer.hops), (Trust::World, 1));
        let raised = answer.answered_by(link(Subject::Agent("b".into()), &[]), Trust::Operator);
        assert_eq!(raised.origin.trust(), Trust::World, "no answer raises the trust again");
    }

    #[test]
    fn after_so_many_hops_it_is_exhausted() {
        let mut sent = Sender::new(&Principal::anonymous(), Wire("api".into()).into(), &[], None);
        for _ in 0..MOST_HOPS {
            assert!(!sent.is_exhausted());
            sent = sent.answered_by(link(Subject::Agent("a".into()), &[]), Trust::Caller);
        }
        assert!(sent.is_exhausted());
    }
}
