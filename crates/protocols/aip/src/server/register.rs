//! Registration and disconnection of clients.

use std::collections::BTreeMap;

use super::clients::{Client, Gone, Name, Rival};
use super::{Connection, Effect, Server, Session, Sight, Timer, Why};
use crate::link::{Identity, NORMAL, Tongue};
use crate::say::{self, End, Stamp};
use crate::wire::{ClientMessage, ClientType, ServerMessage};
use crate::{profile, telemetry};
use interlingua_model::{Text, Time};

/// What the Python server says to whoever waits for a device that left.
const DEVICE_LOST: &str = "Task was cancelled because target device disconnected";

impl Server {
    pub(super) fn register(
        &mut self,
        from: Connection,
        message: ClientMessage,
        sight: Sight<'_>,
        stamp: &mut Stamp<'_>,
        out: &mut Vec<Effect>,
    ) {
        let Some(id) = message.client_id.clone() else { return };
        let refused = self.refusal(&message, sight);
        if let Some(text) = refused {
            return refuse(from, text, stamp, out);
        }
        let name = Name { role: message.client_type, id: id.clone() };
        let full = self.clients.len() >= self.rules.clients;
        let many = self.has_enough(&name, sight);
        let kept = self.is_kept_for_another(&name, sight);
        match self.clients.named_mut(&name) {
            // A place is nobody else's to take, whatever they may be called.
            Some(owner) if owner.rival.is_none() && *owner.of == *sight.sender => {
                out.push(Effect::Probe(owner.connection));
                owner.rival = Some(Box::new(Rival { connection: from, of: sight.sender.into(), register: message }));
                self.rivals.insert(from, name.clone());
                self.timers.insert((stamp.now.after(self.rules.probe), Timer::Probe(name)));
            }
            Some(_) => refuse(from, duplicate(&id), stamp, out),
            None if kept => refuse(from, duplicate(&id), stamp, out),
            None if many => refuse(from, "you have as many clients here as one caller may".into(), stamp, out),
            None if full => {
                refuse(from, "the server has no room for another client".into(), stamp, out);
            }
            None => self.admit(from, name, sight.sender.into(), &message, stamp, out),
        }
    }

    /// Has the sender as many clients as it may, without this one?
    fn has_enough(&self, name: &Name, sight: Sight<'_>) -> bool {
        sight.room.is_some_and(|room| {
            let left = |(id, gone): (&Text, &Gone)| *gone.of == *sight.sender && *id != name.id;
            self.clients.count_of(sight.sender) + self.gone.iter().filter(|gone| left(*gone)).count() >= room
        })
    }

    /// A device that left has its id, and with it what it was told, for as long as it is remembered.
    fn is_kept_for_another(&self, name: &Name, sight: Sight<'_>) -> bool {
        let gone = self.gone.get(&name.id).filter(|_| name.role == ClientType::Device);
        gone.is_some_and(|gone| *gone.of != *sight.sender)
    }

    fn refusal(&self, message: &ClientMessage, sight: Sight<'_>) -> Option<String> {
        match (message.client_type, message.target_id.as_deref()) {
            (ClientType::Constellation, Some(target))
                if self.seen(target, sight).is_none() && !(sight.others)(target) =>
            {
                Some(not_connected(target))
            }
            (ClientType::Constellation | ClientType::Device, _) => None,
        }
    }

    fn admit(
        &mut self,
        from: Connection,
        name: Name,
        of: Text,
        message: &ClientMessage,
        stamp: &mut Stamp<'_>,
        out: &mut Vec<Effect>,
    ) {
        let tongue = Tongue::of(message);
        let Name { role, id } = name.clone();
        let told = if role == ClientType::Device { telemetry::told(message).map(Box::new) } else { None };
        let client = Client {
            connection: from,
            of: of.clone(),
            tongue,
            tasks: profile::takes_tasks(message),
            target: message.target_id.clone(),
            info: told.as_ref().map(|told| told.info.clone()),
            instance: profile::instance(message),
            asked: Default::default(),
            works: Default::default(),
            rival: None,
        };
        self.rivals.remove(&from);
        self.clients.insert(name.clone(), client);
        self.names.insert(from, name.clone());
        out.push(Effect::Admit(from, Identity { id: id.clone(), role, tongue }));
        out.push(Effect::send(from, say::ack(None, stamp)));
        let gone = if role == ClientType::Device { self.gone.remove(&id) } else { None };
        if role == ClientType::Device {
            let tools = profile::tools(message);
            out.push(Effect::Joined { device: id.clone(), of, told, tools, tongue, back: gone.is_some() });
        }
        if tongue == Tongue::Profile {
            let mut named = profile::resumes(message);
            // The same program has forgotten nothing: what it does not name, it has never been told.
            let same = gone.filter(|gone| gone.instance.is_some() && gone.instance == profile::instance(message));
            for session in same.map(|gone| gone.works).unwrap_or_default() {
                if self.sessions.contains_key(&session) {
                    named.entry(session).or_default();
                }
            }
            self.resume(&name, named, stamp, out);
        }
    }

    /// Takes up the sessions of a client that came back in time.
    fn resume(
        &mut self,
        client: &Name,
        named: BTreeMap<Text, Vec<Text>>,
        stamp: &mut Stamp<'_>,
        out: &mut Vec<Effect>,
    ) {
        let Name { role, id } = client;
        for (name, begun) in named {
            let Some(session) = self.sessions.get(&name).filter(|session| self.is_of(session, client)) else {
                let over = say::task_end(name, End::failed(DEVICE_LOST), stamp);
                out.extend(self.clients.named(client).map(|client| Effect::send(client.connection, over)));
                continue;
            };
            let in_time = |away: Option<Time>| away.is_some_and(|until| until > stamp.now);
            let asked = session.is_asked_by(client) && in_time(session.asker_away);
            let works =
                session.device.as_ref() == Some(id) && *role == ClientType::Device && in_time(session.device_away);
            if asked {
                self.asker_back(&name, client, stamp, out);
            }
            if works {
                self.device_back(&name, id, &begun, stamp, out);
            }
        }
    }

    /// One that is not theirs is not there.
    fn is_of(&self, session: &Session, name: &Name) -> bool {
        let asked = session.is_asked_by(name);
        match name.role {
            ClientType::Device => asked || session.device.as_ref() == Some(&name.id),
            ClientType::Constellation => {
                asked && self.clients.named(name).is_some_and(|client| client.of == session.of)
            }
        }
    }

    /// Whoever asked is back. It hears that it was accepted, in case it did not, or how it ended meanwhile.
    fn asker_back(&mut self, name: &Text, asker: &Name, stamp: &mut Stamp<'_>, out: &mut Vec<Effect>) {
        let (Some(session), Some(client)) = (self.sessions.get_mut(name), self.clients.named_mut(asker)) else {
            return;
        };
        session.asker_away = None;
        client.asked.insert(name.clone());
        if let Some(frame) = session.ended.clone() {
            out.push(Effect::send(client.connection, frame));
            self.remove_session(name);
        } else if session.accepted {
            out.push(Effect::send(client.connection, say::ack(Some(name.clone()), stamp)));
        }
    }

    /// The device is back. A COMMAND that it had not begun is sent again; for one that it had, its results are awaited.
    fn device_back(&mut self, name: &Text, id: &Text, begun: &[Text], stamp: &mut Stamp<'_>, out: &mut Vec<Effect>) {
        let (Some(session), Some(client)) = (self.sessions.get_mut(name), self.clients.get_mut(ClientType::Device, id))
        else {
            return;
        };
        session.device_away = None;
        client.works.insert(name.clone());
        let has_begun = |frame: &ServerMessage| frame.response_id.as_ref().is_some_and(|id| begun.contains(id));
        if let Some(assigned) = session.assigned.as_ref().filter(|frame| !has_begun(frame)) {
            out.push(Effect::send(client.connection, assigned.clone()));
        }
        if let Some(pending) = session.pending.as_ref().filter(|pending| !begun.contains(&pending.response)) {
            out.push(Effect::send(client.connection, pending.frame.clone()));
        }
        self.send_next(name, stamp, out);
    }

    /// A sign of life from somebody whose id another claims.
    pub(super) fn alive(&mut self, connection: Connection, stamp: &mut Stamp<'_>, out: &mut Vec<Effect>) {
        let Some(name) = self.names.get(&connection).cloned() else { return };
        if let Some(rival) = self.clients.named_mut(&name).and_then(|owner| owner.rival.take()) {
            self.rivals.remove(&rival.connection);
            refuse(rival.connection, duplicate(&name.id), stamp, out);
        }
    }

    /// The owner gave no sign of life: the rival has its place.
    pub(super) fn take_over(&mut self, name: &Name, stamp: &mut Stamp<'_>, out: &mut Vec<Effect>) {
        let Some(owner) = self.clients.named_mut(name) else { return };
        let Some(rival) = owner.rival.take() else { return };
        let old = owner.connection;
        out.push(Effect::Close(old, NORMAL));
        self.closed(old, stamp, out);
        self.admit(rival.connection, name.clone(), rival.of, &rival.register, stamp, out);
    }

    pub(super) fn closed(&mut self, connection: Connection, stamp: &mut Stamp<'_>, out: &mut Vec<Effect>) {
        self.forget_rival(connection);
        self.pulls.retain(|_, pull| pull.asker != connection);
        let Some(name) = self.names.remove(&connection) else { return };
        let Some(client) = self.clients.remove(&name) else { return };
        for session in &client.works {
            self.device_lost(session, client.tongue, stamp, out);
        }
        for session in &client.asked {
            self.asker_lost(session, client.tongue, stamp, out);
        }
        if name.role == ClientType::Device {
            let gone = Gone {
                of: client.of,
                until: stamp.now.after(self.rules.grace),
                seen: stamp.now,
                instance: client.instance,
                works: client.works,
            };
            self.quarantine(&name.id, gone, out);
        }
        if let Some(rival) = client.rival {
            self.admit(rival.connection, name, rival.of, &rival.register, stamp, out);
        }
    }

    fn forget_rival(&mut self, connection: Connection) {
        let claimed = self.rivals.remove(&connection);
        if let Some(owner) = claimed.and_then(|name| self.clients.named_mut(&name)) {
            owner.rival = None;
        }
    }

    fn quarantine(&mut self, device: &Text, gone: Gone, out: &mut Vec<Effect>) {
        if self.gone.len() >= self.rules.clients
            && let Some((oldest, _)) = self.gone.iter().min_by_key(|(_, gone)| gone.until)
        {
            let device = oldest.clone();
            self.gone.remove(&device);
            out.push(Effect::Removed { device });
        }
        let (until, seen) = (gone.until, gone.seen);
        self.gone.insert(device.clone(), gone);
        self.timers.insert((until, Timer::Gone(device.clone())));
        out.push(Effect::Left { device: device.clone(), seen, until });
    }

    /// With the wider profile the session waits for its device; otherwise it ends, whoever asked for it.
    fn device_lost(&mut self, id: &Text, tongue: Tongue, stamp: &mut Stamp<'_>, out: &mut Vec<Effect>) {
        match tongue {
            Tongue::Profile => {
                let until = self.grace_from(id, stamp.now);
                self.sessions.entry(id.clone()).and_modify(|session| session.device_away = Some(until));
            }
            Tongue::Plain => self.end_lost(id, stamp, out),
        }
    }

    fn asker_lost(&mut self, id: &Text, tongue: Tongue, stamp: &mut Stamp<'_>, out: &mut Vec<Effect>) {
        match tongue {
            Tongue::Profile => {
                let until = self.grace_from(id, stamp.now);
                self.sessions.entry(id.clone()).and_modify(|session| session.asker_away = Some(until));
            }
            Tongue::Plain => self.end_unwanted(id, stamp, out),
        }
    }

    /// Until when a session waits, and a timer for it.
    fn grace_from(&mut self, session: &Text, now: Time) -> Time {
        let until = now.after(self.rules.grace);
        self.timers.insert((until, Timer::Held(session.clone())));
        until
    }

    /// Nobody came back in time.
    pub(super) fn grace_over(&mut self, id: &Text, at: Time, stamp: &mut Stamp<'_>, out: &mut Vec<Effect>) {
        let Some(session) = self.sessions.get(id) else { return };
        let (device, asker) = (session.device_away == Some(at), session.asker_away == Some(at));
        if session.ended.is_some() && asker {
            self.remove_session(id);
        } else if device {
            self.end_lost(id, stamp, out);
        } else if asker {
            self.end_unwanted(id, stamp, out);
        }
    }

    fn end_lost(&mut self, id: &Text, stamp: &mut Stamp<'_>, out: &mut Vec<Effect>) {
        let Some(session) = self.remove_session(id) else { return };
        out.push(Effect::Cancel { session: id.clone(), why: Why::DeviceLost });
        if let Some(asker) = self.asker(&session).filter(|_| !session.is_its_devices_own()) {
            out.push(Effect::send(asker.connection, say::task_end(id.clone(), End::failed(DEVICE_LOST), stamp)));
        }
    }

    /// Nobody waits for it: the hub stops it, and its device is told.
    pub(super) fn end_unwanted(&mut self, id: &Text, stamp: &mut Stamp<'_>, out: &mut Vec<Effect>) {
        let Some(session) = self.remove_session(id) else { return };
        out.push(Effect::Cancel { session: id.clone(), why: Why::Unwanted });
        if let Some(device) = session.device.as_deref().and_then(|device| self.device(device)) {
            let end = End::failed("cancelled: whoever asked for it is gone");
            out.push(Effect::send(device.connection, say::task_end(id.clone(), end, stamp)));
        }
    }
}

fn refuse(from: Connection, text: String, stamp: &mut Stamp<'_>, out: &mut Vec<Effect>) {
    out.push(Effect::send(from, say::error(text, stamp)));
    out.push(Effect::Close(from, NORMAL));
}

fn duplicate(id: &str) -> String {
    format!("client_id '{id}' is already registered; duplicate registrations are not allowed")
}

pub(super) fn not_connected(target: &str) -> String {
    format!("Target device '{target}' is not connected")
}
