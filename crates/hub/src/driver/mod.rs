//! Driver of one exchange, between the task machine, the peer and the journal.
//!
//! The same code runs an exchange that is not stored, polled in its caller's task with nothing spawned, and a stored one, run by the
//! supervisor. Storing only adds: records are appended before anybody sees them, and signals arrive by a channel.

mod check_output;
mod decisions;
mod disconnect;
mod from_peer;
mod holding;
mod hooked;
mod journal;
mod meter;
mod notes;
mod peer_state;
mod relayed;
mod selecting;
mod supervised;
mod to_peer;

use std::collections::VecDeque;
use std::sync::Arc;

use interlingua_machines::task::{Effect, Happening, Task, join};
use interlingua_model::peer::{Place as PeerPlace, Placing};
use interlingua_model::{Entry, Event, Fault, Question, Record, Signal, Time};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;
use tracing::Instrument;

use super::Hub;
use super::admission::Permit;
use super::live::{Incoming, Live, Liveness};
use super::prepared::{Candidate, Prepared, Ready, must_keep};
use super::waiting::Place;
use decisions::PendingLines;
use holding::Holding;
use meter::Meter;
use notes::Notes;
use peer_state::{News, Side};
pub(crate) use supervised::{Launch, Launched};

/// How many entries an exchange may have before it is kept for its size alone.
const MAX_UNKEPT: usize = 4_096;

pub(crate) struct Driver {
    hub: Arc<Hub>,
    pub(crate) task: Task,
    ready: Option<Ready>,
    side: Side,
    permit: Option<Permit>,
    /// At its peer, until the call is on its way.
    place: Option<PeerPlace>,
    /// Until when a peer may tell its skills, where it must be reached again.
    looks: Option<Instant>,
    /// The question a peer asked by ending its request, until its answer is on the way.
    asked: Option<Question>,
    /// Applied, not yet numbered.
    fresh: Vec<Record>,
    /// What the audit is told of them, once they are.
    lines: PendingLines,
    /// Numbered. Of an exchange not kept: all after the accepted call, in case it will be kept. Of a kept one: nothing.
    history: Vec<Arc<Entry>>,
    /// Numbered and safe to show, for the caller of an exchange that is not stored.
    pub(crate) shown: VecDeque<Arc<Entry>>,
    kept: Option<LiveEntry>,
    /// Until when a caller that left may come back.
    patience: Option<Time>,
    /// What became of it at a peer where nothing was begun, until it is tried elsewhere.
    refused: Option<Fault>,
    /// Its place among what waits, while it has an open question.
    waits: Option<Place>,
    /// It is to be kept before it goes on, and what it does then.
    unkept: bool,
    unperformed: VecDeque<Effect>,
    /// For a peer that is only being reached again.
    unsaid: Option<Signal>,
    /// What its caller's ids count within, if it has no name.
    pub(crate) connection: u64,
    meter: Meter,
    notes: Notes,
    holding: Holding,
}

/// A place among the living, given up when the driver ends in whatever way.
struct LiveEntry {
    hub: Arc<Hub>,
    live: Arc<Live>,
    incoming: mpsc::Receiver<Incoming>,
}

impl Drop for LiveEntry {
    fn drop(&mut self) {
        self.live.let_go();
        self.hub.live.remove(&self.live);
    }
}

impl Driver {
    /// For an exchange that begins, or one that was folded from the journal.
    pub(crate) fn new(hub: Arc<Hub>, task: Task, permit: Option<Permit>) -> Driver {
        let meter = Meter::start(&hub.meters, &task);
        Driver {
            hub,
            task,
            meter,
            ready: None,
            side: Side::Idle,
            permit,
            place: None,
            looks: None,
            asked: None,
            fresh: Vec::new(),
            lines: PendingLines::default(),
            history: Vec::new(),
            shown: VecDeque::new(),
            kept: None,
            patience: None,
            refused: None,
            waits: None,
            unkept: false,
            unperformed: VecDeque::new(),
            unsaid: None,
            connection: 0,
            notes: Notes::default(),
            holding: Holding::default(),
        }
    }

    /// Dispatches what `prepare` found ready, or asks what it wants to know. Nothing is appended yet. A call that may not be sent
    /// twice is dispatched once it has its place at the peer.
    pub(crate) fn begin(&mut self, prepared: Prepared) -> Result<VecDeque<Effect>, Fault> {
        let happening = match prepared {
            Prepared::Ready(ready) => {
                let place = if is_repeatable(&ready) { None } else { ready.peer.place(&ready.skill) };
                match place {
                    Some(Placing::Later(placed)) => {
                        self.ready = Some(ready);
                        self.side = Side::Placing(placed);
                        return Ok(VecDeque::new());
                    }
                    Some(Placing::Now(place)) => self.place = Some(place),
                    None => {}
                }
                self.dispatched(ready)
            }
            Prepared::Ask(asking, candidate) => {
                if let Some(Candidate { skill, others }) = candidate {
                    self.decide(Happening::Select { skill, others, fault: None })?;
                }
                Happening::Ask(asking)
            }
        };
        self.decide(happening)
    }

    fn dispatched(&mut self, ready: Ready) -> Happening {
        let (route, args) = (ready.route.clone(), ready.args.clone());
        let repeatable = is_repeatable(&ready);
        self.ready = Some(ready);
        Happening::Dispatch { route, repeatable, args }
    }

    /// A place among what waits, where the exchange is about to ask for the first time. Refused, nothing was asked.
    pub(crate) fn take_place(&mut self) -> Result<(), Fault> {
        if self.waits.is_none() {
            self.waits = Some(self.hub.waiting.take(&self.task.by, self.hub.settings.load().waiting)?);
        }
        Ok(())
    }

    /// Decides and applies; the records wait in `fresh`, and what the audit is told of them in `lines`.
    fn decide(&mut self, happening: Happening) -> Result<VecDeque<Effect>, Fault> {
        let now = self.hub.now();
        let decision = self.task.decide(happening, now)?;
        let asks = decision.records.iter().any(|record| matches!(record.event(), Some(Event::Asked(_))));
        if asks && self.waits.is_none() {
            self.waits = Some(self.hub.waiting.hold(&self.task.by)?);
        }
        for record in decision.records {
            self.remember_question(&record);
            if let Some(line) = decisions::of(&self.task, &record) {
                self.lines.add(line);
            }
            self.task.apply(&record, now);
            if self.kept.is_some() {
                join(&mut self.fresh, record);
            } else {
                self.holding.came(&record);
                self.fresh.push(record);
            }
        }
        if self.task.open.is_empty() {
            self.waits = None;
        }
        Ok(decision.effects.into())
    }

    /// A peer's question is needed again when its answer goes back as a new request.
    fn remember_question(&mut self, record: &Record) {
        if let Some(Event::Settled { question, .. }) = record.event()
            && let Some(question) = self.task.open.get(question)
        {
            self.asked = Some(question.clone());
        }
    }

    pub(crate) fn asks(&self) -> bool {
        self.fresh.iter().any(|record| matches!(record.event(), Some(Event::Asked(_))))
    }

    /// Must the exchange be stored before it continues? It asks, another skill requires it, or it has become long.
    pub(crate) fn must_be_kept(&self) -> bool {
        self.asks() || self.unkept || self.history.len() > MAX_UNKEPT
    }

    /// Numbers the new records of an exchange that is not stored, and shows them.
    pub(crate) fn show(&mut self) {
        let now = self.task.updated;
        for record in std::mem::take(&mut self.fresh) {
            self.task.seq += 1;
            let entry = Arc::new(Entry { seq: self.task.seq, at: now, record });
            self.history.push(entry.clone());
            self.shown.push_back(entry);
        }
        self.lines.write(&self.hub.audit);
    }

    fn open_questions(&self) -> Vec<Question> {
        self.task.open.values().cloned().collect()
    }

    fn liveness(&self) -> Liveness {
        if self.task.finished().is_some() { Liveness::Done } else { Liveness::Running }
    }

    /// Performs effects, and what follows from them, until something must be waited for.
    pub(crate) async fn perform(&mut self, mut effects: VecDeque<Effect>) -> Result<(), Fault> {
        while let Some(effect) = effects.pop_front() {
            match effect {
                Effect::Dispatch(sent) => self.dispatch(sent, None, false).await?,
                Effect::Reattach(sent) => self.dispatch(sent, None, true).await?,
                Effect::Forward(signal) => effects.extend(self.forward(signal).await?),
                Effect::Proceed => effects.extend(self.proceed().await?),
                Effect::AwaitCaller(patience) => self.patience = Some(self.hub.now().after(patience)),
                Effect::Stop => {
                    self.rest();
                    self.permit = None;
                }
            }
        }
        if matches!(self.side, Side::Idle) {
            self.permit = None;
        }
        Ok(())
    }

    /// Nothing runs at the peer any more.
    fn rest(&mut self) {
        self.side = Side::Idle;
        self.place = None;
        self.meter.rested(&self.hub.meters);
    }

    async fn refuse(&mut self, fault: Fault) -> Result<(), Fault> {
        self.decide(Happening::Refused(fault))?;
        self.rest();
        self.permit = None;
        if self.kept.is_some() { self.commit().await } else { Ok(()) }
    }

    async fn decided(&mut self, happening: Happening) -> Result<VecDeque<Effect>, Fault> {
        if self.task.finished().is_some() {
            return Ok(VecDeque::new());
        }
        let effects = self.decide(happening)?;
        if self.kept.is_some() {
            self.commit().await?;
        }
        Ok(effects)
    }

    /// The hub's questions are answered: through the phases again, then to the peer.
    async fn proceed(&mut self) -> Result<VecDeque<Effect>, Fault> {
        if let Some(fault) = self.refused.take() {
            return self.elsewhere(fault).await;
        }
        if let Some(selected) = self.task.selected.clone() {
            return self.go_on_with(selected).await;
        }
        let happening = match self.hub.prepare(&self.task.by, &self.task.call, self.task.id, self.task.granted).await {
            Ok(prepared) => return self.begin_again(prepared).await,
            Err(fault) => Happening::Refused(fault),
        };
        self.decided(happening).await
    }

    async fn begin_again(&mut self, prepared: Prepared) -> Result<VecDeque<Effect>, Fault> {
        let keep = must_keep(&self.task.call, &prepared);
        let effects = self.begin(prepared)?;
        if self.kept.is_some() {
            self.commit().await?;
        } else if keep {
            // Another skill than the first may have to be in the journal before it is called.
            (self.unkept, self.unperformed) = (true, effects);
            return Ok(VecDeque::new());
        }
        Ok(effects)
    }

    /// Waits for one thing to happen, and what is ready with it, then sees it through.
    pub(crate) async fn advance(&mut self) -> Result<(), Fault> {
        let span = self.meter.span.clone();
        self.step().instrument(span).await
    }

    async fn step(&mut self) -> Result<(), Fault> {
        let timer = self.next_timer();
        let sleep = timer.as_ref().map(|(at, _)| tokio::time::sleep_until(self.hub.clock.instant(*at)));
        let incoming = self.kept.as_mut().map(|kept| &mut kept.incoming);
        let woken = tokio::select! {
            biased;
            Some(incoming) = receive(incoming) => Woken::Incoming(incoming),
            news = self.side.next() => Woken::Peer(news),
            () = elapsed(sleep) => Woken::Timer,
        };
        let (effects, reply) = match woken {
            Woken::Incoming(incoming) => self.taken(incoming),
            Woken::Peer(news) => (self.heard(news)?, None),
            Woken::Timer => match timer {
                Some((_, timer)) => (self.time_came(timer)?, None),
                None => (VecDeque::new(), None),
            },
        };
        self.see_through(effects, reply).await
    }

    async fn see_through(&mut self, effects: VecDeque<Effect>, reply: Option<Answered>) -> Result<(), Fault> {
        if self.kept.is_some() {
            self.commit().await?;
        } else if self.asks() {
            // Shown only once it is kept; the caller's handle sees to that.
            return Ok(());
        }
        if let Some((reply, result)) = reply {
            let _ = reply.send(result);
        }
        self.perform(effects).await
    }

    fn taken(&mut self, incoming: Incoming) -> (VecDeque<Effect>, Option<Answered>) {
        match incoming {
            Incoming::CallerGone => (self.caller_gone(), None),
            Incoming::Signal { by, standing, signal, reply, room } => {
                // It waits no longer: from here on its task holds it.
                drop(room);
                let held = self.hold_signal(&signal);
                match held.and_then(|()| self.decide(Happening::Signal { by, standing, signal })) {
                    Ok(effects) => (effects, Some((reply, Ok(())))),
                    Err(fault) => (VecDeque::new(), Some((reply, Err(fault)))),
                }
            }
        }
    }
}

/// Whether it may be sent again under the same key.
fn is_repeatable(ready: &Ready) -> bool {
    ready.skill.effects.idempotent || ready.peer.resumes(&ready.skill)
}

type Answered = (oneshot::Sender<Result<(), Fault>>, Result<(), Fault>);

enum Woken {
    Incoming(Incoming),
    Peer(News),
    Timer,
}

async fn receive(incoming: Option<&mut mpsc::Receiver<Incoming>>) -> Option<Incoming> {
    match incoming {
        Some(incoming) => incoming.recv().await,
        None => std::future::pending().await,
    }
}

async fn elapsed(sleep: Option<tokio::time::Sleep>) {
    match sleep {
        Some(sleep) => sleep.await,
        None => std::future::pending().await,
    }
}
