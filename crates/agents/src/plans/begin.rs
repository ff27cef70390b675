//! Begins a plan: folds its journal after a restart; else reads the plan of the call, or takes up one that has ended.

use std::time::Duration;

use interlingua_machines::graph::{self, Graph, Happening, Peers, Plan, Record, Rules, World, fold};
use interlingua_model::ports::{Append, Appended, Changed, Expected, StoreFault, is_last};
use interlingua_model::{Entry, Fault, FaultKind, Json, Log, Maker, Noun, PeerId, TaskId, Time, Trust, journal};
use interlingua_wire::members::Members;

use super::{PEER, change};
use crate::run_context::RunContext;
use interlingua_hub::stall::until_stored;

/// How many records are read at once after a restart.
const READ: usize = 1_000;
/// How long a planner may think when nothing else is said.
const THINKING: Duration = Duration::from_secs(600);

/// What a run calls the last of its plans.
const LAST: &str = "last";
/// How far back it is looked for: other plans of the caller may have changed since.
const PAGE: usize = 100;
const PAGES: usize = 10;

/// A plan that can be driven.
pub(super) struct Begun {
    pub(super) graph: Graph,
    pub(super) seq: u64,
    pub(super) planner: Option<PeerId>,
    /// Was it begun before this start of the hub?
    pub(super) restarted: bool,
}

/// A plan that is new, or one that a crash interrupted.
pub(super) async fn begin(line: &RunContext) -> Result<Begun, Fault> {
    let args = line.call.input().and_then(|input| input.args.clone()).unwrap_or_else(Json::empty_object);
    let args = Members::of(&args);
    let planner = args.text("planner").filter(|name| !name.is_empty()).map(|name| PeerId::from(&*name));
    if let Some((graph, seq)) = folded(line, line.task).await? {
        return Ok(Begun { graph, seq, planner, restarted: true });
    }
    let thinks = args.number::<f64>("patience").and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let rules = Rules {
        width: args.number("width").unwrap_or_else(|| Rules::default().width),
        planner: planner.as_ref().map(|_| thinks.unwrap_or(THINKING)),
    };
    let continues = args.text("continues").filter(|task| !task.is_empty());
    let plan = match &continues {
        Some(task) => taken_up(line, task).await?,
        None => {
            let none = || Fault::caller(FaultKind::InvalidInput, "there is no plan");
            change::plan(&args.get("plan").or_else(|| told(line, &args)).ok_or_else(none)?)?
        }
    };
    bounded(&plan, args.number("max_steps"))?;
    let now = line.hub.now();
    let (record, mut graph) = Graph::open(line.task, plan, rules, now)?;
    let mut records = vec![record];
    if continues.is_some() {
        // Its steps were made and led by what the first plan was, and its results are what peers said.
        let origin = line.call.origin.child(Maker::Plan, Trust::Peer);
        let peers = Peers::default();
        let led = graph.decide(Happening::Led(origin), World { now, peers: &peers })?;
        led.records.iter().for_each(|record| drop(graph.apply(record, now)));
        records.extend(led.records);
    }
    let seq = append(line, 0, now, &records).await?;
    Ok(Begun { graph, seq, planner, restarted: false })
}

fn bounded(plan: &Plan, most: Option<usize>) -> Result<(), Fault> {
    match most {
        Some(most) if plan.nodes.len() > most => {
            let text = format!("the plan has {} steps; at most {most} are allowed", plan.nodes.len());
            Err(Fault::caller(FaultKind::TooLarge, text))
        }
        Some(_) | None => Ok(()),
    }
}

/// A plan that is told as text.
fn told(line: &RunContext, args: &Members) -> Option<Json> {
    let text = match args.text("request") {
        Some(text) => text.into_owned(),
        None => line.call.input()?.words().into_owned(),
    };
    Json::parse(text.trim().to_owned().into()).ok()
}

/// The rest of a plan of the same caller that has ended, with the changes of this call.
async fn taken_up(line: &RunContext, task: &str) -> Result<Plan, Fault> {
    let none = || Fault::caller(FaultKind::NotFound(Noun::Task), "there is no such plan");
    let task: TaskId = match task {
        LAST => last(line).await?.ok_or_else(none)?,
        task => task.parse().map_err(|_| none())?,
    };
    let before = line.hub.task(&line.by, task).await.map_err(|_| none())?;
    let route = before.route.as_ref().ok_or_else(none)?;
    // A run continues its own plans, not others of the same caller.
    let of_same_run = line.call.parent.is_none() || before.call.parent == line.call.parent;
    if route.skill.peer.as_str() != PEER || !of_same_run {
        return Err(none());
    }
    if before.finished().is_none() {
        return Err(Fault::caller(FaultKind::Conflict, "the plan still runs: change it by graph/edit"));
    }
    let (ended, _) = folded(line, task).await?.ok_or_else(none)?;
    let args = line.call.input().and_then(|input| input.args.as_ref());
    let changes = ["plan", "tasks", "dependencies", "remove", "unlink", "retarget"];
    match args.is_some_and(|args| changes.iter().any(|key| args.get(key).is_some())) {
        true => change::read(args)?.taken_up(&ended),
        false => ended.taken_up(&[]),
    }
}

/// The plan that the same run had carried out before this one.
async fn last(line: &RunContext) -> Result<Option<TaskId>, Fault> {
    let Some(run) = line.call.parent else { return Ok(None) };
    let mut filter = Changed { peer: Some(PEER.into()), limit: PAGE, ..Changed::default() };
    for _ in 0..PAGES {
        let (rows, _) = line.hub.changed(&line.by, filter.clone()).await?;
        let found = rows.iter().find(|row| row.parent == Some(run) && row.task != line.task);
        if let Some(row) = found {
            return Ok(Some(row.task));
        }
        filter.before = rows.last().map(|row| (row.updated, row.task));
        if rows.len() < PAGE {
            break;
        }
    }
    Ok(None)
}

/// Synced before anything follows from it. A store that is full or away makes the plan wait.
pub(super) async fn append(line: &RunContext, expected: u64, at: Time, records: &[Record]) -> Result<u64, Fault> {
    let bytes = records.iter().map(journal::to_bytes).collect::<Result<Vec<_>, _>>().map_err(Fault::internal)?;
    let append = Append {
        log: Log::Run(line.task),
        expected: Expected::At(expected),
        at,
        records: bytes,
        unique: None,
        row: None,
        most: None,
        beside: 0,
        share: None,
    };
    match until_stored(|| line.hub.journal().append(append.clone())).await? {
        Appended::At(seq) => Ok(seq),
        Appended::Exists { .. } => Err(Fault::hub(FaultKind::Internal, "the journal of the plan has another writer")),
    }
}

/// What the journal has of a plan.
async fn folded(line: &RunContext, task: TaskId) -> Result<Option<(Graph, u64)>, Fault> {
    let mut entries: Vec<Entry<graph::Record>> = Vec::new();
    loop {
        let after = entries.last().map_or(0, |entry| entry.seq);
        let stored = until_stored(|| line.hub.journal().read(Log::Run(task), after, READ)).await?;
        let last = is_last(&stored, READ);
        for one in stored {
            let damaged = |cause: journal::Unreadable| StoreFault::Damaged(cause.to_string().into());
            let record = journal::from_bytes(&one.bytes).map_err(damaged)?;
            entries.push(Entry { seq: one.seq, at: one.at, record });
        }
        if last {
            break;
        }
    }
    let Some(seq) = entries.last().map(|entry| entry.seq) else { return Ok(None) };
    let graph = fold(task, entries).map_err(|damaged| StoreFault::Damaged(damaged.to_string().into()))?;
    Ok(Some((graph, seq)))
}
