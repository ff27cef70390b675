//! Connected clients by role and id: an orchestrator and a device may have the same name and are distinct.

use std::collections::{BTreeMap, BTreeSet};

use super::Connection;
use crate::link::Tongue;
use crate::wire::{ClientMessage, ClientType};
use interlingua_model::{Json, Text, Time};

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Name {
    pub(super) role: ClientType,
    pub(super) id: Text,
}

#[derive(Debug, Clone)]
pub(super) struct Client {
    pub(super) connection: Connection,
    /// Whose it is: see [`super::Sight::sender`].
    pub(super) of: Text,
    pub(super) tongue: Tongue,
    /// It takes TASKs.
    pub(super) tasks: bool,
    pub(super) target: Option<Text>,
    /// What a device said of itself, as it is answered to an orchestrator.
    pub(super) info: Option<Json>,
    /// Which running program it is.
    pub(super) instance: Option<Text>,
    /// Sessions it asked for, and sessions it works on.
    pub(super) asked: BTreeSet<Text>,
    pub(super) works: BTreeSet<Text>,
    /// Somebody else who claims the same id, while the owner is asked for a sign of life.
    pub(super) rival: Option<Box<Rival>>,
}

#[derive(Debug, Clone)]
pub(super) struct Rival {
    pub(super) connection: Connection,
    pub(super) of: Text,
    pub(super) register: ClientMessage,
}

/// A device that left.
#[derive(Debug, Clone)]
pub(super) struct Gone {
    /// Whose it was: until it is forgotten its id is nobody else's.
    pub(super) of: Text,
    pub(super) until: Time,
    pub(super) seen: Time,
    pub(super) instance: Option<Text>,
    /// Sessions it worked on.
    pub(super) works: BTreeSet<Text>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Clients {
    devices: BTreeMap<Text, Client>,
    orchestrators: BTreeMap<Text, Client>,
}

impl Clients {
    fn of(&self, role: ClientType) -> &BTreeMap<Text, Client> {
        match role {
            ClientType::Device => &self.devices,
            ClientType::Constellation => &self.orchestrators,
        }
    }

    fn of_mut(&mut self, role: ClientType) -> &mut BTreeMap<Text, Client> {
        match role {
            ClientType::Device => &mut self.devices,
            ClientType::Constellation => &mut self.orchestrators,
        }
    }

    pub(super) fn get(&self, role: ClientType, id: &str) -> Option<&Client> {
        self.of(role).get(id)
    }

    pub(super) fn get_mut(&mut self, role: ClientType, id: &str) -> Option<&mut Client> {
        self.of_mut(role).get_mut(id)
    }

    pub(super) fn named(&self, name: &Name) -> Option<&Client> {
        self.get(name.role, &name.id)
    }

    pub(super) fn named_mut(&mut self, name: &Name) -> Option<&mut Client> {
        self.get_mut(name.role, &name.id)
    }

    pub(super) fn insert(&mut self, name: Name, client: Client) {
        self.of_mut(name.role).insert(name.id, client);
    }

    pub(super) fn remove(&mut self, name: &Name) -> Option<Client> {
        self.of_mut(name.role).remove(&name.id)
    }

    pub(super) fn len(&self) -> usize {
        self.devices.len() + self.orchestrators.len()
    }

    /// How many are this one's.
    pub(super) fn count_of(&self, of: &str) -> usize {
        self.devices.values().chain(self.orchestrators.values()).filter(|client| *client.of == *of).count()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&Text, ClientType)> {
        let devices = self.devices.keys().map(|id| (id, ClientType::Device));
        devices.chain(self.orchestrators.keys().map(|id| (id, ClientType::Constellation)))
    }
}
