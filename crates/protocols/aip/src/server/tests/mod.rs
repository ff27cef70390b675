//! The server's rules, tested by frames: recorded exchanges, then what they leave out, then every order of a few.

mod every_order;
mod reports;
mod rules;
mod strangers;
mod traces;

use std::collections::{BTreeMap, VecDeque};

use bytes::Bytes;

use super::*;
use crate::link::{Heard, Link, Pulse};
use crate::wire::{Limits, Status};

const NOW: Time = Time(1_794_724_084_245);

/// What came out, in order.
#[derive(Debug, Clone, PartialEq)]
enum Out {
    Sent(char, String),
    Closed(char, u16),
    Hub(String),
}

/// A server, connections named by letters, and a hub that only listens.
#[derive(Clone)]
struct Stage {
    server: Server,
    links: BTreeMap<char, Link>,
    names: BTreeMap<Connection, char>,
    out: VecDeque<Out>,
    /// Devices that come and go, probes, telemetry.
    news: Vec<Effect>,
    now: Time,
    minted: u128,
    others: Vec<&'static str>,
    /// Whose frames come in, and which clients they may not see.
    sender: &'static str,
    hidden: Vec<&'static str>,
    /// How many clients they may have.
    room: Option<usize>,
}

impl Stage {
    fn new() -> Stage {
        Stage {
            server: Server::new(Rules::default()),
            links: BTreeMap::new(),
            names: BTreeMap::new(),
            out: VecDeque::new(),
            news: Vec::new(),
            now: NOW,
            minted: 0,
            others: Vec::new(),
            sender: "",
            hidden: Vec::new(),
            room: None,
        }
    }

    fn connection(name: char) -> Connection {
        Connection(u64::from(u32::from(name)))
    }

    fn link(&mut self, name: char) -> &mut Link {
        self.names.insert(Stage::connection(name), name);
        self.links.entry(name).or_insert_with(|| Link::open(Pulse::default(), self.now))
    }

    fn say(&mut self, name: char, text: &str) {
        let frame = ClientMessage::decode(&Bytes::copy_from_slice(text.as_bytes()), &Limits::default());
        let (now, mut minted) = (self.now, self.minted);
        let mut mint = || {
            minted += 1;
            minted
        };
        let heard = self.link(name).hear(frame, &mut Stamp { now, mint: &mut mint });
        self.minted = minted;
        self.heard(name, heard);
    }

    fn binary(&mut self, name: char) {
        let now = self.now;
        let heard = self.link(name).binary(&mut Stamp { now, mint: &mut || 1 });
        self.heard(name, heard);
    }

    fn heard(&mut self, name: char, heard: Heard) {
        match heard {
            Heard::Reply(frame) => self.sent(name, &frame),
            Heard::Refuse(frame, code) => {
                self.sent(name, &frame);
                self.out.push_back(Out::Closed(name, code));
            }
            Heard::Pass(message) => self.step(Happening::Frame(Stage::connection(name), message)),
            Heard::Nothing => {}
        }
    }

    /// Every frame that leaves is one JSON object that reads as what it was.
    fn sent(&mut self, name: char, frame: &ServerMessage) {
        let bytes = frame.encode();
        assert_eq!(ServerMessage::decode(&bytes, &Limits::default()).as_ref(), Ok(frame));
        self.out.push_back(Out::Sent(name, String::from_utf8(bytes.to_vec()).expect("text")));
    }

    fn step(&mut self, what: Happening) {
        let mut minted = self.minted;
        let mut mint = || {
            minted += 1;
            minted
        };
        let others = self.others.clone();
        let known = |peer: &str| others.contains(&peer);
        let hidden = self.hidden.clone();
        let clients = |_, client: &str| !hidden.contains(&client);
        let sight = Sight { sender: self.sender, others: &known, clients: &clients, room: self.room };
        let effects = self.server.step(what, sight, &mut Stamp { now: self.now, mint: &mut mint });
        self.minted = minted;
        effects.into_iter().for_each(|effect| self.effect(effect));
    }

    fn effect(&mut self, effect: Effect) {
        let name = |stage: &Stage, connection: &Connection| stage.names[connection];
        match effect {
            Effect::Send(to, frame) => self.sent(name(self, &to), &frame),
            Effect::Close(of, code) => {
                let of = name(self, &of);
                self.links.remove(&of);
                self.out.push_back(Out::Closed(of, code));
            }
            Effect::Admit(of, who) => {
                let of = name(self, &of);
                self.link(of).admit(who);
            }
            Effect::Open(asked) => {
                let Asked { session, target, task_name, .. } = *asked;
                self.out.push_back(Out::Hub(format!("open {session} {target} {task_name}")));
            }
            Effect::Cancel { session, why } => {
                let why = match why {
                    Why::Unwanted => "unwanted",
                    Why::DeviceLost => "lost",
                };
                self.out.push_back(Out::Hub(format!("cancel {session} {why}")));
            }
            Effect::Results { session, key, results, lines } => {
                let all: Vec<&str> =
                    results.iter().map(|result| result.status.as_str()).chain(lines.iter().map(|l| &**l)).collect();
                self.out.push_back(Out::Hub(format!("results {session} {key} {}", all.join(","))));
            }
            Effect::Lines { session, lines, dropped, .. } => {
                self.out.push_back(Out::Hub(format!("lines {session} {} dropped {dropped}", lines.join(","))));
            }
            Effect::Reported { session, report } => {
                let said = report.error.as_deref().or(report.result.as_ref().map(Json::as_str)).unwrap_or_default();
                self.out.push_back(Out::Hub(format!("reported {session} {} {said}", report.status.as_str())));
            }
            Effect::Describe { target, .. } => self.out.push_back(Out::Hub(format!("describe {target}"))),
            Effect::Probe(_)
            | Effect::Joined { .. }
            | Effect::Left { .. }
            | Effect::Removed { .. }
            | Effect::Telemetry { .. } => self.news.push(effect),
        }
    }

    fn gone(&mut self, name: char) {
        self.links.remove(&name);
        self.step(Happening::Closed(Stage::connection(name)));
    }

    fn pass(&mut self, span: Duration) {
        self.now = self.now.after(span);
        self.step(Happening::Tick);
    }

    /// All that came out since.
    fn take(&mut self) -> Vec<Out> {
        self.out.drain(..).collect()
    }

    /// The frames one connection got since; what else came out is dropped.
    fn frames(&mut self, name: char) -> Vec<ServerMessage> {
        let read = |text: &str| ServerMessage::decode(&Bytes::copy_from_slice(text.as_bytes()), &Limits::default());
        let taken = self.take();
        let of = taken.iter().filter_map(|out| match out {
            Out::Sent(to, text) if *to == name => Some(read(text).expect("a frame")),
            Out::Sent(..) | Out::Closed(..) | Out::Hub(_) => None,
        });
        of.collect()
    }

    fn hub(&mut self) -> Vec<String> {
        let of = |out| match out {
            Out::Hub(text) => Some(text),
            Out::Sent(..) | Out::Closed(..) => None,
        };
        self.take().into_iter().filter_map(of).collect()
    }

    fn device(&mut self, name: char, id: &str, metadata: &str) {
        self.say(name, &format!(r#"{{"type":"register","status":"ok","client_id":"{id}","metadata":{metadata}}}"#));
    }

    fn constellation(&mut self, name: char, id: &str, target: &str, metadata: &str) {
        self.say(
            name,
            &format!(
                r#"{{"type":"register","status":"ok","client_type":"constellation","client_id":"{id}","target_id":"{target}","metadata":{metadata}}}"#
            ),
        );
    }

    /// A task of a constellation, accepted by the hub.
    fn running(&mut self, name: char, session: &str, target: &str) {
        self.say(
            name,
            &format!(
                r#"{{"type":"task","status":"continue","client_type":"constellation","target_id":"{target}","session_id":"{session}","request":"x"}}"#
            ),
        );
        self.step(Happening::Accepted { session: session.into() });
    }

    fn order(&mut self, session: &str, key: u64, timeout: Option<Duration>) {
        let action = Command {
            tool_name: "ls".into(),
            parameters: None,
            tool_type: crate::wire::ToolType::Action,
            call_id: None,
        };
        let order = Order { key, agent: "A".into(), actions: vec![action], timeout };
        self.step(Happening::Command { session: session.into(), order });
    }

    fn results(&mut self, name: char, session: &str, response: &str) {
        self.say(
            name,
            &format!(
                r#"{{"type":"command_results","status":"continue","session_id":"{session}","prev_response_id":"{response}","action_results":[{{"status":"success"}}]}}"#
            ),
        );
    }
}

const PROFILE: &str = r#"{"profile":"aip-1","system_info":{"platform":"linux"}}"#;

fn finished() -> End {
    End { status: Status::Completed, error: None, result: None, messages: None, metadata: None }
}

fn response(frame: &ServerMessage) -> String {
    frame.response_id.as_deref().expect("an id").to_owned()
}
