//! A [`Walk`] drives a run with scripted answers and results. It keeps a journal as the store would (bytes) and checks after
//! every append that folding it gives the live state.

mod acting;
mod context;
mod crash;
mod ends;
mod trust;

use std::time::Duration;

use bytes::Bytes;

use super::*;
use crate::llm::{self, Arguments, Failure, FailureKind, Offered, Stop, Tokens};
use interlingua_model::call::ClientTool;
use interlingua_model::card::{CardFrom, Effects, Skill, SkillKind};
use interlingua_model::content::Provenance;
use interlingua_model::event::Outcome;
use interlingua_model::fault::{Fault, FaultKind};
use interlingua_model::journal::{self, Entry, from_bytes, to_bytes};
use interlingua_model::transcript::Transcript;
use interlingua_model::{Consent, Consents};

const START: Time = Time(1_000);
const READS: Effects = Effects::reads_only(CardFrom::Configuration);

struct Walk {
    run: Run,
    now: Time,
    journal: Vec<Bytes>,
    effects: Vec<Effect>,
    emitted: Vec<Event>,
}

fn skill(id: &str, effects: Effects) -> Skill {
    let id: SkillId = id.parse().expect("peer/skill");
    Skill::new(id, SkillKind::Tool, "does things", Schema(Json::empty_object()), effects)
}

fn writes() -> Effects {
    Effects { writes: true, idempotent: false, ..READS }
}

fn destroys() -> Effects {
    Effects { writes: true, destroys: true, idempotent: false, ..READS }
}

/// Reads, writes and deletes files; writing goes without asking.
fn plan() -> Plan {
    let skills = [skill("files/read", READS), skill("files/write", writes()), skill("files/delete", destroys())];
    let mut plan = Plan::new("ann", "You keep files in order.");
    plan.tools = offer(&skills, |_| true);
    plan.consent.writes = Consent::Allow;
    plan
}

/// A tool that whoever calls the agent runs.
fn look() -> Offered {
    Offered { name: "look".into(), description: "Looks there.".into(), input: Schema(Json::empty_object()) }
}

fn user(text: &str) -> Message {
    Message::User(vec![Part::text(text, Provenance::caller())])
}

impl Walk {
    fn new(plan: Plan) -> Walk {
        Walk::after(plan, vec![user("tidy up")])
    }

    fn with(change: impl FnOnce(&mut Plan)) -> Walk {
        let mut plan = plan();
        change(&mut plan);
        Walk::new(plan)
    }

    fn after(plan: Plan, messages: Vec<Message>) -> Walk {
        let record = Record::Begun { plan: Box::new(plan.clone()), messages: messages.clone() };
        let journal = vec![to_bytes(&record).expect("bytes")];
        let run = Run::begun(plan, messages, START);
        let mut walk = Walk { run, now: START, journal, effects: Vec::new(), emitted: Vec::new() };
        walk.happen(Happening::Begin);
        walk
    }

    fn happen(&mut self, what: Happening) -> Vec<Record> {
        let decision = self.run.decide(what, self.now).expect("allowed");
        for record in &decision.records {
            self.journal.push(to_bytes(record).expect("bytes"));
            self.run.apply(record);
        }
        assert_eq!(self.replayed(), self.run, "the journal gives another state");
        self.emitted.extend(decision.effects.iter().filter_map(|effect| match effect {
            Effect::Emit(event) => Some(event.clone()),
            _ => None,
        }));
        self.effects = decision.effects;
        decision.records
    }

    fn replayed(&self) -> Run {
        let entries = self.journal.iter().zip(1..).map(|(bytes, seq)| Entry {
            seq,
            at: START,
            record: from_bytes(bytes).expect("readable"),
        });
        fold(entries).expect("a run's journal")
    }

    /// The model says this, in words as it would stream them.
    fn says(&mut self, text: &str) -> Vec<Record> {
        for word in text.split_inclusive(' ') {
            let heard = self.run.hear(&llm::Event::Text(word.into()));
            self.emitted.extend(heard);
        }
        self.replies(reply(text, vec![]))
    }

    fn calls(&mut self, calls: Vec<ToolCall>) -> Vec<Record> {
        self.replies(reply("", calls))
    }

    fn replies(&mut self, reply: Reply) -> Vec<Record> {
        self.happen(Happening::Replied(Box::new(reply)))
    }

    fn returns(&mut self, call: &str, text: &str) -> Vec<Record> {
        self.returns_from(call, text, Trust::Peer)
    }

    fn returns_from(&mut self, call: &str, text: &str, trust: Trust) -> Vec<Record> {
        let provenance = Provenance { trust, ..Provenance::peer("files".into()) };
        let parts = vec![Part::text(text, provenance)];
        let result = ToolResult { parts, failed: false, usage: Usage::default() };
        self.happen(Happening::Returned { call: call.into(), result })
    }

    fn prompt(&self) -> &Prompt {
        match self.effects.last() {
            Some(Effect::Think(prompt)) => prompt,
            other => panic!("the model was not asked: {other:?}"),
        }
    }

    /// The calls that were begun: id and whether a human is asked.
    fn begun(&self) -> Vec<(&str, bool)> {
        let calls = self.effects.iter().filter_map(|effect| match effect {
            Effect::Call(calling) => Some((&*calling.call, calling.confirm)),
            _ => None,
        });
        calls.collect()
    }

    fn outcome(&self) -> &Outcome {
        &self.run.finished().expect("it has ended").outcome
    }

    fn failure(&self) -> FaultKind {
        match self.outcome() {
            Outcome::Failed(fault) => fault.kind,
            other => panic!("it did not fail: {other:?}"),
        }
    }

    /// The whole answer as whoever listened has it.
    fn heard(&self) -> String {
        let finished = self.run.finished().expect("it has ended");
        let mut transcript = Transcript::default();
        for event in &self.emitted {
            transcript.push(&journal::Record::emitted(event.clone())).expect("it fits");
        }
        let parts = transcript.whole(finished).output.parts;
        parts.iter().filter_map(|part| part.as_text()).collect()
    }

    /// The last result the model reads for this call.
    fn result(&self, id: &str) -> (String, bool) {
        let found = self.run.messages.iter().rev().find_map(|message| match &**message {
            Message::Tool { call, parts, failed, .. } if &**call == id => {
                Some((parts.iter().filter_map(|part| part.as_text()).collect(), *failed))
            }
            _ => None,
        });
        found.expect("it has returned")
    }
}

fn reply(text: &str, calls: Vec<ToolCall>) -> Reply {
    let stop = if calls.is_empty() { Stop::Done } else { Stop::Tools };
    let tokens = Some(Tokens { read: 10, written: 5 });
    Reply { text: text.into(), reasoning: "".into(), calls, stop, tokens }
}

fn call(id: &str, name: &str) -> ToolCall {
    ToolCall { id: id.into(), name: name.into(), args: Arguments::Object(Json::empty_object()) }
}

fn read(id: &str) -> ToolCall {
    call(id, "files__read")
}
