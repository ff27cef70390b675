//! Folds appended records into the state of a plan (event sourcing), with what follows from them by rule. This cannot fail.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::plan::{Edge, Ending, Node, Plan};
use super::queue::{Queue, Rank};
use super::{Calling, Change, Graph, MAX_UNDO, Record, Rules, State, Step};
use interlingua_model::event::{CancelWhy, Usage};
use interlingua_model::id::{NodeId, TaskId, Time};
use interlingua_model::journal::Entry;

/// A journal that does not begin as a graph's must.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a graph's journal must begin with the accepted plan")]
pub struct Damaged;

/// The state after these entries.
pub fn fold(id: TaskId, entries: impl IntoIterator<Item = Entry<Record>>) -> Result<Graph, Damaged> {
    let mut entries = entries.into_iter();
    let first = entries.next().ok_or(Damaged)?;
    let Record::Accepted { plan, rules } = first.record else { return Err(Damaged) };
    let mut graph = Graph::accepted(id, &plan, rules, first.at);
    for entry in entries {
        graph.apply(&entry.record, entry.at);
    }
    Ok(graph)
}

impl Graph {
    /// The state after `Accepted`.
    pub(super) fn accepted(id: TaskId, plan: &Plan, rules: Rules, at: Time) -> Graph {
        let mut graph = Graph {
            id,
            name: plan.name.clone(),
            meta: plan.meta.clone(),
            rules,
            deadline: plan.deadline,
            created: at,
            updated: at,
            steps: BTreeMap::new(),
            edges: BTreeMap::new(),
            ready: Queue::default(),
            later: BTreeSet::new(),
            timeouts: BTreeSet::new(),
            held: BTreeMap::new(),
            load: BTreeMap::new(),
            running: 0,
            left: 0,
            calls: 0,
            added: 0,
            undo: VecDeque::new(),
            closed: None,
            led: None,
            spent: Usage::default(),
        };
        plan.nodes.iter().for_each(|node| graph.add(node.clone()));
        plan.edges.iter().for_each(|edge| graph.link(edge.clone()));
        for (node, ending) in &plan.ended {
            if let Some(step) = graph.steps.get_mut(node) {
                step.state = State::Ended(ending.clone());
                graph.left = graph.left.saturating_sub(1);
            }
        }
        let all: BTreeSet<NodeId> = graph.steps.keys().cloned().collect();
        graph.settle(all, at);
        graph
    }

    /// Takes a record that stands in the journal, and tells what changed.
    pub fn apply(&mut self, record: &Record, at: Time) -> Vec<Change> {
        self.updated = at;
        let was_over = self.is_over();
        let mut changes = match record {
            Record::Accepted { .. } => Vec::new(),
            Record::Sent { node, calling } => self.sent(node, calling, at),
            Record::Again { node, at: due, .. } => self.again(node, *due),
            Record::Ended { node, ending, hold } => {
                if let Some(until) = hold {
                    self.held.insert(node.clone(), *until);
                }
                self.end(node, ending, at)
            }
            Record::Released { node } => {
                self.held.remove(node);
                self.follow(VecDeque::from([node.clone()]), at)
            }
            Record::Edited { edits, undoes } => {
                let mut touched = BTreeSet::new();
                let mut inverse = Vec::new();
                for edit in edits {
                    inverse.extend(self.edit(edit, &mut touched).unwrap_or_default().into_iter().rev());
                }
                inverse.reverse();
                self.remember(inverse, *undoes);
                let mut changes = vec![Change::Shape];
                changes.extend(self.settle(touched, at));
                changes
            }
            Record::Closed { ending } => self.close_all(ending, at),
            Record::Led { origin } => {
                self.led.get_or_insert_with(|| origin.clone()).joins(origin);
                Vec::new()
            }
            Record::Spent { usage } => {
                self.spent.tokens_in = self.spent.tokens_in.saturating_add(usage.tokens_in);
                self.spent.tokens_out = self.spent.tokens_out.saturating_add(usage.tokens_out);
                self.spent.micro_money = self.spent.micro_money.saturating_add(usage.micro_money);
                Vec::new()
            }
        };
        if !was_over && self.is_over() {
            changes.push(Change::Over(self.standing()));
        }
        changes
    }

    fn remember(&mut self, inverse: Vec<super::Edit>, undoes: bool) {
        if undoes {
            self.undo.pop_back();
            return;
        }
        if self.undo.len() >= MAX_UNDO {
            self.undo.pop_front();
        }
        self.undo.push_back(inverse);
    }

    fn sent(&mut self, node: &NodeId, calling: &Calling, at: Time) -> Vec<Change> {
        self.calls = self.calls.max(calling.number);
        let Some(step) = self.steps.get_mut(node) else { return Vec::new() };
        let rank = step.rank();
        step.until = step.node.timeout.map(|span| at.after(span));
        step.attempts += 1;
        step.started = step.started.or(Some(at));
        step.placed = Some((calling.peer.clone(), calling.why.clone()));
        let before = std::mem::replace(&mut step.state, State::Running(calling.clone()));
        match before {
            State::Later(due) => drop(self.later.remove(&(due, node.clone()))),
            State::Waiting | State::Ready | State::Running(_) | State::Ended(_) => {
                self.ready.remove(&step.node.want, rank);
            }
        }
        self.running += 1;
        *self.load.entry(calling.peer.clone()).or_default() += 1;
        if let Some(until) = step.until {
            self.timeouts.insert((until, node.clone()));
        }
        self.told(node)
    }

    fn again(&mut self, node: &NodeId, due: Time) -> Vec<Change> {
        self.leave(node);
        if let Some(step) = self.steps.get_mut(node) {
            step.state = State::Later(due);
            self.later.insert((due, node.clone()));
        }
        self.told(node)
    }

    /// Takes a step out of whichever place its state has it in.
    pub(super) fn leave(&mut self, node: &NodeId) {
        let Some(step) = self.steps.get(node) else { return };
        match &step.state {
            State::Ready => self.ready.remove(&step.node.want, step.rank()),
            State::Later(due) => drop(self.later.remove(&(*due, node.clone()))),
            State::Running(calling) => {
                self.running = self.running.saturating_sub(1);
                if let Some(load) = self.load.get_mut(&calling.peer) {
                    *load -= 1;
                    if *load == 0 {
                        self.load.remove(&calling.peer);
                    }
                }
                if let Some(until) = step.until {
                    self.timeouts.remove(&(until, node.clone()));
                }
            }
            State::Waiting | State::Ended(_) => {}
        }
    }

    fn end(&mut self, node: &NodeId, ending: &Ending, at: Time) -> Vec<Change> {
        if !self.finish(node, ending, at) {
            return Vec::new();
        }
        let mut changes = self.told(node);
        changes.extend(self.follow(VecDeque::from([node.clone()]), at));
        changes
    }

    /// False when it had ended before.
    fn finish(&mut self, node: &NodeId, ending: &Ending, at: Time) -> bool {
        if self.steps.get(node).is_none_or(|step| matches!(step.state, State::Ended(_))) {
            return false;
        }
        self.leave(node);
        if let Some(step) = self.steps.get_mut(node) {
            step.state = State::Ended(ending.clone());
            step.ended = Some(at);
        }
        self.left = self.left.saturating_sub(1);
        true
    }

    /// What follows from steps that ended: whoever waited for nothing else is ready, whoever waited for something else is
    /// skipped, and so on behind them.
    fn follow(&mut self, mut ended: VecDeque<NodeId>, at: Time) -> Vec<Change> {
        let mut changes = Vec::new();
        while let Some(node) = ended.pop_front() {
            let Some(step) = self.steps.get(&node).filter(|_| !self.held.contains_key(&node)) else { continue };
            let State::Ended(ending) = &step.state else { continue };
            let behind: Vec<(NodeId, bool)> = step
                .outgoing
                .iter()
                .filter_map(|id| self.edges.get(id))
                .map(|edge| (edge.to.clone(), edge.passes(ending)))
                .collect();
            for (next, passes) in behind {
                let Some(step) = self.steps.get_mut(&next) else { continue };
                step.open = step.open.saturating_sub(1);
                if step.state != State::Waiting {
                    continue;
                }
                if !passes {
                    self.finish(&next, &Ending::Cancelled(CancelWhy::EarlierFailed), at);
                    changes.extend(self.told(&next));
                    ended.push_back(next);
                } else if step.open == 0 {
                    self.make_ready(&next);
                    changes.extend(self.told(&next));
                }
            }
        }
        changes
    }

    fn make_ready(&mut self, node: &NodeId) {
        if let Some(step) = self.steps.get_mut(node) {
            step.state = State::Ready;
            self.ready.insert(&step.node.want, step.rank(), node.clone());
        }
    }

    /// Works out anew where steps stand whose edges changed, and those behind whoever is skipped by it.
    fn settle(&mut self, touched: BTreeSet<NodeId>, at: Time) -> Vec<Change> {
        let mut changes = Vec::new();
        let mut work: VecDeque<NodeId> = touched.into_iter().collect();
        while let Some(node) = work.pop_front() {
            let Some(step) = self.steps.get(&node).filter(|step| step.is_open()) else { continue };
            let (mut open, mut blocked) = (0, false);
            for edge in step.incoming.iter().filter_map(|id| self.edges.get(id)) {
                match self.verdict(edge) {
                    None => open += 1,
                    Some(passes) => blocked |= !passes,
                }
            }
            let waits = step.state == State::Waiting;
            if let Some(step) = self.steps.get_mut(&node) {
                step.open = open;
            }
            if blocked {
                self.finish(&node, &Ending::Cancelled(CancelWhy::EarlierFailed), at);
                work.extend(self.behind(&node));
            } else if waits && open == 0 {
                self.make_ready(&node);
            } else if !waits && open > 0 {
                self.leave(&node);
                if let Some(step) = self.steps.get_mut(&node) {
                    step.state = State::Waiting;
                }
            } else {
                continue;
            }
            changes.extend(self.told(&node));
        }
        changes
    }

    fn behind(&self, node: &NodeId) -> Vec<NodeId> {
        let outgoing = self.steps.get(node).map(|step| step.outgoing.as_slice()).unwrap_or_default();
        outgoing.iter().filter_map(|id| self.edges.get(id)).map(|edge| edge.to.clone()).collect()
    }

    fn close_all(&mut self, ending: &Ending, at: Time) -> Vec<Change> {
        self.closed = Some(ending.clone());
        self.held.clear();
        let left: Vec<NodeId> = self.steps.keys().cloned().collect();
        let mut changes = Vec::new();
        for node in left {
            if self.finish(&node, ending, at) {
                changes.extend(self.told(&node));
            }
        }
        changes
    }

    fn told(&self, node: &NodeId) -> Vec<Change> {
        let step = self.steps.get(node);
        step.map(|step| Change::Step { node: node.clone(), state: step.state.clone() }).into_iter().collect()
    }

    pub(super) fn add(&mut self, node: Node) {
        self.added += 1;
        self.left += 1;
        let step = Step {
            state: State::Waiting,
            attempts: 0,
            started: None,
            ended: None,
            placed: None,
            order: self.added,
            incoming: Vec::new(),
            outgoing: Vec::new(),
            open: 0,
            until: None,
            node,
        };
        self.steps.insert(step.node.id.clone(), step);
    }

    pub(super) fn link(&mut self, edge: Edge) {
        if let Some(from) = self.steps.get_mut(&edge.from) {
            from.outgoing.push(edge.id.clone());
        }
        if let Some(to) = self.steps.get_mut(&edge.to) {
            to.incoming.push(edge.id.clone());
        }
        self.edges.insert(edge.id.clone(), edge);
    }
}

impl Step {
    pub(super) fn rank(&self) -> Rank {
        (Reverse(self.node.priority), self.order)
    }

    /// Nothing of it was begun, or it is between two attempts.
    pub fn is_open(&self) -> bool {
        match self.state {
            State::Waiting | State::Ready | State::Later(_) => true,
            State::Running(_) | State::Ended(_) => false,
        }
    }
}
