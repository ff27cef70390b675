//! An orchestrator's connection to the server of one device.
//!
//! The protocol does not name the task of every acknowledgement or error, so only one task at a time waits to be acknowledged; the others
//! queue behind it.

use std::collections::{BTreeSet, VecDeque};

use interlingua_model::{Json, Text};

use super::connection::{ClientConnection, Phase, Step, Wants};
use crate::link::Tongue;
use crate::say::Stamp;
use crate::wire::{ClientKind, ClientMessage, ClientType, ServerKind, ServerMessage, Status};
use crate::{PROFILE, client_id, profile, stamp};
use interlingua_wire::object::Object;

/// Tasks that wait to be sent.
const QUEUE: usize = 256;

#[derive(Debug, Clone)]
pub struct Orchestrator {
    name: Text,
    target: Text,
    tongue: Tongue,
    line: ClientConnection,
    waiting: VecDeque<ClientMessage>,
    /// Sent, and not acknowledged.
    asked: Option<ClientMessage>,
    /// Acknowledged, and not ended.
    running: BTreeSet<Text>,
    /// Not wanted any more, which the server is told as soon as it has let us in.
    unwanted: BTreeSet<Text>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    Connected,
    Closed,
    Frame(Box<ServerMessage>),
    Tick,
    /// A TASK, made by [`crate::encode::task`].
    Task(Box<ClientMessage>),
    Cancel {
        session: Text,
    },
    AskInfo {
        request: Text,
    },
    Stop,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Output {
    Connect,
    Close,
    Send(Box<ClientMessage>),
    /// The device can be asked, or can no longer.
    Up,
    Down,
    Accepted {
        session: Text,
    },
    /// It was never begun.
    Refused {
        session: Text,
        frame: Box<ServerMessage>,
    },
    Ended {
        session: Text,
        frame: Box<ServerMessage>,
    },
    /// The connection went with it; what the device was told may have happened.
    Lost {
        session: Text,
    },
    Notes {
        session: Text,
        lines: Vec<Text>,
    },
    Info {
        request: Text,
        info: Json,
    },
}

impl From<Step> for Output {
    fn from(step: Step) -> Output {
        match step {
            Step::Connect => Output::Connect,
            Step::Close => Output::Close,
            Step::Send(message) => Output::Send(message),
        }
    }
}

impl Orchestrator {
    pub fn new(name: Text, target: Text, tongue: Tongue, line: ClientConnection) -> Orchestrator {
        Orchestrator {
            name,
            target,
            tongue,
            line,
            waiting: VecDeque::new(),
            asked: None,
            running: BTreeSet::new(),
            unwanted: BTreeSet::new(),
        }
    }

    pub fn line(&self) -> &ClientConnection {
        &self.line
    }

    pub fn step(&mut self, what: Input, by: &mut Stamp<'_>) -> Vec<Output> {
        let mut out = Vec::new();
        match what {
            Input::Connected => {
                let wants = self.line.connected(by.now);
                self.wants(wants, by, &mut out);
            }
            Input::Closed => self.closed(by, &mut out),
            Input::Frame(frame) => self.frame(*frame, by, &mut out),
            Input::Tick => {
                let wants = self.line.tick(by.now);
                self.wants(wants, by, &mut out);
            }
            Input::Task(task) => self.task(*task, &mut out),
            Input::Cancel { session } => self.cancel(&session, by, &mut out),
            Input::AskInfo { request } => self.ask_info(request, by, &mut out),
            Input::Stop => {
                self.line.stop();
                self.give_up(&mut out);
                out.push(Output::Close);
            }
        }
        out
    }

    fn wants(&self, wants: Wants, by: &Stamp<'_>, out: &mut Vec<Output>) {
        let heartbeat = || self.message(ClientKind::Heartbeat, Status::Ok, by);
        out.extend(wants.step(|| self.register(by), heartbeat).map(Output::from));
    }

    fn message(&self, kind: ClientKind, status: Status, by: &Stamp<'_>) -> ClientMessage {
        let mut message = ClientMessage::new(kind, status, ClientType::Constellation);
        message.client_id = Some(client_id(&self.name, &self.target));
        message.timestamp = Some(stamp(by.now));
        message
    }

    fn register(&self, by: &Stamp<'_>) -> ClientMessage {
        let mut register = self.message(ClientKind::Register, Status::Ok, by);
        register.target_id = Some(self.target.clone());
        register.metadata = Some(Object::json(|out| {
            out.text("type", "constellation_client");
            out.text("task_name", &self.name);
            out.text("targeted_device_id", &self.target);
            let can = ["task_distribution", "session_management", "device_coordination"];
            out.array("capabilities", can, interlingua_model::json::write_string);
            out.text("version", "2.0");
            if self.tongue == Tongue::Profile {
                out.text("profile", PROFILE);
                let asked = self.asked.iter().filter_map(|task| task.session_id.as_ref());
                let sessions = self.running.iter().chain(asked);
                profile::write_resumes(out, sessions.map(|session| (&**session, [].as_slice())));
            }
        }));
        register
    }

    fn closed(&mut self, by: &mut Stamp<'_>, out: &mut Vec<Output>) {
        if self.line.is_ready() {
            out.push(Output::Down);
        }
        if self.line.phase() == Phase::Waiting(None) {
            return;
        }
        let chance = u8::try_from((by.mint)() % 100).unwrap_or_default();
        self.line.closed(by.now, chance);
        match self.line.phase() {
            Phase::Waiting(None) => self.give_up(out),
            Phase::Waiting(Some(_)) | Phase::Connecting | Phase::Registering(_) | Phase::Ready => {
                if self.tongue == Tongue::Plain {
                    self.lose_all(out);
                }
            }
        }
    }

    /// There will be no other connection: what was not sent was never begun.
    fn give_up(&mut self, out: &mut Vec<Output>) {
        self.lose_all(out);
        self.unwanted.clear();
        let waiting = std::mem::take(&mut self.waiting);
        out.extend(waiting.into_iter().map(|task| refusal(task, "the server was given up")));
    }

    /// A server ends the tasks of whoever leaves. Those that were not sent wait for the next connection.
    fn lose_all(&mut self, out: &mut Vec<Output>) {
        let asked = self.asked.take().and_then(|task| task.session_id);
        let running = std::mem::take(&mut self.running);
        out.extend(running.into_iter().chain(asked).map(|session| Output::Lost { session }));
    }

    fn task(&mut self, task: ClientMessage, out: &mut Vec<Output>) {
        if self.line.phase() == Phase::Waiting(None) {
            return out.push(refusal(task, "the server was given up"));
        }
        if self.waiting.len() >= QUEUE {
            return out.push(refusal(task, "too many tasks wait for this device"));
        }
        self.waiting.push_back(task);
        self.next(out);
    }

    fn next(&mut self, out: &mut Vec<Output>) {
        if self.line.is_ready()
            && self.asked.is_none()
            && let Some(task) = self.waiting.pop_front()
        {
            out.push(Output::Send(Box::new(task.clone())));
            self.asked = Some(task);
        }
    }

    fn frame(&mut self, frame: ServerMessage, by: &mut Stamp<'_>, out: &mut Vec<Output>) {
        if let Phase::Registering(_) = self.line.phase() {
            let wants = self.line.answered(frame.status == Status::Ok, by.now);
            self.wants(wants, by, out);
            if self.line.is_ready() {
                out.push(Output::Up);
                self.tell_unwanted(by, out);
                self.next(out);
            }
            return;
        }
        self.line.heard(by.now);
        match frame.kind {
            ServerKind::Heartbeat => self.acknowledged(frame, out),
            ServerKind::TaskEnd => self.ended(frame, out),
            ServerKind::Error => self.refused(frame, out),
            ServerKind::DeviceInfoResponse => {
                let answer = frame.response_id.zip(frame.result);
                out.extend(answer.map(|(request, info)| Output::Info { request, info }));
            }
            ServerKind::Task | ServerKind::Command | ServerKind::DeviceInfoRequest => {}
        }
        self.next(out);
    }

    fn is_asked(&self, session: Option<&Text>) -> bool {
        session.is_some() && self.asked.as_ref().is_some_and(|task| task.session_id.as_ref() == session)
    }

    fn acknowledged(&mut self, frame: ServerMessage, out: &mut Vec<Output>) {
        let Some(session) = frame.session_id else { return };
        if self.is_asked(Some(&session)) {
            self.asked = None;
            self.running.insert(session.clone());
            out.push(Output::Accepted { session: session.clone() });
        }
        if let Some(lines) = frame.messages.filter(|_| self.running.contains(&session)) {
            out.push(Output::Notes { session, lines });
        }
    }

    fn ended(&mut self, frame: ServerMessage, out: &mut Vec<Output>) {
        let Some(session) = frame.session_id.clone() else { return };
        let asked = self.is_asked(Some(&session));
        if asked {
            self.asked = None;
        }
        if self.running.remove(&session) || asked {
            out.push(Output::Ended { session, frame: Box::new(frame) });
        }
    }

    /// An error that names a task is that task's; one that names none is for the task that waits to be acknowledged.
    fn refused(&mut self, frame: ServerMessage, out: &mut Vec<Output>) {
        let names_another = frame.session_id.is_some() && !self.is_asked(frame.session_id.as_ref());
        if names_another {
            return;
        }
        if let Some(session) = self.asked.take().and_then(|task| task.session_id) {
            out.push(Output::Refused { session, frame: Box::new(frame) });
        }
    }

    /// A server of the wider profile is told; any other understands nothing but a closed connection, which would end the other
    /// tasks of it too, so that it is closed only for the last one.
    fn cancel(&mut self, session: &Text, by: &mut Stamp<'_>, out: &mut Vec<Output>) {
        let waited = self.waiting.len();
        self.waiting.retain(|task| task.session_id.as_ref() != Some(session));
        let asked = self.is_asked(Some(session));
        if waited != self.waiting.len() || !(asked || self.running.contains(session)) {
            return;
        }
        match self.tongue {
            Tongue::Profile => {
                self.unwanted.insert(session.clone());
                self.tell_unwanted(by, out);
            }
            Tongue::Plain => {
                self.running.remove(session);
                if asked {
                    self.asked = None;
                }
                if self.running.is_empty() && self.asked.is_none() {
                    out.push(Output::Close);
                }
            }
        }
    }

    /// Nothing is said before the server has let us in; what it then goes on with may be over.
    fn tell_unwanted(&mut self, by: &Stamp<'_>, out: &mut Vec<Output>) {
        if !self.line.is_ready() {
            return;
        }
        for session in std::mem::take(&mut self.unwanted) {
            if self.is_asked(Some(&session)) || self.running.contains(&session) {
                let mut end = self.message(ClientKind::TaskEnd, Status::Failed, by);
                end.session_id = Some(session);
                out.push(Output::Send(Box::new(end)));
            }
        }
    }

    fn ask_info(&mut self, request: Text, by: &mut Stamp<'_>, out: &mut Vec<Output>) {
        if self.line.is_ready() {
            let mut message = self.message(ClientKind::DeviceInfoRequest, Status::Ok, by);
            message.target_id = Some(self.target.clone());
            message.request_id = Some(request);
            out.push(Output::Send(Box::new(message)));
        }
    }
}

/// Refused here: the server never heard of it.
fn refusal(task: ClientMessage, why: &str) -> Output {
    let mut frame = ServerMessage::new(ServerKind::Error, Status::Error);
    frame.error = Some(why.into());
    Output::Refused { session: task.session_id.unwrap_or_default(), frame: Box::new(frame) }
}
