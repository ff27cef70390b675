//! The three ends, the frames in transit between them, and what was observed of each.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use bytes::Bytes;
use interlingua_aip::backoff::{Backoff, Growth};
use interlingua_aip::client::connection::{ClientConnection, Phase, Pulse};
use interlingua_aip::client::device::{self, Device};
use interlingua_aip::client::orchestrator::{self, Orchestrator};
use interlingua_aip::link::{self, Heard, Link, Tongue};
use interlingua_aip::say::{End, Stamp};
use interlingua_aip::server::{Connection, Effect, Happening, Order, Rules, Server, Sight};
use interlingua_aip::wire::{
    ClientKind, ClientMessage, ClientType, Command, CommandResult, ResultStatus, ServerMessage, Status, ToolType,
};
use interlingua_model::{FaultKind, Json, Text, Time};

use crate::explore::{Broken, Model, must};

/// How often what may happen.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bound {
    /// Tasks the constellation asks for.
    pub(super) tasks: u8,
    /// COMMANDs of each.
    pub(super) orders: u8,
    /// Connections of each client.
    pub(super) dials: u8,
    /// Lines that break.
    pub(super) breaks: u8,
    /// How often the device starts anew.
    pub(super) reboots: u8,
    /// Tasks that are no longer wanted.
    pub(super) withdrawals: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Who {
    Device,
    Constellation,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Far {
    Open,
    /// The server said that this is the end, and reads no more.
    Closing,
    /// The server knows that it is gone.
    Gone,
}

#[derive(Debug, Clone)]
pub(super) struct Wire {
    who: Who,
    link: Link,
    up: VecDeque<ClientMessage>,
    down: VecDeque<ServerMessage>,
    /// The client has not heard of an end.
    near: bool,
    far: Far,
    /// A sign of life is wanted.
    probed: bool,
}

/// A task, as the hub has it.
#[derive(Debug, Clone)]
pub(super) struct Job {
    accepted: bool,
    over: bool,
    /// The order whose results are awaited.
    waiting: Option<u64>,
    orders: u8,
}

#[derive(Debug, Clone)]
pub(super) struct World {
    left: Bound,
    server: Server,
    wires: BTreeMap<u64, Wire>,
    device: Device,
    device_dials: u8,
    constellation: Orchestrator,
    constellation_dials: u8,
    /// The COMMAND that the device is at, and all it ever began.
    work: Option<Text>,
    ran: BTreeSet<Text>,
    jobs: BTreeMap<Text, Job>,
    /// What the constellation asked for, and how often it heard of an end.
    asked: BTreeMap<Text, u8>,
    withdrawn: BTreeSet<Text>,
    orders: u64,
    clock: Clock,
}

/// Not part of a state: only how far timers are off is.
#[derive(Clone)]
struct Clock {
    now: Time,
    minted: u128,
    tongue: Tongue,
    orders: u8,
}

impl std::fmt::Debug for Clock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Clock")
    }
}

#[derive(Debug, Clone)]
pub(super) enum Action {
    Dial(Who),
    /// The next frame of a connection arrives at the server, or at the client.
    Up(u64),
    Down(u64),
    /// The client hears that the server closed it.
    End(u64),
    /// The line breaks: the client notices, or the server does.
    BreakNear(u64),
    BreakFar(u64),
    /// The server notices what the client knows.
    Notice(u64),
    /// The client answers a probe.
    Alive(u64),
    /// The next timer of the server goes off.
    Timer,
    Accept(Text),
    Refuse(Text),
    Order(Text),
    Finish(Text),
    /// The device is done with its COMMAND.
    Done,
    Reboot,
    Ask,
    Withdraw(Text),
    /// The constellation gives up.
    Stop,
}

fn line(now: Time) -> ClientConnection {
    let backoff = Backoff { growth: Growth::Immediate, retries: None, ..Backoff::default() };
    ClientConnection::new(Pulse::default(), backoff, now)
}

fn machine(instance: u8, tongue: Tongue, now: Time) -> Device {
    let info = Json::parse(Bytes::from_static(br#"{"platform":"linux"}"#)).expect("JSON");
    Device::new("dev".into(), format!("run {instance}").into(), tongue, line(now), info, "linux".into())
}

impl World {
    pub(super) fn new(device: Tongue, constellation: Tongue, bound: Bound) -> World {
        let now = Time(1_794_724_084_000);
        let mut world = World {
            left: bound,
            server: Server::new(Rules::default()),
            wires: BTreeMap::new(),
            device: machine(0, device, now),
            device_dials: 0,
            constellation: Orchestrator::new("gal".into(), "dev".into(), constellation, line(now)),
            constellation_dials: 0,
            work: None,
            ran: BTreeSet::new(),
            jobs: BTreeMap::new(),
            asked: BTreeMap::new(),
            withdrawn: BTreeSet::new(),
            orders: 0,
            clock: Clock { now, minted: 0, tongue: device, orders: bound.orders },
        };
        world.begin().expect("they come in");
        world
    }

    /// Both come in before anything else happens: what may happen to a connection that is not known is of no task.
    fn begin(&mut self) -> Result<(), Broken> {
        for (who, id) in [(Who::Device, 1), (Who::Constellation, 101)] {
            for action in [Action::Dial(who), Action::Up(id), Action::Down(id)] {
                self.act(&action)?;
            }
        }
        Ok(())
    }

    fn stamped<T>(&mut self, step: impl FnOnce(&mut World, &mut Stamp<'_>) -> T) -> T {
        let Clock { now, mut minted, .. } = self.clock;
        let mut mint = || {
            minted += 1;
            minted
        };
        let result = step(self, &mut Stamp { now, mint: &mut mint });
        self.clock.minted = minted;
        result
    }

    fn wire(&mut self, of: u64) -> &mut Wire {
        self.wires.get_mut(&of).expect("a connection")
    }

    /// The connection that a client believes to have.
    fn of(&self, who: Who) -> Option<u64> {
        self.wires.iter().find(|(_, wire)| wire.near && wire.who == who).map(|(id, _)| *id)
    }

    fn server(&mut self, what: Happening) -> Result<(), Broken> {
        let effects = self.stamped(|world, by| {
            world.server.step(what, Sight { sender: "", others: &|_| false, clients: &|_, _| true, room: None }, by)
        });
        effects.into_iter().try_for_each(|effect| self.perform(effect))?;
        self.look()
    }

    fn perform(&mut self, effect: Effect) -> Result<(), Broken> {
        match effect {
            Effect::Send(to, frame) => self.send(to, *frame)?,
            Effect::Close(of, _) => {
                let wire = self.wire(of.0);
                must!(wire.far == Far::Open, "{of:?} is closed twice");
                wire.far = Far::Closing;
                wire.up.clear();
            }
            Effect::Admit(of, who) => {
                let wire = self.wire(of.0);
                let role = if wire.who == Who::Device { ClientType::Device } else { ClientType::Constellation };
                must!(who.role == role, "{of:?} is let in as {who:?}");
                wire.link.admit(who);
            }
            Effect::Probe(of) => self.wire(of.0).probed = true,
            Effect::Open(asked) => {
                let job = Job { accepted: false, over: false, waiting: None, orders: self.clock.orders };
                must!(self.jobs.insert(asked.session.clone(), job).is_none(), "{} is opened twice", asked.session);
            }
            Effect::Cancel { session, .. } => {
                let job = self.jobs.get_mut(&session).ok_or_else(|| format!("{session} was never opened"))?;
                must!(!job.over, "{session} is over twice");
                (job.over, job.waiting) = (true, None);
            }
            Effect::Results { session, key, .. } => {
                let job = self.jobs.get_mut(&session).ok_or_else(|| format!("{session} was never opened"))?;
                must!(!job.over && job.waiting.take() == Some(key), "order {key} is answered, and nobody waits for it");
            }
            Effect::Joined { .. }
            | Effect::Left { .. }
            | Effect::Removed { .. }
            | Effect::Telemetry { .. }
            | Effect::Lines { .. }
            | Effect::Reported { .. }
            | Effect::Describe { .. } => {}
        }
        Ok(())
    }

    fn send(&mut self, to: Connection, frame: ServerMessage) -> Result<(), Broken> {
        let Some(wire) = self.wires.get_mut(&to.0) else { return Err(format!("a frame for {to:?}, which is gone")) };
        must!(wire.far == Far::Open, "a frame after the close of {to:?}: {frame:?}");
        if wire.near {
            wire.down.push_back(frame);
        }
        Ok(())
    }

    /// What is always true of who is connected.
    fn look(&self) -> Result<(), Broken> {
        for (id, role) in self.server.clients() {
            let known = |wire: &&Wire| {
                wire.far == Far::Open && wire.link.who().is_some_and(|who| who.id == *id && who.role == role)
            };
            let count = self.wires.values().filter(known).count();
            must!(count == 1, "{count} connections are {id}");
        }
        let let_in = self.wires.values().filter(|wire| wire.far == Far::Open && wire.link.who().is_some()).count();
        must!(let_in == self.server.clients().count(), "somebody is let in and not there");
        Ok(())
    }

    fn device(&mut self, what: device::Happening) -> Result<(), Broken> {
        let effects = self.stamped(|world, by| world.device.step(what, by));
        for effect in effects {
            match effect {
                device::Effect::Connect => self.connect(Who::Device)?,
                device::Effect::Close => self.hang_up(Who::Device)?,
                device::Effect::Send(frame) => self.say(Who::Device, *frame),
                device::Effect::Run(frame) => {
                    let tool = frame.actions.as_deref().and_then(|actions| actions.first()).map(|one| &one.tool_name);
                    let tool = tool.ok_or("a COMMAND without an action")?;
                    must!(self.ran.insert(tool.clone()), "{tool} is run twice");
                    must!(self.work.is_none(), "two COMMANDs at once");
                    self.work = frame.response_id;
                }
                device::Effect::Cancel { response } => drop(self.work.take_if(|work| *work == response)),
                device::Effect::Describe { .. } | device::Effect::Complaint(_) | device::Effect::Ended { .. } => {}
            }
        }
        Ok(())
    }

    fn constellation(&mut self, what: orchestrator::Input) -> Result<(), Broken> {
        let effects = self.stamped(|world, by| world.constellation.step(what, by));
        for effect in effects {
            match effect {
                orchestrator::Output::Connect => self.connect(Who::Constellation)?,
                orchestrator::Output::Close => self.hang_up(Who::Constellation)?,
                orchestrator::Output::Send(frame) => self.say(Who::Constellation, *frame),
                orchestrator::Output::Accepted { session } => {
                    must!(self.asked.get(&session) == Some(&0), "{session} is accepted after its end");
                }
                orchestrator::Output::Refused { session, .. }
                | orchestrator::Output::Ended { session, .. }
                | orchestrator::Output::Lost { session } => {
                    let ends = self.asked.get_mut(&session).ok_or_else(|| format!("nobody asked for {session}"))?;
                    *ends += 1;
                    must!(*ends == 1, "{session} has two outcomes");
                }
                orchestrator::Output::Up
                | orchestrator::Output::Down
                | orchestrator::Output::Notes { .. }
                | orchestrator::Output::Info { .. } => {}
            }
        }
        Ok(())
    }

    fn client(&mut self, who: Who, heard: Client) -> Result<(), Broken> {
        match (who, heard) {
            (Who::Device, Client::Connected) => self.device(device::Happening::Connected),
            (Who::Device, Client::Closed) => self.device(device::Happening::Closed),
            (Who::Device, Client::Frame(frame)) => self.device(device::Happening::Frame(frame)),
            (Who::Constellation, Client::Connected) => self.constellation(orchestrator::Input::Connected),
            (Who::Constellation, Client::Closed) => self.constellation(orchestrator::Input::Closed),
            (Who::Constellation, Client::Frame(frame)) => self.constellation(orchestrator::Input::Frame(frame)),
        }
    }

    /// Connections are numbered by whose they are, so that who came first makes no other state.
    fn connect(&mut self, who: Who) -> Result<(), Broken> {
        let id = match who {
            Who::Device => u64::from(self.device_dials),
            Who::Constellation => 100 + u64::from(self.constellation_dials),
        };
        let link = Link::open(link::Pulse::default(), self.clock.now);
        let wire =
            Wire { who, link, up: VecDeque::new(), down: VecDeque::new(), near: true, far: Far::Open, probed: false };
        self.wires.insert(id, wire);
        self.client(who, Client::Connected)
    }

    fn say(&mut self, who: Who, frame: ClientMessage) {
        if let Some(wire) = self.of(who).and_then(|id| self.wires.get_mut(&id)).filter(|wire| wire.far == Far::Open) {
            wire.up.push_back(frame);
        }
    }

    fn hang_up(&mut self, who: Who) -> Result<(), Broken> {
        let Some(id) = self.of(who) else { return Ok(()) };
        self.near_gone(id)
    }

    /// The client knows that it is gone. What it had said may still arrive.
    fn near_gone(&mut self, id: u64) -> Result<(), Broken> {
        let wire = self.wire(id);
        (wire.near, wire.probed) = (false, false);
        wire.down.clear();
        let who = wire.who;
        self.client(who, Client::Closed)?;
        self.clear(id);
        Ok(())
    }

    fn far_gone(&mut self, id: u64) -> Result<(), Broken> {
        let wire = self.wire(id);
        wire.far = Far::Gone;
        wire.up.clear();
        self.server(Happening::Closed(Connection(id)))?;
        self.clear(id);
        Ok(())
    }

    fn clear(&mut self, id: u64) {
        self.wires.retain(|other, wire| *other != id || wire.near || wire.far != Far::Gone);
    }

    fn hear(&mut self, id: u64) -> Result<(), Broken> {
        let Some(frame) = self.wire(id).up.pop_front() else { return Ok(()) };
        let heard = self.stamped(|world, by| world.wire(id).link.hear(Ok(frame), by));
        match heard {
            Heard::Reply(frame) => self.send(Connection(id), frame),
            Heard::Refuse(frame, _) => Err(format!("our own client is refused: {frame:?}")),
            Heard::Pass(message) => self.server(Happening::Frame(Connection(id), message)),
            Heard::Nothing => Ok(()),
        }
    }

    fn order(&mut self, session: &Text) -> Result<(), Broken> {
        self.orders += 1;
        let key = self.orders;
        let job = self.jobs.get_mut(session).expect("a job");
        (job.waiting, job.orders) = (Some(key), job.orders - 1);
        let action = Command {
            tool_name: format!("tool {key}").into(),
            parameters: None,
            tool_type: ToolType::Action,
            call_id: None,
        };
        let order = Order { key, agent: "A".into(), actions: vec![action], timeout: None };
        self.server(Happening::Command { session: session.clone(), order })
    }

    fn task(&mut self) -> Result<(), Broken> {
        self.left.tasks -= 1;
        let session: Text = format!("gal@t{}", self.left.tasks).into();
        let mut frame = ClientMessage::new(ClientKind::Task, Status::Continue, ClientType::Constellation);
        frame.client_id = Some("gal@dev".into());
        frame.target_id = Some("dev".into());
        frame.session_id = Some(session.clone());
        frame.task_name = Some("t".into());
        self.asked.insert(session, 0);
        self.constellation(orchestrator::Input::Task(Box::new(frame)))
    }

    fn reboot(&mut self) -> Result<(), Broken> {
        self.left.reboots -= 1;
        let instance = self.left.reboots + 1;
        self.work = None;
        let gone = self.of(Who::Device);
        if let Some(id) = gone {
            let wire = self.wire(id);
            (wire.near, wire.probed) = (false, false);
            wire.down.clear();
            self.clear(id);
        }
        self.device = machine(instance, self.clock.tongue, self.clock.now);
        Ok(())
    }

    fn may_dial(&self, who: Who) -> bool {
        let (phase, dials) = match who {
            Who::Device => (self.device.line().phase(), self.device_dials),
            Who::Constellation => (self.constellation.line().phase(), self.constellation_dials),
        };
        matches!(phase, Phase::Waiting(Some(_))) && dials < self.left.dials
    }

    fn on_wires(&self, out: &mut Vec<Action>) {
        for (id, wire) in &self.wires {
            let id = *id;
            // What comes before the server has let it in waits.
            let heard = wire.far == Far::Open && !wire.link.is_pending();
            out.extend((heard && !wire.up.is_empty()).then_some(Action::Up(id)));
            out.extend((wire.near && !wire.down.is_empty()).then_some(Action::Down(id)));
            let ended = wire.near && wire.down.is_empty() && wire.far != Far::Open;
            out.extend(ended.then_some(Action::End(id)));
            out.extend(
                (!wire.near || wire.far == Far::Closing)
                    .then_some(Action::Notice(id))
                    .filter(|_| wire.far != Far::Gone),
            );
            out.extend((wire.near && wire.probed && wire.far == Far::Open).then_some(Action::Alive(id)));
            if self.left.breaks > 0 && wire.near && wire.far == Far::Open {
                out.extend([Action::BreakNear(id), Action::BreakFar(id)]);
            }
        }
    }

    fn of_the_hub(&self, out: &mut Vec<Action>) {
        for (session, job) in self.jobs.iter().filter(|(_, job)| !job.over) {
            if !job.accepted {
                out.extend([Action::Accept(session.clone()), Action::Refuse(session.clone())]);
                continue;
            }
            // It may give up while a COMMAND is under way, or end when all is done.
            if job.waiting.is_some() || job.orders == 0 {
                out.push(Action::Finish(session.clone()));
            }
            if job.waiting.is_none() && job.orders > 0 {
                out.push(Action::Order(session.clone()));
            }
        }
    }
}

enum Client {
    Connected,
    Closed,
    Frame(Box<ServerMessage>),
}

impl Model for World {
    type Action = Action;

    fn actions(&self) -> Vec<Action> {
        let mut out = Vec::new();
        for who in [Who::Device, Who::Constellation] {
            out.extend(self.may_dial(who).then_some(Action::Dial(who)));
        }
        self.on_wires(&mut out);
        self.of_the_hub(&mut out);
        out.extend(self.server.next_timer().map(|_| Action::Timer));
        out.extend(self.work.as_ref().map(|_| Action::Done));
        out.extend((self.left.reboots > 0).then_some(Action::Reboot));
        let given_up = self.constellation.line().phase() == Phase::Waiting(None);
        out.extend((self.left.tasks > 0 && !given_up).then_some(Action::Ask));
        if self.left.withdrawals > 0 {
            let open = self.asked.iter().filter(|(session, ends)| **ends == 0 && !self.withdrawn.contains(*session));
            out.extend(open.map(|(session, _)| Action::Withdraw(session.clone())));
        }
        let lonely = matches!(self.constellation.line().phase(), Phase::Waiting(Some(_)));
        out.extend((lonely && !self.may_dial(Who::Constellation)).then_some(Action::Stop));
        out
    }

    fn act(&mut self, action: &Action) -> Result<(), Broken> {
        match action {
            Action::Dial(Who::Device) => {
                self.device_dials += 1;
                self.device(device::Happening::Tick)
            }
            Action::Dial(Who::Constellation) => {
                self.constellation_dials += 1;
                self.constellation(orchestrator::Input::Tick)
            }
            Action::Up(id) => self.hear(*id),
            Action::Down(id) => {
                let who = self.wire(*id).who;
                let frame = self.wire(*id).down.pop_front().expect("a frame");
                self.client(who, Client::Frame(Box::new(frame)))
            }
            Action::End(id) => self.near_gone(*id),
            Action::BreakNear(id) => {
                self.left.breaks -= 1;
                self.near_gone(*id)
            }
            Action::BreakFar(id) => {
                self.left.breaks -= 1;
                self.far_gone(*id)
            }
            Action::Notice(id) => self.far_gone(*id),
            Action::Alive(id) => {
                self.wire(*id).probed = false;
                self.server(Happening::Alive(Connection(*id)))
            }
            Action::Timer => {
                self.clock.now = self.server.next_timer().expect("a timer").max(self.clock.now);
                self.server(Happening::Tick)
            }
            Action::Accept(session) => {
                self.jobs.get_mut(session).expect("a job").accepted = true;
                self.server(Happening::Accepted { session: session.clone() })
            }
            Action::Refuse(session) => {
                self.jobs.get_mut(session).expect("a job").over = true;
                self.server(Happening::Refused {
                    session: session.clone(),
                    error: "no".into(),
                    kind: FaultKind::Denied,
                })
            }
            Action::Order(session) => self.order(session),
            Action::Finish(session) => {
                let job = self.jobs.get_mut(session).expect("a job");
                (job.over, job.waiting) = (true, None);
                let end = End { status: Status::Completed, error: None, result: None, messages: None, metadata: None };
                self.server(Happening::Finished { session: session.clone(), end })
            }
            Action::Done => {
                let response = self.work.take().expect("work");
                let result = CommandResult {
                    status: ResultStatus::Success,
                    error: None,
                    result: None,
                    namespace: None,
                    call_id: None,
                };
                self.device(device::Happening::Done { response, results: vec![result], lines: Vec::new() })
            }
            Action::Reboot => self.reboot(),
            Action::Ask => self.task(),
            Action::Withdraw(session) => {
                self.left.withdrawals -= 1;
                self.withdrawn.insert(session.clone());
                self.constellation(orchestrator::Input::Cancel { session: session.clone() })
            }
            Action::Stop => self.constellation(orchestrator::Input::Stop),
        }
    }

    fn now(&self) -> Time {
        self.clock.now
    }

    fn at_rest(&self) -> Result<(), Broken> {
        for (session, ends) in &self.asked {
            let wanted = !self.withdrawn.contains(session);
            must!(*ends == 1 || !wanted, "{session} has no outcome");
        }
        must!(self.jobs.values().all(|job| job.over), "a task goes on for ever");
        must!(self.server.sessions() == 0, "{} sessions are left", self.server.sessions());
        must!(self.work.is_none(), "the device works on for nobody");
        for (id, wire) in &self.wires {
            must!(wire.near && wire.far == Far::Open, "connection {id} is half open for ever");
            must!(wire.link.who().is_some(), "connection {id} waits for ever");
        }
        Ok(())
    }
}
