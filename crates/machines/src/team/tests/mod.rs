//! A [`Play`] drives a team with scripted members. It keeps a journal as the store would (bytes) and checks after every
//! append that folding it gives the live state.

mod cases;
mod ends;
mod gates;
mod outside;
mod property;
mod shown;
mod table;
mod whole;

use std::time::Duration;

use bytes::Bytes;

use super::*;
use interlingua_model::fault::FaultKind;
use interlingua_model::journal::{Entry, from_bytes, to_bytes};

const START: Time = Time(1_000);
const A: Seat = Seat(0);
const B: Seat = Seat(1);
const C: Seat = Seat(2);

struct Play {
    team: Team,
    now: Time,
    journal: Vec<(Time, Bytes)>,
    effects: Vec<Effect>,
}

fn plan(ids: &[&str]) -> TeamPlan {
    TeamPlan::new("What is the capital of France?", ids.iter().map(|id| Member::new(*id)))
}

fn abc() -> TeamPlan {
    plan(&["ann", "bob", "cid"])
}

impl Play {
    fn new(plan: TeamPlan) -> Play {
        plan.check().expect("a team that can be run");
        let record = to_bytes(&Record::Begun(Box::new(plan.clone()))).expect("bytes");
        let team = Team::begun(plan, START);
        let mut play = Play { team, now: START, journal: vec![(START, record)], effects: Vec::new() };
        play.happen(Happening::Begin);
        play
    }

    fn ruled(ids: &[&str], rules: impl FnOnce(&mut Rules)) -> Play {
        let mut plan = plan(ids);
        rules(&mut plan.rules);
        Play::new(plan)
    }

    /// Decides, appends, applies; then the journal is folded and compared.
    fn happen(&mut self, what: Happening) -> Vec<Record> {
        let decision = self.team.decide(what, self.now).expect("allowed");
        for record in &decision.records {
            self.journal.push((self.now, to_bytes(record).expect("bytes")));
            self.team.apply(record, self.now);
        }
        assert_eq!(self.replayed(), self.team, "the journal gives another state");
        self.effects = decision.effects;
        decision.records
    }

    fn replayed(&self) -> Team {
        let entries = self.journal.iter().zip(1..).map(|((at, bytes), seq)| Entry {
            seq,
            at: *at,
            record: from_bytes(bytes).expect("readable"),
        });
        fold(entries).expect("a team's journal")
    }

    fn round(&self, seat: Seat) -> u32 {
        match &self.team.place(seat).stand {
            Stand::Running(round) => round.number,
            other => panic!("{seat:?} is not running but {other:?}"),
        }
    }

    fn running(&self, seat: Seat) -> Option<&Round> {
        match &self.team.place(seat).stand {
            Stand::Running(round) => Some(round),
            _ => None,
        }
    }

    fn ready(&self, seat: Seat, what: What) -> Ready {
        Ready { seat, round: self.round(seat), what }
    }

    /// One thing of one member.
    fn one(&mut self, seat: Seat, what: What) -> Vec<Record> {
        let ready = self.ready(seat, what);
        self.happen(Happening::Ready(vec![ready]))
    }

    fn ends(&mut self, seat: Seat, calls: Vec<Workflow>) -> Vec<Record> {
        self.one(seat, ended(calls))
    }

    fn answers(&mut self, seat: Seat, text: &str) -> Vec<Record> {
        self.ends(seat, vec![answer(text)])
    }

    fn votes(&mut self, seat: Seat, choice: &str) -> Vec<Record> {
        self.ends(seat, vec![vote(choice)])
    }

    fn batch(&mut self, of: Vec<(Seat, Workflow)>) -> Vec<Record> {
        let batch = of.into_iter().map(|(seat, what)| self.ready(seat, ended(vec![what]))).collect();
        self.happen(Happening::Ready(batch))
    }

    fn fails(&mut self, seat: Seat) -> Vec<Record> {
        self.one(seat, What::Failed(Fault::hub(FaultKind::Unreachable, "no model")))
    }

    fn presents(&mut self, text: &str) -> Vec<Record> {
        self.happen(Happening::Presented(Ok(text.into())))
    }

    fn waits(&mut self, seconds: u64) -> Vec<Record> {
        self.now = self.now.after(Duration::from_secs(seconds));
        self.happen(Happening::Timer)
    }

    fn voted(&self, seat: Seat) -> Option<Seat> {
        self.team.votes().find(|(voter, _)| *voter == seat).map(|(_, vote)| vote.choice)
    }

    fn choice(&self) -> &Choice {
        match &self.team.phase {
            Phase::Presenting(choice) | Phase::Evaluating { choice, .. } => choice,
            other => panic!("nobody was chosen: {other:?}"),
        }
    }

    /// Winner, text and source of the final answer.
    fn final_answer(&self) -> (Seat, &str, Source) {
        match self.team.verdict() {
            Some(Verdict::Answer { winner, text, source, .. }) => (*winner, text, *source),
            other => panic!("no answer: {other:?}"),
        }
    }

    fn failure(&self) -> FaultKind {
        match self.team.verdict() {
            Some(Verdict::Failed(fault)) => fault.kind,
            other => panic!("no failure: {other:?}"),
        }
    }

    fn is_killed(&self, seat: Seat) -> bool {
        matches!(self.team.place(seat).stand, Stand::Killed(_))
    }

    fn started(&self) -> Vec<Seat> {
        let briefs = self.effects.iter().filter_map(|effect| match effect {
            Effect::Start(brief) => Some(brief.seat),
            _ => None,
        });
        briefs.collect()
    }

    /// The reason given with the last refusal.
    fn told(&self) -> String {
        let texts = self.effects.iter().find_map(|effect| match effect {
            Effect::Again { results, say, .. } => {
                let result = results.first().map(|(_, text)| text.to_string());
                Some(result.or_else(|| say.as_ref().map(ToString::to_string)).unwrap_or_default())
            }
            _ => None,
        });
        texts.unwrap_or_default()
    }
}

fn answer(text: &str) -> Workflow {
    Workflow::NewAnswer { content: Some(text.into()) }
}

fn vote(choice: &str) -> Workflow {
    Workflow::Vote { choice: choice.into(), reason: "it is right".into() }
}

fn ended(calls: Vec<Workflow>) -> What {
    let calls = calls.into_iter().enumerate();
    let calls = calls.map(|(index, what)| Called { id: format!("call{index}").into(), what }).collect();
    What::Ended(Turn { calls, text: "".into(), trust: Trust::Caller })
}

fn wants(call: &str) -> What {
    What::Wants { call: call.into(), tool: "search".into() }
}
