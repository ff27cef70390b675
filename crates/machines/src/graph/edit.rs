//! Edits of a running plan. Steps that run or have ended cannot change; the others can.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::plan::{Edge, Node, Plan, Want, check_edge, refused};
use super::{Graph, State};
use interlingua_model::fault::{Fault, FaultKind};
use interlingua_model::id::{EdgeId, NodeId};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Edit {
    Add(Box<Node>),
    /// Takes its edges along.
    Remove(NodeId),
    /// The node of the same id, with its edges as they are.
    Replace(Box<Node>),
    Retarget {
        node: NodeId,
        want: Want,
    },
    Link(Box<Edge>),
    Unlink(EdgeId),
}

impl Graph {
    /// Makes one change and notes whose edges changed; returns what takes it back, to be done in that order. States are worked
    /// out afterwards, once for all changes.
    pub(super) fn edit(&mut self, edit: &Edit, touched: &mut BTreeSet<NodeId>) -> Result<Vec<Edit>, Fault> {
        match edit {
            Edit::Add(node) => {
                if node.id.as_str().is_empty() || self.steps.contains_key(&node.id) {
                    return Err(refused(format!("there is a step {} already", node.id)));
                }
                self.add((**node).clone());
                touched.insert(node.id.clone());
                Ok(vec![Edit::Remove(node.id.clone())])
            }
            Edit::Remove(node) => self.remove(node, touched),
            Edit::Replace(node) => {
                let old = self.replace(&node.id, touched, |old| *old = (**node).clone())?;
                Ok(vec![Edit::Replace(Box::new(old))])
            }
            Edit::Retarget { node, want } => {
                let old = self.replace(node, touched, |old| old.want = want.clone())?;
                Ok(vec![Edit::Retarget { node: node.clone(), want: old.want }])
            }
            Edit::Link(edge) => {
                check_edge(edge, |id| self.steps.contains_key(id))?;
                if self.edges.contains_key(&edge.id) {
                    return Err(refused(format!("there is an edge {} already", edge.id)));
                }
                self.must_be_open(&edge.to)?;
                self.link((**edge).clone());
                touched.insert(edge.to.clone());
                Ok(vec![Edit::Unlink(edge.id.clone())])
            }
            Edit::Unlink(id) => {
                let edge = self.edges.get(id).ok_or_else(|| refused(format!("there is no edge {id}")))?;
                self.must_be_open(&edge.to)?;
                Ok(self.unlink(id, touched).map(|edge| Edit::Link(Box::new(edge))).into_iter().collect())
            }
        }
    }

    fn must_be_open(&self, node: &NodeId) -> Result<(), Fault> {
        let step = self.steps.get(node).ok_or_else(|| refused(format!("there is no step {node}")))?;
        match step.state {
            State::Waiting | State::Ready | State::Later(_) => Ok(()),
            State::Running(_) => Err(Fault::caller(FaultKind::Conflict, format!("step {node} is running"))),
            State::Ended(_) => Err(Fault::caller(FaultKind::Conflict, format!("step {node} has ended"))),
        }
    }

    /// Changes a node that waits. It leaves its place and is put where it belongs afterwards.
    fn replace(
        &mut self,
        node: &NodeId,
        touched: &mut BTreeSet<NodeId>,
        change: impl FnOnce(&mut Node),
    ) -> Result<Node, Fault> {
        self.must_be_open(node)?;
        self.leave(node);
        let Some(step) = self.steps.get_mut(node) else { return Err(refused(format!("there is no step {node}"))) };
        let old = step.node.clone();
        change(&mut step.node);
        step.state = State::Waiting;
        touched.insert(node.clone());
        Ok(old)
    }

    fn remove(&mut self, node: &NodeId, touched: &mut BTreeSet<NodeId>) -> Result<Vec<Edit>, Fault> {
        self.must_be_open(node)?;
        let Some(step) = self.steps.get(node) else { return Ok(Vec::new()) };
        let around: Vec<EdgeId> = step.incoming.iter().chain(&step.outgoing).cloned().collect();
        let mut inverse = vec![Edit::Add(Box::new(step.node.clone()))];
        for id in around {
            inverse.extend(self.unlink(&id, touched).map(|edge| Edit::Link(Box::new(edge))));
        }
        self.leave(node);
        self.steps.remove(node);
        self.left = self.left.saturating_sub(1);
        touched.remove(node);
        Ok(inverse)
    }

    fn unlink(&mut self, id: &EdgeId, touched: &mut BTreeSet<NodeId>) -> Option<Edge> {
        let edge = self.edges.remove(id)?;
        if let Some(from) = self.steps.get_mut(&edge.from) {
            from.outgoing.retain(|other| other != id);
        }
        if let Some(to) = self.steps.get_mut(&edge.to) {
            to.incoming.retain(|other| other != id);
            touched.insert(edge.to.clone());
        }
        Some(edge)
    }
}

/// The changes that make a running plan look like this one. Its shape is taken from `plan`, where each step stands from the
/// graph: what runs or has ended here is neither changed nor removed.
pub fn towards(graph: &Graph, plan: &Plan) -> Vec<Edit> {
    let wanted: BTreeMap<&NodeId, &Node> = plan.nodes.iter().map(|node| (&node.id, node)).collect();
    let edges: BTreeMap<&EdgeId, &Edge> = plan.edges.iter().map(|edge| (&edge.id, edge)).collect();
    let open = |node: &NodeId| graph.step(node).is_none_or(super::Step::is_open);
    let mut edits = Vec::new();
    for edge in graph.edges().filter(|edge| open(&edge.to)) {
        let goes = !wanted.contains_key(&edge.to) || (!wanted.contains_key(&edge.from) && open(&edge.from));
        if !goes && edges.get(&edge.id).is_none_or(|other| !same_edge(other, edge)) {
            edits.push(Edit::Unlink(edge.id.clone()));
        }
    }
    for step in graph.steps().filter(|step| step.is_open()) {
        match wanted.get(&step.node.id) {
            None => edits.push(Edit::Remove(step.node.id.clone())),
            Some(node) if **node != step.node => edits.push(Edit::Replace(Box::new((*node).clone()))),
            Some(_) => {}
        }
    }
    let new = plan.nodes.iter().filter(|node| graph.step(&node.id).is_none());
    edits.extend(new.map(|node| Edit::Add(Box::new(node.clone()))));
    for edge in plan.edges.iter().filter(|edge| open(&edge.to)) {
        if graph.edge(&edge.id).is_none_or(|other| !same_edge(other, edge)) {
            edits.push(Edit::Link(Box::new(edge.clone())));
        }
    }
    edits
}

fn same_edge(one: &Edge, other: &Edge) -> bool {
    (&one.from, &one.to, &one.kind) == (&other.from, &other.to, &other.kind)
}
