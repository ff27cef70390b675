//! Task graph: a plan of many calls with dependencies, as a state machine. Its state is a fold of its records, with the same code live and
//! on replay.
//!
//! [`Graph::decide`] may refuse and changes nothing; its records are one atomic append. [`Graph::apply`] runs after the append and cannot
//! fail. What follows from a record by rule alone (which steps become ready, which are skipped, when the plan has ended) is computed in
//! `apply` and not journaled again, so that the journal holds causes only. The driver of a graph asks for [`Happening::Schedule`] after
//! every append, until it yields nothing.
//!
//! | state | record | next |
//! |---|---|---|
//! | Waiting | the last edge in front passes | Ready |
//! | Waiting | an edge in front blocks | Ended, cancelled because something earlier failed |
//! | Ready, Later | `Sent` | Running |
//! | Running | `Again` (a failure that may be tried again) | Later |
//! | Running | `Ended` | Ended; with `hold` its edges stay open until `Released` |
//! | Ready | `Ended` (no peer can do it) | Ended |
//! | not Ended | `Closed` | Ended |
//!
//! The input of a step may name results of the steps that it waits for ([`Graph::filled`]). A step whose input names a result that is not
//! there fails without a call. A plan that has ended can be taken up by another one ([`Graph::taken_up`]).
//!
//! A step runs a second time only when its failure says that nothing was begun, or when it is repeatable. After a crash the running steps
//! are called again under the same key, and the hub returns the existing exchange.
//!
//! Every step costs the logarithm of the plan's size, an edit costs its size. Deliberately absent: clocks, peers, the calls themselves, and
//! other plan formats.

mod apply;
mod decide;
mod edit;
mod place;
mod plan;
mod queue;
mod results;
mod taken_up;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use apply::{Damaged, fold};
pub use edit::{Edit, towards};
pub use place::{Candidate, GPU, Peers, Placed};
pub use plan::{Condition, Dependency, Edge, Ending, Node, Plan, Want};
pub use results::Filled;

use queue::Queue;

use interlingua_model::content::Meta;
use interlingua_model::digest::Digest;
use interlingua_model::event::{CancelWhy, Usage};
use interlingua_model::fault::Fault;
use interlingua_model::id::{EdgeId, MessageId, NodeId, PeerId, TaskId, Text, Time};
use interlingua_model::origin::Origin;

pub const MAX_NODES: usize = 100_000;
pub const MAX_EDGES: usize = 500_000;
/// How many changes one edit may make.
pub const MAX_EDITS: usize = 10_000;
/// How many edits can be undone.
pub const MAX_UNDO: usize = 32;

/// How a graph is run. Part of its first record, so that a replay obeys the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rules {
    /// How many steps may run at once.
    pub width: usize,
    /// How long a planner may think about each step that ended; `None`: nobody is asked.
    pub planner: Option<Duration>,
}

impl Default for Rules {
    fn default() -> Self {
        Rules { width: 64, planner: None }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Graph {
    pub id: TaskId,
    pub name: Text,
    pub meta: Meta,
    pub rules: Rules,
    pub deadline: Option<Time>,
    pub created: Time,
    pub updated: Time,
    steps: BTreeMap<NodeId, Step>,
    edges: BTreeMap<EdgeId, Edge>,
    ready: Queue,
    /// Failed once, to be tried again at a time.
    later: BTreeSet<(Time, NodeId)>,
    /// When running steps must have ended.
    timeouts: BTreeSet<(Time, NodeId)>,
    /// Ended, with a planner thinking about it until a time.
    held: BTreeMap<NodeId, Time>,
    load: BTreeMap<PeerId, u32>,
    running: usize,
    /// How many steps have not ended.
    left: usize,
    /// How many calls were made: the number of a call is never used twice.
    calls: u64,
    /// How many steps were ever added: ranks those of one priority.
    added: u64,
    /// What would take back the last edits.
    undo: VecDeque<Vec<Edit>>,
    closed: Option<Ending>,
    /// Of all that has edited it.
    led: Option<Origin>,
    /// What the models of its steps used so far.
    spent: Usage,
}

/// A node and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    pub node: Node,
    pub state: State,
    /// How often it was called so far.
    pub attempts: u32,
    pub started: Option<Time>,
    pub ended: Option<Time>,
    /// Who it was last given to, and why, where there was a choice.
    pub placed: Option<(PeerId, Option<Text>)>,
    order: u64,
    incoming: Vec<EdgeId>,
    outgoing: Vec<EdgeId>,
    /// Edges in front that are not yet decided.
    open: usize,
    /// When the running call must have ended.
    until: Option<Time>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum State {
    Waiting,
    Ready,
    Later(Time),
    Running(Calling),
    Ended(Ending),
}

/// A call that is under way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Calling {
    /// Counts the calls of this graph.
    pub number: u64,
    pub peer: PeerId,
    /// The skill is idempotent: it may be called again whatever happened.
    pub repeatable: bool,
    /// Why this peer, where there was a choice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<Text>,
}

/// How a graph stands as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    Empty,
    /// Nothing was begun.
    Ready,
    Running,
    Completed,
    /// Something failed, and nothing completed.
    Failed,
    PartlyFailed,
    Cancelled,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Record {
    Accepted {
        plan: Box<Plan>,
        rules: Rules,
    },
    /// A step is called. Synced before the bytes leave.
    Sent {
        node: NodeId,
        calling: Calling,
    },
    /// It failed and will be tried again.
    Again {
        node: NodeId,
        fault: Fault,
        at: Time,
    },
    /// `hold`: a planner may think about it until then, before anything follows from it.
    Ended {
        node: NodeId,
        ending: Ending,
        hold: Option<Time>,
    },
    Released {
        node: NodeId,
    },
    Edited {
        edits: Vec<Edit>,
        undoes: bool,
    },
    /// Nothing more is begun; whatever has not ended ends like this.
    Closed {
        ending: Ending,
    },
    /// What edits it: whatever is called from here on has this origin, too.
    Led {
        origin: Origin,
    },
    /// The models of a step used this.
    Spent {
        usage: Usage,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub enum Happening {
    /// Call what can be called.
    Schedule,
    /// What came of a call.
    Ended {
        node: NodeId,
        number: u64,
        ending: Ending,
    },
    /// The models of a step used this.
    Spent(Usage),
    /// Somebody is about to edit it.
    Led(Origin),
    Edit(Vec<Edit>),
    /// The planner's answer to [`Effect::Plan`]; no edits: leave it as it is.
    Planned {
        node: NodeId,
        edits: Vec<Edit>,
    },
    /// Take back the last edit.
    Undo,
    Cancel(CancelWhy),
    /// Time has passed.
    Tick,
    /// The hub was started again and has folded this from the journal.
    Restarted,
}

/// What a decision may look at besides the graph.
#[derive(Debug, Clone, Copy)]
pub struct World<'a> {
    pub now: Time,
    pub peers: &'a Peers,
}

/// Records to append as one, then effects to perform.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Decision {
    pub records: Vec<Record>,
    pub effects: Vec<Effect>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Call the step's peer under this key; a key that was used before leads to the exchange that has it.
    Run { node: NodeId, calling: Calling, key: MessageId },
    /// Let go of the call.
    Stop { node: NodeId, number: u64 },
    /// Ask the planner what follows from this step.
    Plan { node: NodeId },
}

/// What a reader is told.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    Step {
        node: NodeId,
        state: State,
    },
    /// Steps or edges came, went or changed.
    Shape,
    Over(Standing),
}

impl Graph {
    pub fn step(&self, node: &NodeId) -> Option<&Step> {
        self.steps.get(node)
    }

    /// The origin of all that has edited it.
    pub fn led(&self) -> Option<&Origin> {
        self.led.as_ref()
    }

    /// What the models of its steps used, without the calls of skills: those are its steps.
    pub fn spent(&self) -> Usage {
        self.spent
    }

    pub fn steps(&self) -> impl Iterator<Item = &Step> {
        self.steps.values()
    }

    pub fn edges(&self) -> impl Iterator<Item = &Edge> {
        self.edges.values()
    }

    pub fn edge(&self, edge: &EdgeId) -> Option<&Edge> {
        self.edges.get(edge)
    }

    /// What a step waits for, and what waits for it.
    pub fn around<'a>(&'a self, step: &'a Step) -> (impl Iterator<Item = &'a Edge>, impl Iterator<Item = &'a Edge>) {
        let of = |ids: &'a [EdgeId]| ids.iter().filter_map(|id| self.edges.get(id));
        (of(&step.incoming), of(&step.outgoing))
    }

    /// Did an edge's front end, so that it let its step go or held it back for good?
    pub fn verdict(&self, edge: &Edge) -> Option<bool> {
        let from = self.steps.get(&edge.from)?;
        match &from.state {
            State::Ended(ending) if !self.held.contains_key(&edge.from) => Some(edge.passes(ending)),
            State::Ended(_) | State::Waiting | State::Ready | State::Later(_) | State::Running(_) => None,
        }
    }

    /// Is a planner thinking about this step?
    pub fn is_held(&self, node: &NodeId) -> bool {
        self.held.contains_key(node)
    }

    /// Nothing will happen any more.
    pub fn is_over(&self) -> bool {
        self.left == 0 && self.held.is_empty()
    }

    pub fn standing(&self) -> Standing {
        let (mut completed, mut failed, mut begun) = (false, false, false);
        for step in self.steps.values() {
            match &step.state {
                State::Ended(Ending::Completed(_)) => completed = true,
                State::Ended(Ending::Failed(_)) => failed = true,
                State::Running(_) | State::Later(_) => begun = true,
                State::Ended(Ending::Cancelled(_)) | State::Waiting | State::Ready => {}
            }
        }
        let cancelled = matches!(self.closed, Some(Ending::Cancelled(_)));
        match () {
            () if self.steps.is_empty() => Standing::Empty,
            () if self.left > 0 && (begun || completed || failed) => Standing::Running,
            () if self.left > 0 => Standing::Ready,
            () if cancelled => Standing::Cancelled,
            () if completed && failed => Standing::PartlyFailed,
            () if failed => Standing::Failed,
            () if completed => Standing::Completed,
            () => Standing::Cancelled,
        }
    }

    /// When to come back with [`Happening::Tick`] and [`Happening::Schedule`], if nothing happens before. A step that is due
    /// again and finds no room waits for a call to end, not for a time.
    pub fn next_timer(&self, now: Time) -> Option<Time> {
        if self.is_over() {
            return None;
        }
        let after = (Time(now.0.saturating_add(1)), NodeId::from(""));
        let later = self.later.range(after..).next().map(|(at, _)| *at);
        let timeout = self.timeouts.first().map(|(at, _)| *at);
        let deadline = self.deadline.filter(|_| self.closed.is_none());
        [later, timeout, self.held.values().min().copied(), deadline].into_iter().flatten().min()
    }

    /// The idempotency key of a call: the same after a restart, another for every call.
    pub fn key(&self, number: u64) -> MessageId {
        let digest = Digest::of_fields([b"graph".as_slice(), &self.id.0.to_be_bytes(), &number.to_be_bytes()]);
        MessageId::from(digest.to_string())
    }
}
