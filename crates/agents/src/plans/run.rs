//! Plan executor: decides, journals, applies and carries out, until nothing is left to do.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use crate::plans::constellation;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use interlingua_machines::graph::{Effect, Ending, Graph, Happening, Peers, Record, World, towards};
use interlingua_model::{
    CancelWhy, Event, Fault, FaultKind, Finished, Input, Json, Maker, MessageId, NodeId, Origin, PeerId, Signal,
    Target, Time, Trust, Usage,
};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::begin::{Begun, append};
use super::{Asked, change, peers, step, tell};
use crate::run_context::RunContext;
use interlingua_hub::news::Listener;

/// How often it is looked whether somebody is back: that is no news to anybody else.
const LOOK: Duration = Duration::from_millis(500);
/// How long a look at the peers counts: their reports grow old without news.
const LOOKED: Duration = Duration::from_secs(10);
/// How many events are told before they are taken.
const AT_ONCE: usize = 256;

/// What a call that is under way leads to.
enum Came {
    Step(NodeId, u64, Ending, Usage),
    Plan(NodeId, Option<Json>),
}

type Under = Pin<Box<dyn Future<Output = Option<Came>> + Send>>;

/// What is said at the end besides the plan itself.
pub(super) enum End {
    /// How the plan stands.
    Standing,
    /// How each step ended, where and why there: for a model, which reads words.
    Account,
}

pub(super) struct Run {
    line: Arc<RunContext>,
    graph: Graph,
    seq: u64,
    message: MessageId,
    planner: Option<PeerId>,
    end: End,
    /// Calls, by number; cancelled ones say nothing.
    stops: HashMap<u64, CancellationToken>,
    under: FuturesUnordered<Under>,
    peers: Peers,
    /// Of the catalogue that `peers` was made from, and when; `None`: they must be looked at again.
    looked: Option<(u64, Time)>,
    /// Was it begun before this start of the hub?
    restarted: bool,
    /// Until then peers that are not known yet may still connect.
    gathers: Time,
    /// How many events were told.
    told: usize,
}

impl Run {
    pub(super) fn new(line: Arc<RunContext>, begun: Begun, message: MessageId, end: End, gathers: Time) -> Run {
        let Begun { graph, seq, planner, restarted } = begun;
        Run {
            line,
            graph,
            seq,
            message,
            planner,
            end,
            stops: HashMap::new(),
            under: FuturesUnordered::new(),
            peers: Peers::default(),
            looked: None,
            restarted,
            gathers,
            told: 0,
        }
    }

    pub(super) async fn drive(mut self, mut asked: mpsc::Receiver<Asked>, mut signals: mpsc::Receiver<Signal>) {
        let finished = match self.work(&mut asked, &mut signals).await {
            Ok(()) => match self.end {
                End::Standing => tell::finished(&self.graph),
                End::Account => tell::accounted(&self.graph),
            },
            Err(fault) => Finished::failed(fault),
        };
        self.line.outbox.finish(finished, Vec::new());
    }

    /// Tells readers, and lets them take it before there is too much of it.
    async fn tell(&mut self, event: Event) {
        self.line.outbox.emit(event);
        self.told += 1;
        if self.told.is_multiple_of(AT_ONCE) {
            tokio::task::yield_now().await;
        }
    }

    async fn work(
        &mut self,
        asked: &mut mpsc::Receiver<Asked>,
        signals: &mut mpsc::Receiver<Signal>,
    ) -> Result<(), Fault> {
        let mut changes = self.line.hub.notices();
        self.tell(tell::begun(&self.graph, &self.message)).await;
        if self.restarted {
            self.decide(Happening::Restarted).await?;
        }
        loop {
            self.schedule().await?;
            if self.graph.is_over() && self.under.is_empty() {
                return Ok(());
            }
            match self.next(asked, signals, &mut changes).await {
                Woken::Happening(what) => self.decide_unless_over(what).await?,
                Woken::Ended(what, usage) => {
                    self.decide(Happening::Spent(usage)).await?;
                    self.decide_unless_over(what).await?;
                }
                Woken::Edit(change, origin, reply) => {
                    self.decide(Happening::Led(origin)).await?;
                    let edited = self.decide(change.happening(&self.graph)).await;
                    let _ = reply.send(edited.map(|()| constellation::write(&self.graph)));
                }
                Woken::Show(reply) => drop(reply.send(constellation::write(&self.graph))),
                Woken::Planned(node, answer) => self.planned(node, answer).await?,
                Woken::Look => {}
            }
        }
    }

    /// A call that ended after its step did is nobody's any more.
    async fn decide_unless_over(&mut self, what: Happening) -> Result<(), Fault> {
        match self.decide(what).await {
            Err(fault) if fault.kind != FaultKind::AlreadyFinished => Err(fault),
            Err(_) | Ok(()) => Ok(()),
        }
    }

    /// Calls whatever can be called, until nothing more can.
    async fn schedule(&mut self) -> Result<(), Fault> {
        loop {
            let before = self.seq;
            self.decide(Happening::Schedule).await?;
            if self.seq == before {
                return Ok(());
            }
        }
    }

    async fn next(
        &mut self,
        asked: &mut mpsc::Receiver<Asked>,
        signals: &mut mpsc::Receiver<Signal>,
        changes: &mut Listener,
    ) -> Woken {
        let now = self.line.hub.now();
        let timer = self.graph.next_timer(now).map(|at| self.line.hub.instant(at));
        let due = async {
            match timer {
                Some(at) => tokio::time::sleep_until(at).await,
                None => std::future::pending().await,
            }
        };
        let over = self.graph.is_over();
        tokio::select! {
            biased;
            Some(signal) = signals.recv(), if !over => match signal {
                Signal::Cancel(_) => Woken::Happening(Happening::Cancel(CancelWhy::Asked)),
                // Answers go to the outbox, and it takes nothing else.
                Signal::Said { .. } | Signal::Answered { .. } => Woken::Look,
            },
            Some(came) = self.under.next(), if !self.under.is_empty() => match came {
                Some(Came::Step(node, number, ending, usage)) => {
                    self.stops.remove(&number);
                    Woken::Ended(Happening::Ended { node, number, ending }, usage)
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
    async fn decide(&mut self, what: Happening) -> Result<(), Fault> {
        self.look();
        let now = self.line.hub.now();
        let decision = self.graph.decide(what, World { now, peers: &self.peers })?;
        if !decision.records.is_empty() {
            self.seq = append(&self.line, self.seq, now, &decision.records).await?;
            for record in &decision.records {
                if matches!(record, Record::Edited { .. }) {
                    // It may name others now.
                    self.looked = None;
                }
                for change in self.graph.apply(record, now) {
                    if let Some(event) = tell::changed(&self.graph, &change, &self.message) {
                        self.tell(event).await;
                    }
                }
            }
            self.tell(tell::progress(&self.graph)).await;
        }
        for effect in decision.effects {
            self.perform(effect);
        }
        Ok(())
    }

    /// Who is there and how busy, if that changed or may have.
    fn look(&mut self) {
        let (generation, now) = (self.line.hub.catalogue().generation, self.line.hub.now());
        let counts = |(looked, at): (u64, Time)| looked == generation && now.until(at) < LOOKED;
        if !self.looked.is_some_and(counts) {
            self.peers = peers::known(&self.line.hub, &self.line.by, &self.graph);
            self.peers.gathering = now < self.gathers;
            self.looked = Some((generation, now));
        }
    }

    fn perform(&mut self, effect: Effect) {
        match effect {
            Effect::Run { node, calling, key } => {
                let Some(step) = self.graph.step(&node) else { return };
                let (stop, number) = (CancellationToken::new(), calling.number);
                self.stops.insert(number, stop.clone());
                let filled = self.graph.filled(step).map(|filled| step::asked(&step.node, filled, &calling.peer));
                let (line, led, gathers) = (self.line.clone(), self.graph.led().cloned(), self.gathers);
                let called = async move {
                    let (target, input) = filled?;
                    step::await_peer(&line, &target, gathers).await;
                    step::call(line, key, target, input, led).await
                };
                self.under.push(Box::pin(async move {
                    tokio::select! {
                        called = called => {
                            let usage = called.as_ref().map(|finished| finished.usage).unwrap_or_default();
                            Some(Came::Step(node, number, step::ending(called), usage))
                        }
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
                let key = MessageId::from(format!("{}-plan-{node}", self.line.task));
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
        step::call(self.line.clone(), key, Target::Peer(planner), input, self.graph.led().cloned())
    }

    /// What the planner wants; an answer that is no plan, or cannot be followed, changes nothing.
    async fn planned(&mut self, node: NodeId, answer: Option<Json>) -> Result<(), Fault> {
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
            let origin = self.line.call.origin.child(Maker::Plan, Trust::Peer);
            self.decide(Happening::Led(origin)).await?;
        }
        if let Err(fault) = self.decide(Happening::Planned { node: node.clone(), edits }).await {
            tracing::warn!(event = "plan_edit_refused", error = %fault, "the planner's edit was refused; the plan continues without it");
            self.decide(Happening::Planned { node, edits: Vec::new() }).await?;
        }
        Ok(())
    }
}

enum Woken {
    Happening(Happening),
    /// A call ended, and its models used this.
    Ended(Happening, Usage),
    Edit(change::Change, Origin, tokio::sync::oneshot::Sender<Result<Json, Fault>>),
    Show(tokio::sync::oneshot::Sender<Json>),
    Planned(NodeId, Option<Json>),
    Look,
}
