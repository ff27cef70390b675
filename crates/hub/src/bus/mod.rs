//! Message bus of the hub: registered agents, their pending messages, and events that belong to no task.
//!
//! `agents` stores registrations. `inbox` drives the inbox of an agent that fetches its messages, `peer` makes such an agent a peer like
//! any other: a call to it waits in its inbox until it has answered. `events` is the queue of published events, which permitted callers
//! read from any point.
//!
//! Agents inside the hub have no inbox: a message to one is a call, and costs what a call costs.

mod agents;
mod called;
mod events;
mod held;
mod inbox;
mod peer;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use arc_swap::ArcSwap;
use interlingua_model::{Fault, FaultKind, Owner, PeerId, Principal};
use tokio::sync::watch;

use crate::names::is_reserved;

pub use agents::{Reach, Registration};
pub use called::{Applied, Called, CalledAgents, NoneCalled, Shown};
pub use events::Subscription;
pub use inbox::{Handle, Reading};

/// Agents that registered while the hub runs, their inboxes, and the events they publish.
#[derive(Debug)]
pub struct Bus {
    agents: ArcSwap<BTreeMap<PeerId, Arc<Agent>>>,
    /// One change of the registrations at a time; held only while the next map is made.
    changing: Mutex<()>,
    /// How far the queue of events is written.
    events: watch::Sender<u64>,
}

/// A registered agent.
#[derive(Debug)]
pub struct Agent {
    /// What the agent said when it registered.
    pub registration: Registration,
    /// Of one that fetches its messages.
    pub inbox: Option<Handle>,
}

impl Default for Bus {
    fn default() -> Bus {
        Bus { agents: ArcSwap::default(), changing: Mutex::default(), events: watch::Sender::new(0) }
    }
}

impl Bus {
    /// The agent registered under this name.
    pub fn agent(&self, name: &str) -> Option<Arc<Agent>> {
        self.agents.load().get(&PeerId::from(name)).cloned()
    }

    /// All registered agents, by name.
    pub fn agents(&self) -> Arc<BTreeMap<PeerId, Arc<Agent>>> {
        self.agents.load_full()
    }

    /// Does this agent belong to this principal: may it read its messages and answer for it?
    pub fn speaks_for(&self, by: &Principal, name: &str) -> bool {
        self.agent(name).is_some_and(|agent| agent.is_of(by))
    }

    /// Refuses a speaker under the name of an agent that another principal registered, or under a name that is written like another's
    /// subject.
    pub fn check_speaker(&self, by: &Principal, name: &PeerId) -> Result<(), Fault> {
        let written = name.as_str();
        let subject = is_reserved(written) || written.parse::<Owner>().is_ok();
        if subject && !by.is_hub_owner() && by.owner().to_string() != written {
            return Err(Fault::caller(FaultKind::Denied, format!("'{name}' is somebody else")));
        }
        match self.agent(written) {
            Some(agent) if !agent.is_of(by) => {
                Err(Fault::caller(FaultKind::Denied, format!("agent '{name}' is somebody else's")))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// May this principal read what this owner shared with these readers? An empty list means nobody else.
    pub fn reads(&self, by: &Principal, owner: &Owner, readers: &[interlingua_model::Text]) -> bool {
        by.is_hub_owner()
            || by.owner() == *owner
            || interlingua_machines::bus::listed(readers, by, |name| self.speaks_for(by, name))
    }
}

impl Agent {
    /// Does it belong to this principal? The hub's owner speaks for all of them.
    pub fn is_of(&self, by: &Principal) -> bool {
        by.is_hub_owner() || (!by.is_anonymous() && by.owner() == self.registration.owner)
    }
}
