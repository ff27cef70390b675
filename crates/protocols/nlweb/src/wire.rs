//! The generations, and the common form of a request.

use interlingua_model::{Text, Wire};
use serde::{Deserialize, Serialize};

/// How the other side speaks, by generation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Dialect {
    /// 2025: flat parameters, messages with `message_type`.
    Flat,
    /// Late 2025, version 0.5: nested, answers in `content`.
    Content,
    /// 2026, version 0.54: nested, answers in `results`, events without names.
    Results,
    /// Version 0.55: as before, with named events and lower-case response types.
    Named,
}

impl Dialect {
    /// What the hub calls it in counts and in the raw lane.
    pub fn wire(self) -> Wire {
        Wire(
            match self {
                Dialect::Flat => "nlweb/0.1",
                Dialect::Content => "nlweb/0.5",
                Dialect::Results => "nlweb/0.54",
                Dialect::Named => "nlweb/0.55",
            }
            .into(),
        )
    }

    /// As the protocol writes it.
    pub fn version(self) -> &'static str {
        match self {
            Dialect::Flat => "0.1",
            Dialect::Content => "0.5",
            Dialect::Results => "0.54",
            Dialect::Named => "0.55",
        }
    }

    /// The generation of a version that was written down; a later one is spoken to in the last we know.
    pub fn of_version(version: &str) -> Option<Dialect> {
        let mut parts = version.trim_start_matches(['v', 'V']).split('.');
        let major: u32 = parts.next()?.parse().ok()?;
        let minor = parts.next().unwrap_or("0");
        Some(match (major, minor) {
            (0, "1") => Dialect::Flat,
            (0, "5" | "50") => Dialect::Content,
            (0, "51" | "52" | "53" | "54") => Dialect::Results,
            _ => Dialect::Named,
        })
    }
}

/// What kinds of answer are wanted. Items come always; the others need words of somebody's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Modes {
    pub summarize: bool,
    pub generate: bool,
}

impl Modes {
    /// `list`, `none`, `summarize`, `generate`, or several with commas.
    pub(super) fn of(text: &str) -> Modes {
        let has = |mode: &str| text.split(',').any(|one| one.trim().eq_ignore_ascii_case(mode));
        Modes { summarize: has("summarize"), generate: has("generate") }
    }

    pub(super) fn as_str(self) -> &'static str {
        match (self.generate, self.summarize) {
            (true, _) => "generate",
            (false, true) => "summarize",
            (false, false) => "list",
        }
    }
}

/// A request to `ask`, whichever generation it came in.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    pub dialect: Dialect,
    pub text: Text,
    /// Empty: all of them.
    pub sites: Vec<Text>,
    /// Earlier questions of the same person, oldest first.
    pub prev: Vec<Text>,
    pub query_id: Option<Text>,
    pub modes: Modes,
    pub streaming: bool,
    /// At most so many items.
    pub most: usize,
    /// Items from this one on.
    pub first: usize,
    /// Items below it are left out.
    pub least_score: f64,
    /// Items of any other `@type` are left out.
    pub item_type: Option<Text>,
    /// The conversation it goes on with: `conversation_id`, or `thread_id` in the first generation.
    pub conversation: Option<Text>,
    /// What an elicitation gave, to be brought back.
    pub state: Option<Text>,
}

/// How an answer is wanted, apart from what was asked: what a promise keeps of its request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manner {
    pub dialect: Dialect,
    pub modes: Modes,
    pub most: usize,
    pub first: usize,
    pub least_score: f64,
    /// Absent from promises of earlier versions.
    #[serde(default)]
    pub item_type: Option<Text>,
}

impl Default for Manner {
    /// Of a request that does not say: all items, in the last generation.
    fn default() -> Manner {
        let (dialect, modes, most, first) = (Dialect::Named, Modes::default(), MAX_ITEMS, 0);
        Manner { dialect, modes, most, first, least_score: 0.0, item_type: None }
    }
}

impl Default for Asked {
    /// Of a request that asks nothing itself, for what was asked before: as [`Manner::default`] has it, at once.
    fn default() -> Asked {
        let Manner { dialect, modes, most, first, least_score, item_type } = Manner::default();
        Asked {
            dialect,
            text: "".into(),
            sites: Vec::new(),
            prev: Vec::new(),
            query_id: None,
            modes,
            streaming: false,
            most,
            first,
            least_score,
            item_type,
            conversation: None,
            state: None,
        }
    }
}

impl Asked {
    pub fn manner(&self) -> Manner {
        let Asked { dialect, modes, most, first, least_score, .. } = *self;
        Manner { dialect, modes, most, first, least_score, item_type: self.item_type.clone() }
    }
}

/// What a request is sent to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    Ask,
    Await,
    Who,
}

/// What `await` is asked to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    CheckIn,
    Cancel,
}

/// No more items are taken or given in one answer.
pub const MAX_ITEMS: usize = 1_000;
/// Unless the request says otherwise.
pub const USUAL_ITEMS: usize = 50;
pub const MAX_SITES: usize = 32;
pub const MAX_PREV: usize = 64;
pub const MAX_TEXT: usize = 32 * 1024;
