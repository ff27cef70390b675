//! Device client: registers, executes COMMANDs one after the other, and sends back the results of each.
//!
//! Every COMMAND gets results, whatever happens to it, and none is executed twice: one that is sent again because the connection broke is
//! answered with its earlier results. With the wider profile, work continues while the connection is down.

use std::collections::{BTreeMap, VecDeque};

use interlingua_model::{Json, Text};

use super::connection::{ClientConnection, Phase, Step, Wants};
use crate::link::Tongue;
use crate::say::Stamp;
use crate::wire::{
    ClientKind, ClientMessage, ClientType, CommandResult, ResultStatus, ServerKind, ServerMessage, Status,
};
use crate::{PROFILE, encode, profile, stamp};
use interlingua_wire::object::Object;

/// COMMANDs that wait for their turn.
const QUEUE: usize = 256;
/// Results that are kept, in case their COMMAND comes again.
const KEPT: usize = 256;
/// Log lines that wait for the results of their COMMAND.
const UNSENT: usize = 256;
/// Bytes of the COMMANDs that wait, and of the results that are kept besides the newest.
const MOST: usize = 64 * 1024 * 1024;

#[derive(Debug, Clone)]
pub struct Device {
    id: Text,
    /// Names this running program.
    instance: Text,
    tongue: Tongue,
    line: ClientConnection,
    info: Json,
    /// What it tells of its tools, in the wider profile.
    tools: Option<Json>,
    /// The server has been told of them.
    tools_told: bool,
    platform: Text,
    running: Option<ServerMessage>,
    queue: VecDeque<ServerMessage>,
    /// What was done, the newest last, and whether the server was told.
    done: VecDeque<(Text, ClientMessage, bool)>,
    /// A task of its own that is under way.
    task: bool,
    /// Log lines of what runs that could not be sent, for its results.
    unsent: Vec<Text>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Happening {
    Connected,
    Closed,
    Frame(Box<ServerMessage>),
    Tick,
    /// What came of a COMMAND.
    Done {
        response: Text,
        results: Vec<CommandResult>,
        lines: Vec<Text>,
    },
    /// Log lines of a COMMAND that runs.
    Lines {
        response: Text,
        lines: Vec<Text>,
    },
    /// How the device is: the answer to a question, or news.
    Info {
        question: Option<Text>,
        info: Json,
    },
    Stop,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    Connect,
    Close,
    Send(Box<ClientMessage>),
    /// Do what this COMMAND says.
    Run(Box<ServerMessage>),
    /// Stop doing it.
    Cancel {
        response: Text,
    },
    /// Tell how the device is, under this id.
    Describe {
        question: Text,
    },
    /// The server says something that is for people.
    Complaint(Text),
    /// A session is over.
    Ended {
        session: Text,
    },
}

impl From<Step> for Effect {
    fn from(step: Step) -> Effect {
        match step {
            Step::Connect => Effect::Connect,
            Step::Close => Effect::Close,
            Step::Send(message) => Effect::Send(message),
        }
    }
}

impl Device {
    /// `instance` names the running program, and no other that ever ran.
    pub fn new(id: Text, instance: Text, tongue: Tongue, line: ClientConnection, info: Json, platform: Text) -> Device {
        Device {
            id,
            instance,
            tongue,
            line,
            info,
            tools: None,
            tools_told: false,
            platform,
            running: None,
            queue: VecDeque::new(),
            done: VecDeque::new(),
            task: false,
            unsent: Vec::new(),
        }
    }

    pub fn line(&self) -> &ClientConnection {
        &self.line
    }

    /// What it can do, as its `list_tools` would say it: told with the next REGISTER, or with news of how it is.
    pub fn set_tools(&mut self, tools: Json) {
        if self.tools.as_ref() != Some(&tools) {
            (self.tools, self.tools_told) = (Some(tools), false);
        }
    }

    pub fn step(&mut self, what: Happening, by: &mut Stamp<'_>) -> Vec<Effect> {
        let mut out = Vec::new();
        match what {
            Happening::Connected => {
                let wants = self.line.connected(by.now);
                self.wants(wants, by, &mut out);
                self.tools_told = true;
            }
            Happening::Closed => self.closed(by, &mut out),
            Happening::Frame(frame) => self.frame(*frame, by, &mut out),
            Happening::Tick => {
                let wants = self.line.tick(by.now);
                self.wants(wants, by, &mut out);
            }
            Happening::Done { response, results, lines } => self.done(&response, results, &lines, by, &mut out),
            Happening::Lines { response, lines } => self.lines(&response, lines, by, &mut out),
            Happening::Info { question, info } => self.info(question, info, by, &mut out),
            Happening::Stop => {
                self.line.stop();
                self.drop_work(&mut out);
                out.push(Effect::Close);
            }
        }
        out
    }

    fn wants(&self, wants: Wants, by: &Stamp<'_>, out: &mut Vec<Effect>) {
        let heartbeat = || self.message(ClientKind::Heartbeat, Status::Ok, by);
        out.extend(wants.step(|| self.register(by), heartbeat).map(Effect::from));
    }

    fn message(&self, kind: ClientKind, status: Status, by: &Stamp<'_>) -> ClientMessage {
        let mut message = ClientMessage::new(kind, status, ClientType::Device);
        message.client_id = Some(self.id.clone());
        message.timestamp = Some(stamp(by.now));
        message
    }

    fn send(&self, message: ClientMessage, out: &mut Vec<Effect>) {
        out.push(Effect::Send(Box::new(message)));
    }

    fn register(&self, by: &Stamp<'_>) -> ClientMessage {
        let mut register = self.message(ClientKind::Register, Status::Ok, by);
        register.metadata = Some(Object::json(|out| {
            out.value("system_info", &self.info);
            out.text("registration_time", &stamp(by.now));
            out.text("platform", &self.platform);
            if self.tongue == Tongue::Profile {
                out.text("profile", PROFILE);
                out.text("instance", &self.instance);
                if let Some(tools) = &self.tools {
                    out.value("tools", tools);
                }
                let begun = self.begun();
                profile::write_resumes(out, begun.iter().map(|(session, begun)| (&**session, begun.as_slice())));
            }
        }));
        register
    }

    /// Sessions it has work of, and the COMMANDs of each that it has seen.
    fn begun(&self) -> BTreeMap<Text, Vec<Text>> {
        let mut begun: BTreeMap<Text, Vec<Text>> = BTreeMap::new();
        let frames = self.running.iter().chain(&self.queue);
        let seen = frames.map(|frame| (frame.session_id.clone(), frame.response_id.clone()));
        let done = self.done.iter().map(|(id, results, _)| (results.session_id.clone(), Some(id.clone())));
        for (session, response) in seen.chain(done) {
            if let (Some(session), Some(response)) = (session, response) {
                begun.entry(session).or_default().push(response);
            }
        }
        begun
    }

    fn closed(&mut self, by: &mut Stamp<'_>, out: &mut Vec<Effect>) {
        if self.line.phase() == Phase::Waiting(None) {
            return;
        }
        let chance = u8::try_from((by.mint)() % 100).unwrap_or_default();
        self.line.closed(by.now, chance);
        self.task = false;
        // Without the wider profile the server has ended every session already.
        if self.tongue == Tongue::Plain {
            self.drop_work(out);
        }
    }

    fn drop_work(&mut self, out: &mut Vec<Effect>) {
        self.unsent.clear();
        self.queue.clear();
        self.done.clear();
        if let Some(response) = self.running.take().and_then(|frame| frame.response_id) {
            out.push(Effect::Cancel { response });
        }
    }

    fn frame(&mut self, frame: ServerMessage, by: &mut Stamp<'_>, out: &mut Vec<Effect>) {
        if let Phase::Registering(_) = self.line.phase() {
            let let_in = frame.status == Status::Ok;
            let wants = self.line.answered(let_in, by.now);
            self.wants(wants, by, out);
            match frame.error {
                Some(text) if !let_in => out.push(Effect::Complaint(text)),
                Some(_) | None => self.tell(out),
            }
            return;
        }
        self.line.heard(by.now);
        match frame.kind {
            ServerKind::Command => self.command(frame, out),
            ServerKind::TaskEnd => self.task_end(&frame, out),
            ServerKind::Task => self.announced(frame, by, out),
            ServerKind::Error => out.extend(frame.error.map(Effect::Complaint)),
            ServerKind::DeviceInfoRequest => {
                out.extend(frame.response_id.map(|question| Effect::Describe { question }));
            }
            ServerKind::Heartbeat | ServerKind::DeviceInfoResponse => {}
        }
    }

    fn command(&mut self, frame: ServerMessage, out: &mut Vec<Effect>) {
        let Some(response) = frame.response_id.clone() else { return };
        let known = |other: &ServerMessage| other.response_id.as_ref() == Some(&response);
        if self.running.iter().chain(&self.queue).any(known) {
            return;
        }
        if let Some((_, results, told)) = self.done.iter_mut().find(|(id, _, _)| *id == response) {
            *told = true;
            return out.push(Effect::Send(Box::new(results.clone())));
        }
        if !self.has_room(&frame) {
            let ids = frame.actions.iter().flatten().map(|action| action.call_id.clone());
            let results = without_result(ids, "too much waits to be done here");
            let mut message = encode::results(frame.session_id, Some(response), frame.status, results, &[]);
            message.client_id = Some(self.id.clone());
            return self.send(message, out);
        }
        self.queue.push_back(frame);
        self.next(out);
    }

    /// One that waits alone may be as long as any.
    fn has_room(&self, frame: &ServerMessage) -> bool {
        let waiting: usize = self.queue.iter().map(ServerMessage::weight).sum();
        self.queue.len() < QUEUE && (self.queue.is_empty() || waiting + frame.weight() <= MOST)
    }

    /// One at a time, in the order they came.
    fn next(&mut self, out: &mut Vec<Effect>) {
        if self.running.is_none()
            && let Some(frame) = self.queue.pop_front()
        {
            out.push(Effect::Run(Box::new(frame.clone())));
            self.running = Some(frame);
        }
    }

    fn done(
        &mut self,
        response: &Text,
        results: Vec<CommandResult>,
        lines: &[Text],
        by: &mut Stamp<'_>,
        out: &mut Vec<Effect>,
    ) {
        let Some(frame) = self.running.take_if(|frame| frame.response_id.as_ref() == Some(response)) else { return };
        let mut unsent = std::mem::take(&mut self.unsent);
        unsent.extend_from_slice(lines);
        unsent.truncate(UNSENT);
        let lines = if self.tongue == Tongue::Profile { &*unsent } else { &[] };
        let mut message = encode::results(frame.session_id, frame.response_id, frame.status, results, lines);
        message.client_id = Some(self.id.clone());
        message.timestamp = Some(stamp(by.now));
        message.request_id = Some(by.id());
        if self.done.len() >= KEPT {
            self.done.pop_front();
        }
        self.done.push_back((response.clone(), message, false));
        if self.line.is_ready() {
            self.tell(out);
        }
        self.make_room();
        self.next(out);
    }

    /// To a server that takes them, lines go while the COMMAND runs; else they come with its results.
    fn lines(&mut self, response: &Text, lines: Vec<Text>, by: &mut Stamp<'_>, out: &mut Vec<Effect>) {
        let Some(frame) = self.running.as_ref().filter(|frame| frame.response_id.as_ref() == Some(response)) else {
            return;
        };
        let taken = self.tongue == Tongue::Profile && profile::takes_lines(frame.metadata.as_ref());
        if !taken || !self.line.is_ready() {
            self.unsent.extend(lines);
            return self.unsent.truncate(UNSENT);
        }
        let mut message = self.message(ClientKind::Heartbeat, Status::Ok, by);
        message.session_id.clone_from(&frame.session_id);
        message.prev_response_id = Some(response.clone());
        message.metadata = Some(encode::log(&lines));
        self.send(message, out);
    }

    /// Of what was done before the newest it is only kept that it was done, where there is more than may be kept. What the server
    /// was told goes first.
    fn make_room(&mut self) {
        let newest = self.done.len().saturating_sub(1);
        let mut bytes: usize = self.done.iter().take(newest).map(|(_, results, _)| results.weight()).sum();
        for first in [true, false] {
            for (_, results, _) in self.done.iter_mut().take(newest).filter(|(_, _, told)| *told == first) {
                if bytes <= MOST {
                    return;
                }
                let before = results.weight();
                let ids = results.action_results.iter().flatten().map(|result| result.call_id.clone());
                results.action_results =
                    Some(without_result(ids, "it was done, and its result was too large to be kept"));
                results.metadata = None;
                bytes = bytes.saturating_sub(before) + results.weight();
            }
        }
    }

    /// Sends results that the server has not been told.
    fn tell(&mut self, out: &mut Vec<Effect>) {
        for (_, results, told) in self.done.iter_mut().filter(|(_, _, told)| !told) {
            *told = true;
            out.push(Effect::Send(Box::new(results.clone())));
        }
    }

    fn task_end(&mut self, frame: &ServerMessage, out: &mut Vec<Effect>) {
        let one = profile::cancelled(frame.metadata.as_ref());
        let about = |other: &ServerMessage| match &one {
            Some(response) => other.response_id.as_ref() == Some(response),
            None => other.session_id == frame.session_id,
        };
        self.queue.retain(|other| !about(other));
        let stopped = self.running.take_if(|running| about(running));
        if stopped.is_some() {
            self.unsent.clear();
        }
        out.extend(stopped.and_then(|stopped| stopped.response_id).map(|response| Effect::Cancel { response }));
        if one.is_none() {
            self.done.retain(|(_, results, _)| results.session_id != frame.session_id);
            self.task = false;
            out.extend(frame.session_id.clone().map(|session| Effect::Ended { session }));
        }
        self.next(out);
    }

    /// The server tells of a task: the device asks for it, unless it has asked for one that is not over.
    fn announced(&mut self, frame: ServerMessage, by: &mut Stamp<'_>, out: &mut Vec<Effect>) {
        // One that it was given is not asked for.
        if self.task || profile::is_assigned(frame.metadata.as_ref()) {
            return;
        }
        self.task = true;
        let mut task = self.message(ClientKind::Task, Status::Continue, by);
        task.task_name = frame.task_name;
        task.request = frame.user_request;
        task.request_id = Some(by.id());
        task.metadata = Some(Object::json(|out| out.text("platform", &self.platform)));
        self.send(task, out);
    }

    fn info(&mut self, question: Option<Text>, info: Json, by: &mut Stamp<'_>, out: &mut Vec<Effect>) {
        self.info = info;
        if self.tongue == Tongue::Plain || !self.line.is_ready() {
            return;
        }
        let mut message = self.message(ClientKind::DeviceInfoResponse, Status::Ok, by);
        message.prev_response_id = question;
        let tools = self.tools.as_ref().filter(|_| !self.tools_told);
        message.metadata = Some(Object::json(|out| {
            out.value("system_info", &self.info);
            if let Some(tools) = tools {
                out.value("tools", tools);
            }
        }));
        self.tools_told = true;
        self.send(message, out);
    }
}

/// What is said of actions of which nothing else can be.
fn without_result(ids: impl Iterator<Item = Option<Text>>, why: &str) -> Vec<CommandResult> {
    let error = Some(Text::from(why));
    let failed = |call_id| CommandResult {
        status: ResultStatus::Failure,
        error: error.clone(),
        result: None,
        namespace: None,
        call_id,
    };
    ids.map(failed).collect()
}
