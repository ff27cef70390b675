//! Agent registry: durable registrations, each with its owner. A name belongs to the first caller that registers it; configured names take
//! precedence.

use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError};

use bytes::Bytes;
use interlingua_model::peer::Peer;
use interlingua_model::ports::{Expect, StoreFault};
use interlingua_model::{Card, Fault, FaultKind, Meta, Noun, Owner, PeerId, Principal, Text, Time, Uri};
use serde::{Deserialize, Serialize};

use super::Agent;
use super::called::CalledAgents;
use super::inbox::{self, Handle};
use super::peer::Fetching;
use crate::Hub;
use crate::audit::AuditLine;
use crate::names::name_problem;

const KIND: &str = "agent";
/// How many agents may be registered, besides those of configuration.
const MAX_AGENTS: u64 = 2_000;
/// How many of these may be one caller's; the hub's Owner is not bounded.
const MAX_AGENTS_OF_ONE: usize = 256;
/// How often a registration is tried that others of its owner overtake.
const ATTEMPTS: usize = 8;
/// How many are read at once.
const PAGE: usize = 200;

/// The stored registration of an agent.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Registration {
    /// The principal that registered it.
    pub owner: Owner,
    /// What it says that it can do.
    pub card: Card,
    /// How it gets its messages.
    pub reach: Reach,
    /// Whom to ask about it, as it was written.
    pub contact: Option<Text>,
    /// Metadata that it brought, as it was written.
    pub meta: Meta,
    /// When it registered.
    pub at: Time,
}

/// How an agent gets its messages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reach {
    /// It fetches them.
    Inbox,
    /// It is called there, as the card says that it shows there.
    Url(Uri),
    /// It is called at this address, from the card that came with its registration.
    Card(Uri),
}

/// Whether somebody registers an agent, or the hub takes up what was registered before its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comes {
    New,
    Again,
}

impl Hub {
    /// May this principal register agents at all, before a name is known?
    pub fn check_registrar(&self, by: &Principal) -> Result<(), Fault> {
        if self.policy.load().registers(by, None, self.now()) { Ok(()) } else { Err(no_registrar()) }
    }

    /// Is the name free for this principal, and may it register it? It may replace its own registration.
    pub fn check_agent_name(&self, by: &Principal, name: &PeerId) -> Result<(), Fault> {
        if !self.policy.load().registers(by, Some(name), self.now()) {
            return Err(no_registrar());
        }
        let taken = |text: String| Err(Fault::caller(FaultKind::Conflict, text));
        match self.bus.agent(name.as_str()) {
            Some(agent) if agent.is_of(by) => Ok(()),
            Some(_) => Err(registered_elsewhere(name)),
            None if self.registry.catalogue().peers.contains_key(name) => {
                taken(format!("'{name}' is a peer of this hub's configuration"))
            }
            None => match self.unfit(name) {
                Some(problem) => taken(problem),
                None => Ok(()),
            },
        }
    }

    /// Why an agent may not have this name, whoever registers it: people compare names without regard to case.
    fn unfit(&self, name: &PeerId) -> Option<String> {
        if let Some(problem) = name_problem(name.as_str()) {
            return Some(problem);
        }
        let like = |other: &str| other.eq_ignore_ascii_case(name.as_str());
        if self.settings.load().kept_names.iter().any(|kept| like(kept)) {
            return Some(format!("'{name}' is kept for a device of this hub's configuration"));
        }
        let catalogue = self.registry.catalogue();
        let twin = catalogue.peers.keys().find(|other| like(other.as_str()) && *other != name)?;
        Some(format!("'{name}' is written like '{twin}', which is there already"))
    }

    fn check_room(&self, by: &Principal, name: &PeerId) -> Result<(), Fault> {
        let owner = by.owner();
        let agents = self.bus.agents();
        let others = agents.iter().filter(|(other, agent)| *other != name && agent.registration.owner == owner);
        if by.is_hub_owner() || others.count() < MAX_AGENTS_OF_ONE {
            return Ok(());
        }
        Err(Fault::caller(
            FaultKind::TooLarge,
            format!("you have {MAX_AGENTS_OF_ONE} agents registered here; that is all one caller may"),
        ))
    }

    /// Stores a registration and adds the agent, or replaces it whole. `peer`: how it is called, if it does not fetch its messages.
    pub async fn register_agent(
        self: &Arc<Self>,
        by: &Principal,
        registration: Registration,
        peer: Option<Arc<dyn Peer>>,
    ) -> Result<Arc<Agent>, Fault> {
        let name = registration.card.peer.clone();
        self.check_agent_name(by, &name)?;
        self.check_room(by, &name)?;
        let now = self.now();
        if self.bus.agent(name.as_str()).is_none() && self.store.records.count(KIND, now).await? >= MAX_AGENTS {
            return Err(Fault::hub(FaultKind::Busy, "as many agents as this hub registers"));
        }
        self.store_registration(by, &registration).await?;
        let agent = self.add_agent(registration, peer, Comes::New).await?;
        self.audit.write(AuditLine::new("register_agent", by.owner()).on(name));
        Ok(agent)
    }

    /// The store decides whose a name is, not this hub's memory: of two that register it at once, at one hub or at two, the first
    /// has it. Its owner may be the one who was faster; then the later registration counts.
    async fn store_registration(&self, by: &Principal, registration: &Registration) -> Result<(), Fault> {
        let name = &registration.card.peer;
        let value = Bytes::from(serde_json::to_vec(registration).map_err(Fault::internal)?);
        for _ in 0..ATTEMPTS {
            let expect = self.replaces(by, name).await?;
            match self.store.records.put(KIND, name.as_str(), value.clone(), None, expect, self.now()).await {
                Ok(_) => return Ok(()),
                Err(StoreFault::Moved { .. }) => {}
                Err(fault) => return Err(fault.into()),
            }
        }
        Err(Fault::hub(FaultKind::Busy, "this agent is registered several times at once"))
    }

    /// What a registration under this name may overwrite. A record can be there without its agent: when it could not be read or
    /// called at the start, or when another hub registered it. The name is still its owner's.
    async fn replaces(&self, by: &Principal, name: &PeerId) -> Result<Expect, Fault> {
        let Some(item) = self.store.records.get(KIND, name.as_str(), self.now()).await? else {
            return Ok(Expect::Absent);
        };
        let theirs = serde_json::from_slice::<Registration>(&item.value).is_ok_and(|kept| kept.owner == by.owner());
        if theirs || by.is_hub_owner() { Ok(Expect::Revision(item.revision)) } else { Err(registered_elsewhere(name)) }
    }

    async fn add_agent(
        self: &Arc<Self>,
        registration: Registration,
        peer: Option<Arc<dyn Peer>>,
        comes: Comes,
    ) -> Result<Arc<Agent>, Fault> {
        let (card, name) = (registration.card.clone(), registration.card.peer.clone());
        let inbox = match (&registration.reach, &peer) {
            (Reach::Inbox, None) => Some(self.inbox_of(&name, comes).await?),
            (Reach::Inbox, Some(_)) | (Reach::Url(_) | Reach::Card(_), _) => None,
        };
        let peer = match (&inbox, peer) {
            (Some(inbox), _) => Arc::new(Fetching::new(name.clone(), inbox.clone(), self)) as Arc<dyn Peer>,
            (None, Some(peer)) => peer,
            (None, None) => return Err(Fault::hub(FaultKind::Internal, "an agent without a way to it")),
        };
        self.register(card, peer).await?;
        let agent = Arc::new(Agent { registration, inbox });
        let mut before = None;
        self.change_agents(|agents| before = agents.insert(name, agent.clone()));
        // One that is called from now on fetches no more.
        if let (Some(inbox), None) = (before.and_then(|before| before.inbox.clone()), &agent.inbox) {
            inbox.close();
        }
        Ok(agent)
    }

    /// The inbox that is there, or the one its records give; a name that is nobody's begins with an empty one.
    async fn inbox_of(self: &Arc<Self>, name: &PeerId, comes: Comes) -> Result<Handle, Fault> {
        let before = self.bus.agent(name.as_str());
        if let Some(inbox) = before.as_ref().and_then(|agent| agent.inbox.clone()) {
            return Ok(inbox);
        }
        let inbox = inbox::open(self, name).await?;
        if comes == Comes::New && before.is_none() {
            inbox.empty(self.now()).await?;
        }
        Ok(inbox)
    }

    /// Removes an agent. An agent of another owner, or of configuration, is reported as not found.
    pub async fn unregister_agent(&self, by: &Principal, name: &PeerId) -> Result<(), Fault> {
        let agent = self.bus.agent(name.as_str()).filter(|agent| agent.is_of(by)).ok_or_else(no_such_agent)?;
        self.store.records.take(KIND, name.as_str(), self.now()).await?;
        self.change_agents(|agents| drop(agents.remove(name)));
        if let Some(inbox) = &agent.inbox {
            inbox.close();
            // Nobody will read what waits: its senders have their bytes back.
            self.store.journal.clear(inbox::topic(name)).await?;
        }
        self.unregister(name).await?;
        self.audit.write(AuditLine::new("unregister_agent", by.owner()).on(name));
        Ok(())
    }

    /// After a start: restores every registration, in order of name.
    pub async fn restore_agents(self: &Arc<Self>, agents: &dyn CalledAgents) -> Result<(), Fault> {
        let (mut after, mut restored, mut called) = (None::<Text>, 0_usize, Vec::new());
        loop {
            let page = self.store.records.list(KIND, after.as_deref(), PAGE, self.now()).await?;
            let Some(last) = page.last() else { break };
            after = Some(last.key.clone());
            for item in page {
                let Ok(mut registration) = serde_json::from_slice::<Registration>(&item.value) else {
                    tracing::error!(event = "registration_unreadable", agent = %item.key, "the registration of an agent cannot be read; its name stays reserved until the Owner registers it again");
                    continue;
                };
                if self.registry.catalogue().peers.contains_key(&registration.card.peer) {
                    tracing::warn!(event = "registration_name_taken", agent = %item.key, "a registered agent has the name of a configured peer and is not restored");
                    continue;
                }
                if let Some(problem) = self.unfit(&registration.card.peer) {
                    tracing::warn!(event = "registration_name_refused", agent = %item.key, problem, "a registered agent has a name that it is not allowed to have and is not restored");
                    continue;
                }
                registration.card.health = interlingua_model::Health::Starting;
                let peer = match &registration.reach {
                    Reach::Inbox => None,
                    Reach::Url(_) | Reach::Card(_) => match agents.again(self, &registration).await {
                        Ok(agent) => {
                            let peer = agent.peer();
                            called.push(agent);
                            Some(peer)
                        }
                        Err(fault) => {
                            tracing::error!(event = "registration_not_restored", agent = %item.key, error = %fault, "a registered agent cannot be called and is not restored");
                            continue;
                        }
                    },
                };
                self.add_agent(registration, peer, Comes::Again).await?;
                restored += 1;
            }
        }
        called.iter().for_each(|agent| agent.watch(self));
        if restored > 0 {
            tracing::info!(event = "agents_restored", agents = restored, "registered agents were restored");
        }
        Ok(())
    }

    fn change_agents(&self, edit: impl FnOnce(&mut BTreeMap<PeerId, Arc<Agent>>)) {
        let _one = self.bus.changing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut agents = BTreeMap::clone(&self.bus.agents.load());
        edit(&mut agents);
        self.bus.agents.store(Arc::new(agents));
    }
}

pub(super) fn no_such_agent() -> Fault {
    Fault::caller(FaultKind::NotFound(Noun::Resource), "no such agent")
}

fn registered_elsewhere(name: &PeerId) -> Fault {
    Fault::caller(FaultKind::Conflict, format!("an agent '{name}' is registered by somebody else"))
}

fn no_registrar() -> Fault {
    Fault::caller(FaultKind::Denied, "this credential may not register agents")
}
