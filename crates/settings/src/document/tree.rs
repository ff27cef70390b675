//! YAML 1.2 into a tree of [`Node`]s, by the events of the parser beneath serde-saphyr.

use std::collections::HashMap;

use serde_saphyr::granit_parser::{Event, Marker, Parser, ScalarStyle};

use crate::problem::At;

/// Deeper, or more values, than any configuration has; aliases count as what they stand for.
const DEPTH: usize = 32;
const VALUES: usize = 200_000;
/// Of a list of callers, each of whom is a handful of values: there may be some hundred thousand of them.
const LISTED_VALUES: usize = 2_000_000;

#[derive(Debug, Clone)]
pub struct Node {
    pub at: At,
    pub value: Value,
}

#[derive(Debug, Clone)]
pub enum Value {
    /// `plain`: written without quotes, so it may also be a number, a boolean or nothing.
    Scalar {
        text: String,
        plain: bool,
    },
    /// Each with its number in the file, which it keeps when another is taken out.
    List(Vec<(usize, Node)>),
    Map(Vec<(Key, Node)>),
}

#[derive(Debug, Clone)]
pub struct Key {
    pub at: At,
    pub name: String,
}

/// Why a text is not one YAML document.
#[derive(Debug)]
pub struct Unreadable {
    pub at: At,
    pub message: String,
}

impl Node {
    pub fn is_null(&self) -> bool {
        matches!(&self.value, Value::Scalar { text, plain: true } if matches!(text.as_str(), "" | "~" | "null"))
    }

    /// The node at `path`, or the nearest one above it that exists; the place is that of its key.
    pub fn locate(&self, path: &str) -> At {
        let (mut node, mut at) = (self, self.at);
        for step in path.split('.').filter(|step| !step.is_empty()) {
            let child = match &node.value {
                Value::Map(entries) => entries.iter().find(|(key, _)| key.name == step).map(|(k, v)| (k.at, v)),
                Value::List(items) => items.iter().find(|(i, _)| i.to_string() == step).map(|(_, v)| (v.at, v)),
                Value::Scalar { .. } => None,
            };
            let Some((place, child)) = child else { break };
            (at, node) = (place, child);
        }
        at
    }

    pub fn at_mut(&mut self, steps: &[&str]) -> Option<&mut Node> {
        let [step, rest @ ..] = steps else { return Some(self) };
        let Value::Map(entries) = &mut self.value else { return None };
        entries.iter_mut().find(|(key, _)| key.name == *step)?.1.at_mut(rest)
    }

    /// Takes the node at `steps` out of the tree. False when there is none, or it is the whole.
    pub fn remove(&mut self, steps: &[String]) -> bool {
        let [step, rest @ ..] = steps else { return false };
        match &mut self.value {
            Value::Map(entries) => {
                let Some(index) = entries.iter().position(|(key, _)| key.name == *step) else { return false };
                rest.is_empty().then(|| entries.remove(index)).is_some() || entries[index].1.remove(rest)
            }
            Value::List(items) => {
                let Some(index) = items.iter().position(|(number, _)| number.to_string() == *step) else {
                    return false;
                };
                rest.is_empty().then(|| items.remove(index)).is_some() || items[index].1.remove(rest)
            }
            Value::Scalar { .. } => false,
        }
    }

    fn size(&self) -> usize {
        1 + match &self.value {
            Value::Scalar { .. } => 0,
            Value::List(items) => items.iter().map(|(_, node)| node.size()).sum(),
            Value::Map(entries) => entries.iter().map(|(_, node)| node.size()).sum(),
        }
    }
}

/// The one document of `text`; an empty text is an empty map.
pub fn parse(text: &str, source: usize) -> Result<Node, Unreadable> {
    parse_within(text, source, VALUES)
}

/// As [`parse`], of a document that is one long list.
pub fn parse_list(text: &str, source: usize) -> Result<Node, Unreadable> {
    parse_within(text, source, LISTED_VALUES)
}

fn parse_within(text: &str, source: usize, values: usize) -> Result<Node, Unreadable> {
    let (parser, anchors) = (Parser::new_from_str(text), HashMap::new());
    let mut reader = Reader { parser, source, anchors, values, left: values };
    let mut root = None;
    while let Some((event, at)) = reader.next()? {
        match event {
            Event::DocumentStart(..) if root.is_some() => {
                return Err(Unreadable {
                    at,
                    message: "a configuration is one document: `---` starts a second".into(),
                });
            }
            Event::StreamStart | Event::StreamEnd | Event::DocumentStart(..) | Event::DocumentEnd => {}
            first => root = Some(reader.node(first, at, 0)?),
        }
    }
    let start = At { source, line: 1, column: 1 };
    Ok(root.filter(|node| !node.is_null()).unwrap_or(Node { at: start, value: Value::Map(Vec::new()) }))
}

struct Reader<'a> {
    parser: Parser<'a, serde_saphyr::granit_parser::StrInput<'a>>,
    source: usize,
    anchors: HashMap<usize, Node>,
    /// How many values there may be, and how many of these are left.
    values: usize,
    left: usize,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Result<Option<(Event<'a>, At)>, Unreadable> {
        match self.parser.next() {
            None => Ok(None),
            Some(Ok((event, span))) => Ok(Some((event, self.at(&span.start)))),
            Some(Err(error)) => Err(Unreadable { at: self.at(error.marker()), message: error.info() }),
        }
    }

    fn at(&self, marker: &Marker) -> At {
        At { source: self.source, line: marker.line(), column: marker.col() + 1 }
    }

    /// The value that begins with `event`.
    fn node(&mut self, event: Event<'a>, at: At, depth: usize) -> Result<Node, Unreadable> {
        if depth > DEPTH {
            return Err(Unreadable { at, message: format!("nested deeper than {DEPTH} levels") });
        }
        self.spend(1, at)?;
        let (anchor, value) = match event {
            Event::Scalar(text, style, anchor, _) => {
                (anchor, Value::Scalar { text: text.into_owned(), plain: style == ScalarStyle::Plain })
            }
            Event::SequenceStart(_, anchor, _) => (anchor, Value::List(self.list(depth)?)),
            Event::MappingStart(_, anchor, _) => (anchor, Value::Map(self.map(depth)?)),
            Event::Alias(anchor) => (0, self.alias(anchor, at)?),
            _ => return Err(Unreadable { at, message: "a value was expected here".into() }),
        };
        let node = Node { at, value };
        if anchor != 0 {
            self.anchors.insert(anchor, node.clone());
        }
        Ok(node)
    }

    fn list(&mut self, depth: usize) -> Result<Vec<(usize, Node)>, Unreadable> {
        let mut items = Vec::new();
        while let Some((event, at)) = self.next()? {
            if matches!(event, Event::SequenceEnd) {
                break;
            }
            items.push((items.len(), self.node(event, at, depth + 1)?));
        }
        Ok(items)
    }

    fn map(&mut self, depth: usize) -> Result<Vec<(Key, Node)>, Unreadable> {
        let mut entries: Vec<(Key, Node)> = Vec::new();
        while let Some((event, at)) = self.next()? {
            let name = match event {
                Event::MappingEnd => break,
                Event::Scalar(text, ..) => text.into_owned(),
                _ => return Err(Unreadable { at, message: "a key is a plain word".into() }),
            };
            if let Some((earlier, _)) = entries.iter().find(|(key, _)| key.name == name) {
                let message = format!("the key `{name}` is here twice; the first is in line {}", earlier.at.line);
                return Err(Unreadable { at, message });
            }
            let Some((event, value_at)) = self.next()? else { break };
            let value = self.node(event, value_at, depth + 1)?;
            entries.push((Key { at, name }, value));
        }
        Ok(entries)
    }

    fn alias(&mut self, anchor: usize, at: At) -> Result<Value, Unreadable> {
        let unknown = || Unreadable { at, message: "this alias stands inside what it names".into() };
        let node = self.anchors.get(&anchor).cloned().ok_or_else(unknown)?;
        self.spend(node.size(), at)?;
        Ok(node.value)
    }

    fn spend(&mut self, values: usize, at: At) -> Result<(), Unreadable> {
        let too_many = || Unreadable { at, message: format!("more than {} values", self.values) };
        self.left = self.left.checked_sub(values).ok_or_else(too_many)?;
        Ok(())
    }
}
