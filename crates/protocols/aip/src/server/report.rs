//! The wider profile's account of a running task: the TASK that a device is given, its log lines on the way, and its own word that the task
//! is over. A device speaks only for sessions that it works on, and ends each once.

use std::time::Duration;

use super::clients::Name;
use super::{Connection, Effect, Server, Session, Timer, Why};
use crate::profile;
use crate::say::{self, Stamp};
use crate::wire::{ClientMessage, ClientType, ServerMessage};
use interlingua_model::Text;

/// A task that a device is to do by itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Assignment {
    pub agent: Text,
    pub request: Text,
    pub timeout: Option<Duration>,
}

impl Server {
    /// Gives the device the TASK of its session, once, if it takes TASKs. It is sent again to one that was away meanwhile.
    pub(super) fn assign(&mut self, id: &Text, to: Assignment, stamp: &mut Stamp<'_>, out: &mut Vec<Effect>) {
        let Some(session) = self.sessions.get_mut(id).filter(|it| it.assigned.is_none() && !it.is_its_devices_own())
        else {
            return;
        };
        let Assignment { agent, request, timeout } = to;
        let frame = say::task(id.clone(), session.task_name.clone(), request, stamp);
        let frame = ServerMessage {
            agent_name: Some(agent),
            process_name: Some(session.process.clone()),
            metadata: Some(profile::assignment(timeout)),
            ..frame
        };
        let device = session.device.as_deref().and_then(|device| self.clients.get(ClientType::Device, device));
        if let Some(device) = device.filter(|_| session.device_away.is_none()) {
            out.push(Effect::send(device.connection, frame.clone()));
        }
        (session.request, session.assigned) = (None, Some(frame));
    }

    /// A task that the device does by itself. One that it ended already is over for whoever comes to give it.
    pub(super) fn assign_own(&mut self, id: &Text, to: Assignment, stamp: &mut Stamp<'_>, out: &mut Vec<Effect>) {
        self.accepted(id.clone(), stamp, out);
        match self.sessions.get(id) {
            None => out.push(Effect::Cancel { session: id.clone(), why: Why::DeviceLost }),
            Some(Session { reported: Some(report), .. }) => {
                out.push(Effect::Reported { session: id.clone(), report: report.clone() });
            }
            Some(_) => self.assign(id, to, stamp, out),
        }
    }

    /// Before the first COMMAND of a task that an orchestrator asked for.
    pub(super) fn assign_asked(&mut self, id: &Text, agent: &Text, stamp: &mut Stamp<'_>, out: &mut Vec<Effect>) {
        let request = self.sessions.get_mut(id).and_then(|session| session.request.take());
        if let Some(request) = request {
            self.assign(id, Assignment { agent: agent.clone(), request, timeout: None }, stamp, out);
        }
    }

    /// A device says that a task is over. What it was told to do besides is not awaited any more.
    pub(super) fn reported(
        &mut self,
        from: Connection,
        by: &Name,
        message: &ClientMessage,
        stamp: &mut Stamp<'_>,
        out: &mut Vec<Effect>,
    ) {
        let Some(report) = profile::report(message) else {
            return refuse(from, message, "TASK_END of a device has the status completed or failed", stamp, out);
        };
        let works = |id: &&Text| {
            self.sessions.get(*id).is_some_and(|session| session.is_worked_on_by(by) && session.reported.is_none())
        };
        let Some(id) = message.session_id.as_ref().filter(works) else {
            return refuse(from, message, "you work on no task with this session_id", stamp, out);
        };
        let Some(session) = self.sessions.get_mut(id) else { return };
        if let Some(pending) = session.pending.take() {
            self.timers.remove(&(pending.ends, Timer::Command(id.clone(), pending.response)));
        }
        session.queue.clear();
        session.reported = Some(Box::new(report.clone()));
        out.push(Effect::Reported { session: id.clone(), report: Box::new(report) });
    }

    /// A heartbeat with log lines of a task that is under way: it is answered like any other.
    pub(super) fn lines(
        &mut self,
        from: Connection,
        by: &Name,
        message: &ClientMessage,
        stamp: &mut Stamp<'_>,
        out: &mut Vec<Effect>,
    ) {
        out.push(Effect::send(from, say::ack(None, stamp)));
        let Some(id) = &message.session_id else { return };
        let works = |session: &&mut Session| session.is_worked_on_by(by) && session.reported.is_none();
        let Some(session) = self.sessions.get_mut(id).filter(works) else { return };
        let pending = session.pending.as_ref().map(|pending| &pending.response);
        let assigned = session.assigned.as_ref().and_then(|frame| frame.response_id.as_ref());
        let about = message.prev_response_id.as_ref();
        // Lines of a COMMAND that is over belong to nothing.
        if (pending.is_none() && assigned.is_none()) || (about.is_some() && about != pending && about != assigned) {
            return;
        }
        let key = session.pending.as_ref().map(|pending| pending.key);
        let (said, left_out) = profile::lines(message);
        let (lines, dropped) = session.lines.take(said, stamp.now);
        let dropped = dropped + left_out;
        if !lines.is_empty() || dropped > 0 {
            out.push(Effect::Lines { session: id.clone(), key, lines, dropped });
        }
    }
}

/// The same for a session of somebody else and for one that does not exist.
fn refuse(to: Connection, message: &ClientMessage, text: &str, stamp: &mut Stamp<'_>, out: &mut Vec<Effect>) {
    let error = ServerMessage { session_id: message.session_id.clone(), ..say::error(text, stamp) };
    out.push(Effect::send(to, error));
}
