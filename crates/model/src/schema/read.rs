//! Reads a schema into its graph. Keywords of drafts 7 and 2020-12; where they differ, both meanings are counted.

use std::collections::HashMap;

use serde_json::Map;

use super::graph::{Graph, Node};
use super::{MAX_STATES, MAX_SUBSCHEMAS, Unfit, pattern};
use crate::json::Tree;
use crate::percent;

/// Goes through a whole value once: what comparing all items of an array costs.
const WHOLE: usize = 0;
/// States of an expression that one byte of a string passes in a step.
const STATES_IN_A_STEP: u64 = 64;

pub(super) fn read(schema: &Tree) -> Result<Graph, Unfit> {
    let whole = Node { own: 1, each_member: vec![WHOLE], each_item: vec![WHOLE], ..Node::default() };
    let mut reading =
        Reading { root: schema, nodes: vec![whole], known: HashMap::new(), waiting: Vec::new(), states: 0 };
    let root = reading.node(schema)?;
    while let Some((at, subschema)) = reading.waiting.pop() {
        if let Tree::Object(keywords) = subschema {
            reading.nodes[at] = reading.keywords(keywords)?;
        }
    }
    Ok(Graph { nodes: reading.nodes, root, states: reading.states })
}

struct Reading<'a> {
    root: &'a Tree,
    nodes: Vec<Node>,
    /// By where a subschema lies: one that is used often is one node.
    known: HashMap<usize, usize>,
    waiting: Vec<(usize, &'a Tree)>,
    states: u64,
}

impl<'a> Reading<'a> {
    fn node(&mut self, subschema: &'a Tree) -> Result<usize, Unfit> {
        let place = std::ptr::from_ref(subschema).addr();
        if let Some(at) = self.known.get(&place) {
            return Ok(*at);
        }
        let at = self.nodes.len();
        if at > MAX_SUBSCHEMAS {
            return Err(Unfit::Subschemas);
        }
        self.nodes.push(Node { own: 1, ..Node::default() });
        self.known.insert(place, at);
        self.waiting.push((at, subschema));
        Ok(at)
    }

    fn nodes_of(&mut self, subschemas: impl Iterator<Item = &'a Tree>) -> Result<Vec<usize>, Unfit> {
        subschemas.filter(|subschema| is_schema(subschema)).map(|subschema| self.node(subschema)).collect()
    }

    fn keywords(&mut self, keywords: &'a Map<String, Tree>) -> Result<Node, Unfit> {
        let mut node = Node { own: 1, ..Node::default() };
        for (keyword, value) in keywords {
            match keyword.as_str() {
                "$ref" | "$dynamicRef" | "$recursiveRef" => {
                    if let Some(target) = value.as_str() {
                        let target = self.target(target)?;
                        node.here.push(self.node(target)?);
                    }
                }
                "$id" if value.is_string() && !self.is_root(keywords) => return Err(Unfit::Resource),
                "allOf" | "anyOf" | "oneOf" => node.here.extend(self.nodes_of(value.as_array().into_iter().flatten())?),
                "not" | "if" | "then" | "else" => node.here.extend(self.nodes_of(std::iter::once(value))?),
                "dependentSchemas" | "dependencies" => node.here.extend(self.nodes_of(values(value))?),
                "properties" => {
                    for (name, subschema) in value.as_object().into_iter().flatten() {
                        node.members.insert(name.clone(), self.node(subschema)?);
                    }
                    node.own = node.own.saturating_add(node.members.len() as u64);
                }
                "patternProperties" => {
                    node.each_member.extend(self.nodes_of(values(value))?);
                    for expression in value.as_object().into_iter().flat_map(Map::keys) {
                        let (by_byte, _) = self.expression(expression)?;
                        node.by_name = node.by_name.saturating_add(by_byte);
                        if pattern::is_tried(expression) {
                            node.by_name = node.by_name.saturating_add(pattern::TRIED);
                        }
                    }
                }
                "additionalProperties" => node.each_member.extend(self.nodes_of(std::iter::once(value))?),
                "unevaluatedProperties" => {
                    node.each_member.extend(self.nodes_of(std::iter::once(value))?);
                    node.unevaluated = true;
                }
                "propertyNames" => node.names.extend(self.nodes_of(std::iter::once(value))?),
                "prefixItems" => node.prefix.extend(self.nodes_of(value.as_array().into_iter().flatten())?),
                "items" => match value {
                    Tree::Array(each) => node.prefix.extend(self.nodes_of(each.iter())?),
                    one => node.each_item.extend(self.nodes_of(std::iter::once(one))?),
                },
                "additionalItems" | "contains" => node.each_item.extend(self.nodes_of(std::iter::once(value))?),
                "unevaluatedItems" => {
                    node.each_item.extend(self.nodes_of(std::iter::once(value))?);
                    node.unevaluated = true;
                }
                "uniqueItems" if value.as_bool() == Some(true) => node.here.push(WHOLE),
                "pattern" => {
                    if let Some(expression) = value.as_str() {
                        (node.by_byte, node.by_string) = self.expression(expression)?;
                    }
                }
                "enum" | "const" | "required" | "dependentRequired" => {
                    node.own = node.own.saturating_add(parts(value));
                }
                _ => {}
            }
        }
        Ok(node)
    }

    /// Steps for each byte of a string, and for any string.
    fn expression(&mut self, expression: &str) -> Result<(u64, u64), Unfit> {
        let states = pattern::states(expression);
        self.states = self.states.saturating_add(states);
        if self.states > MAX_STATES {
            return Err(Unfit::Patterns);
        }
        let tried = if pattern::is_tried(expression) { pattern::TRIED } else { 0 };
        Ok((1 + states / STATES_IN_A_STEP, tried))
    }

    fn is_root(&self, keywords: &Map<String, Tree>) -> bool {
        self.root.as_object().is_some_and(|root| std::ptr::eq(root, keywords))
    }

    /// What a reference leads to.
    fn target(&self, reference: &str) -> Result<&'a Tree, Unfit> {
        let unknown = || Unfit::Reference(reference.chars().take(100).collect());
        let fragment = reference.strip_prefix('#').ok_or_else(unknown)?;
        let fragment = percent::decoded(fragment).ok_or_else(unknown)?;
        if fragment.is_empty() {
            return Ok(self.root);
        }
        match fragment.strip_prefix('/') {
            Some(pointer) => self.pointed(pointer).ok_or_else(unknown)?,
            None => anchored(self.root, &fragment).ok_or_else(unknown),
        }
    }

    fn pointed(&self, pointer: &str) -> Option<Result<&'a Tree, Unfit>> {
        let mut at = self.root;
        for (depth, token) in pointer.split('/').enumerate() {
            if depth > 0 && at.get("$id").is_some_and(Tree::is_string) {
                return Some(Err(Unfit::Resource));
            }
            let token = token.replace("~1", "/").replace("~0", "~");
            at = match at {
                Tree::Object(members) => members.get(&token)?,
                Tree::Array(items) => items.get(token.parse::<usize>().ok()?)?,
                Tree::Null | Tree::Bool(_) | Tree::Number(_) | Tree::String(_) => return None,
            };
        }
        is_schema(at).then_some(Ok(at))
    }
}

/// The one place with this anchor: of two it would not be known which a validator takes.
fn anchored<'a>(root: &'a Tree, name: &str) -> Option<&'a Tree> {
    let (mut waiting, mut found) = (vec![root], None);
    while let Some(at) = waiting.pop() {
        let named = |keyword| at.get(keyword).and_then(Tree::as_str) == Some(name);
        if (named("$anchor") || named("$dynamicAnchor")) && found.replace(at).is_some() {
            return None;
        }
        match at {
            Tree::Object(members) => waiting.extend(members.values()),
            Tree::Array(items) => waiting.extend(items),
            Tree::Null | Tree::Bool(_) | Tree::Number(_) | Tree::String(_) => {}
        }
    }
    found
}

fn is_schema(tree: &Tree) -> bool {
    tree.is_object() || tree.is_boolean()
}

fn values(tree: &Tree) -> impl Iterator<Item = &Tree> {
    tree.as_object().into_iter().flat_map(Map::values)
}

/// Values within a value, itself included; a long string is several.
fn parts(tree: &Tree) -> u64 {
    let (mut waiting, mut count) = (vec![tree], 0_u64);
    while let Some(at) = waiting.pop() {
        count += 1;
        match at {
            Tree::Object(members) => waiting.extend(members.values()),
            Tree::Array(items) => waiting.extend(items),
            Tree::String(text) => count += (text.len() / 256) as u64,
            Tree::Null | Tree::Bool(_) | Tree::Number(_) => {}
        }
    }
    count
}
