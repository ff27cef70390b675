//! Tasks, and the commands that devices receive for them.

use std::collections::VecDeque;

use super::clients::{Client, Name};
use super::lines::LineBudget;
use super::register::not_connected;
use super::{Asked, Connection, Effect, Order, Pending, Server, Session, Sight, Timer, Why};
use crate::link::Tongue;
use crate::names::safe_task_name;
use crate::profile;
use crate::say::{self, End, Stamp};
use crate::wire::{ClientMessage, ClientType, Command, CommandResult, ResultStatus, ServerMessage};
use interlingua_model::{FaultKind, Text};

impl Server {
    pub(super) fn task(
        &mut self,
        from: Connection,
        name: Name,
        message: ClientMessage,
        sight: Sight<'_>,
        stamp: &mut Stamp<'_>,
        out: &mut Vec<Effect>,
    ) {
        let Some(client) = self.clients.named(&name) else { return };
        let tongue = client.tongue;
        let target = match self.target(&name, &message, sight) {
            Ok(target) => target,
            Err(text) => return refuse(from, message.session_id, text, stamp, out),
        };
        let session = message.session_id.clone().filter(|given| !given.is_empty()).unwrap_or_else(|| stamp.id());
        let task_name = safe_task_name(message.task_name.as_deref(), (stamp.mint)());
        let device = self.device(&target).map(|_| target.clone());
        let made = Session::new(name.id.clone(), name.role, task_name.clone(), device.clone());
        let takes = name.role == ClientType::Constellation && device.as_ref().is_some_and(|id| self.takes_tasks(id));
        let request = message.request.clone().filter(|_| takes);
        let process = profile::process(&message);
        self.sessions.insert(session.clone(), Session { of: sight.sender.into(), request, process, ..made });
        if let Some(client) = self.clients.named_mut(&name) {
            client.asked.insert(session.clone());
        }
        if let Some(device) = device.and_then(|device| self.clients.get_mut(ClientType::Device, &device)) {
            device.works.insert(session.clone());
        }
        let Name { role, id } = name;
        let asked = Asked { session, asker: id, asker_role: role, tongue, target, task_name, message };
        out.push(Effect::Open(Box::new(asked)));
    }

    /// A session of the hub's own. One for a device that is not there ends with the first COMMAND.
    pub(super) fn begin(&mut self, session: Text, device: Text, task_name: Text, out: &mut Vec<Effect>) {
        if self.sessions.contains_key(&session) {
            return;
        }
        let Some(client) = self.clients.get_mut(ClientType::Device, &device) else {
            return out.push(Effect::Cancel { session, why: Why::DeviceLost });
        };
        client.works.insert(session.clone());
        let made = Session::new("".into(), ClientType::Constellation, task_name, Some(device));
        self.sessions.insert(session, Session { accepted: true, ..made });
    }

    /// Whom a TASK is for, or why it is refused.
    fn target(&self, name: &Name, message: &ClientMessage, sight: Sight<'_>) -> Result<Text, String> {
        let id = &name.id;
        let Some(client) = self.clients.named(name) else { return Err(not_connected(id)) };
        let given = message.target_id.as_ref().filter(|target| !target.is_empty());
        let target = match (name.role, given) {
            (ClientType::Device, Some(target)) if target != id => {
                return Err("Device clients may not target other devices".to_owned());
            }
            (ClientType::Device, _) => id.clone(),
            (ClientType::Constellation, None) => {
                return Err("Constellation task requests require target_id".to_owned());
            }
            (ClientType::Constellation, Some(target))
                if self.seen(target, sight).is_some() || (sight.others)(target) =>
            {
                target.clone()
            }
            (ClientType::Constellation, Some(target)) => return Err(self.no_target(target, sight)),
        };
        let live = message.session_id.as_ref().and_then(|given| Some((given, self.sessions.get(given)?)));
        match live {
            Some((given, session)) if !session.is_asked_by(name) => {
                Err(format!("session_id '{given}' is owned by another client"))
            }
            Some((given, _)) => Err(format!("session_id '{given}' is already in use")),
            None if client.asked.len() >= self.rules.sessions => Err("too many sessions at once".to_owned()),
            None => Ok(target),
        }
    }

    fn no_target(&self, target: &str, sight: Sight<'_>) -> String {
        let role = ClientType::Constellation;
        match self.clients.get(role, target).filter(|_| (sight.clients)(role, target)) {
            Some(_) => "Constellation tasks may only target device clients".to_owned(),
            None => not_connected(target),
        }
    }

    /// Whoever asked for a session, if it is here.
    pub(super) fn asker(&self, session: &Session) -> Option<&Client> {
        self.clients.get(session.asker_role, &session.asker)
    }

    pub(super) fn accepted(&mut self, id: Text, stamp: &mut Stamp<'_>, out: &mut Vec<Effect>) {
        let Some(session) = self.sessions.get_mut(&id).filter(|session| !session.accepted) else { return };
        session.accepted = true;
        if let Some(asker) = self.clients.get(session.asker_role, &session.asker) {
            out.push(Effect::send(asker.connection, say::ack(Some(id), stamp)));
        }
    }

    /// In the wider profile the kind of the fault stands beside its text.
    pub(super) fn refused(
        &mut self,
        id: &Text,
        error: &Text,
        kind: FaultKind,
        stamp: &mut Stamp<'_>,
        out: &mut Vec<Effect>,
    ) {
        let Some(session) = self.remove_session(id) else { return };
        let Some(asker) = self.asker(&session) else { return };
        let told = (asker.tongue == Tongue::Profile).then(|| profile::told(&[], Some(kind), None)).flatten();
        let refusal = say::error(error.clone(), stamp);
        let refusal = ServerMessage { session_id: Some(id.clone()), metadata: told.clone(), ..refusal };
        out.push(Effect::send(asker.connection, refusal));
        let end = End { metadata: told, ..End::failed(error.clone()) };
        out.push(Effect::send(asker.connection, say::task_end(id.clone(), end, stamp)));
    }

    /// One COMMAND of a session is under way at a time; the rest wait.
    pub(super) fn order(&mut self, id: Text, order: Order, stamp: &mut Stamp<'_>, out: &mut Vec<Effect>) {
        let queue = self.rules.queue;
        let key = order.key;
        let failed = |text: &str| Effect::Results {
            results: failures(&order.actions, text),
            session: id.clone(),
            key,
            lines: Vec::new(),
        };
        match self.sessions.get_mut(&id) {
            None => out.push(failed("the session is over")),
            Some(session) if session.device.is_none() => {
                out.push(failed("the session has no device to command"));
            }
            Some(Session { reported: Some(report), .. }) => {
                out.push(Effect::Reported { session: id.clone(), report: report.clone() });
            }
            Some(session) if session.queue.len() >= queue => out.push(failed("too many commands wait in this session")),
            Some(session) => {
                let agent = order.agent.clone();
                session.queue.push_back(order);
                // The hub works on it, so it has taken it, and whoever asked hears that first.
                self.accepted(id.clone(), stamp, out);
                self.assign_asked(&id, &agent, stamp, out);
                self.send_next(&id, stamp, out);
            }
        }
    }

    pub(super) fn send_next(&mut self, id: &Text, stamp: &mut Stamp<'_>, out: &mut Vec<Effect>) {
        let Some(session) = self.sessions.get_mut(id).filter(|it| it.pending.is_none() && it.device_away.is_none())
        else {
            return;
        };
        let device = session.device.as_deref().and_then(|device| self.clients.get(ClientType::Device, device));
        let Some(device) = device else { return };
        let Some(mut order) = session.queue.pop_front() else { return };
        for action in &mut order.actions {
            action.call_id.get_or_insert_with(|| stamp.id());
        }
        let mut frame = say::command(id.clone(), session.task_name.clone(), order.agent, order.actions, stamp);
        if device.tongue == Tongue::Profile {
            frame.metadata = Some(profile::command(order.timeout));
        }
        let response = frame.response_id.clone().unwrap_or_default();
        let ends = stamp.now.after(order.timeout.unwrap_or(self.rules.command));
        out.push(Effect::send(device.connection, frame.clone()));
        self.timers.insert((ends, Timer::Command(id.clone(), response.clone())));
        session.pending = Some(Pending { response, frame, ends, key: order.key });
    }

    /// Only the device that works on a session speaks for it, only of the COMMAND that is under way, and only once.
    pub(super) fn results(
        &mut self,
        from: &Name,
        message: ClientMessage,
        stamp: &mut Stamp<'_>,
        out: &mut Vec<Effect>,
    ) {
        let Some(name) = message.session_id.clone().filter(|_| from.role == ClientType::Device) else { return };
        let works = |session: &&mut Session| session.is_worked_on_by(from);
        let Some(session) = self.sessions.get_mut(&name).filter(works) else { return };
        let wanted = session.pending.as_ref().map(|pending| &pending.response);
        if wanted.is_none() || wanted != message.prev_response_id.as_ref() {
            return;
        }
        let Some(pending) = session.pending.take() else { return };
        self.timers.remove(&(pending.ends, Timer::Command(name.clone(), pending.response)));
        let (lines, _) = profile::lines(&message);
        let results = message.action_results.unwrap_or_default();
        out.push(Effect::Results { session: name.clone(), key: pending.key, results, lines });
        self.send_next(&name, stamp, out);
    }

    /// Nobody answered in time: every action failed, and a device that understands is told to stop.
    pub(super) fn command_late(&mut self, id: &Text, response: &Text, stamp: &mut Stamp<'_>, out: &mut Vec<Effect>) {
        let Some(session) = self.sessions.get_mut(id) else { return };
        let Some(pending) = session.pending.take_if(|pending| pending.response == *response) else { return };
        let device = session.device.as_deref().and_then(|device| self.clients.get(ClientType::Device, device));
        if let Some(device) = device.filter(|device| device.tongue == Tongue::Profile) {
            let end = End { metadata: Some(profile::cancels(response)), ..End::failed("the command took too long") };
            out.push(Effect::send(device.connection, say::task_end(id.clone(), end, stamp)));
        }
        let actions = pending.frame.actions.unwrap_or_default();
        let results = failures(&actions, super::LATE);
        out.push(Effect::Results { session: id.clone(), key: pending.key, results, lines: Vec::new() });
        self.send_next(id, stamp, out);
    }

    /// Only the wider profile has a place for them.
    pub(super) fn notes(&self, id: &Text, lines: Vec<Text>, stamp: &mut Stamp<'_>, out: &mut Vec<Effect>) {
        let asker = self.sessions.get(id).and_then(|session| self.asker(session));
        if let Some(asker) = asker.filter(|asker| asker.tongue == Tongue::Profile) {
            out.push(Effect::send(asker.connection, say::notes(id.clone(), lines, stamp)));
        }
    }

    /// The end goes to whoever asked, and to the device of a constellation's task, as one and the same frame.
    pub(super) fn finished(&mut self, id: &Text, end: End, stamp: &mut Stamp<'_>, out: &mut Vec<Effect>) {
        self.accepted(id.clone(), stamp, out);
        let Some(session) = self.sessions.get_mut(id) else { return };
        let frame = say::task_end(id.clone(), end, stamp);
        let device = session.device.clone().filter(|_| !session.is_its_devices_own());
        match self.clients.get(session.asker_role, &session.asker) {
            Some(asker) => {
                out.push(Effect::send(asker.connection, frame.clone()));
                self.remove_session(id);
            }
            // It may come back in time and wants to know; the device is done with it.
            None if session.asker_away.is_some() => {
                let waits = Session { device: None, ..session.clone() };
                self.remove_session(id);
                let ended = Some(self.away.keep(&waits.of, frame.clone(), stamp));
                let kept = Session { ended, pending: None, queue: VecDeque::new(), device_away: None, ..waits };
                self.sessions.insert(id.clone(), kept);
            }
            None => drop(self.remove_session(id)),
        }
        if let Some(device) = device.as_deref().and_then(|device| self.device(device)) {
            out.push(Effect::send(device.connection, frame));
        }
    }

    /// A client of the wider profile wants its task no longer.
    pub(super) fn unwanted(&mut self, by: &Name, session: Option<&str>, stamp: &mut Stamp<'_>, out: &mut Vec<Effect>) {
        let Some((name, _)) =
            session.and_then(|name| self.sessions.get_key_value(name)).filter(|(_, it)| it.is_asked_by(by))
        else {
            return;
        };
        let name = name.clone();
        let asker = self.clients.named(by).map(|client| client.connection);
        self.end_unwanted(&name, stamp, out);
        if let Some(asker) = asker {
            out.push(Effect::send(asker, say::task_end(name, End::failed("cancelled: asked"), stamp)));
        }
    }

    pub(super) fn remove_session(&mut self, id: &Text) -> Option<Session> {
        let session = self.sessions.remove(id)?;
        if let Some(frame) = &session.ended {
            self.away.free(&session.of, frame);
        }
        if let Some(asker) = self.clients.get_mut(session.asker_role, &session.asker) {
            asker.asked.remove(id);
        }
        if let Some(device) =
            session.device.as_ref().and_then(|device| self.clients.get_mut(ClientType::Device, device))
        {
            device.works.remove(id);
        }
        if let Some(pending) = &session.pending {
            self.timers.remove(&(pending.ends, Timer::Command(id.clone(), pending.response.clone())));
        }
        Some(session)
    }
}

impl Session {
    pub(super) fn is_asked_by(&self, name: &Name) -> bool {
        self.asker == name.id && self.asker_role == name.role
    }

    /// Is this the device that works on it, and here?
    pub(super) fn is_worked_on_by(&self, name: &Name) -> bool {
        let its = name.role == ClientType::Device && self.device.as_ref() == Some(&name.id);
        its && self.device_away.is_none()
    }

    /// Its device asked for it itself.
    pub(super) fn is_its_devices_own(&self) -> bool {
        self.asker_role == ClientType::Device && self.device.as_ref() == Some(&self.asker)
    }

    fn new(asker: Text, asker_role: ClientType, task_name: Text, device: Option<Text>) -> Session {
        Session {
            asker,
            asker_role,
            of: "".into(),
            task_name,
            device,
            accepted: false,
            pending: None,
            queue: VecDeque::new(),
            device_away: None,
            asker_away: None,
            ended: None,
            request: None,
            process: "".into(),
            assigned: None,
            reported: None,
            lines: LineBudget::default(),
        }
    }
}

/// An error frame, which Python clients do not connect with their task, and the task's end, which they do.
fn refuse(to: Connection, session: Option<Text>, text: String, stamp: &mut Stamp<'_>, out: &mut Vec<Effect>) {
    let mut error = say::error(text.clone(), stamp);
    error.session_id.clone_from(&session);
    out.push(Effect::send(to, error));
    if let Some(session) = session {
        out.push(Effect::send(to, say::task_end(session, End::failed(text), stamp)));
    }
}

/// A failed result for every action; the text stands in both places, as the Python server has it.
fn failures(actions: &[Command], text: &str) -> Vec<CommandResult> {
    let of = |action: &Command| CommandResult {
        status: ResultStatus::Failure,
        error: Some(text.into()),
        result: Some(interlingua_model::Json::from_tree(text.into())),
        namespace: None,
        call_id: action.call_id.clone(),
    };
    actions.iter().map(of).collect()
}
