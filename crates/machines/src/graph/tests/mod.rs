//! Plans that are run by a hub made of a few lines: it appends, applies, and calls nobody.

mod edits;
mod every_order;
mod placement;
mod random;
mod results;
mod rules;
mod taken_up;

use std::collections::BTreeMap;

use super::*;
use interlingua_model::fault::{FaultKind, Retry};
use interlingua_model::json::Json;

pub(super) const NOW: Time = Time(1_000_000);

pub(super) fn node(id: &str) -> Node {
    Node::new(id, Want::ANYONE)
}

pub(super) fn edge(from: &str, to: &str, kind: Dependency) -> Edge {
    Edge::new(format!("{from}>{to}"), from, to, kind)
}

pub(super) fn plan(nodes: &[&str], edges: Vec<Edge>) -> Plan {
    Plan { name: "p".into(), nodes: nodes.iter().map(|id| node(id)).collect(), edges, ..Plan::default() }
}

pub(super) fn done() -> Ending {
    Ending::Completed(None)
}

pub(super) fn failed() -> Ending {
    Ending::Failed(Fault::caller(FaultKind::PeerFailed, "it broke"))
}

/// A fault that says nothing was begun.
pub(super) fn busy() -> Ending {
    Ending::Failed(Fault::caller(FaultKind::Busy, "later").retry(Retry::After(Some(Duration::from_secs(1)))))
}

pub(super) fn skipped() -> Ending {
    Ending::Cancelled(CancelWhy::EarlierFailed)
}

pub(super) fn one_peer(capacity: u32) -> Peers {
    let mut peers = Peers::default();
    peers.insert("dev", Candidate { capacity, ..Candidate::default() });
    peers
}

/// A graph, its journal, and what is under way.
#[derive(Clone)]
pub(super) struct Run {
    pub(super) graph: Graph,
    pub(super) journal: Vec<Entry<Record>>,
    pub(super) peers: Peers,
    pub(super) now: Time,
    /// Calls under way, by number.
    pub(super) calls: BTreeMap<u64, NodeId>,
    /// Every call that was ever begun, in order.
    pub(super) called: Vec<(NodeId, Calling)>,
    pub(super) plans: Vec<NodeId>,
}

use interlingua_model::journal::Entry;

impl Run {
    pub(super) fn new(plan: Plan) -> Run {
        Run::with(plan, Rules::default(), one_peer(100))
    }

    pub(super) fn with(plan: Plan, rules: Rules, peers: Peers) -> Run {
        let (record, graph) = Graph::open(TaskId(7), plan, rules, NOW).expect("a plan");
        let mut run = Run {
            graph,
            journal: vec![Entry { seq: 1, at: NOW, record }],
            peers,
            now: NOW,
            calls: BTreeMap::new(),
            called: Vec::new(),
            plans: Vec::new(),
        };
        run.schedule();
        run
    }

    /// One decision, appended and applied, without scheduling.
    pub(super) fn only(&mut self, what: Happening) -> Result<Vec<Change>, Fault> {
        let decision = self.graph.decide(what, World { now: self.now, peers: &self.peers })?;
        let mut changes = Vec::new();
        for record in decision.records {
            changes.extend(self.graph.apply(&record, self.now));
            self.journal.push(Entry { seq: self.journal.len() as u64 + 1, at: self.now, record });
        }
        for effect in decision.effects {
            match effect {
                Effect::Run { node, calling, key } => {
                    assert_eq!(key, self.graph.key(calling.number));
                    if self.calls.insert(calling.number, node.clone()).is_none() {
                        self.called.push((node, calling));
                    }
                }
                Effect::Stop { number, .. } => drop(self.calls.remove(&number)),
                Effect::Plan { node } => self.plans.push(node),
            }
        }
        Ok(changes)
    }

    pub(super) fn schedule(&mut self) {
        while self.graph.decide(Happening::Schedule, self.world()).is_ok_and(|decision| !decision.records.is_empty()) {
            self.only(Happening::Schedule).expect("scheduling is never refused");
        }
    }

    fn world(&self) -> World<'_> {
        World { now: self.now, peers: &self.peers }
    }

    pub(super) fn happen(&mut self, what: Happening) -> Result<Vec<Change>, Fault> {
        let changes = self.only(what)?;
        self.schedule();
        Ok(changes)
    }

    /// The call of this step that is under way ends.
    pub(super) fn end(&mut self, node: &str, ending: Ending) {
        let (number, id) = self.calls.iter().find(|(_, id)| id.as_str() == node).expect("it was called");
        let (number, node) = (*number, id.clone());
        self.calls.remove(&number);
        self.happen(Happening::Ended { node, number, ending }).expect("a call that was under way");
    }

    pub(super) fn pass(&mut self, seconds: u64) {
        self.now = self.now.after(Duration::from_secs(seconds));
        self.happen(Happening::Tick).expect("time passes");
    }

    /// The hub dies and comes back: the state is folded from the journal and calls go out again under their keys.
    pub(super) fn restart(&mut self) {
        let graph = self.folded();
        assert_eq!(graph, self.graph, "the journal tells the same");
        self.graph = graph;
        let before = std::mem::take(&mut self.calls);
        let again = self.called.len();
        self.happen(Happening::Restarted).expect("a restart");
        let found: Vec<_> = self.calls.iter().filter(|(number, _)| before.contains_key(*number)).collect();
        assert_eq!(found.len(), before.len(), "every call under way is taken up again");
        self.called.truncate(again);
    }

    pub(super) fn folded(&self) -> Graph {
        let stored = self.journal.iter().map(|entry| {
            let bytes = interlingua_model::journal::to_bytes(&entry.record).expect("a record can be written");
            Entry {
                seq: entry.seq,
                at: entry.at,
                record: interlingua_model::journal::from_bytes(&bytes).expect("and read"),
            }
        });
        fold(self.graph.id, stored).expect("a graph's journal")
    }

    pub(super) fn running(&self) -> Vec<&str> {
        let mut running: Vec<&str> = self.calls.values().map(NodeId::as_str).collect();
        running.sort_unstable();
        running
    }

    pub(super) fn ending(&self, node: &str) -> Option<&Ending> {
        match &self.graph.step(&node.into())?.state {
            State::Ended(ending) => Some(ending),
            State::Waiting | State::Ready | State::Later(_) | State::Running(_) => None,
        }
    }

    pub(super) fn edit(&mut self, edits: Vec<Edit>) -> Result<Vec<Change>, Fault> {
        self.happen(Happening::Edit(edits))
    }
}

pub(super) fn json(text: &str) -> Json {
    Json::parse(text.to_owned().into()).expect("JSON")
}
