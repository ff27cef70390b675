//! Echoing callees: how each is called, and what it can add to the echo.

use super::super::behaviour::Door;
use super::super::callees::Callee;
use super::{BACK, DATA, Held, TEXT};

pub(super) struct Listener {
    pub(super) peer: &'static str,
    pub(super) skill: &'static str,
    pub(super) door: Door,
    /// What choosing it in words says besides: a slot of its phrase takes the text.
    pub(super) phrase: Option<&'static str>,
    /// Has it arguments that take data?
    pub(super) takes_data: bool,
    /// What it says beside what it heard.
    pub(super) gives: &'static [Held],
}

impl Listener {
    pub(super) fn of(callee: Callee) -> Listener {
        let words = |peer, skill, argument, gives| Listener {
            peer,
            skill,
            door: Door::Words(argument),
            phrase: None,
            takes_data: false,
            gives,
        };
        let tool = |peer, phrase, takes_data, gives| Listener {
            peer,
            skill: "richest",
            door: Door::Tool,
            phrase,
            takes_data,
            gives,
        };
        match callee {
            Callee::Nlip => words("desk", "chat", "message", BACK.as_slice()),
            Callee::A2a => words("scholar", "act", "message", BACK.as_slice()),
            Callee::Nlweb => words("almanac", "ask", "query", &[]),
            Callee::Agent => words("eve", "chat", "message", &[]),
            Callee::Team => words("choir", "chat", "message", &[]),
            Callee::Mcp => tool("toolbox", None, true, BACK.as_slice()),
            Callee::Aip => tool("printer", None, true, &[]),
            Callee::Site => tool("shop", Some("say back alpha-text"), false, &[]),
            Callee::Local => tool("local", Some("say back alpha-text"), true, &[]),
        }
    }

    pub(super) fn is_tool(&self) -> bool {
        self.door == Door::Tool
    }

    /// What a caller who knows no names says to it.
    pub(super) fn words(&self) -> &'static str {
        match (self.door, self.phrase) {
            (Door::Words(_), _) => "richest alpha-text",
            (Door::Tool, Some(phrase)) => phrase,
            (Door::Tool, None) => "echo richest sayings",
        }
    }

    /// What such a caller can tell it so.
    pub(super) fn heard_in_words(&self) -> Vec<Held> {
        if self.is_tool() && self.phrase.is_none() { Vec::new() } else { vec![TEXT] }
    }

    /// What a caller can tell it by name: its arguments.
    pub(super) fn heard_in_arguments(&self) -> Vec<Held> {
        if self.takes_data { vec![TEXT, DATA] } else { vec![TEXT] }
    }

    /// What must stand in its answer, so that it is one: what was said, or that it heard nothing.
    pub(super) fn mark(&self, said: &[Held]) -> &'static str {
        if said.contains(&TEXT) { TEXT.1 } else { "heard" }
    }
}
