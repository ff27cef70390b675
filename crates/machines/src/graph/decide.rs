//! Decision rules of a plan: the records and effects of a happening, given the state. They change nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::plan::{Ending, Plan, acyclic, refused};
use super::queue::Rank;
use super::{
    Calling, Decision, Edit, Effect, Graph, Happening, MAX_EDGES, MAX_EDITS, MAX_NODES, Placed, Record, Rules, State,
    Step, Want, World,
};
use interlingua_model::event::{CancelWhy, Usage};
use interlingua_model::fault::{Fault, FaultKind, Noun, Retry};
use interlingua_model::id::{NodeId, PeerId, TaskId, Time};
use interlingua_model::origin::Origin;

/// Between two attempts: one second, then twice as long each time, up to this.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

impl Decision {
    fn record(mut self, record: Record) -> Self {
        self.records.push(record);
        self
    }
}

impl Graph {
    /// The first record of a plan, if it is one, and the graph it begins.
    pub fn open(id: TaskId, plan: Plan, rules: Rules, now: Time) -> Result<(Record, Graph), Fault> {
        plan.check()?;
        let graph = Graph::accepted(id, &plan, rules, now);
        Ok((Record::Accepted { plan: Box::new(plan), rules }, graph))
    }

    /// What this leads to: records to append as one, and effects once they are safe. The only place that refuses.
    pub fn decide(&self, what: Happening, world: World<'_>) -> Result<Decision, Fault> {
        match what {
            Happening::Schedule => Ok(self.schedule(world)),
            Happening::Restarted => Ok(self.restarted()),
            Happening::Tick => Ok(self.tick(world.now)),
            Happening::Ended { node, number, ending } => self.ended(&node, number, ending, world.now),
            Happening::Spent(usage) => Ok(Self::spent_by(usage)),
            Happening::Led(origin) => Ok(self.led_by(origin)),
            Happening::Edit(edits) => self.edit_decided(edits),
            Happening::Undo => self.undo(),
            Happening::Planned { node, edits } => self.planned(node, edits),
            Happening::Cancel(why) => self.cancel(why),
        }
    }

    /// Most steps ask no model.
    fn spent_by(usage: Usage) -> Decision {
        match usage.tokens_in == 0 && usage.tokens_out == 0 && usage.micro_money == 0 {
            true => Decision::default(),
            false => Decision::default().record(Record::Spent { usage }),
        }
    }

    /// Nothing is written where nothing is added.
    fn led_by(&self, origin: Origin) -> Decision {
        let mut joined = self.led.clone().unwrap_or_else(|| origin.clone());
        joined.joins(&origin);
        if self.led.as_ref() == Some(&joined) {
            return Decision::default();
        }
        Decision::default().record(Record::Led { origin })
    }

    fn schedule(&self, world: World<'_>) -> Decision {
        if self.closed.is_some() {
            return Decision::default();
        }
        let mut placing =
            Placing { graph: self, world, given: BTreeMap::new(), placed: 0, decision: Decision::default() };
        for (_, node) in self.later.iter().take_while(|(at, _)| *at <= world.now) {
            if let Some(step) = self.steps.get(node) {
                placing.place(step);
            }
        }
        placing.rows();
        placing.decision
    }

    fn ended(&self, node: &NodeId, number: u64, ending: Ending, now: Time) -> Result<Decision, Fault> {
        let step = self.steps.get(node).ok_or_else(no_such_step)?;
        match &step.state {
            State::Running(calling) if calling.number == number => Ok(self.after(step, calling, ending, now)),
            State::Running(_) | State::Waiting | State::Ready | State::Later(_) | State::Ended(_) => {
                Err(Fault::caller(FaultKind::AlreadyFinished, format!("step {node} no longer waits for this call")))
            }
        }
    }

    /// A call came to an end: is it tried again, and may a planner think about it?
    fn after(&self, step: &Step, calling: &Calling, ending: Ending, now: Time) -> Decision {
        let node = step.node.id.clone();
        if let Ending::Failed(fault) = &ending
            && let Some(wait) = again(step, calling, fault)
        {
            return Decision::default().record(Record::Again { node, fault: fault.clone(), at: now.after(wait) });
        }
        let hold = self.rules.planner.filter(|_| self.closed.is_none()).map(|span| now.after(span));
        let effects = hold.map(|_| Effect::Plan { node: node.clone() }).into_iter().collect();
        Decision { records: vec![Record::Ended { node, ending, hold }], effects }
    }

    fn tick(&self, now: Time) -> Decision {
        if self.closed.is_none() && self.left > 0 && self.deadline.is_some_and(|deadline| deadline <= now) {
            let fault = Fault::caller(FaultKind::Deadline, "the plan's time is over");
            return self.close(Ending::Failed(fault));
        }
        let mut decision = Decision::default();
        for (_, node) in self.timeouts.iter().take_while(|(at, _)| *at <= now) {
            let Some(step) = self.steps.get(node) else { continue };
            let State::Running(calling) = &step.state else { continue };
            let fault = Fault::caller(FaultKind::Deadline, format!("step {node} did not end in time"));
            let after = self.after(step, calling, Ending::Failed(fault), now);
            decision.effects.push(Effect::Stop { node: node.clone(), number: calling.number });
            decision.records.extend(after.records);
            decision.effects.extend(after.effects);
        }
        for (node, _) in self.held.iter().filter(|(_, until)| **until <= now) {
            decision.records.push(Record::Released { node: node.clone() });
        }
        decision
    }

    fn planned(&self, node: NodeId, edits: Vec<Edit>) -> Result<Decision, Fault> {
        if !self.held.contains_key(&node) {
            return Err(Fault::caller(
                FaultKind::AlreadyFinished,
                format!("nobody waits for a plan after step {node}"),
            ));
        }
        let edited = if edits.is_empty() { Decision::default() } else { self.edit_decided(edits)? };
        Ok(edited.record(Record::Released { node }))
    }

    /// All of it or nothing: the changes are tried on a copy, which must be a plan again.
    fn edit_decided(&self, edits: Vec<Edit>) -> Result<Decision, Fault> {
        self.try_edits(&edits)?;
        Ok(Decision::default().record(Record::Edited { edits, undoes: false }))
    }

    fn undo(&self) -> Result<Decision, Fault> {
        let edits = self.undo.back().ok_or_else(|| refused("there is no edit to take back"))?.clone();
        self.try_edits(&edits)?;
        Ok(Decision::default().record(Record::Edited { edits, undoes: true }))
    }

    fn try_edits(&self, edits: &[Edit]) -> Result<(), Fault> {
        if self.closed.is_some() || self.is_over() {
            return Err(Fault::caller(FaultKind::AlreadyFinished, "the plan has ended"));
        }
        if edits.len() > MAX_EDITS {
            return Err(Fault::caller(FaultKind::TooLarge, "too many changes at once"));
        }
        let mut trial = self.clone();
        let mut touched = BTreeSet::new();
        for (index, edit) in edits.iter().enumerate() {
            trial.edit(edit, &mut touched).map_err(|fault| fault.field(format!("edits[{index}]"), "refused"))?;
        }
        if trial.steps.len() > MAX_NODES || trial.edges.len() > MAX_EDGES {
            return Err(Fault::caller(FaultKind::TooLarge, "the plan has too many steps or edges"));
        }
        acyclic(trial.steps.keys(), trial.edges.values())
    }

    fn cancel(&self, why: CancelWhy) -> Result<Decision, Fault> {
        if self.closed.is_some() || self.is_over() {
            return Err(Fault::caller(FaultKind::AlreadyFinished, "the plan has ended"));
        }
        Ok(self.close(Ending::Cancelled(why)))
    }

    fn close(&self, ending: Ending) -> Decision {
        let stop = |step: &Step| match &step.state {
            State::Running(calling) => Some(Effect::Stop { node: step.node.id.clone(), number: calling.number }),
            State::Waiting | State::Ready | State::Later(_) | State::Ended(_) => None,
        };
        Decision { effects: self.steps.values().filter_map(stop).collect(), records: vec![Record::Closed { ending }] }
    }

    /// The crash rule: whatever was called is called again under its key, and its exchange says what became of it.
    fn restarted(&self) -> Decision {
        let mut effects: Vec<Effect> = Vec::new();
        for step in self.steps.values() {
            if let State::Running(calling) = &step.state {
                effects.push(self.run(&step.node.id, calling.clone()));
            }
        }
        effects.extend(self.held.keys().map(|node| Effect::Plan { node: node.clone() }));
        Decision { records: Vec::new(), effects }
    }

    fn run(&self, node: &NodeId, calling: Calling) -> Effect {
        Effect::Run { node: node.clone(), key: self.key(calling.number), calling }
    }
}

/// How long to wait before the next attempt; `None`: there is none.
fn again(step: &Step, calling: &Calling, fault: &Fault) -> Option<Duration> {
    if step.attempts > step.node.retries {
        return None;
    }
    let doubled = Duration::from_secs(1 << step.attempts.saturating_sub(1).min(6)).min(LONGEST_WAIT);
    match fault.retry {
        Retry::No => None,
        Retry::After(wait) => Some(wait.unwrap_or(doubled)),
        Retry::IfIdempotent => (calling.repeatable || step.node.repeatable).then_some(doubled),
    }
}

fn no_such_step() -> Fault {
    Fault::caller(FaultKind::NotFound(Noun::Task), "the plan has no such step")
}

/// A round of calls being decided.
struct Placing<'a> {
    graph: &'a Graph,
    world: World<'a>,
    /// What was given away in this round.
    given: BTreeMap<PeerId, u32>,
    placed: usize,
    decision: Decision,
}

impl Placing<'_> {
    fn is_full(&self) -> bool {
        self.graph.running + self.placed >= self.graph.rules.width.max(1)
    }

    /// Row by row, the most urgent head first; a row whose peers have no room is left for this round.
    fn rows(&mut self) {
        let graph = self.graph;
        let mut heads = graph.ready.heads().peekable();
        let mut next: BTreeSet<(Rank, &Want)> = BTreeSet::new();
        while !self.is_full() {
            let from_rows = heads.peek().is_some_and(|head| next.first().is_none_or(|other| head < other));
            let Some((rank, want)) = (if from_rows { heads.next() } else { next.pop_first() }) else { return };
            let step = graph.ready.node(want, rank).and_then(|node| graph.steps.get(node));
            if step.is_some_and(|step| self.place(step))
                && let Some(behind) = graph.ready.behind(want, rank)
            {
                next.insert((behind, want));
            }
        }
    }

    /// False when those who could do it have no room.
    fn place(&mut self, step: &Step) -> bool {
        if self.is_full() {
            return false;
        }
        let (graph, given) = (self.graph, &self.given);
        let load = |peer: &PeerId| {
            graph.load.get(peer).copied().unwrap_or_default() + given.get(peer).copied().unwrap_or_default()
        };
        let node = step.node.id.clone();
        match self.world.peers.choose(&step.node.want, load) {
            Placed::Later => false,
            Placed::Nobody => {
                let text = format!("no peer that is known can do step {node}");
                self.fails(node, Fault::hub(FaultKind::Unreachable, text));
                true
            }
            Placed::With(peer) => {
                // What it needs of earlier steps is known now, and does not change any more.
                if let Err(fault) = graph.filled(step) {
                    self.fails(node, fault);
                    return true;
                }
                let why = self.world.peers.why(&step.node.want, &peer, load);
                *self.given.entry(peer.clone()).or_default() += 1;
                self.placed += 1;
                let number = graph.calls + self.placed as u64;
                let calling = Calling { number, peer, repeatable: step.node.repeatable, why };
                self.decision.effects.push(graph.run(&node, calling.clone()));
                self.decision.records.push(Record::Sent { node, calling });
                true
            }
        }
    }

    /// A step that ends without a call.
    fn fails(&mut self, node: NodeId, fault: Fault) {
        let hold = self.graph.rules.planner.map(|span| self.world.now.after(span));
        if hold.is_some() {
            self.decision.effects.push(Effect::Plan { node: node.clone() });
        }
        self.decision.records.push(Record::Ended { node, ending: Ending::Failed(fault), hold });
    }
}
