//! Rules of a server for devices and constellations: connections, session ownership, valid results, and cleanup when a client leaves.
//!
//! A machine without sockets: [`Server::step`] takes an event and the time and returns effects. Nothing of it is stored over a restart,
//! because connections are not; what must survive (tasks, their outcomes) is stored by the hub, which is informed by effects. Every map has
//! a bound.
//!
//! Its improvements over the Python server are invisible to a Python client: a half-open device is probed and taken over instead of locked
//! out, refused tasks end, a session ends with its device whoever requested it, commands of a session are sent one after the other. A
//! device of the wider profile that comes back in time resumes its sessions.

mod away;
mod clients;
mod info;
mod lines;
mod register;
mod report;
mod session;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use interlingua_model::{FaultKind, Json, Text, Time};

use super::link::{Identity, Tongue};
use super::profile::Reported;
use super::telemetry::Told;
use super::wire::{ClientKind, ClientMessage, ClientType, Command, CommandResult, ServerMessage};
use crate::say::{self, End, Stamp};
use away::Away;
use clients::{Client, Clients, Gone, Name};
use lines::LineBudget;

pub use report::Assignment;

/// What the results say that this server makes up for a device which did not answer before the deadline.
pub const LATE: &str = "the device did not answer in time";

/// One WebSocket, as the hub numbers them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Connection(pub u64);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    pub clients: usize,
    /// Of one client.
    pub sessions: usize,
    /// COMMANDs of one session that wait for their turn.
    pub queue: usize,
    /// How long the owner of an id has to answer before it is taken over.
    pub probe: Duration,
    /// How long a device that left is remembered, and a session of the wider profile kept.
    pub grace: Duration,
    /// How long results are awaited, unless the command says otherwise.
    pub command: Duration,
    /// How long a device has to tell how it is, before what it said last is used.
    pub info: Duration,
}

impl Default for Rules {
    fn default() -> Self {
        Rules {
            clients: 20_000,
            sessions: 256,
            queue: 64,
            probe: Duration::from_millis(1500),
            grace: Duration::from_secs(30),
            command: Duration::from_secs(6000),
            info: Duration::from_secs(5),
        }
    }
}

#[derive(Debug, Clone)]
pub struct Server {
    rules: Rules,
    clients: Clients,
    /// Whose each connection is.
    names: BTreeMap<Connection, Name>,
    /// Which id a connection claims that is another's.
    rivals: BTreeMap<Connection, Name>,
    sessions: BTreeMap<Text, Session>,
    /// Room for the ends of sessions whose askers are away.
    away: Away,
    /// Devices that left, and until when they are remembered.
    gone: BTreeMap<Text, Gone>,
    /// Devices that were asked how they are, by the id of the question.
    pulls: BTreeMap<Text, Pull>,
    /// When something happens by itself; what, is found there.
    timers: BTreeSet<(Time, Timer)>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Timer {
    Probe(Name),
    Gone(Text),
    /// A session whose device or asker left.
    Held(Text),
    Command(Text, Text),
    Pull(Text),
}

#[derive(Debug, Clone)]
struct Session {
    /// Empty when the hub itself asks: no client is called so.
    asker: Text,
    asker_role: ClientType,
    /// Whose the asker was: another under its name is not the asker.
    of: Text,
    task_name: Text,
    /// A device that is connected; `None` when the target is another peer of the hub.
    device: Option<Text>,
    /// The hub has it, and the asker was told.
    accepted: bool,
    pending: Option<Pending>,
    queue: VecDeque<Order>,
    /// Until when its device may come back.
    device_away: Option<Time>,
    /// Until when whoever asked may come back.
    asker_away: Option<Time>,
    /// It ended while whoever asked was away.
    ended: Option<ServerMessage>,
    /// What a device that takes TASKs is to be told, until it is.
    request: Option<Text>,
    /// The process it is about; empty without one.
    process: Text,
    /// The TASK that its device was given.
    assigned: Option<ServerMessage>,
    /// What its device says came of it.
    reported: Option<Box<Reported>>,
    lines: LineBudget,
}

#[derive(Debug, Clone)]
struct Pending {
    response: Text,
    frame: ServerMessage,
    ends: Time,
    key: u64,
}

/// A COMMAND to be sent.
#[derive(Debug, Clone, PartialEq)]
pub struct Order {
    /// Comes back with the results.
    pub key: u64,
    pub agent: Text,
    pub actions: Vec<Command>,
    pub timeout: Option<Duration>,
}

#[derive(Debug, Clone)]
struct Pull {
    device: Text,
    asker: Connection,
    request: Option<Text>,
    until: Time,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Happening {
    /// A frame that [`super::link::Link`] passed on.
    Frame(Connection, ClientMessage),
    /// The owner of an id answered the probe.
    Alive(Connection),
    Closed(Connection),
    Tick,
    /// The hub took the task, or did not.
    Accepted {
        session: Text,
    },
    Refused {
        session: Text,
        error: Text,
        kind: FaultKind,
    },
    /// The hub itself has something for a device, which no client asked for.
    Begin {
        session: Text,
        device: Text,
        task_name: Text,
    },
    /// The planner wants a device to do something.
    Command {
        session: Text,
        order: Order,
    },
    /// A device that takes TASKs is to do this one by itself.
    Assign {
        session: Text,
        to: Assignment,
    },
    /// Log lines for whoever asked.
    Notes {
        session: Text,
        lines: Vec<Text>,
    },
    Finished {
        session: Text,
        end: End,
    },
    /// A device is to be told of a task, which it then asks for itself.
    Announce {
        device: Text,
        session: Text,
        task_name: Text,
        request: Text,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    Send(Connection, Box<ServerMessage>),
    Close(Connection, u16),
    /// Let the connection in: its [`super::link::Link`] is told.
    Admit(Connection, Identity),
    /// Ask for a sign of life, now.
    Probe(Connection),
    /// A device came, or came back.
    Joined {
        device: Text,
        /// Whose it is: see [`Sight::sender`].
        of: Text,
        told: Option<Box<Told>>,
        /// The list of its tools, from one that tells it unasked.
        tools: Option<Json>,
        tongue: Tongue,
        back: bool,
    },
    /// A device left. It is quarantined until then.
    Left {
        device: Text,
        seen: Time,
        until: Time,
    },
    /// It did not come back.
    Removed {
        device: Text,
    },
    /// A device told how it is.
    Telemetry {
        device: Text,
        told: Box<Told>,
        tools: Option<Json>,
    },
    /// A task for the hub.
    Open(Box<Asked>),
    /// A task nobody waits for any more, or whose device is lost.
    Cancel {
        session: Text,
        why: Why,
    },
    /// The results of an order; in the wider profile with log lines.
    Results {
        session: Text,
        key: u64,
        results: Vec<CommandResult>,
        lines: Vec<Text>,
    },
    /// Log lines of a task that is under way, and how many were dropped; with the key of the order that they are of.
    Lines {
        session: Text,
        key: Option<u64>,
        lines: Vec<Text>,
        dropped: usize,
    },
    /// A device says that a task is over: every order of its session ends with that.
    Reported {
        session: Text,
        report: Box<Reported>,
    },
    /// Tell what is known of a peer that is no device of this server.
    Describe {
        to: Connection,
        request: Option<Text>,
        target: Text,
    },
}

impl Effect {
    fn send(to: Connection, frame: ServerMessage) -> Effect {
        Effect::Send(to, Box::new(frame))
    }
}

/// A TASK that passed the rules.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    pub session: Text,
    pub asker: Text,
    pub asker_role: ClientType,
    pub tongue: Tongue,
    pub target: Text,
    pub task_name: Text,
    pub message: ClientMessage,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// Whoever asked is gone, or wants it no longer.
    Unwanted,
    DeviceLost,
}

/// What is to be known of whoever sends a frame: what they may not see is not there for them.
#[derive(Clone, Copy)]
pub struct Sight<'a> {
    /// Whose frames these are, by the same name every time. A client's id is only what it calls itself.
    pub sender: &'a str,
    /// Peers of the hub that are no devices of this server: they count as connected too.
    pub others: &'a dyn Fn(&str) -> bool,
    /// Which of the clients that are connected they may know of.
    pub clients: &'a dyn Fn(ClientType, &str) -> bool,
    /// How many clients they may have, those that left and are remembered among them; without it as many as there is room for.
    pub room: Option<usize>,
}

impl std::fmt::Debug for Sight<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sight").field("sender", &self.sender).finish_non_exhaustive()
    }
}

impl Server {
    pub fn new(rules: Rules) -> Server {
        Server {
            rules,
            clients: Clients::default(),
            names: BTreeMap::new(),
            rivals: BTreeMap::new(),
            sessions: BTreeMap::new(),
            away: Away::default(),
            gone: BTreeMap::new(),
            pulls: BTreeMap::new(),
            timers: BTreeSet::new(),
        }
    }

    /// For what begins from now on.
    pub fn set_rules(&mut self, rules: Rules) {
        self.rules = rules;
    }

    pub fn step(&mut self, what: Happening, sight: Sight<'_>, stamp: &mut Stamp<'_>) -> Vec<Effect> {
        let mut out = Vec::new();
        match what {
            Happening::Frame(from, message) => self.frame(from, message, sight, stamp, &mut out),
            Happening::Alive(connection) => self.alive(connection, stamp, &mut out),
            Happening::Closed(connection) => self.closed(connection, stamp, &mut out),
            Happening::Tick => self.tick(stamp, &mut out),
            Happening::Accepted { session } => self.accepted(session, stamp, &mut out),
            Happening::Refused { session, error, kind } => self.refused(&session, &error, kind, stamp, &mut out),
            Happening::Begin { session, device, task_name } => self.begin(session, device, task_name, &mut out),
            Happening::Command { session, order } => self.order(session, order, stamp, &mut out),
            Happening::Assign { session, to } => self.assign_own(&session, to, stamp, &mut out),
            Happening::Notes { session, lines } => self.notes(&session, lines, stamp, &mut out),
            Happening::Finished { session, end } => self.finished(&session, end, stamp, &mut out),
            Happening::Announce { device, session, task_name, request } => {
                if let Some(client) = self.device(&device) {
                    out.push(Effect::send(client.connection, say::task(session, task_name, request, stamp)));
                }
            }
        }
        out
    }

    fn frame(
        &mut self,
        from: Connection,
        message: ClientMessage,
        sight: Sight<'_>,
        stamp: &mut Stamp<'_>,
        out: &mut Vec<Effect>,
    ) {
        if message.kind == ClientKind::Register {
            return self.register(from, message, sight, stamp, out);
        }
        let Some(name) = self.names.get(&from).cloned() else { return };
        match message.kind {
            ClientKind::Task => self.task(from, name, message, sight, stamp, out),
            ClientKind::CommandResults => self.results(&name, message, stamp, out),
            ClientKind::DeviceInfoRequest => self.info_request(from, &name, message, sight, stamp, out),
            ClientKind::DeviceInfoResponse => self.info_response(&name, &message, stamp, out),
            ClientKind::TaskEnd if name.role == ClientType::Device => self.reported(from, &name, &message, stamp, out),
            // An orchestrator's tasks end at the server: it can only mean that it wants one no longer.
            ClientKind::TaskEnd | ClientKind::TaskCancel => {
                self.unwanted(&name, message.session_id.as_deref(), stamp, out);
            }
            ClientKind::Heartbeat => self.lines(from, &name, &message, stamp, out),
            // The link answers these.
            ClientKind::Register | ClientKind::Error => {}
        }
    }

    /// When to come back with [`Happening::Tick`], if nothing happens before.
    pub fn next_timer(&self) -> Option<Time> {
        self.timers.first().map(|(at, _)| *at)
    }

    fn tick(&mut self, stamp: &mut Stamp<'_>, out: &mut Vec<Effect>) {
        while self.next_timer().is_some_and(|at| at <= stamp.now) {
            let Some((at, timer)) = self.timers.pop_first() else { return };
            match timer {
                Timer::Probe(id) => self.take_over(&id, stamp, out),
                Timer::Gone(device) => {
                    if self.gone.get(&device).is_some_and(|gone| gone.until == at) {
                        self.gone.remove(&device);
                        out.push(Effect::Removed { device });
                    }
                }
                Timer::Held(session) => self.grace_over(&session, at, stamp, out),
                Timer::Command(session, response) => self.command_late(&session, &response, stamp, out),
                Timer::Pull(question) => self.pull_late(&question, stamp, out),
            }
        }
    }

    /// Is this device connected?
    pub fn has_device(&self, id: &str) -> bool {
        self.device(id).is_some()
    }

    /// Does this device take TASKs and do them by itself?
    pub fn takes_tasks(&self, id: &str) -> bool {
        self.device(id).is_some_and(|device| device.tasks)
    }

    fn device(&self, id: &str) -> Option<&Client> {
        self.clients.get(ClientType::Device, id)
    }

    /// A device, for somebody who may know of it.
    fn seen(&self, id: &str, sight: Sight<'_>) -> Option<&Client> {
        self.device(id).filter(|_| (sight.clients)(ClientType::Device, id))
    }

    /// Ids and roles of whoever is connected.
    pub fn clients(&self) -> impl Iterator<Item = (&Text, ClientType)> {
        self.clients.iter()
    }

    /// When a device that left was last there, while it is remembered.
    pub fn last_seen(&self, device: &str) -> Option<Time> {
        self.gone.get(device).map(|gone| gone.seen)
    }

    pub fn sessions(&self) -> usize {
        self.sessions.len()
    }
}
