//! Plan executor: decides, journals, applies and carries out, until nothing is left to do.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use crate::plans::constellation;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use interlingua_machines::graph::{self, Effect, Ending, Graph, Happening, Peers, Record, Rules, World, fold, towards};
use interlingua_model::peer::Dispatch;
use interlingua_model::ports::{Append, Appended, Expected, StoreFault, is_last};
use interlingua_model::{
    CancelWhy, Entry, Fault, FaultKind, Finished, Input, Json, Log, Maker, MessageId, NodeId, Origin, PeerId, Target,
    Time, Trust, journal,
};
use interlingua_wire::members::Members;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::step::{self, Caller};
use super::{ASKED, Asked, change, happening, peers, tell};
use interlingua_hub::news::Listener;
use interlingua_hub::stall::until_stored;
use interlingua_net::client::going::News;

/// How many records are read at once after a restart.
const READ: usize = 1_000;
/// How often it is looked whether somebody is back: that is no news to anybody else.
const LOOK: Duration = Duration::from_millis(500);
/// How long a planner may think when nothing else is said.
const THINKING: Duration = Duration::from_secs(600);

/// What a call that is under way leads to.
enum Came {
    Step(NodeId, u64, Ending),
    Plan(NodeId, Option<Json>),
}

type Under = Pin<Box<dyn Future<Output = Option<Came>> + Send>>;

pub(super) struct Run {
    caller: Caller,
    graph: Graph,
    seq: u64,
    message: MessageId,
    planner: Option<PeerId>,
    /// Calls, by number; cancelled ones say nothing.
    stops: HashMap<u64, CancellationToken>,
    under: FuturesUnordered<Under>,
    peers: Peers,
    /// Of the catalogue that `peers` was made from.
    generation: u64,
    cancelled: CancellationToken,
    restarted: bool,
}

impl Run {
    /// A plan that is new, or one that a crash interrupted.
    pub(super) async fn begin(
        hub: Arc<interlingua_hub::Hub>,
        dispatch: &Dispatch,
    ) -> Result<(Run, (mpsc::Sender<Asked>, mpsc::Receiver<Asked>)), Fault> {
        let args = dispatch.call.input().and_then(|input| input.args.clone()).unwrap_or_else(Json::empty_object);
        let args = Members::of(&args);
        let planner = args.text("planner").filter(|name| !name.is_empty()).map(|name| PeerId::from(&*name));
        let thinks = args.number::<f64>("patience").and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        let rules = Rules {
            width: args.number("width").unwrap_or_else(|| Rules::default().width),
            planner: planner.as_ref().map(|_| thinks.unwrap_or(THINKING)),
        };
        let plan = Arc::new((*dispatch.call).clone());
        let caller = Caller { hub, by: dispatch.by.clone(), task: dispatch.task, plan };
        let (graph, seq, restarted) = match folded(&caller).await? {
            Some((graph, seq)) => (graph, seq, true),
            None => {
                let none = || Fault::caller(FaultKind::InvalidInput, "there is no plan");
                let plan = args.get("plan").or_else(|| told(dispatch, &args)).ok_or_else(none)?;
                let now = caller.hub.now();
                let (record, graph) = Graph::open(dispatch.task, change::plan(&plan)?, rules, now)?;
                let seq = append(&caller, 0, now, &[record]).await?;
                (graph, seq, false)
            }
        };
        let run = Run {
            caller,
            graph,
            seq,
            message: dispatch.key.clone(),
            planner,
            stops: HashMap::new(),
            under: FuturesUnordered::new(),
            peers: Peers::default(),
            generation: u64::MAX,
            cancelled: CancellationToken::new(),
            restarted,
        };
        Ok((run, mpsc::channel(ASKED)))
    }

    /// Cancelled by whoever wants the plan no more.
    pub(super) fn cancelled(&self) -> CancellationToken {
        self.cancelled.clone()
    }

    pub(super) async fn drive(mut self, mut asked: mpsc::Receiver<Asked>, news: News) -> Finished {
        match self.work(&mut asked, &news).await {
            Ok(()) => tell::finished(&self.graph),
            Err(fault) => Finished::failed(fault),
        }
    }

    async fn work(&mut self, asked: &mut mpsc::Receiver<Asked>, news: &News) -> Result<(), Fault> {
        let mut changes = self.caller.hub.notices();
        news.event(tell::begun(&self.graph, &self.message)).await;
        if self.restarted {
            self.decide(Happening::Restarted, news).await?;
        }
        loop {
            self.schedule(news).await?;
            if self.graph.is_over() && self.under.is_empty() {
                return Ok(());
            }
            match self.next(asked, &mut changes).await {
                Woken::Happening(what) => {
                    // A call that ended after its step did is nobody's any more.
                    if let Err(fault) = self.decide(what, news).await
                        && fault.kind != FaultKind::AlreadyFinished
                    {
                        return Err(fault);
                    }
                }
                Woken::Edit(change, origin, reply) => {
                    self.decide(Happening::Led(origin), news).await?;
                    let edited = self.decide(happening(change, &self.graph), news).await;
                    let _ = reply.send(edited.map(|()| constellation::write(&self.graph)));
                }
                Woken::Show(reply) => drop(reply.send(constellation::write(&self.graph))),
                Woken::Planned(node, answer) => self.planned(node, answer, news).await?,
                Woken::Look => {}
            }
        }
    }

    /// Calls whatever can be called, until nothing more can.
    async fn schedule(&mut self, news: &News) -> Result<(), Fault> {
        loop {
            let before = self.seq;
            self.decide(Happening::Schedule, news).await?;
            if self.seq == before {
                return Ok(());
            }
        }
    }

    async fn next(&mut self, asked: &mut mpsc::Receiver<Asked>, changes: &mut Listener) -> Woken {
        let now = self.caller.hub.now();
        let timer = self.graph.next_timer(now).map(|at| self.caller.hub.instant(at));
        let due = async {
            match timer {
                Some(at) => tokio::time::sleep_until(at).await,
                None => std::future::pending().await,
            }
        };
        let closing = self.cancelled.clone();
        let over = self.graph.is_over();
        tokio::select! {
            biased;
            () = closing.cancelled(), if !over => Woken::Happening(Happening::Cancel(CancelWhy::Asked)),
            Some(came) = self.under.next(), if !self.under.is_empty() => match came {
                Some(Came::Step(node, number, ending)) => {
                    self.stops.remove(&number);
                    Woken::Happening(Happening::Ended { node, number, ending })
                }
                Some(Came::Plan(node, answer)) => Woken::Planned(node, answer),
                None => Woken::Look,
            },
            Some(asked) = asked.recv() => match asked {
                Asked::Edit(change, origin, reply) => Woken::Edit(change, origin, reply),
                Asked::Show(reply) => Woken::Show(reply),
            },
            () = due => Woken::Happening(Happening::Tick),
            // Somebody came or left: a step that waits for them may be placed now, or never.
            _ = changes.next() => Woken::Look,
            () = tokio::time::sleep(LOOK), if !over => Woken::Look,
        }
    }

    /// Decides, and sees it through.
    async fn decide(&mut self, what: Happening, news: &News) -> Result<(), Fault> {
        self.look();
        let now = self.caller.hub.now();
        let decision = self.graph.decide(what, World { now, peers: &self.peers })?;
        if !decision.records.is_empty() {
            self.seq = append(&self.caller, self.seq, now, &decision.records).await?;
            for record in &decision.records {
                for change in self.graph.apply(record, now) {
                    if let Some(event) = tell::changed(&self.graph, &change, &self.message) {
                        news.event(event).await;
                    }
                }
            }
            news.tell(tell::progress(&self.graph));
        }
        for effect in decision.effects {
            self.perform(effect);
        }
        Ok(())
    }

    /// Who is there, if that changed.
    fn look(&mut self) {
        let generation = self.caller.hub.catalogue().generation;
        if generation != self.generation {
            self.peers = peers::known(&self.caller.hub, &self.caller.by, &self.graph);
            self.generation = generation;
        }
    }

    fn perform(&mut self, effect: Effect) {
        match effect {
            Effect::Run { node, calling, key } => {
                let Some(step) = self.graph.step(&node) else { return };
                let (target, input) = step::asked(&step.node, &calling.peer);
                let stop = CancellationToken::new();
                self.stops.insert(calling.number, stop.clone());
                let called = self.caller.clone().call(key, target, input, self.graph.led().cloned());
                let number = calling.number;
                self.under.push(Box::pin(async move {
                    tokio::select! {
                        called = called => Some(Came::Step(node, number, step::ending(called))),
                        () = stop.cancelled() => None,
                    }
                }));
            }
            Effect::Stop { number, .. } => {
                if let Some(stop) = self.stops.remove(&number) {
                    stop.cancel();
                }
            }
            Effect::Plan { node } => {
                let Some(planner) = self.planner.clone() else { return };
                let words = format!(
                    "Step {node} of this plan has ended. Answer with the whole plan as it should be from here on, or with nothing \
                     to leave it as it is.\n{}",
                    constellation::write(&self.graph).as_str()
                );
                let key = MessageId::from(format!("{}-plan-{node}", self.caller.task));
                let called = self.ask_planner(key, planner, &words);
                self.under.push(Box::pin(async move {
                    let answer = called.await.ok().and_then(|finished| step::result(finished.output));
                    Some(Came::Plan(node, answer))
                }));
            }
        }
    }

    /// The planner reads what the steps gave: what peers said.
    fn ask_planner(
        &self,
        key: MessageId,
        planner: PeerId,
        words: &str,
    ) -> impl Future<Output = Result<Finished, Fault>> + Send + use<> {
        let input = Input { trust: Trust::Peer, ..Input::text(words) };
        self.caller.clone().call(key, Target::Peer(planner), input, self.graph.led().cloned())
    }

    /// What the planner wants; an answer that is no plan, or cannot be followed, changes nothing.
    async fn planned(&mut self, node: NodeId, answer: Option<Json>, news: &News) -> Result<(), Fault> {
        if !self.graph.is_held(&node) {
            return Ok(());
        }
        let plan = answer.and_then(|answer| match answer.tree().as_str() {
            Some(text) => Json::parse(text.trim().to_owned().into()).ok(),
            None => Some(answer),
        });
        let plan = plan.filter(Json::is_object).and_then(|plan| change::plan(&plan).ok());
        let edits =
            plan.filter(|plan| !plan.nodes.is_empty()).map(|plan| towards(&self.graph, &plan)).unwrap_or_default();
        if !edits.is_empty() {
            let origin = self.caller.plan.origin.child(Maker::Plan, Trust::Peer);
            self.decide(Happening::Led(origin), news).await?;
        }
        if let Err(fault) = self.decide(Happening::Planned { node: node.clone(), edits }, news).await {
            tracing::warn!(event = "plan_edit_refused", error = %fault, "the planner's edit was refused; the plan continues without it");
            self.decide(Happening::Planned { node, edits: Vec::new() }, news).await?;
        }
        Ok(())
    }
}

enum Woken {
    Happening(Happening),
    Edit(change::Change, Origin, tokio::sync::oneshot::Sender<Result<Json, Fault>>),
    Show(tokio::sync::oneshot::Sender<Json>),
    Planned(NodeId, Option<Json>),
    Look,
}

/// A plan that is told as text.
fn told(dispatch: &Dispatch, args: &Members) -> Option<Json> {
    let text = match args.text("request") {
        Some(text) => text.into_owned(),
        None => dispatch.call.input()?.words().into_owned(),
    };
    Json::parse(text.trim().to_owned().into()).ok()
}

/// Synced before anything follows from it. A store that is full or away makes the plan wait.
async fn append(caller: &Caller, expected: u64, at: Time, records: &[Record]) -> Result<u64, Fault> {
    let bytes = records.iter().map(journal::to_bytes).collect::<Result<Vec<_>, _>>().map_err(Fault::internal)?;
    let append = Append {
        log: Log::Run(caller.task),
        expected: Expected::At(expected),
        at,
        records: bytes,
        unique: None,
        row: None,
        most: None,
        beside: 0,
        share: None,
    };
    match until_stored(|| caller.hub.journal().append(append.clone())).await? {
        Appended::At(seq) => Ok(seq),
        Appended::Exists { .. } => Err(Fault::hub(FaultKind::Internal, "the journal of the plan has another writer")),
    }
}

/// What the journal has of this plan.
async fn folded(caller: &Caller) -> Result<Option<(Graph, u64)>, Fault> {
    let mut entries: Vec<Entry<graph::Record>> = Vec::new();
    loop {
        let after = entries.last().map_or(0, |entry| entry.seq);
        let stored = until_stored(|| caller.hub.journal().read(Log::Run(caller.task), after, READ)).await?;
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
    let graph = fold(caller.task, entries).map_err(|damaged| StoreFault::Damaged(damaged.to_string().into()))?;
    Ok(Some((graph, seq)))
}
