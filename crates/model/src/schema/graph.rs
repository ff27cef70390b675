//! Graph of subschemas: which of them apply to a value, at the same location, at a member or at an item.

use std::collections::HashMap;

use super::{MAX_NESTED, TooCostly, Unfit};
use crate::json::Tree;

/// Bytes of a string that are compared or counted in one step.
const BYTES_IN_A_STEP: usize = 32;

/// One subschema. Numbers are places in [`Graph::nodes`].
#[derive(Debug, Default)]
pub(super) struct Node {
    /// Steps it takes by itself: values it compares with, names it requires.
    pub(super) own: u64,
    /// Applied to the same place of the value.
    pub(super) here: Vec<usize>,
    pub(super) members: HashMap<String, usize>,
    pub(super) each_member: Vec<usize>,
    pub(super) names: Vec<usize>,
    pub(super) prefix: Vec<usize>,
    pub(super) each_item: Vec<usize>,
    /// Finding out what was not evaluated evaluates everything again, for each member or item.
    pub(super) unevaluated: bool,
    /// Steps for each byte of a string, and for any string.
    pub(super) by_byte: u64,
    pub(super) by_string: u64,
    /// Steps for each byte of a member's name.
    pub(super) by_name: u64,
}

impl Node {
    fn deeper(&self) -> impl Iterator<Item = usize> + '_ {
        let members = self.members.values().chain(&self.each_member).chain(&self.names);
        members.chain(&self.prefix).chain(&self.each_item).copied()
    }
}

#[derive(Debug)]
pub(super) struct Graph {
    pub(super) nodes: Vec<Node>,
    pub(super) root: usize,
    /// Of all regular expressions.
    pub(super) states: u64,
}

/// What can be said of a schema without a value.
pub(super) struct Sizes {
    /// Evaluations at one place, of the subschema that has most.
    pub(super) expansion: u64,
    pub(super) by_byte: Option<u64>,
    /// The longest chain, as far as it does not come back to itself.
    pub(super) nested: u32,
}

/// A post-order walk: what is below a node is known when the node is left.
enum Visit {
    Enter(usize),
    Leave(usize),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Seen {
    No,
    Open,
    Done,
}

impl Graph {
    pub(super) fn sizes(&self) -> Result<Sizes, Unfit> {
        let (here, circular) = self.folded(
            0..self.nodes.len(),
            |node| node.here.to_vec(),
            |node, below| {
                let below = below.fold(0_u64, u64::saturating_add);
                below.saturating_mul(if node.unevaluated { 2 } else { 1 }).saturating_add(1)
            },
        );
        if circular {
            return Err(Unfit::Loop);
        }
        let all = |node: &Node| -> Vec<usize> { node.here.iter().copied().chain(node.deeper()).collect() };
        // From the root alone: the node that goes through a whole value leads to itself, and most schemas do not lead to it.
        let root = || std::iter::once(self.root);
        let (steps, recursive) = self.folded(root(), all, |node, below| {
            let own = node.own.saturating_add(node.by_byte).saturating_add(node.by_name);
            below.fold(own, u64::saturating_add)
        });
        let (heights, _) = self.folded(root(), all, |_, below| below.max().unwrap_or(0).saturating_add(1));
        let measured = recursive || self.nodes.iter().any(|node| node.unevaluated || node.by_string > 0);
        let by_byte = if measured { None } else { steps.get(self.root).copied() };
        let nested = heights.iter().max().copied().unwrap_or(0);
        let expansion = here.iter().max().copied().unwrap_or(0);
        Ok(Sizes { expansion, by_byte, nested: u32::try_from(nested).unwrap_or(u32::MAX) })
    }

    /// A number of each node that `starts` lead to, made of those of the nodes it leads to itself; and whether any leads back to itself
    /// (which counts as 0).
    fn folded(
        &self,
        starts: impl Iterator<Item = usize>,
        leads: impl Fn(&Node) -> Vec<usize>,
        fold: impl Fn(&Node, &mut dyn Iterator<Item = u64>) -> u64,
    ) -> (Vec<u64>, bool) {
        let mut values = vec![0_u64; self.nodes.len()];
        let mut seen = vec![Seen::No; self.nodes.len()];
        let mut circular = false;
        for start in starts {
            let mut stack = vec![Visit::Enter(start)];
            while let Some(visit) = stack.pop() {
                match visit {
                    Visit::Enter(at) => match seen[at] {
                        Seen::Done => {}
                        Seen::Open => circular = true,
                        Seen::No => {
                            seen[at] = Seen::Open;
                            stack.push(Visit::Leave(at));
                            let next = leads(&self.nodes[at]);
                            circular |= next.iter().any(|next| seen[*next] == Seen::Open);
                            stack.extend(next.into_iter().filter(|next| seen[*next] == Seen::No).map(Visit::Enter));
                        }
                    },
                    Visit::Leave(at) => {
                        let node = &self.nodes[at];
                        values[at] = fold(node, &mut leads(node).into_iter().map(|next| values[next]));
                        seen[at] = Seen::Done;
                    }
                }
            }
        }
        (values, circular)
    }
}

/// A subschema at a place of the value, this many times.
struct Step<'a> {
    node: usize,
    value: Place<'a>,
    times: u64,
    nested: u32,
}

#[derive(Clone, Copy)]
enum Place<'a> {
    Value(&'a Tree),
    Name(&'a str),
}

/// Counts what a value costs.
pub(super) struct ValidationCost<'a> {
    graph: &'a Graph,
    waiting: Vec<Step<'a>>,
    budget: u64,
    steps: u64,
}

impl<'a> ValidationCost<'a> {
    pub(super) fn over(graph: &'a Graph, value: &'a Tree, budget: u64) -> ValidationCost<'a> {
        let root = Step { node: graph.root, value: Place::Value(value), times: 1, nested: 0 };
        ValidationCost { graph, waiting: vec![root], budget, steps: 0 }
    }

    pub(super) fn count(mut self) -> Result<u64, TooCostly> {
        while let Some(step) = self.waiting.pop() {
            if step.nested > MAX_NESTED {
                return Err(TooCostly);
            }
            self.evaluate(&step)?;
        }
        Ok(self.steps)
    }

    fn spend(&mut self, steps: u64) -> Result<(), TooCostly> {
        self.steps = self.steps.saturating_add(steps);
        if self.steps > self.budget { Err(TooCostly) } else { Ok(()) }
    }

    fn push(&mut self, from: &Step<'a>, node: usize, value: Place<'a>, times: u64) -> Result<(), TooCostly> {
        // What waits is work to come: so much room is never taken.
        if self.steps.saturating_add(self.waiting.len() as u64) > self.budget {
            return Err(TooCostly);
        }
        self.waiting.push(Step { node, value, times, nested: from.nested + 1 });
        Ok(())
    }

    fn evaluate(&mut self, step: &Step<'a>) -> Result<(), TooCostly> {
        let graph = self.graph;
        let node = &graph.nodes[step.node];
        let (own, times) = (node.own.saturating_add(self.wide(node, step.value)), step.times);
        self.spend(own.saturating_mul(times))?;
        let parts = match step.value {
            Place::Value(Tree::Object(members)) => members.len(),
            Place::Value(Tree::Array(items)) => items.len(),
            Place::Value(_) | Place::Name(_) => 0,
        };
        let again = if node.unevaluated { 2_u64.saturating_add(parts as u64) } else { 1 };
        for next in &node.here {
            self.push(step, *next, step.value, times.saturating_mul(again))?;
        }
        match step.value {
            Place::Value(Tree::Object(members)) => {
                for (name, value) in members {
                    for next in node.members.get(name).into_iter().chain(&node.each_member) {
                        self.push(step, *next, Place::Value(value), times)?;
                    }
                    for next in &node.names {
                        self.push(step, *next, Place::Name(name), times)?;
                    }
                }
            }
            Place::Value(Tree::Array(items)) => {
                for (at, value) in items.iter().enumerate() {
                    for next in node.prefix.get(at).into_iter().chain(&node.each_item) {
                        self.push(step, *next, Place::Value(value), times)?;
                    }
                }
            }
            Place::Value(_) | Place::Name(_) => {}
        }
        Ok(())
    }

    /// What grows with the value itself.
    fn wide(&self, node: &Node, place: Place<'a>) -> u64 {
        let text = |text: &str| {
            let bytes = text.len() as u64;
            let compared = (text.len() / BYTES_IN_A_STEP) as u64;
            bytes.saturating_mul(node.by_byte).saturating_add(node.by_string).saturating_add(compared)
        };
        match place {
            Place::Name(name) => text(name),
            Place::Value(Tree::String(value)) => text(value),
            Place::Value(Tree::Object(members)) if node.by_name > 0 => members
                .keys()
                .map(|name| (name.len() as u64 + 1).saturating_mul(node.by_name))
                .fold(0, u64::saturating_add),
            Place::Value(_) => 0,
        }
    }
}
