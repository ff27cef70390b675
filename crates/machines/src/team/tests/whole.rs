//! The three-agent example as a whole, without any I/O: scripted models, agents that use tools, and the team. Then the same
//! with everything thrown away and folded from the journals after every single step.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::*;
use crate::agent::{self, Calling, Run, ToolResult};
use crate::llm::script::{Script, Step, Used};
use crate::llm::{Assembler, Prompt, Reply};
use interlingua_model::card::{CardFrom, Effects, Schema, Skill, SkillKind};
use interlingua_model::content::{Part, Provenance};
use interlingua_model::id::SkillId;
use interlingua_model::json::Json;

const IDS: [&str; 3] = ["nlip_agent_0", "nlip_agent_1", "nlip_agent_2"];

/// One run of an agent, named by what it was begun for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Name {
    Round(Seat, u32),
    Presenting(Seat),
}

impl Name {
    fn seat(self) -> Seat {
        match self {
            Name::Round(seat, _) | Name::Presenting(seat) => seat,
        }
    }
}

/// What the outside still has to do.
enum Todo {
    Think(Name, Box<Prompt>),
    Call(Name, Box<Calling>),
}

struct World {
    team: Play,
    runs: BTreeMap<Name, (Run, Vec<Bytes>)>,
    scripts: BTreeMap<String, Script>,
    todo: VecDeque<Todo>,
    /// Calls that reached the tool, by their derived id: the hub hands back the exchange there is.
    done: BTreeSet<String>,
    noted: u32,
}

fn member(seat: Seat) -> agent::Plan {
    let note = Effects { writes: true, idempotent: false, ..Effects::reads_only(CardFrom::Configuration) };
    let skill = |name: &str, effects| {
        Skill::new(SkillId::new("books", name), SkillKind::Tool, "", Schema(Json::empty_object()), effects)
    };
    let skills = [skill("read", Effects::reads_only(CardFrom::Configuration)), skill("note", note)];
    let mut plan = agent::Plan::new(IDS[seat.0], "You look at problems from your side.");
    plan.tools = agent::offer(&skills, |_| true);
    plan
}

impl World {
    fn new() -> World {
        let scripts = include_str!("../../../../../fixtures/models/three_agents.json");
        let members = IDS.into_iter().map(Member::new);
        let mut world = World {
            team: Play::new(TeamPlan::new("Analyze this complex problem from multiple angles", members)),
            runs: BTreeMap::new(),
            scripts: serde_json::from_str(scripts).expect("scripts"),
            todo: VecDeque::new(),
            done: BTreeSet::new(),
            noted: 0,
        };
        world.team_effects();
        world
    }

    fn team_effects(&mut self) {
        for effect in std::mem::take(&mut self.team.effects) {
            match effect {
                Effect::Start(brief) => {
                    let (plan, messages) = seated(&member(brief.seat), &brief);
                    self.begin(Name::Round(brief.seat, brief.round), plan, messages);
                }
                Effect::Present(presentation) => {
                    let (plan, messages) = presenting(&member(presentation.seat), &presentation);
                    self.begin(Name::Presenting(presentation.seat), plan, messages);
                }
                Effect::Again { seat, round, results, say } => {
                    self.agent(Name::Round(seat, round), agent::Happening::SentBack { results, say });
                }
                Effect::Tell { seat, round, parts } => {
                    self.agent(Name::Round(seat, round), agent::Happening::Told(parts));
                }
                Effect::Stop { seat, round } => {
                    let name = Name::Round(seat, round);
                    self.runs.remove(&name);
                    self.todo.retain(|todo| !matches!(todo, Todo::Think(of, _) | Todo::Call(of, _) if *of == name));
                }
                Effect::Permit { .. } | Effect::Forward { .. } | Effect::Snapshot(_) | Effect::Finish(_) => {}
                Effect::Deny { .. } | Effect::Evaluate(_) => panic!("not in this example"),
            }
        }
    }

    /// A run that is there already is taken up, not begun.
    fn begin(&mut self, name: Name, plan: agent::Plan, messages: Vec<crate::llm::Message>) {
        if self.runs.contains_key(&name) {
            return;
        }
        let record = agent::Record::Begun { plan: Box::new(plan.clone()), messages: messages.clone() };
        let journal = vec![to_bytes(&record).expect("bytes")];
        self.runs.insert(name, (Run::begun(plan, messages, START), journal));
        self.agent(name, agent::Happening::Begin);
    }

    fn agent(&mut self, name: Name, what: agent::Happening) {
        let Some((run, journal)) = self.runs.get_mut(&name) else { return };
        let decision = run.decide(what, START).expect("allowed");
        for record in &decision.records {
            journal.push(to_bytes(record).expect("bytes"));
            run.apply(record);
        }
        self.agent_effects(name, decision.effects);
    }

    fn agent_effects(&mut self, name: Name, effects: Vec<agent::Effect>) {
        for effect in effects {
            match (effect, name) {
                (agent::Effect::Think(prompt), _) => self.todo.push_back(Todo::Think(name, prompt)),
                (agent::Effect::Call(calling), _) => self.todo.push_back(Todo::Call(name, calling)),
                (agent::Effect::Decided { calls, text, trust }, Name::Round(seat, round)) => {
                    let what = What::Ended(Turn::of(&calls, &text, trust));
                    self.tell_team(Happening::Ready(vec![Ready { seat, round, what }]));
                }
                (agent::Effect::Finish(_), Name::Presenting(_)) => {
                    let text = self.runs[&name].0.last_said.as_ref().map(|last| last.text.clone());
                    self.tell_team(Happening::Presented(Ok(text.unwrap_or_default())));
                }
                (agent::Effect::Emit(_) | agent::Effect::Finish(_), _) => {}
                (other, _) => panic!("not in this example: {other:?}"),
            }
        }
    }

    fn tell_team(&mut self, what: Happening) {
        if self.team.team.verdict().is_none() {
            self.team.happen(what);
            self.team_effects();
        }
    }

    fn step(&mut self) {
        match self.todo.pop_front() {
            None => panic!("nothing to do, and no verdict: {:?}", self.team.team.phase),
            Some(Todo::Think(name, prompt)) => {
                let reply = self.speak(name.seat(), &prompt);
                self.agent(name, agent::Happening::Replied(Box::new(reply)));
            }
            Some(Todo::Call(name, calling)) => self.call(name, &calling),
        }
    }

    fn speak(&self, seat: Seat, prompt: &Prompt) -> Reply {
        let mut assembler = Assembler::default();
        let script = &self.scripts[IDS[seat.0]];
        for step in script.next(&mut Used::default(), prompt).expect("a reply for every prompt") {
            if let Step::Event(event) = step {
                assembler.push(&event);
            }
        }
        assembler.finish().expect("whole")
    }

    /// First the team is asked, then the tool; news is told before the result is read.
    fn call(&mut self, name: Name, calling: &Calling) {
        let Name::Round(seat, round) = name else { panic!("the presenter calls nothing here") };
        let ready = |what| Happening::Ready(vec![Ready { seat, round, what }]);
        let tool = calling.skill.to_string();
        self.team.happen(ready(What::Wants { call: calling.call.clone(), tool: tool.into() }));
        assert!(matches!(self.team.effects[..], [Effect::Permit { .. }]));
        let task = interlingua_model::id::TaskId(u128::from(round));
        let id = agent::child(task, calling.turn, calling.index).to_string();
        let is_note = calling.skill.skill.as_str() == "note";
        if self.done.insert(id) && is_note {
            self.noted += 1;
        }
        self.tell_team(ready(What::Returned));
        let text = if is_note { "noted" } else { "The ledger says 42." };
        let parts = vec![Part::text(text, Provenance::peer("books".into()))];
        let result = ToolResult { parts, failed: false, usage: Usage::default() };
        self.agent(name, agent::Happening::Returned { call: calling.call.clone(), result });
    }

    /// Everything is forgotten but the journals. Runs are taken up before the team, which then finds them there.
    fn crash(&mut self) {
        self.todo.clear();
        for (run, journal) in self.runs.values_mut() {
            let entries = journal.iter().zip(1..).map(|(bytes, seq)| Entry {
                seq,
                at: START,
                record: from_bytes(bytes).expect("readable"),
            });
            let folded = agent::fold(entries).expect("a run's journal");
            assert_eq!(&folded, run);
            *run = folded;
        }
        self.team.team = self.team.replayed();
        let resumed: Vec<(Name, Vec<agent::Effect>)> =
            self.runs.iter().map(|(name, (run, _))| (*name, run.resume())).collect();
        for (name, effects) in resumed {
            self.agent_effects(name, effects);
        }
        self.team.effects = self.team.team.resume();
        self.team_effects();
    }

    fn run(&mut self, crash_after: Option<usize>) -> usize {
        for step in 0..100 {
            if self.team.team.verdict().is_some() {
                return step;
            }
            self.step();
            if crash_after == Some(step) {
                self.crash();
            }
        }
        panic!("it does not end");
    }
}

#[test]
fn three_scripted_agents_answer_improve_and_vote() {
    let mut world = World::new();
    world.run(None);
    assert_eq!(world.team.final_answer(), (B, "Cost, risk and time, weighed together.", Source::Presented));
    assert_eq!(world.noted, 1);
    let answers: Vec<(Seat, u32)> = world.team.team.answers.iter().map(|given| (given.seat, given.revision)).collect();
    assert_eq!(answers.len(), 4, "{answers:?}");
    let first = world.team.team.answers.iter().find(|given| given.seat == A).expect("an answer");
    assert_eq!(first.trust, Trust::Peer, "it was made of what a tool had returned");
}

#[test]
fn killed_after_any_step_it_comes_to_the_same_end_and_repeats_no_call() {
    let steps = World::new().run(None);
    assert!(steps > 8, "{steps}");
    for step in 0..steps {
        let mut world = World::new();
        world.run(Some(step));
        assert_eq!(
            world.team.final_answer(),
            (B, "Cost, risk and time, weighed together.", Source::Presented),
            "killed after step {step}"
        );
        assert_eq!(world.noted, 1, "killed after step {step}");
    }
}
