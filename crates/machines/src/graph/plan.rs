//! Structure of a plan, and its validation.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{MAX_EDGES, MAX_NODES};
use interlingua_model::call::Priority;
use interlingua_model::content::Meta;
use interlingua_model::event::CancelWhy;
use interlingua_model::fault::{Fault, FaultKind};
use interlingua_model::id::{EdgeId, NodeId, PeerId, SkillName, Text, Time};
use interlingua_model::json::Json;

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Plan {
    pub name: Text,
    pub nodes: Vec<Node>,
    pub edges: Vec<Edge>,
    /// Steps that ended before: a plan may be taken up half done.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ended: Vec<(NodeId, Ending)>,
    pub deadline: Option<Time>,
    #[serde(default, skip_serializing_if = "Meta::is_none")]
    pub meta: Meta,
}

/// One step: a call of some peer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Node {
    pub id: NodeId,
    pub name: Text,
    /// What is to be done, in words.
    pub words: Text,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hints: Vec<Text>,
    pub want: Want,
    /// A skill by name, with its arguments; without one the peer is asked in words.
    pub skill: Option<SkillName>,
    pub args: Option<Json>,
    pub priority: Priority,
    /// For each attempt.
    pub timeout: Option<Duration>,
    /// How often it may be tried again after a failure that allows it.
    pub retries: u32,
    /// The plan says that running it twice does no harm.
    pub repeatable: bool,
    #[serde(default, skip_serializing_if = "Meta::is_none")]
    pub meta: Meta,
}

impl Node {
    pub fn new(id: impl Into<NodeId>, want: Want) -> Node {
        let id = id.into();
        Node {
            name: id.0.clone(),
            id,
            words: "".into(),
            hints: Vec::new(),
            want,
            skill: None,
            args: None,
            priority: Priority::NORMAL,
            timeout: None,
            retries: 0,
            repeatable: false,
            meta: Meta::default(),
        }
    }
}

/// Who may do it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Want {
    Peer(PeerId),
    /// Whoever has what is named here; with nothing named, anyone.
    Any {
        capability: Option<Text>,
        platform: Option<Text>,
        /// Free memory that it needs at least, in MiB.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        memory: Option<u64>,
    },
}

impl Want {
    pub const ANYONE: Want = Want::Any { capability: None, platform: None, memory: None };
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Edge {
    pub id: EdgeId,
    pub from: NodeId,
    pub to: NodeId,
    pub kind: Dependency,
    /// The condition in words: for people and planners.
    pub note: Text,
    #[serde(default, skip_serializing_if = "Meta::is_none")]
    pub meta: Meta,
}

/// When the step behind may run. "Ended" is completed, failed or cancelled; "ran" is completed or failed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Dependency {
    /// Only the order counts: once the step in front has ended, however.
    Unconditional,
    /// Once the step in front ran, whatever came of it. One that never ran takes this one along.
    CompletionOnly,
    /// Once the step in front completed, with or without a result.
    SuccessOnly,
    /// Once it completed and its result meets the condition; without a condition the same as success.
    Conditional(Option<Condition>),
}

/// A test of a result that needs nobody's judgement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Condition {
    /// RFC 6901; empty: the whole result.
    pub pointer: Text,
    /// Without it, the value must be there and be neither null nor false.
    pub equals: Option<Json>,
}

impl Condition {
    fn holds(&self, result: Option<&Json>) -> bool {
        let found = result.and_then(|result| result.tree().pointer(&self.pointer));
        match (&self.equals, found) {
            (None, found) => found.is_some_and(|value| !value.is_null() && value.as_bool() != Some(false)),
            (Some(wanted), Some(found)) => wanted.tree() == found,
            (Some(wanted), None) => wanted.is_null(),
        }
    }
}

/// How a step ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Ending {
    Completed(Option<Json>),
    Failed(Fault),
    Cancelled(CancelWhy),
}

impl Edge {
    pub fn new(id: impl Into<EdgeId>, from: impl Into<NodeId>, to: impl Into<NodeId>, kind: Dependency) -> Edge {
        Edge { id: id.into(), from: from.into(), to: to.into(), kind, note: "".into(), meta: Meta::default() }
    }

    /// May the step behind run, the one in front having ended like this?
    pub fn passes(&self, ending: &Ending) -> bool {
        match (&self.kind, ending) {
            (Dependency::Unconditional, _)
            | (Dependency::CompletionOnly, Ending::Completed(_) | Ending::Failed(_))
            | (Dependency::SuccessOnly | Dependency::Conditional(None), Ending::Completed(_)) => true,
            (Dependency::Conditional(Some(condition)), Ending::Completed(result)) => condition.holds(result.as_ref()),
            (Dependency::CompletionOnly, Ending::Cancelled(_))
            | (Dependency::SuccessOnly | Dependency::Conditional(_), Ending::Failed(_) | Ending::Cancelled(_)) => false,
        }
    }
}

impl Plan {
    /// There are steps, names are unique, edges lead from one step to another, and no step waits for itself in the end.
    pub(super) fn check_shape(&self) -> Result<(), Fault> {
        if self.nodes.len() > MAX_NODES || self.edges.len() > MAX_EDGES {
            return Err(Fault::caller(FaultKind::TooLarge, "the plan has too many steps or edges"));
        }
        if self.nodes.is_empty() {
            return Err(refused("the plan has no steps: `tasks` has them").field("tasks", "must not be empty"));
        }
        let mut nodes = BTreeSet::new();
        for (index, node) in self.nodes.iter().enumerate() {
            if node.id.as_str().is_empty() {
                return Err(refused("a step has no id").field(format!("nodes[{index}].id"), "must not be empty"));
            }
            if !nodes.insert(&node.id) {
                return Err(refused(format!("two steps are called {}", node.id)));
            }
        }
        let mut edges = BTreeSet::new();
        for edge in &self.edges {
            let place = || format!("dependencies[{}]", edge.id);
            check_edge(edge, |id| nodes.contains(id)).map_err(|fault| fault.field(place(), "refused"))?;
            if !edges.insert(&edge.id) {
                return Err(refused(format!("two edges are called {}", edge.id)));
            }
        }
        for (node, _) in &self.ended {
            if !nodes.contains(node) {
                return Err(refused(format!("there is no step {node}")));
            }
        }
        acyclic(self.nodes.iter().map(|node| &node.id), self.edges.iter())
    }
}

pub(super) fn check_edge(edge: &Edge, has: impl Fn(&NodeId) -> bool) -> Result<(), Fault> {
    for end in [&edge.from, &edge.to] {
        if !has(end) {
            return Err(refused(format!("edge {} names {end}, and there is no such step", edge.id)));
        }
    }
    match edge.from.cmp(&edge.to) {
        Ordering::Equal => Err(refused(format!("step {} cannot wait for itself", edge.from))),
        Ordering::Less | Ordering::Greater => Ok(()),
    }
}

/// Takes away steps that wait for nothing until none is left; what remains waits for itself.
pub(super) fn acyclic<'a>(
    nodes: impl Iterator<Item = &'a NodeId>,
    edges: impl Iterator<Item = &'a Edge>,
) -> Result<(), Fault> {
    let mut waits: BTreeMap<&NodeId, usize> = nodes.map(|node| (node, 0)).collect();
    let mut behind: BTreeMap<&NodeId, Vec<&NodeId>> = BTreeMap::new();
    for edge in edges {
        if let Some(count) = waits.get_mut(&edge.to) {
            *count += 1;
        }
        behind.entry(&edge.from).or_default().push(&edge.to);
    }
    let mut free: Vec<&NodeId> = waits.iter().filter(|(_, count)| **count == 0).map(|(node, _)| *node).collect();
    let mut taken = 0;
    while let Some(node) = free.pop() {
        taken += 1;
        for next in behind.remove(node).unwrap_or_default() {
            if let Some(count) = waits.get_mut(next) {
                *count -= 1;
                if *count == 0 {
                    free.push(next);
                }
            }
        }
    }
    if taken == waits.len() {
        return Ok(());
    }
    let name = waits.iter().find(|(_, count)| **count > 0).map_or("", |(node, _)| node.as_str());
    let fault = refused(format!("the steps around {name} wait for each other in a circle"));
    Err(fault.field(format!("tasks[{name}]"), "waits for itself in the end"))
}

pub(super) fn refused(text: impl Into<Text>) -> Fault {
    Fault::caller(FaultKind::InvalidInput, text)
}
