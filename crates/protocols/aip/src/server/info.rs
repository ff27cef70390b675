//! Information about a device, and the requests for it.

use super::clients::Name;
use super::{Connection, Effect, Pull, Server, Sight, Timer};
use crate::discover::unknown;
use crate::link::Tongue;
use crate::say::{self, Stamp};
use crate::wire::{ClientMessage, ClientType};
use crate::{profile, telemetry};
use interlingua_model::{Json, Text};

/// How many devices may be asked at once.
const PULLS: usize = 4096;

impl Server {
    /// Answered from what the device said when it registered; one of the wider profile is asked anew.
    pub(super) fn info_request(
        &mut self,
        from: Connection,
        name: &Name,
        message: ClientMessage,
        sight: Sight<'_>,
        stamp: &mut Stamp<'_>,
        out: &mut Vec<Effect>,
    ) {
        let Some(client) = self.clients.named(name) else { return };
        if name.role != ClientType::Constellation {
            let text = "DEVICE_INFO_REQUEST is permitted only for constellation clients";
            return out.push(Effect::send(from, say::error(text, stamp)));
        }
        let target = message.target_id.or_else(|| client.target.clone());
        if client.target.is_some() && client.target != target {
            let text = "Not authorized to request device info for this device";
            return out.push(Effect::send(from, say::error(text, stamp)));
        }
        let target = target.unwrap_or_default();
        let request = message.request_id;
        match self.seen(&target, sight) {
            Some(device) if device.tongue == Tongue::Profile && self.pulls.len() < PULLS => {
                let question = say::ask_info(stamp);
                let name = question.response_id.clone().unwrap_or_default();
                let until = stamp.now.after(self.rules.info);
                out.push(Effect::send(device.connection, question));
                self.timers.insert((until, Timer::Pull(name.clone())));
                self.pulls.insert(name, Pull { device: target, asker: from, request, until });
            }
            Some(_) => out.push(Effect::send(from, say::device_info(request, self.known(&target), stamp))),
            None if (sight.others)(&target) => out.push(Effect::Describe { to: from, request, target }),
            None => out.push(Effect::send(from, say::device_info(request, unknown(&target), stamp))),
        }
    }

    fn known(&self, device: &str) -> Json {
        let info = self.device(device).and_then(|client| client.info.clone());
        info.unwrap_or_else(|| unknown(device))
    }

    /// A device tells how it is: as an answer, or because something changed.
    pub(super) fn info_response(
        &mut self,
        name: &Name,
        message: &ClientMessage,
        stamp: &mut Stamp<'_>,
        out: &mut Vec<Effect>,
    ) {
        // An orchestrator has no state that a device of its name would be shown with.
        if name.role != ClientType::Device {
            return;
        }
        let id = &name.id;
        if let Some(told) = telemetry::told(message).map(Box::new) {
            if let Some(client) = self.clients.named_mut(name) {
                client.info = Some(told.info.clone());
            }
            out.push(Effect::Telemetry { device: id.clone(), told, tools: profile::tools(message) });
        }
        let Some(question) = &message.prev_response_id else { return };
        if self.pulls.get(question).is_some_and(|pull| pull.device == *id) {
            self.answer(question, stamp, out);
        }
    }

    /// The device took too long: what it said last has to do.
    pub(super) fn pull_late(&mut self, question: &Text, stamp: &mut Stamp<'_>, out: &mut Vec<Effect>) {
        self.answer(question, stamp, out);
    }

    fn answer(&mut self, question: &Text, stamp: &mut Stamp<'_>, out: &mut Vec<Effect>) {
        let Some(pull) = self.pulls.remove(question) else { return };
        self.timers.remove(&(pull.until, Timer::Pull(question.clone())));
        out.push(Effect::send(pull.asker, say::device_info(pull.request, self.known(&pull.device), stamp)));
    }
}
