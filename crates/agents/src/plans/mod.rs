//! Plans (task graphs) of many calls, as the peer `graph`: `run` executes one, `do` executes one given as text, so that an orchestrator can
//! request it like any task; `edit` changes a running plan, `show` reports its state.
//!
//! The scheduler is pure and its state is the journal of the run: every decision is written before anything follows from it, and a hub that
//! was killed folds the journal and continues. Steps are calls like any other, through the hub's entry point, in the name of the caller;
//! each is stored under a key of its own, so that a step that was called before the crash is found again and not called twice. [`run`]
//! drives a plan, [`step`] makes calls, [`peers`] lists the candidates, [`tell`] reports to readers, [`change`] reads edits.

pub(crate) mod change;
pub mod constellation;
mod peers;
mod run;
mod step;
mod tell;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use interlingua_machines::graph::Happening;
use interlingua_model::peer::{Calling, Dispatch, Peer, Reply};
use interlingua_model::{
    Call, Card, CardFrom, Effects, Fault, FaultKind, Finished, Input, Json, Maker, Noun, Origin, Output, Owner,
    Principal, Schema, Skill, SkillId, SkillKind, TaskId,
};
use serde_json::json;
use tokio::sync::{mpsc, oneshot};

use interlingua_hub::{Hub, in_process};
use interlingua_net::client::going::Going;

pub(crate) use step::result as step_result;

const PEER: &str = "graph";
const RUN: &str = "run";
const DO: &str = "do";
/// What each skill is called for people; and for models, when to use it and what it needs.
const RUNS: (&str, &str) = (
    "Run a plan",
    "Run a plan of several calls, some of which wait for others. Use this for calls that depend on each other or run side by side; for \
     one call, call its tool.",
);
const TOLD: (&str, &str) = (
    "Run a plan given as text",
    "Run a plan that is JSON in a text. Use this where only text can be sent; otherwise use graph/run.",
);
const EDITS: (&str, &str) =
    ("Change a running plan", "Change a plan that runs, all of the change or nothing. It needs the task of the plan.");
const SHOWS: (&str, &str) =
    ("Show a running plan", "Show how far a plan that runs has come. It needs the task of the plan.");
/// How many requests may wait for one running plan.
const ASKED: usize = 64;

/// Something for a plan that runs.
enum Asked {
    Edit(change::Change, Origin, oneshot::Sender<Result<Json, Fault>>),
    Show(oneshot::Sender<Json>),
}

/// Plans that run, by their task.
#[derive(Debug)]
struct Graphs {
    hub: Weak<Hub>,
    running: Mutex<HashMap<TaskId, Running>>,
}

#[derive(Debug, Clone)]
struct Running {
    owner: Owner,
    asked: mpsc::Sender<Asked>,
}

impl std::fmt::Debug for Asked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Asked::Edit(..) => "Edit",
            Asked::Show(_) => "Show",
        })
    }
}

pub async fn register(hub: &Arc<Hub>) -> Result<(), Fault> {
    let graphs = Graphs { hub: Arc::downgrade(hub), running: Mutex::default() };
    hub.register(card(hub), Arc::new(graphs)).await
}

fn card(hub: &Hub) -> Card {
    let plan = json!({
        "type": "object",
        "description": "Steps and what they wait for: tasks and dependencies, as UFO's TaskConstellation writes them.",
        "properties": {"name": {"type": "string"}, "tasks": {}, "dependencies": {}},
    });
    let task = json!({"type": "string", "description": "The task of the plan that runs."});
    let run = json!({
        "type": "object",
        "properties": {
            "plan": plan,
            "width": {"type": "integer", "minimum": 1, "maximum": 1000, "description": "How many steps may run at once."},
            "planner": {"type": "string", "description": "A peer that is asked after every step whether the plan should change."},
            "patience": {"type": "number", "exclusiveMinimum": 0, "description": "How many seconds it may think each time."},
        },
        "required": ["plan"],
    });
    let edit = json!({
        "type": "object",
        "properties": {
            "task": task,
            "plan": plan,
            "tasks": {"description": "Steps to add, or to put in the place of those of the same id."},
            "dependencies": {"description": "Lines to add."},
            "remove": {"type": "array", "items": {"type": "string"}, "description": "Ids of steps to take out."},
            "unlink": {"type": "array", "items": {"type": "string"}, "description": "Ids of lines to take out."},
            "retarget": {"type": "object", "additionalProperties": {"type": "string"}, "description": "Step to peer."},
            "undo": {"type": "boolean", "description": "Take the last edit back."},
        },
        "required": ["task"],
    });
    let told = json!({
        "type": "object",
        "properties": {"request": {"type": "string", "description": "The plan, in JSON."}},
        "required": ["request"],
    });
    let show = json!({"type": "object", "properties": {"task": task}, "required": ["task"]});
    let changes = Effects { calls: true, ..Effects::writes(CardFrom::Configuration) };
    let skill = |name: &str, (title, text): (&str, &str), input: serde_json::Value, effects: Effects| {
        let skill = Skill::new(SkillId::new(PEER, name), SkillKind::Tool, text, Schema(input.into()), effects);
        Skill { title: title.into(), ..skill }
    };
    let (run, told) = (skill(RUN, RUNS, run, changes), skill(DO, TOLD, told, changes));
    let skills = vec![
        Skill { always_kept: true, ..run }.sealed(),
        Skill { always_kept: true, kind: SkillKind::Agent, ..told }.sealed(),
        skill("edit", EDITS, edit, changes).sealed(),
        skill("show", SHOWS, show, Effects::reads_only(CardFrom::Configuration)).sealed(),
    ];
    in_process::card(PEER.into(), "Graph", "Plans of many calls over any peers.", skills, hub.now())
}

impl Graphs {
    fn running(&self) -> MutexGuard<'_, HashMap<TaskId, Running>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A running plan of theirs.
    fn find(&self, by: &Principal, input: &Input) -> Result<Running, Fault> {
        let none = || Fault::caller(FaultKind::NotFound(Noun::Task), "no such plan runs");
        let id = input.args.as_ref().and_then(|args| args.get("task")?.as_str()).and_then(|id| id.parse().ok());
        let running = self.running().get(&id.ok_or_else(none)?).cloned().ok_or_else(none)?;
        if by.is_hub_owner() || by.owner() == running.owner { Ok(running) } else { Err(none()) }
    }

    async fn edit(&self, by: &Principal, call: &Call, input: &Input) -> Result<Json, Fault> {
        let running = self.find(by, input)?;
        let change = change::read(input.args.as_ref())?;
        let (reply, answer) = oneshot::channel();
        let origin = call.origin.child(Maker::Plan, call.trust());
        ask(&running, Asked::Edit(change, origin, reply), answer).await?
    }

    async fn show(&self, by: &Principal, input: &Input) -> Result<Json, Fault> {
        let running = self.find(by, input)?;
        let (reply, answer) = oneshot::channel();
        ask(&running, Asked::Show(reply), answer).await
    }
}

async fn ask<T>(running: &Running, asked: Asked, answer: oneshot::Receiver<T>) -> Result<T, Fault> {
    let over = |_| Fault::caller(FaultKind::AlreadyFinished, "the plan has ended");
    running.asked.send(asked).await.map_err(|_| over(()))?;
    answer.await.map_err(|_| over(()))
}

impl Peer for Graphs {
    fn call(self: Arc<Self>, dispatch: Dispatch) -> Calling {
        Box::pin(async move {
            let hub = self.hub.upgrade();
            let hub = hub.ok_or_else(Fault::shutting_down)?;
            let none = Input::parts(Vec::new());
            let input = dispatch.call.input().unwrap_or(&none);
            let answer = match dispatch.skill.id.skill.as_str() {
                "edit" => self.edit(&dispatch.by, &dispatch.call, input).await?,
                "show" => self.show(&dispatch.by, input).await?,
                _ => {
                    let (run, asked) = run::Run::begin(hub, &dispatch).await?;
                    let entry = Entered::new(&self, &dispatch, asked.0);
                    let cancelled = run.cancelled();
                    let going = Going::new(move |news| async move {
                        let _entry = entry;
                        (run.drive(asked.1, news).await, Vec::new())
                    });
                    return Ok(Reply::Live(Box::new(going.told_to_stop_by(cancelled))));
                }
            };
            let output = Output { structured: Some(answer), ..Output::default() };
            Ok(Reply::Done(Box::new(Finished::completed(output)), None))
        })
    }

    /// A plan that is taken up goes on where its journal ends; an edit that was under way may have been made.
    fn resumes(&self, skill: &Skill) -> bool {
        matches!(skill.id.skill.as_str(), RUN | DO)
    }
}

/// A plan's place among those that run.
struct Entered {
    graphs: Arc<Graphs>,
    task: TaskId,
}

impl Entered {
    fn new(graphs: &Arc<Graphs>, dispatch: &Dispatch, asked: mpsc::Sender<Asked>) -> Entered {
        graphs.running().insert(dispatch.task, Running { owner: dispatch.by.owner(), asked });
        Entered { graphs: graphs.clone(), task: dispatch.task }
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        self.graphs.running().remove(&self.task);
    }
}

/// What an edit leads to.
fn happening(change: change::Change, graph: &interlingua_machines::graph::Graph) -> Happening {
    match change {
        change::Change::Undo => Happening::Undo,
        change::Change::Towards(plan) => Happening::Edit(interlingua_machines::graph::towards(graph, &plan)),
        change::Change::Edits(edits) => Happening::Edit(change::over(edits, graph)),
    }
}
