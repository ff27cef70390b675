//! A plan, its journal, and its environment.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use interlingua_machines::graph::{
    Candidate, Dependency, Edge, Edit, Effect, Ending, Graph, Happening, Node, Peers, Plan, Record, Rules, Standing,
    State, Want, World as Around, fold,
};
use interlingua_model::{CancelWhy, Entry, Fault, FaultKind, NodeId, PeerId, Retry, TaskId, Time, journal};

use crate::explore::{Broken, Model, must};

/// How often what may happen.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bound {
    pub(super) deaths: u8,
    /// A peer goes; it may always come back.
    pub(super) absences: u8,
    /// By people or by the planner.
    pub(super) edits: u8,
    pub(super) cancels: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Done,
    /// It broke, and may have done something.
    Broke,
    /// Nothing was begun.
    Busy,
}

#[derive(Debug, Clone)]
pub(super) enum What {
    Schedule,
    Ended(u64, Way),
    Timer,
    Goes,
    Comes,
    Edit(usize),
    Undo,
    Cancel,
    /// The planner has nothing to change, or something.
    Planned(NodeId),
    Plans(NodeId, usize),
    /// The planner says no more.
    Silent(NodeId),
}

/// Something happens, and the hub may die before what follows from it is done.
#[derive(Debug, Clone)]
pub(super) struct Action {
    what: What,
    dies: bool,
}

#[derive(Clone)]
pub(super) struct World {
    left: Bound,
    graph: Graph,
    peers: Peers,
    /// Calls outside that have not ended, whoever waits for them.
    outside: BTreeMap<u64, NodeId>,
    /// Calls that ended and whose end the hub may have missed.
    over: BTreeMap<u64, Way>,
    /// How often each step was called, and how often it may have been.
    called: BTreeMap<NodeId, u32>,
    again: BTreeMap<NodeId, u32>,
    thinking: BTreeSet<NodeId>,
    edited: bool,
    /// The same graph, made of what the journal holds.
    stored: Graph,
    closed: bool,
    now: Time,
}

/// What the journal holds and the times of what is past are not part of a state: what is to come does not depend on them.
impl std::fmt::Debug for World {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut graph = self.graph.clone();
        graph.updated = graph.created;
        f.debug_tuple("World").field(&self.left).field(&graph).field(&self.peers).finish()?;
        f.debug_tuple("").field(&self.outside).field(&self.over).field(&self.called).field(&self.again).finish()?;
        f.debug_tuple("").field(&self.thinking).field(&self.edited).finish()
    }
}

const PEER: &str = "dev";

fn node(id: &str) -> Node {
    Node::new(id, Want::ANYONE)
}

/// What people and planners do to a plan.
fn edits() -> Vec<Vec<Edit>> {
    let behind = |from: &str, to: &str| {
        Edit::Link(Box::new(Edge::new(format!("{from}>{to}"), from, to, Dependency::SuccessOnly)))
    };
    vec![
        vec![Edit::Add(Box::new(node("x"))), behind("a", "x")],
        vec![Edit::Remove("b".into())],
        vec![Edit::Retarget { node: "b".into(), want: Want::Peer("nobody".into()) }],
        vec![behind("b", "a")],
    ]
}

fn ending(way: Way) -> Ending {
    match way {
        Way::Done => Ending::Completed(None),
        Way::Broke => Ending::Failed(Fault::caller(FaultKind::PeerFailed, "it broke")),
        Way::Busy => {
            let retry = Retry::After(Some(Duration::from_secs(1)));
            Ending::Failed(Fault::caller(FaultKind::Busy, "later").retry(retry))
        }
    }
}

/// As it comes out of a journal.
fn stored(record: &Record) -> Record {
    let bytes = journal::to_bytes(record).expect("a record can be written");
    journal::from_bytes(&bytes).expect("and read")
}

impl World {
    pub(super) fn new(plan: Plan, rules: Rules, bound: Bound) -> World {
        let now = Time(1_000_000);
        let (record, graph) = Graph::open(TaskId(7), plan, rules, now).expect("a plan");
        let stored = fold(TaskId(7), [Entry { seq: 1, at: now, record: stored(&record) }]).expect("a journal");
        let mut peers = Peers::default();
        peers.insert(PEER, Candidate { capacity: 2, ..Candidate::default() });
        World {
            left: bound,
            graph,
            peers,
            outside: BTreeMap::new(),
            over: BTreeMap::new(),
            called: BTreeMap::new(),
            again: BTreeMap::new(),
            thinking: BTreeSet::new(),
            edited: false,
            stored,
            closed: false,
            now,
        }
    }

    fn peer(&mut self) -> &mut Candidate {
        self.peers.get_mut(&PeerId::from(PEER)).expect("the peer")
    }

    fn is_here(&self) -> bool {
        self.peers.get(&PeerId::from(PEER)).is_some_and(|peer| peer.available)
    }

    fn decide(&self, what: Happening) -> Result<interlingua_machines::graph::Decision, Fault> {
        self.graph.decide(what, Around { now: self.now, peers: &self.peers })
    }

    /// Decided, appended, applied; then done, unless the hub dies first.
    fn happen(&mut self, what: Happening, dies: bool) -> Result<Took, Broken> {
        let Ok(decision) = self.decide(what) else { return Ok(Took::Refused) };
        let before = self.graph.clone();
        for record in decision.records {
            if let Record::Again { node, .. } = &record {
                *self.again.entry(node.clone()).or_default() += 1;
            }
            self.closed |= matches!(record, Record::Closed { .. });
            self.graph.apply(&record, self.now);
            self.stored.apply(&stored(&record), self.now);
        }
        self.look(&before)?;
        if dies {
            self.thinking.clear();
            self.graph = self.stored.clone();
            let restarted = self.decide(Happening::Restarted).expect("a restart is never refused");
            must!(restarted.records.is_empty(), "a restart writes nothing down");
            return self.perform(restarted.effects).map(|()| Took::Effect);
        }
        self.perform(decision.effects).map(|()| Took::Effect)
    }

    fn perform(&mut self, effects: Vec<Effect>) -> Result<(), Broken> {
        for effect in effects {
            match effect {
                Effect::Run { node, calling, key } => {
                    must!(key == self.graph.key(calling.number), "a call has a strange key");
                    let known = self.outside.get(&calling.number);
                    must!(known.is_none_or(|other| *other == node), "two steps under one key");
                    // A key that was used before leads to the exchange that has it.
                    if known.is_none() && !self.over.contains_key(&calling.number) {
                        self.outside.insert(calling.number, node.clone());
                        *self.called.entry(node).or_default() += 1;
                    }
                }
                Effect::Stop { number, .. } => drop(self.outside.remove(&number)),
                Effect::Plan { node } => drop(self.thinking.insert(node)),
            }
        }
        let running = self.running();
        let waited = |number: &u64| self.outside.contains_key(number) || self.over.contains_key(number);
        must!(running.keys().all(waited), "a step runs and nobody calls it");
        for (node, count) in &self.called {
            let may = 1 + self.again.get(node).copied().unwrap_or_default();
            must!(*count <= may, "{node} was called {count} times and may be {may} times");
        }
        Ok(())
    }

    fn running(&self) -> BTreeMap<u64, NodeId> {
        let calling = |step: &interlingua_machines::graph::Step| match &step.state {
            State::Running(calling) => Some((calling.number, step.node.id.clone())),
            State::Waiting | State::Ready | State::Later(_) | State::Ended(_) => None,
        };
        self.graph.steps().filter_map(calling).collect()
    }

    fn look(&self, before: &Graph) -> Result<(), Broken> {
        must!(self.stored == self.graph, "the journal tells something else");
        must!(self.running().len() <= self.graph.rules.width, "too much runs at once");
        for step in before.steps() {
            let State::Ended(ended) = &step.state else { continue };
            let after = self.graph.step(&step.node.id).map(|step| &step.state);
            must!(after == Some(&State::Ended(ended.clone())), "{} ended otherwise", step.node.id);
        }
        Ok(())
    }

    fn what(&self) -> Vec<What> {
        let mut out = Vec::new();
        if self.decide(Happening::Schedule).is_ok_and(|decision| !decision.records.is_empty()) {
            out.push(What::Schedule);
        }
        for number in self.running().keys().filter(|number| self.outside.contains_key(number)) {
            out.extend([Way::Done, Way::Broke, Way::Busy].map(|way| What::Ended(*number, way)));
        }
        // One whose end was missed tells it again, the same.
        let missed = self.over.iter().filter(|(number, _)| self.running().contains_key(number));
        out.extend(missed.map(|(number, way)| What::Ended(*number, *way)));
        out.extend(self.graph.next_timer(self.now).map(|_| What::Timer));
        match self.is_here() {
            false => out.push(What::Comes),
            true => out.extend((self.left.absences > 0).then_some(What::Goes)),
        }
        for node in &self.thinking {
            out.extend([What::Planned(node.clone()), What::Silent(node.clone())]);
            if self.left.edits > 0 {
                out.extend((0..edits().len()).map(|edit| What::Plans(node.clone(), edit)));
            }
        }
        if self.left.edits > 0 {
            out.extend((0..edits().len()).map(What::Edit));
        }
        out.extend(self.edited.then_some(What::Undo));
        out.extend((self.left.cancels > 0).then_some(What::Cancel));
        out
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Took {
    Effect,
    /// Nothing was changed.
    Refused,
}

impl Model for World {
    type Action = Action;

    fn actions(&self) -> Vec<Action> {
        if self.graph.is_over() {
            return Vec::new();
        }
        let outside = |what: &What| !matches!(what, What::Goes | What::Comes | What::Silent(_));
        let mut out = Vec::new();
        for what in self.what() {
            if self.left.deaths > 0 && outside(&what) {
                out.push(Action { what: what.clone(), dies: true });
            }
            out.push(Action { what, dies: false });
        }
        out
    }

    fn act(&mut self, action: &Action) -> Result<(), Broken> {
        let Action { what, dies } = action.clone();
        if dies {
            self.left.deaths -= 1;
        }
        match what {
            What::Schedule => self.happen(Happening::Schedule, dies)?,
            What::Ended(number, way) => {
                let node = self.running().remove(&number).expect("it runs");
                self.outside.remove(&number);
                self.over.insert(number, way);
                self.happen(Happening::Ended { node, number, ending: ending(way) }, dies)?
            }
            What::Timer => {
                self.now = self.graph.next_timer(self.now).expect("a timer");
                self.happen(Happening::Tick, dies)?
            }
            What::Goes => {
                self.left.absences -= 1;
                self.peer().available = false;
                Took::Effect
            }
            What::Comes => {
                self.peer().available = true;
                Took::Effect
            }
            What::Edit(which) => {
                self.left.edits -= 1;
                let took = self.happen(Happening::Edit(edits().swap_remove(which)), dies)?;
                self.edited |= took == Took::Effect;
                took
            }
            What::Undo => {
                self.edited = false;
                self.happen(Happening::Undo, dies)?
            }
            What::Cancel => {
                self.left.cancels -= 1;
                self.happen(Happening::Cancel(CancelWhy::Asked), dies)?
            }
            What::Planned(node) => {
                self.thinking.remove(&node);
                self.happen(Happening::Planned { node, edits: Vec::new() }, dies)?
            }
            What::Plans(node, which) => {
                self.left.edits -= 1;
                self.thinking.remove(&node);
                self.happen(Happening::Planned { node, edits: edits().swap_remove(which) }, dies)?
            }
            What::Silent(node) => {
                self.thinking.remove(&node);
                Took::Effect
            }
        };
        Ok(())
    }

    fn now(&self) -> Time {
        self.now
    }

    fn at_rest(&self) -> Result<(), Broken> {
        must!(self.graph.is_over(), "nothing can happen, and the plan is not over");
        must!(!matches!(self.graph.standing(), Standing::Ready | Standing::Running), "it is over and runs");
        must!(self.running().is_empty(), "it is over and something runs");
        for step in self.graph.steps() {
            let State::Ended(ending) = &step.state else { return Err(format!("{} has not ended", step.node.id)) };
            let (mut incoming, _) = self.graph.around(step);
            let passes = incoming.all(|edge| self.graph.verdict(edge) == Some(true));
            let skipped = *ending == Ending::Cancelled(CancelWhy::EarlierFailed);
            must!(self.closed || skipped != passes, "{} ended as {ending:?} against its edges", step.node.id);
            let called = self.called.get(&step.node.id).copied().unwrap_or_default();
            must!(called <= 1 + step.node.retries, "{} was called {called} times", step.node.id);
        }
        Ok(())
    }
}
