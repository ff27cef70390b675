//! Plans (task graphs) of many calls, as the peer `graph`: `run` executes one, `do` executes one given as text, so that an orchestrator can
//! request it like any task; `carry_out` executes one for an agent, or continues one that has ended; `edit` changes a running plan, `show`
//! reports its state.
//!
//! The scheduler is pure and its state is the journal of the run: every decision is written before anything follows from it, and a hub that
//! was killed folds the journal and continues. Steps are calls like any other, through the hub's entry point, in the name of the caller;
//! each is stored under a key of its own, so that a step that was called before the crash is found again and not called twice. [`run`]
//! drives a plan, [`begin`] opens one or folds its journal, [`step`] makes calls, [`peers`] lists the candidates, [`tell`] reports to
//! readers, [`change`] reads edits, [`schema`] describes the input of the skills.
//!
//! A question of a step is put to the caller of the plan, as an agent does with questions of its calls.

mod begin;
pub(crate) mod change;
pub mod constellation;
mod peers;
mod run;
mod schema;
mod step;
mod tell;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll};
use std::time::Duration;

use interlingua_model::peer::{Calling, Dispatch, Duplex, Peer, Reply};
use interlingua_model::{
    Call, Card, CardFrom, Effects, Fault, FaultKind, Feature, Finished, Input, Json, Maker, Noun, Origin, Output,
    Owner, Principal, Record, Schema, Signal, Skill, SkillId, SkillKind, TaskId, Time,
};
use tokio::sync::{mpsc, oneshot};

use crate::run_context::{PLAN, RunContext};
use crate::run_duplex::{MAX_SIGNALS, RunDuplex};
use interlingua_hub::{Hub, in_process};

pub(crate) use step::result as step_result;

pub(crate) const PEER: &str = PLAN.0;
const RUN: &str = "run";
const DO: &str = "do";
/// The skill by which an agent has its plans run.
pub(crate) const CARRY_OUT: &str = PLAN.1;
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
const CARRIES: (&str, &str) = (
    "Carry out a plan",
    "Run a plan of several calls, or continue one that has ended with changes. It returns how each step ended, where, why there, and with \
     what result. Each step is judged by itself: what you may not do is refused, and what needs an approval waits for it.",
);
const EDITS: (&str, &str) =
    ("Change a running plan", "Change a plan that runs, all of the change or nothing. It needs the task of the plan.");
const SHOWS: (&str, &str) =
    ("Show a running plan", "Show how far a plan that runs has come. It needs the task of the plan.");
/// How long after a restart of the hub peers may take to connect again.
const GATHERING: Duration = Duration::from_secs(30);
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
    /// Until then peers may still connect, because the hub was started again while plans ran.
    gathers: Mutex<Time>,
}

#[derive(Debug, Clone)]
struct Running {
    owner: Owner,
    asked: mpsc::Sender<Asked>,
    /// May a step be a plan? Not where the steps are counted.
    nests: bool,
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
    let graphs = Graphs { hub: Arc::downgrade(hub), running: Mutex::default(), gathers: Mutex::new(Time(0)) };
    hub.register(card(hub), Arc::new(graphs)).await
}

fn card(hub: &Hub) -> Card {
    let changes = Effects { calls: true, ..Effects::writes(CardFrom::Configuration) };
    let skill = |name: &str, (title, text): (&str, &str), input: serde_json::Value, effects: Effects| {
        let skill = Skill::new(SkillId::new(PEER, name), SkillKind::Tool, text, Schema(input.into()), effects);
        Skill { title: title.into(), ..skill }
    };
    let (run, told) = (skill(RUN, RUNS, schema::run(), changes), skill(DO, TOLD, schema::told(), changes));
    // It changes nothing by itself: whoever led to it needs an approval for its steps, not for having a plan.
    let calls = Effects::calls(CardFrom::Configuration);
    let carried = skill(CARRY_OUT, CARRIES, schema::carry_out(), calls);
    let skills = vec![
        Skill { always_kept: true, ..run }.sealed(),
        Skill { always_kept: true, kind: SkillKind::Agent, ..told }.sealed(),
        Skill { always_kept: true, ..carried }.sealed(),
        skill("edit", EDITS, schema::edit(), changes).sealed(),
        skill("show", SHOWS, schema::show(), Effects::reads_only(CardFrom::Configuration)).sealed(),
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
                _ => return self.drive(hub, dispatch).await,
            };
            let output = Output { structured: Some(answer), ..Output::default() };
            Ok(Reply::Done(Box::new(Finished::completed(output)), None))
        })
    }

    /// A plan that is taken up goes on where its journal ends; an edit that was under way may have been made.
    fn resumes(&self, skill: &Skill) -> bool {
        matches!(skill.id.skill.as_str(), RUN | DO | CARRY_OUT)
    }
}

impl Graphs {
    /// A plan of an agent has a limit of steps, which a plan in a plan would not obey.
    fn check_nesting(&self, call: &Call) -> Result<(), Fault> {
        let within = call.parent.and_then(|parent| self.running().get(&parent).map(|running| running.nests));
        match within {
            Some(false) => Err(Fault::caller(FaultKind::Denied, "a step of an agent's plan may not be a plan itself")),
            Some(true) | None => Ok(()),
        }
    }

    /// Until when peers that are not known yet may still connect.
    fn gathering(&self, line: &RunContext, begun: &begin::Begun) -> Time {
        let mut gathers = self.gathers.lock().unwrap_or_else(PoisonError::into_inner);
        if begun.restarted && gathers.0 == 0 {
            *gathers = line.hub.now().after(GATHERING);
        }
        *gathers
    }

    async fn drive(self: Arc<Self>, hub: Arc<Hub>, dispatch: Dispatch) -> Result<Reply, Fault> {
        let (task, owner, key) = (dispatch.task, dispatch.by.owner(), dispatch.key.clone());
        let carried = dispatch.skill.id.skill.as_str() == CARRY_OUT;
        self.check_nesting(&dispatch.call)?;
        let line = Arc::new(RunContext::of_plan(hub, PEER.into(), dispatch));
        let begun = begin::begin(&line).await?;
        let end = if carried { run::End::Account } else { run::End::Standing };
        let gathers = self.gathering(&line, &begun);
        let run = run::Run::new(line.clone(), begun, key, end, gathers);
        let (asked, requests) = mpsc::channel(ASKED);
        let entry = Entered::new(&self, task, Running { owner, asked, nests: !carried });
        let (signals, incoming) = mpsc::channel(MAX_SIGNALS);
        let work = Box::pin(async move {
            let _entry = entry;
            run.drive(requests, incoming).await;
        });
        let duplex = RunDuplex { work: Some(work), outbox: line.outbox.clone(), signals };
        Ok(Reply::Live(Box::new(PlanDuplex(duplex))))
    }
}

/// A plan as an exchange: it takes answers and a cancel, and nothing else.
struct PlanDuplex(RunDuplex);

impl Duplex for PlanDuplex {
    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<Record>> {
        self.0.poll_next(cx)
    }

    fn signal(&mut self, signal: Signal) -> Result<(), Fault> {
        match signal {
            signal @ (Signal::Answered { .. } | Signal::Cancel(_)) => self.0.signal(signal),
            Signal::Said { .. } => {
                Err(Fault::hub(FaultKind::Unsupported(Feature::Operation), "it takes no more input"))
            }
        }
    }
}

/// A plan's place among those that run.
struct Entered {
    graphs: Arc<Graphs>,
    task: TaskId,
}

impl Entered {
    fn new(graphs: &Arc<Graphs>, task: TaskId, running: Running) -> Entered {
        graphs.running().insert(task, running);
        Entered { graphs: graphs.clone(), task }
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        self.graphs.running().remove(&self.task);
    }
}
