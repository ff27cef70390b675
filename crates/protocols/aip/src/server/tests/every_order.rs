//! One device and one constellation, and every order of seven events: nothing is forgotten, nothing leaks, and every task ends exactly
//! once. The bound is the depth; below it nothing is left out.

use super::*;

const DEPTH: usize = 7;

#[derive(Clone)]
struct World {
    stage: Stage,
    /// Tasks the hub was given, and whether it has heard the end of each.
    open: BTreeMap<String, bool>,
    command: Option<String>,
    tongue: &'static str,
    tasks: u32,
}

impl World {
    fn new(tongue: &'static str) -> World {
        World { stage: Stage::new(), open: BTreeMap::new(), command: None, tongue, tasks: 0 }
    }

    fn live(&self) -> Option<String> {
        self.open.iter().find(|(_, over)| !**over).map(|(session, _)| session.clone())
    }

    /// Makes the `n`-th thing happen; false when it cannot.
    fn happen(&mut self, n: usize) -> bool {
        let (device, constellation) = (self.here("dev1"), self.here("gal@dev1"));
        match n {
            0 if !device => self.stage.device('D', "dev1", &self.registration()),
            1 if device => self.stage.gone('D'),
            2 if device && !constellation => self.stage.constellation('K', "gal@dev1", "dev1", &self.registration()),
            3 if constellation => self.stage.gone('K'),
            4 if constellation && device && self.live().is_none() => {
                self.tasks += 1;
                self.stage.running('K', &format!("s{}", self.tasks), "dev1");
            }
            5 => match self.live() {
                Some(session) if self.command.is_none() => {
                    self.command = Some(String::new());
                    self.stage.order(&session, 1, None);
                }
                Some(_) | None => return false,
            },
            6 => match (self.live(), self.command.clone()) {
                (Some(session), Some(response)) if device && !response.is_empty() => {
                    self.stage.results('D', &session, &response);
                }
                _ => return false,
            },
            7 => match self.live() {
                Some(session) => {
                    self.end(&session);
                    self.stage.step(Happening::Finished { session: session.into(), end: finished() });
                }
                None => return false,
            },
            8 => self.stage.pass(Duration::from_secs(31)),
            9 if device => self.stage.device('E', "dev1", &self.registration()),
            _ => return false,
        }
        self.hear();
        true
    }

    fn registration(&self) -> String {
        let sessions: Vec<String> = self.open.keys().map(|session| format!(r#""{session}":[]"#)).collect();
        format!(r#"{{"profile":"{}","resume":{{{}}}}}"#, self.tongue, sessions.join(","))
    }

    fn here(&self, id: &str) -> bool {
        self.stage.server.clients().any(|(known, _)| &**known == id)
    }

    /// A task ends once.
    fn end(&mut self, session: &str) {
        let over = self.open.get_mut(session).expect("a task that was opened");
        assert!(!std::mem::replace(over, true), "{session} ended twice");
        self.command = None;
    }

    fn hear(&mut self) {
        for out in self.stage.take() {
            match out {
                Out::Hub(text) => {
                    let mut words = text.split(' ');
                    let (verb, session) = (words.next().expect("a verb"), words.next().expect("a session").to_owned());
                    match verb {
                        "open" => assert!(self.open.insert(session, false).is_none()),
                        "cancel" => self.end(&session),
                        _ => self.command = None,
                    }
                }
                Out::Sent(_, text) if text.contains(r#""type":"command""#) => {
                    let frame = ServerMessage::decode(&Bytes::from(text), &Limits::default()).expect("a frame");
                    self.command = Some(response(&frame));
                }
                Out::Sent(..) => {}
                Out::Closed(name, _) => drop(self.stage.links.remove(&name)),
            }
        }
        self.stage.news.clear();
        self.stage.server.check();
    }

    /// Everybody leaves and time passes: nothing may be left.
    fn leave(mut self) {
        for name in ['D', 'E', 'K'] {
            self.stage.gone(name);
            self.hear();
        }
        self.stage.pass(Duration::from_secs(7000));
        self.hear();
        assert!(self.open.values().all(|over| *over), "a task did not end");
        let server = &self.stage.server;
        assert!(server.clients.len() == 0 && server.names.is_empty() && server.rivals.is_empty());
        assert!(server.sessions.is_empty() && server.gone.is_empty() && server.pulls.is_empty(), "{server:?}");
        assert!(server.timers.is_empty(), "{:?}", server.timers);
    }
}

impl Server {
    /// What is always true.
    fn check(&self) {
        for (id, role) in self.clients.iter() {
            let name = Name { role, id: id.clone() };
            let client = self.clients.named(&name).expect("just listed");
            assert_eq!(self.names.get(&client.connection), Some(&name));
            for session in client.asked.iter().chain(&client.works) {
                assert!(self.sessions.contains_key(session), "{id} has a session that is over");
            }
        }
        assert_eq!(self.names.len(), self.clients.len());
        for (id, session) in &self.sessions {
            let asker = self.asker(session).is_some_and(|asker| asker.asked.contains(id));
            let device = session.device.as_ref().and_then(|device| self.device(device));
            let works = device.is_some_and(|device| device.works.contains(id));
            assert!(asker || session.asker_away.is_some(), "nobody asked for {id}: {session:?}");
            assert!(
                works || session.device_away.is_some() || session.ended.is_some(),
                "nobody works on {id}: {session:?}"
            );
            let timed = session.pending.as_ref().is_none_or(|pending| {
                self.timers.contains(&(pending.ends, Timer::Command(id.clone(), pending.response.clone())))
            });
            assert!(timed, "a command of {id} is awaited for ever");
        }
    }
}

fn explore(world: &World, depth: usize, seen: &mut usize) {
    *seen += 1;
    if depth == 0 {
        return world.clone().leave();
    }
    for n in 0..10 {
        let mut next = world.clone();
        if next.happen(n) {
            explore(&next, depth - 1, seen);
        }
    }
}

#[test]
fn p_35_every_order_of_comings_and_goings_ends_every_task_once_and_leaves_nothing_behind() {
    let mut seen = 0;
    explore(&World::new("none"), DEPTH, &mut seen);
    assert!(seen > 5_000, "{seen}");
}

#[test]
fn p_62_every_order_of_comings_and_goings_with_sessions_that_are_taken_up_again() {
    let mut seen = 0;
    explore(&World::new("aip-1"), DEPTH, &mut seen);
    assert!(seen > 5_000, "{seen}");
}
