//! Results of earlier steps in the input of a later one.
//!
//! In arguments, `{"$result": "STEP", "pointer": "/a/b"}` stands for the value at that JSON Pointer (RFC 6901) of the result of the step;
//! without `pointer`, for the whole result. In the words of a step and in texts of its arguments, `{{STEP}}` and `{{STEP/a/b}}` stand for
//! the same as text. Braces around anything that is not the id of a step stay as they are.
//!
//! A result is inserted once: what it contains is never read as a reference.

use std::collections::BTreeSet;

use serde_json::Map;

use super::plan::{Ending, Node, Plan, refused};
use super::{Graph, State, Step};
use interlingua_model::fault::{Fault, FaultKind};
use interlingua_model::id::{NodeId, Text};
use interlingua_model::json::{Json, Tree};

/// The member that marks an object as a reference.
const RESULT: &str = "$result";
/// The member that says which part of the result is meant.
const POINTER: &str = "pointer";
/// Bytes of all results that one step uses.
const MAX_USED: usize = 4 * 1024 * 1024;

/// The input of a step with the results that it uses.
#[derive(Debug, Clone, PartialEq)]
pub struct Filled {
    pub args: Option<Json>,
    pub words: Text,
    /// Is anything in it a result of another step, so what a peer said?
    pub used: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Reference<'a> {
    step: &'a str,
    /// Empty: the whole result.
    pointer: &'a str,
}

/// A part of a text.
enum Piece<'a> {
    Plain(&'a str),
    /// With the braces, for a name that is no step.
    Braced(Reference<'a>, &'a str),
}

/// An object that stands for a result. One with any other member is an ordinary object.
fn reference(tree: &Tree) -> Option<Reference<'_>> {
    let object = tree.as_object()?;
    let step = object.get(RESULT)?.as_str()?;
    let pointer = object.get(POINTER).map_or(Some(""), Tree::as_str)?;
    let only = object.keys().all(|key| key == RESULT || key == POINTER);
    only.then_some(Reference { step, pointer })
}

fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(open) = rest.find("{{")
        && let Some(length) = rest[open + 2..].find("}}")
    {
        let end = open + 2 + length + 2;
        let inner = rest[open + 2..end - 2].trim();
        let (step, pointer) = inner.split_at(inner.find('/').unwrap_or(inner.len()));
        pieces.push(Piece::Plain(&rest[..open]));
        pieces.push(Piece::Braced(Reference { step, pointer }, &rest[open..end]));
        rest = &rest[end..];
    }
    pieces.push(Piece::Plain(rest));
    pieces
}

/// May its input name results? Most does not.
fn uses_results(node: &Node) -> bool {
    let braced = |text: &str| text.contains("{{");
    let args = node.args.as_ref().is_some_and(|args| braced(args.as_str()) || args.as_str().contains(RESULT));
    args || braced(&node.words)
}

/// All that its input may name: in texts, also what is no step.
fn used_steps(node: &Node) -> Vec<NodeId> {
    let mut used = named_steps(node);
    let mut note = |text: &str| {
        for piece in pieces(text) {
            if let Piece::Braced(reference, _) = piece {
                used.push(NodeId::from(reference.step));
            }
        }
    };
    note(&node.words);
    each(node.args.as_ref().map(Json::tree), &mut |tree| {
        if let Tree::String(text) = tree {
            note(text);
        }
    });
    used
}

/// What its arguments name by an object, which nothing else can be meant by.
fn named_steps(node: &Node) -> Vec<NodeId> {
    let mut named = Vec::new();
    each(node.args.as_ref().map(Json::tree), &mut |tree| {
        named.extend(reference(tree).map(|reference| NodeId::from(reference.step)));
    });
    named
}

/// Every value of a tree, which its reader made no deeper than the limit.
fn each(tree: Option<&Tree>, visit: &mut impl FnMut(&Tree)) {
    let mut open: Vec<&Tree> = tree.into_iter().collect();
    while let Some(tree) = open.pop() {
        visit(tree);
        match tree {
            Tree::Array(items) => open.extend(items),
            Tree::Object(members) => open.extend(members.values()),
            Tree::Null | Tree::Bool(_) | Tree::Number(_) | Tree::String(_) => {}
        }
    }
}

impl Plan {
    /// All that must hold of a plan before it is run.
    pub fn check(&self) -> Result<(), Fault> {
        self.check_shape()?;
        self.check_results()
    }

    /// A step uses the results of steps that it waits for, so that they are there.
    fn check_results(&self) -> Result<(), Fault> {
        let using = self.nodes.iter().filter(|node| uses_results(node));
        let using: Vec<(&Node, Vec<NodeId>)> = using.map(|node| (node, used_steps(node))).collect();
        if using.is_empty() {
            return Ok(());
        }
        let known: BTreeSet<&NodeId> = self.nodes.iter().map(|node| &node.id).collect();
        let lines: BTreeSet<(&NodeId, &NodeId)> = self.edges.iter().map(|edge| (&edge.from, &edge.to)).collect();
        for (node, used) in using {
            for from in used.iter().filter(|from| known.contains(from)) {
                if !lines.contains(&(from, &node.id)) {
                    let text =
                        format!("step {} uses the result of {from}: add a dependency from {from} to it", node.id);
                    return Err(
                        refused(text).field(format!("tasks[{}]", node.id), "uses a result it does not wait for")
                    );
                }
            }
            if let Some(missing) = named_steps(node).into_iter().find(|from| !known.contains(from)) {
                let text = format!("step {} uses the result of {missing}, and there is no such step", node.id);
                return Err(refused(text).field(format!("tasks[{}]", node.id), "uses the result of an unknown step"));
            }
        }
        Ok(())
    }
}

impl Graph {
    /// What a step is called with.
    pub fn filled(&self, step: &Step) -> Result<Filled, Fault> {
        let node = &step.node;
        if !uses_results(node) {
            return Ok(Filled { args: node.args.clone(), words: node.words.clone(), used: false });
        }
        let mut filling = Filling { graph: self, node, used: 0, any: false };
        let args = node.args.as_ref().map(|args| filling.value(args.tree())).transpose()?;
        let words = filling.text(&node.words)?;
        // Written and read again, so that it is as deep and as large as input may be.
        let args = args.map(|args| Json::parse(Json::from_tree(args).as_bytes().clone())).transpose();
        let args = args.map_err(|bad| refused(format!("the input of step {} is refused: {bad}", node.id)))?;
        Ok(Filled { args, words: words.into(), used: filling.any })
    }
}

struct Filling<'g> {
    graph: &'g Graph,
    node: &'g Node,
    /// Bytes so far.
    used: usize,
    any: bool,
}

impl<'g> Filling<'g> {
    fn value(&mut self, tree: &Tree) -> Result<Tree, Fault> {
        if let Some(reference) = reference(tree) {
            let found = self.result(reference)?;
            self.takes(&found.to_string())?;
            return Ok(found.clone());
        }
        match tree {
            Tree::String(text) => self.text(text).map(Tree::String),
            Tree::Array(items) => items.iter().map(|item| self.value(item)).collect(),
            Tree::Object(members) => {
                let mut filled = Map::new();
                for (key, value) in members {
                    filled.insert(key.clone(), self.value(value)?);
                }
                Ok(Tree::Object(filled))
            }
            Tree::Null | Tree::Bool(_) | Tree::Number(_) => Ok(tree.clone()),
        }
    }

    fn text(&mut self, text: &str) -> Result<String, Fault> {
        let mut filled = String::with_capacity(text.len());
        for piece in pieces(text) {
            match piece {
                Piece::Plain(plain) => filled.push_str(plain),
                Piece::Braced(reference, braces) => match self.graph.step(&NodeId::from(reference.step)) {
                    None => filled.push_str(braces),
                    Some(_) => {
                        let found = self.result(reference)?;
                        let written = found.as_str().map_or_else(|| found.to_string(), str::to_owned);
                        self.takes(&written)?;
                        filled.push_str(&written);
                    }
                },
            }
        }
        Ok(filled)
    }

    fn takes(&mut self, written: &str) -> Result<(), Fault> {
        (self.used, self.any) = (self.used.saturating_add(written.len()), true);
        if self.used <= MAX_USED {
            return Ok(());
        }
        let text = format!("the results that step {} uses have more than {MAX_USED} bytes", self.node.id);
        Err(Fault::caller(FaultKind::TooLarge, text))
    }

    fn result(&self, Reference { step: name, pointer }: Reference<'_>) -> Result<&'g Tree, Fault> {
        let user = &self.node.id;
        let no = |why: String| Err(refused(format!("step {user} uses the result of {name}, {why}")));
        let Some(step) = self.graph.steps.get(&NodeId::from(name)) else {
            return no("and there is no such step".to_owned());
        };
        match &step.state {
            State::Ended(Ending::Completed(result)) => {
                let whole = result.as_ref().map_or(&Tree::Null, Json::tree);
                match whole.pointer(pointer) {
                    Some(found) => Ok(found),
                    None => no(format!("which has nothing at {pointer}")),
                }
            }
            State::Ended(Ending::Failed(_)) => no("which failed".to_owned()),
            State::Ended(Ending::Cancelled(_)) => no("which was cancelled".to_owned()),
            State::Waiting | State::Ready | State::Later(_) | State::Running(_) => {
                no(format!("which has not ended: add a dependency from {name} to {user}"))
            }
        }
    }
}
