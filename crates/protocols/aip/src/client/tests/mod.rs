//! A device and an orchestrator against the real server, in memory, with connections that break.

mod bounds;
mod herd;
mod loss;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use bytes::Bytes;
use interlingua_model::{Ask, Call, Input, Json, Target, Text, Time};

use super::connection::{ClientConnection, Phase, Pulse, Wants};
use super::device::{self, Device};
use super::orchestrator::{self, Orchestrator};
use crate::backoff::Backoff;
use crate::link::{Heard, Link, Tongue};
use crate::say::{End, Stamp};
use crate::server::{self, Connection, Order, Rules, Server, Sight};
use crate::wire::{
    ClientKind, ClientMessage, Command, CommandResult, Limits, ResultStatus, ServerMessage, Status, ToolType,
};
use crate::{encode, link};

const NOW: Time = Time(1_794_724_084_245);

/// A device (connection 1), an orchestrator (connection 2) and the server between them; every frame travels as bytes.
struct World {
    now: Time,
    minted: u128,
    server: Server,
    links: [Option<Link>; 2],
    device: Device,
    orchestrator: Orchestrator,
    /// What the device was told to do, and is doing.
    work: Vec<ServerMessage>,
    /// What the orchestrator and the server's hub saw, in words.
    seen: Vec<String>,
    mail: VecDeque<Mail>,
    /// Tasks the hub has.
    open: BTreeSet<Text>,
    /// How often each action was begun at the device, and how often the hub heard of each order.
    ran: BTreeMap<Text, u32>,
    heard: BTreeMap<u64, u32>,
}

enum Mail {
    ToServer(usize, ClientMessage),
    ToClient(usize, ServerMessage),
    Closed(usize),
    Connect(usize),
}

impl World {
    fn new(tongue: Tongue) -> World {
        let line = || ClientConnection::new(Pulse::default(), Backoff::device(), NOW);
        let info = Json::parse(Bytes::from_static(br#"{"platform":"linux"}"#)).expect("JSON");
        let mut world = World {
            now: NOW,
            minted: 0,
            server: Server::new(Rules::default()),
            links: [None, None],
            device: Device::new("dev1".into(), "run-1".into(), tongue, line(), info, "linux".into()),
            orchestrator: Orchestrator::new("gal".into(), "dev1".into(), tongue, line()),
            work: Vec::new(),
            seen: Vec::new(),
            mail: VecDeque::new(),
            open: BTreeSet::new(),
            ran: BTreeMap::new(),
            heard: BTreeMap::new(),
        };
        world.device(device::Happening::Tick);
        world.run();
        world.orchestrator(orchestrator::Input::Tick);
        world.run();
        world
    }

    fn stamped<T>(&mut self, step: impl FnOnce(&mut World, &mut Stamp<'_>) -> T) -> T {
        let mut minted = self.minted;
        let mut mint = || {
            minted += 1;
            minted
        };
        let result = step(self, &mut Stamp { now: self.now, mint: &mut mint });
        self.minted = minted;
        result
    }

    fn device(&mut self, what: device::Happening) {
        let effects = self.stamped(|world, stamp| world.device.step(what, stamp));
        for effect in effects {
            match effect {
                device::Effect::Connect => self.mail.push_back(Mail::Connect(0)),
                device::Effect::Close => self.mail.push_back(Mail::Closed(0)),
                device::Effect::Send(message) => self.mail.push_back(Mail::ToServer(0, *message)),
                device::Effect::Run(frame) => {
                    for action in frame.actions.iter().flatten() {
                        *self.ran.entry(action.tool_name.clone()).or_default() += 1;
                    }
                    self.work.push(*frame);
                }
                device::Effect::Cancel { response } => {
                    self.work.retain(|frame| frame.response_id.as_ref() != Some(&response));
                    self.seen.push("device stops".to_owned());
                }
                device::Effect::Describe { question } => {
                    let info = Json::parse(Bytes::from_static(br#"{"load":1}"#)).expect("JSON");
                    self.device(device::Happening::Info { question: Some(question), info });
                }
                device::Effect::Complaint(text) => self.seen.push(format!("device hears {text}")),
                device::Effect::Ended { session } => self.seen.push(format!("device ends {session}")),
            }
        }
    }

    fn orchestrator(&mut self, what: orchestrator::Input) {
        use orchestrator::Output;
        let effects = self.stamped(|world, stamp| world.orchestrator.step(what, stamp));
        for effect in effects {
            match effect {
                Output::Connect => self.mail.push_back(Mail::Connect(1)),
                Output::Close => self.mail.push_back(Mail::Closed(1)),
                Output::Send(message) => self.mail.push_back(Mail::ToServer(1, *message)),
                Output::Up => self.seen.push("up".to_owned()),
                Output::Down => self.seen.push("down".to_owned()),
                Output::Accepted { session } => self.seen.push(format!("accepted {session}")),
                Output::Refused { session, frame } => {
                    self.seen.push(format!("refused {session} {}", frame.error.as_deref().unwrap_or_default()));
                }
                Output::Ended { session, frame } => {
                    self.seen.push(format!("ended {session} {}", frame.status.as_str()))
                }
                Output::Lost { session } => self.seen.push(format!("lost {session}")),
                Output::Notes { session, lines } => self.seen.push(format!("notes {session} {}", lines.join("|"))),
                Output::Info { info, .. } => self.seen.push(format!("info {info}")),
            }
        }
    }

    fn server(&mut self, what: server::Happening) {
        use server::Effect;
        let effects = self.stamped(|world, stamp| {
            let sight = Sight { sender: "", others: &|_| false, clients: &|_, _| true, room: None };
            world.server.step(what, sight, stamp)
        });
        for effect in effects {
            match effect {
                Effect::Send(Connection(to), frame) => self.mail.push_back(Mail::ToClient(World::index(to), *frame)),
                Effect::Close(Connection(of), _) => self.mail.push_back(Mail::Closed(World::index(of))),
                Effect::Admit(Connection(of), who) => {
                    if let Some(link) = &mut self.links[World::index(of)] {
                        link.admit(who);
                    }
                }
                // The hub takes every task.
                Effect::Open(asked) => {
                    self.open.insert(asked.session.clone());
                    self.server(server::Happening::Accepted { session: asked.session });
                }
                Effect::Cancel { session, .. } => {
                    assert!(self.open.remove(&session), "{session} was over");
                    self.seen.push(format!("hub cancels {session}"));
                }
                Effect::Results { key, results, .. } => {
                    *self.heard.entry(key).or_default() += 1;
                    let all: Vec<&str> = results.iter().map(|result| result.status.as_str()).collect();
                    self.seen.push(format!("results {key} {}", all.join(",")));
                }
                Effect::Probe(_)
                | Effect::Joined { .. }
                | Effect::Left { .. }
                | Effect::Removed { .. }
                | Effect::Telemetry { .. }
                | Effect::Lines { .. }
                | Effect::Reported { .. }
                | Effect::Describe { .. } => {}
            }
        }
    }

    fn index(connection: u64) -> usize {
        usize::try_from(connection).expect("small") - 1
    }

    fn connection(index: usize) -> Connection {
        Connection(index as u64 + 1)
    }

    /// Delivers everything that is under way.
    fn run(&mut self) {
        while self.deliver() {}
    }

    /// Delivers the oldest of what is under way; false when there is nothing.
    fn deliver(&mut self) -> bool {
        let Some(mail) = self.mail.pop_front() else { return false };
        match mail {
            Mail::Connect(index) => {
                self.links[index] = Some(Link::open(link::Pulse::default(), self.now));
                self.client(index, None);
            }
            Mail::ToServer(index, message) => {
                let Some(mut link) = self.links[index].take() else { return true };
                let read = ClientMessage::decode(&message.encode(), &Limits::default());
                assert_eq!(read.as_ref(), Ok(&message));
                let heard = self.stamped(|_, stamp| link.hear(read, stamp));
                self.links[index] = Some(link);
                match heard {
                    Heard::Reply(frame) => self.mail.push_back(Mail::ToClient(index, frame)),
                    Heard::Refuse(frame, _) => {
                        self.mail.push_back(Mail::ToClient(index, frame));
                        self.mail.push_back(Mail::Closed(index));
                    }
                    Heard::Pass(message) => self.server(server::Happening::Frame(World::connection(index), message)),
                    Heard::Nothing => {}
                }
            }
            Mail::ToClient(index, frame) => {
                if self.links[index].is_some() {
                    let read = ServerMessage::decode(&frame.encode(), &Limits::default()).expect("a frame");
                    self.client(index, Some(read));
                }
            }
            Mail::Closed(index) => self.cut(index),
        }
        true
    }

    /// `None`: it is connected.
    fn client(&mut self, index: usize, frame: Option<ServerMessage>) {
        match (index, frame.map(Box::new)) {
            (0, None) => self.device(device::Happening::Connected),
            (0, Some(frame)) => self.device(device::Happening::Frame(frame)),
            (_, None) => self.orchestrator(orchestrator::Input::Connected),
            (_, Some(frame)) => self.orchestrator(orchestrator::Input::Frame(frame)),
        }
    }

    /// The connection breaks, with whatever was on it.
    fn cut(&mut self, index: usize) {
        if self.links[index].take().is_none() {
            return;
        }
        self.mail.retain(|mail| match mail {
            Mail::ToServer(of, _) | Mail::ToClient(of, _) | Mail::Closed(of) | Mail::Connect(of) => *of != index,
        });
        self.server(server::Happening::Closed(World::connection(index)));
        if index == 0 {
            self.device(device::Happening::Closed);
        } else {
            self.orchestrator(orchestrator::Input::Closed);
        }
    }

    fn pass(&mut self, seconds: u64) {
        self.now = self.now.after(Duration::from_secs(seconds));
        self.server(server::Happening::Tick);
        self.device(device::Happening::Tick);
        self.run();
        self.orchestrator(orchestrator::Input::Tick);
        self.run();
    }

    fn task(&mut self, session: &str) {
        self.ask(session);
        self.run();
    }

    fn ask(&mut self, session: &str) {
        let call = Call::new(
            "m",
            interlingua_model::Origin::program(),
            Ask::Invoke { target: Target::Peer("dev1".into()), input: Input::text("tidy") },
        );
        let id = crate::client_id("gal", "dev1");
        let task = encode::task(&call, id, "dev1".into(), session.into(), "t".into()).value;
        self.orchestrator(orchestrator::Input::Task(Box::new(task)));
    }

    fn order(&mut self, session: &str, key: u64) {
        self.command(session, key);
        self.run();
    }

    /// The planner wants something done; the action is named after the order.
    fn command(&mut self, session: &str, key: u64) {
        let tool_name = Text::from(key.to_string());
        let action = Command { tool_name, parameters: None, tool_type: ToolType::Action, call_id: None };
        let order = Order { key, agent: "A".into(), actions: vec![action], timeout: None };
        self.server(server::Happening::Command { session: session.into(), order });
    }

    /// The device is done with what it does.
    fn work_done(&mut self) {
        let frame = self.work.remove(0);
        let call_id = frame.actions.as_ref().and_then(|actions| actions[0].call_id.clone());
        let result =
            CommandResult { status: ResultStatus::Success, error: None, result: None, namespace: None, call_id };
        let response = frame.response_id.expect("an id");
        self.device(device::Happening::Done { response, results: vec![result], lines: vec!["a line".into()] });
        self.run();
    }

    fn finish(&mut self, session: &str) {
        self.open.remove(session);
        let end = End { status: Status::Completed, error: None, result: None, messages: None, metadata: None };
        self.server(server::Happening::Finished { session: session.into(), end });
        self.run();
    }

    fn seen(&mut self) -> Vec<String> {
        std::mem::take(&mut self.seen)
    }
}

#[test]
fn a_task_from_one_end_to_the_other() {
    for tongue in [Tongue::Plain, Tongue::Profile] {
        let mut world = World::new(tongue);
        assert_eq!(world.seen(), ["up"]);
        world.task("gal@t1");
        world.order("gal@t1", 1);
        world.work_done();
        world.finish("gal@t1");
        assert_eq!(
            world.seen(),
            ["accepted gal@t1", "results 1 success", "ended gal@t1 completed", "device ends gal@t1"]
        );
    }
}

#[test]
fn p_44_a_device_does_one_command_after_the_other() {
    let mut world = World::new(Tongue::Plain);
    world.task("gal@t1");
    world.task("gal@t2");
    world.order("gal@t1", 1);
    world.order("gal@t2", 2);
    assert_eq!(world.work.len(), 1, "the second waits for the first");
    world.work_done();
    world.work_done();
    assert_eq!(world.seen()[3..], ["results 1 success", "results 2 success"]);
}

#[test]
fn only_one_task_waits_to_be_acknowledged_and_an_error_without_a_name_is_its() {
    let mut world = World::new(Tongue::Plain);
    world.seen();
    world.cut(0);
    world.task("gal@t1");
    assert_eq!(world.seen(), ["refused gal@t1 Target device 'dev1' is not connected"]);
    world.pass(2);
    world.task("gal@t2");
    assert_eq!(world.seen(), ["accepted gal@t2"]);
}

#[test]
fn p_46_a_device_comes_back_after_two_four_and_eight_seconds_and_counts_anew_after_success() {
    let mut line = ClientConnection::new(Pulse::default(), Backoff::device(), NOW);
    let mut now = NOW;
    for wait in [2, 4, 8] {
        assert_eq!(line.tick(now), Wants::Connect);
        line.closed(now, 0);
        assert_eq!(line.phase(), Phase::Waiting(Some(now.after(Duration::from_secs(wait)))));
        assert_eq!(line.tick(now), Wants::Nothing);
        now = now.after(Duration::from_secs(wait));
    }
    assert_eq!(line.tick(now), Wants::Connect);
    assert_eq!(line.connected(now), Wants::Register);
    assert_eq!(line.answered(true, now), Wants::Nothing);
    line.closed(now, 0);
    assert_eq!(line.phase(), Phase::Waiting(Some(now.after(Duration::from_secs(2)))));
}

#[test]
fn a_server_that_falls_silent_is_dead_within_a_heartbeat_and_its_wait() {
    let mut line = ClientConnection::new(Pulse::default(), Backoff::device(), NOW);
    let at = |seconds| NOW.after(Duration::from_secs(seconds));
    line.tick(NOW);
    line.connected(NOW);
    line.answered(true, NOW);
    assert_eq!(line.tick(at(25)), Wants::Heartbeat);
    line.heard(at(26));
    assert_eq!(line.tick(at(50)), Wants::Heartbeat);
    assert_eq!(line.next_timer(), Some(at(75)));
    assert_eq!(line.tick(at(74)), Wants::Nothing);
    assert_eq!(line.tick(at(75)), Wants::Close);
    let mut line = ClientConnection::new(Pulse::default(), Backoff::device(), NOW);
    line.connected(NOW);
    assert_eq!(line.tick(at(30)), Wants::Close, "nobody answers the register");
}

#[test]
fn p_57_whoever_is_cut_off_comes_back_and_tasks_go_on() {
    let mut world = World::new(Tongue::Plain);
    world.task("gal@t1");
    world.seen();
    world.cut(1);
    assert_eq!(world.seen(), ["hub cancels gal@t1", "down", "lost gal@t1"]);
    world.task("gal@t2");
    assert!(world.seen().iter().all(|line| !line.starts_with("refused")), "it waits for the connection");
    world.pass(2);
    assert_eq!(world.seen().last().map(String::as_str), Some("accepted gal@t2"));
}

#[test]
fn p_62_a_device_of_the_profile_goes_on_working_and_nothing_is_done_twice() {
    for done_while_away in [false, true] {
        let mut world = World::new(Tongue::Profile);
        world.task("gal@t1");
        world.order("gal@t1", 1);
        world.seen();
        world.cut(0);
        if done_while_away {
            world.work_done();
        }
        world.pass(2);
        if !done_while_away {
            world.work_done();
        }
        assert!(world.work.is_empty(), "it was told once");
        assert_eq!(world.seen(), ["results 1 success"]);
        world.finish("gal@t1");
        assert_eq!(world.seen(), ["ended gal@t1 completed", "device ends gal@t1"]);
    }
}

#[test]
fn p_62_a_command_that_was_lost_on_the_way_is_sent_again() {
    let mut world = World::new(Tongue::Profile);
    world.task("gal@t1");
    world.command("gal@t1", 1);
    world.cut(0);
    assert!(world.work.is_empty());
    world.pass(2);
    world.work_done();
    assert_eq!(world.seen().last().map(String::as_str), Some("results 1 success"));
}

#[test]
fn p_62_a_device_that_was_started_anew_is_not_told_again_what_it_may_have_done() {
    let mut world = World::new(Tongue::Profile);
    world.task("gal@t1");
    world.order("gal@t1", 1);
    world.seen();
    world.cut(0);
    world.work.clear();
    let info = Json::empty_object();
    let line = ClientConnection::new(Pulse::default(), Backoff::device(), world.now);
    world.device = Device::new("dev1".into(), "run-2".into(), Tongue::Profile, line, info, "linux".into());
    world.pass(2);
    assert!(world.work.is_empty() && world.seen().is_empty());
    world.pass(30);
    assert_eq!(world.seen(), ["hub cancels gal@t1", "ended gal@t1 failed"]);
}

#[test]
fn p_62_an_acknowledgement_that_was_lost_is_given_again_and_a_task_that_is_over_ends() {
    let mut world = World::new(Tongue::Profile);
    world.seen();
    world.ask("gal@t1");
    assert!(world.deliver(), "the task arrives, and its acknowledgement does not");
    world.cut(1);
    world.pass(2);
    assert_eq!(world.seen(), ["down", "up", "accepted gal@t1"]);
    world.ask("gal@t2");
    world.cut(1);
    world.pass(2);
    assert_eq!(world.seen(), ["down", "up", "ended gal@t2 failed"], "the server never heard of it");
}

#[test]
fn p_35_a_plain_device_that_is_cut_off_stops_what_it_does() {
    let mut world = World::new(Tongue::Plain);
    world.task("gal@t1");
    world.order("gal@t1", 1);
    world.seen();
    world.cut(0);
    world.run();
    assert_eq!(world.seen(), ["hub cancels gal@t1", "device stops", "ended gal@t1 failed"]);
}

#[test]
fn p_62_an_orchestrator_of_the_profile_cancels_by_name_and_hears_what_happened_while_it_was_away() {
    let mut world = World::new(Tongue::Profile);
    world.task("gal@t1");
    world.order("gal@t1", 1);
    world.seen();
    world.orchestrator(orchestrator::Input::Cancel { session: "gal@t1".into() });
    world.run();
    assert_eq!(world.seen(), ["hub cancels gal@t1", "device stops", "device ends gal@t1", "ended gal@t1 failed"]);
    world.task("gal@t2");
    world.cut(1);
    world.finish("gal@t2");
    world.seen();
    world.pass(2);
    assert_eq!(world.seen(), ["up", "ended gal@t2 completed"]);
}

#[test]
fn p_62_device_information_is_fresh_and_notes_are_heard() {
    let mut world = World::new(Tongue::Profile);
    world.task("gal@t1");
    world.seen();
    world.orchestrator(orchestrator::Input::AskInfo { request: "r".into() });
    world.run();
    assert_eq!(world.seen(), [r#"info {"load":1}"#]);
    let lines: Vec<Text> = vec!["half way".into()];
    world.server(server::Happening::Notes { session: "gal@t1".into(), lines });
    world.run();
    assert_eq!(world.seen(), ["notes gal@t1 half way"]);
}

#[test]
fn a_device_asks_for_a_task_it_is_told_of_and_only_for_one_at_a_time() {
    let mut world = World::new(Tongue::Plain);
    let announce = |session: &str| server::Happening::Announce {
        device: "dev1".into(),
        session: session.into(),
        task_name: "t".into(),
        request: "tidy".into(),
    };
    world.server(announce("A"));
    world.server(announce("B"));
    world.run();
    assert_eq!(world.server.sessions(), 1);
}

#[test]
fn a_stopped_client_stays_stopped() {
    let mut world = World::new(Tongue::Plain);
    world.device(device::Happening::Stop);
    world.run();
    world.pass(600);
    assert!(world.links[0].is_none());
    assert_eq!(world.device.line().next_timer(), None);
    let kinds: Vec<ClientKind> = world
        .mail
        .iter()
        .filter_map(|mail| match mail {
            Mail::ToServer(_, message) => Some(message.kind),
            Mail::ToClient(..) | Mail::Closed(_) | Mail::Connect(_) => None,
        })
        .collect();
    assert!(kinds.is_empty());
}
