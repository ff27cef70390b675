//! What drives one exchange: the task machine on one side, the peer on the other, the journal below.
//!
//! The same code runs an exchange that is not kept, polled in its caller's task with nothing spawned, and a kept one, run by
//! the supervisor. Keeping only adds: records are appended before anybody sees them, and signals arrive by a channel.

mod decisions;
mod hooked;
mod journal;
mod leaving;
mod meter;
mod promise;
mod side;

use std::collections::VecDeque;
use std::sync::Arc;

use interlingua_core::peer::{Answering, Dispatch, View};
use interlingua_core::ports::Unique;
use interlingua_core::task::{Effect, Happening, Task, join};
use interlingua_core::{
    Digest, Entry, Event, Fault, FaultKind, OnDisconnect, Question, Record, Retry, Sent, Signal, TaskId, Time, Via,
};
use tokio::sync::{mpsc, oneshot};
use tracing::Instrument;

use super::Hub;
use super::admission::Permit;
use super::hooks::When;
use super::live::{Incoming, Live, Liveness, Reader};
use super::prepare::{Prepared, Ready};
use crate::telemetry::trace;
use journal::Keeping;
use meter::Meter;
use side::{News, Side};

/// How many entries an exchange may have before it is kept for its size alone.
const MAX_UNKEPT: usize = 4_096;
/// How many records of a peer are taken into one append.
const MAX_BATCH: usize = 256;

pub(in crate::hub) struct Driver {
    hub: Arc<Hub>,
    pub(in crate::hub) task: Task,
    ready: Option<Ready>,
    side: Side,
    permit: Option<Permit>,
    /// The question a peer asked by ending its request, until its answer is on the way.
    asked: Option<Question>,
    /// Applied, not yet numbered.
    fresh: Vec<Record>,
    /// Numbered. Of an exchange not kept: all after the accepted call, in case it will be kept. Of a kept one: nothing.
    history: Vec<Arc<Entry>>,
    /// Numbered and safe to show, for the caller of an exchange not kept.
    pub(in crate::hub) shown: VecDeque<Arc<Entry>>,
    kept: Option<Kept>,
    /// Until when a caller that left may come back.
    patience: Option<Time>,
    /// For a peer that is only being reached again.
    unsaid: Option<Signal>,
    meter: Meter,
}

/// A place among the living, given up when the driver ends in whatever way.
struct Kept {
    hub: Arc<Hub>,
    live: Arc<Live>,
    incoming: mpsc::Receiver<Incoming>,
}

impl Drop for Kept {
    fn drop(&mut self) {
        self.live.let_go();
        self.hub.live.remove(&self.live);
    }
}

impl Driver {
    /// For an exchange that begins, or one that was folded from the journal.
    pub(in crate::hub) fn new(hub: Arc<Hub>, task: Task, permit: Option<Permit>) -> Driver {
        let meter = Meter::start(&hub.meters, &task);
        Driver {
            hub,
            task,
            meter,
            ready: None,
            side: Side::Idle,
            permit,
            asked: None,
            fresh: Vec::new(),
            history: Vec::new(),
            shown: VecDeque::new(),
            kept: None,
            patience: None,
            unsaid: None,
        }
    }

    /// Dispatches what `prepare` found ready, or asks what it wants to know. Nothing is appended yet.
    pub(in crate::hub) fn begin(&mut self, prepared: Prepared) -> Result<VecDeque<Effect>, Fault> {
        let happening = match prepared {
            Prepared::Ready(ready) => {
                let repeatable = ready.skill.effects.idempotent || ready.peer.resumes(&ready.skill);
                let (route, args) = (ready.route.clone(), ready.args.clone());
                self.ready = Some(ready);
                Happening::Dispatch { route, repeatable, args }
            }
            Prepared::Ask(asking) => Happening::Ask(asking),
        };
        self.decide(happening)
    }

    /// Decides and applies; the records wait in `fresh`.
    fn decide(&mut self, happening: Happening) -> Result<VecDeque<Effect>, Fault> {
        let now = self.hub.now();
        let decision = self.task.decide(happening, now)?;
        for record in decision.records {
            self.remember_question(&record);
            if let Some(line) = decisions::of(&self.task, &record) {
                self.hub.audit.write(line);
            }
            self.task.apply(&record, now);
            if self.kept.is_some() {
                join(&mut self.fresh, record);
            } else {
                self.fresh.push(record);
            }
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

    pub(in crate::hub) fn asks(&self) -> bool {
        self.fresh.iter().any(|record| matches!(record.event(), Some(Event::Asked(_))))
    }

    fn too_long(&self) -> bool {
        self.history.len() > MAX_UNKEPT
    }

    /// Gives the fresh records of an exchange not kept their numbers and shows them.
    pub(in crate::hub) fn show(&mut self) {
        let now = self.task.updated;
        for record in std::mem::take(&mut self.fresh) {
            self.task.seq += 1;
            let entry = Arc::new(Entry { seq: self.task.seq, at: now, record });
            self.history.push(entry.clone());
            self.shown.push_back(entry);
        }
    }

    fn open_questions(&self) -> Vec<Question> {
        self.task.open.values().cloned().collect()
    }

    fn liveness(&self) -> Liveness {
        if self.task.finished().is_some() { Liveness::Done } else { Liveness::Running }
    }

    /// Performs effects, and what follows from them, until something must be waited for.
    pub(in crate::hub) async fn perform(&mut self, mut effects: VecDeque<Effect>) -> Result<(), Fault> {
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

    /// Sends the call to its peer, at once with a permit at hand, else as soon as there is a place.
    async fn dispatch(
        &mut self,
        sent: Sent,
        mut answering: Option<Box<Answering>>,
        reattach: bool,
    ) -> Result<(), Fault> {
        let ready = match self.ready.take() {
            Some(ready) => ready,
            None => match self.hub.ready_again(&self.task) {
                Ok(ready) => ready,
                Err(fault) => return self.refuse(fault).await,
            },
        };
        let remote = match (reattach || answering.is_some(), sent.remote) {
            (true, Some(remote)) => Some(self.hub.vault.reveal(remote, self.hub.now()).await?),
            _ => None,
        };
        // After a restart the peer's own state is known by its name only.
        if let Some(answering) = &mut answering {
            let also = answering.also.iter_mut().map(|(question, _)| question);
            for resume in also.chain([&mut answering.question]).filter_map(|question| question.resume.as_mut()) {
                *resume = self.hub.vault.reveal(resume.clone(), self.hub.now()).await?;
            }
        }
        let dispatch = Dispatch {
            by: self.task.by.clone(),
            task: self.task.id,
            attempt: sent.attempt,
            key: sent.key,
            skill: ready.skill.clone(),
            call: self.outgoing(&ready),
            want: self.view(&ready),
            asked: self.task.asked,
            remote,
            answering,
        };
        let peer = ready.peer.clone();
        self.meter.dispatched(&ready.skill.id);
        self.ready = Some(ready);
        self.side = if self.permit.is_some() {
            Side::Calling(side::called(peer, dispatch))
        } else if self.task.call.parent.is_some() {
            self.permit = Some(self.hub.admission.enter_for_parent());
            Side::Calling(side::called(peer, dispatch))
        } else {
            let (admission, priority) = (self.hub.admission.clone(), self.task.call.limits.priority);
            Side::Queued(Box::pin(async move {
                let permit = admission.enter(priority).await?;
                Ok((permit, side::called(peer, dispatch)))
            }))
        };
        Ok(())
    }

    /// How much of an answer must be read. The head is enough where nobody but this caller will see it: nothing keeps it, no
    /// parent works with it, no hook is told of it, and no output schema is held to it.
    fn view(&self, ready: &Ready) -> View {
        let limits = &self.task.call.limits;
        let passes = self.kept.is_none() && limits.on_disconnect == OnDisconnect::Cancel;
        let passes = passes && self.hub.hooks.load().of(When::After, &ready.skill.id).is_empty();
        if passes && self.task.call.parent.is_none() && ready.skill.output.is_none() { View::Head } else { View::Full }
    }

    /// The call as the peer gets it: arguments as resolved, this hub added to the way.
    fn outgoing(&self, ready: &Ready) -> Box<interlingua_core::Call> {
        let mut call = self.task.call.clone();
        if let interlingua_core::Ask::Invoke { target, input } = &mut call.ask {
            *target = interlingua_core::Target::Skill(ready.skill.id.clone(), None);
            input.args.clone_from(&ready.args);
        }
        // `prepare` stopped a loop before anything was begun, so there is always a way to write down.
        call.via = Via::through(call.via.as_ref(), &self.hub.id).ok();
        call
    }

    /// Nothing runs at the peer any more.
    fn rest(&mut self) {
        self.side = Side::Idle;
        self.meter.rested(&self.hub.meters);
    }

    async fn refuse(&mut self, fault: Fault) -> Result<(), Fault> {
        self.decide(Happening::Refused(fault))?;
        self.rest();
        self.permit = None;
        if self.kept.is_some() { self.commit().await } else { Ok(()) }
    }

    /// Passes a signal to the peer: into the running exchange, by a new request, or by dropping the call.
    async fn forward(&mut self, signal: Signal) -> Result<VecDeque<Effect>, Fault> {
        let known = self.peer_knows_it();
        match (&mut self.side, signal) {
            (Side::Live(exchange), signal) => {
                let cancel = matches!(signal, Signal::Cancel(_));
                match side::told(exchange, signal) {
                    Ok(()) => Ok(VecDeque::new()),
                    // A peer that cannot be told is let go of.
                    Err(_) if cancel => self.decided(Happening::CancelGraceOver).await,
                    Err(fault) => {
                        tracing::debug!(error = %fault, "the peer takes no more input");
                        Ok(VecDeque::new())
                    }
                }
            }
            (Side::Idle | Side::Calling(_) | Side::Queued(_), signal @ Signal::Cancel(_)) if known => {
                self.tell_when_reached(signal).await
            }
            (Side::Calling(_) | Side::Queued(_) | Side::Checking(_), Signal::Cancel(_)) => {
                self.rest();
                self.decided(Happening::CancelGraceOver).await
            }
            (Side::Idle, Signal::Answered { message, answer, .. }) => {
                let (Some(question), Some(sent)) = (self.asked.take(), self.task.sent.clone()) else {
                    return Ok(VecDeque::new());
                };
                let given = self.task.given.iter().filter(|(earlier, _)| earlier.id != question.id);
                let also = given.cloned().collect();
                let answering = Box::new(Answering { question, message, answer, also });
                self.dispatch(sent, Some(answering), false).await?;
                Ok(VecDeque::new())
            }
            (Side::Idle, Signal::Cancel(_)) => self.decided(Happening::CancelGraceOver).await,
            (
                Side::Idle | Side::Calling(_) | Side::Queued(_) | Side::Checking(_),
                Signal::Said { .. } | Signal::Answered { .. },
            ) => Ok(VecDeque::new()),
        }
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
        let happening = match self.hub.prepare(&self.task.by, &self.task.call, self.task.id, self.task.granted).await {
            Ok(prepared) => return self.begin_again(prepared).await,
            Err(fault) => Happening::Refused(fault),
        };
        self.decided(happening).await
    }

    async fn begin_again(&mut self, prepared: Prepared) -> Result<VecDeque<Effect>, Fault> {
        let effects = self.begin(prepared)?;
        if self.kept.is_some() {
            self.commit().await?;
        }
        Ok(effects)
    }

    /// Waits for one thing to happen, and what is ready with it, then sees it through.
    pub(in crate::hub) async fn advance(&mut self) -> Result<(), Fault> {
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
                Some((_, happening)) => (self.time_came(happening)?, None),
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
            Incoming::Signal { by, standing, signal, reply } => {
                match self.decide(Happening::Signal { by, standing, signal }) {
                    Ok(effects) => (effects, Some((reply, Ok(())))),
                    Err(fault) => (VecDeque::new(), Some((reply, Err(fault)))),
                }
            }
        }
    }

    /// What the peer said, and what else of it is ready right now.
    fn heard(&mut self, news: News) -> Result<VecDeque<Effect>, Fault> {
        let mut effects = self.hear(news)?;
        for _ in 1..MAX_BATCH {
            if self.task.finished().is_some() || !effects.is_empty() || !matches!(self.side, Side::Live(_)) {
                break;
            }
            let Some(news) = self.side.ready_now() else { break };
            effects.extend(self.hear(news)?);
        }
        Ok(effects)
    }

    fn hear(&mut self, news: News) -> Result<VecDeque<Effect>, Fault> {
        let happening = match news {
            News::Entered(permit, calling) => {
                self.permit = Some(permit);
                self.side = Side::Calling(calling);
                return Ok(VecDeque::new());
            }
            News::Began(exchange) => {
                self.side = Side::Live(exchange);
                return self.say_unsaid();
            }
            News::Refused(fault) => {
                self.rest();
                if let Some(effects) = self.failover(&fault)? {
                    return Ok(effects);
                }
                Happening::Refused(fault)
            }
            News::Done(finished, raw) => {
                self.rest();
                let (event, raw) = self.held_to_promise(Event::Finished(*finished), raw);
                let Some(happening) = self.through_hooks(event, Vec::new(), raw) else { return Ok(VecDeque::new()) };
                happening
            }
            News::Record(Record::Emitted { event, losses, raw }) => {
                let (event, raw) = self.held_to_promise(event, raw);
                let Some(happening) = self.through_hooks(event, losses, raw) else { return Ok(VecDeque::new()) };
                happening
            }
            News::Checked(finished, losses, raw) => {
                self.rest();
                Happening::Peer { event: Event::Finished(*finished), losses, raw }
            }
            News::Record(Record::Sent(sent)) => Happening::Learnt { remote: sent.remote, open: sent.open },
            News::Record(Record::Accepted { .. } | Record::Received { .. }) => return Ok(VecDeque::new()),
            News::Ended => {
                self.rest();
                if self.waits_for_answer() {
                    return Ok(VecDeque::new());
                }
                Happening::PeerLost
            }
        };
        match self.decide(happening) {
            Ok(effects) => Ok(effects),
            Err(fault) if fault.kind == FaultKind::AlreadyFinished => {
                self.hub.meters.late_outcomes.increment(1);
                Ok(VecDeque::new())
            }
            Err(fault) => {
                self.rest();
                self.decide(Happening::Refused(fault))
            }
        }
    }

    /// The peer ended its request to ask: nothing is lost.
    fn waits_for_answer(&self) -> bool {
        !self.task.open.is_empty() && self.task.sent.as_ref().is_some_and(|sent| !sent.open)
    }

    /// Another peer of the same capability, when nothing was begun at this one.
    fn failover(&mut self, fault: &Fault) -> Result<Option<VecDeque<Effect>>, Fault> {
        let may = matches!(fault.retry, Retry::After(_));
        let next = self.ready.as_mut().filter(|_| may).and_then(|ready| ready.others.pop());
        match next {
            None => Ok(None),
            Some(ready) => self.begin(Prepared::Ready(ready)).map(Some),
        }
    }

    /// Keeps it and runs it, on the supervisor: a caller that leaves meanwhile loses nothing but its own view.
    pub(in crate::hub) fn launch(mut self, effects: VecDeque<Effect>, unique: Option<Unique>, seen: u64) -> Launch {
        let (told, launched) = oneshot::channel();
        let supervisor = self.hub.supervisor.clone();
        let trace = self.task.call.trace.clone().unwrap_or_default();
        supervisor.run(trace::within(trace, async move {
            let live = match self.keep(unique).await {
                Ok(Keeping::Kept(live)) => live,
                Ok(Keeping::Exists { task, body }) => return drop(told.send(Ok(Launched::Exists { task, body }))),
                Err(fault) => return drop(told.send(Err(fault))),
            };
            let reader = Reader::new(self.task.id, seen, Some(live.clone()), self.hub.store.journal.clone());
            if told.send(Ok(Launched::Kept(reader))).is_err() {
                live.caller_gone();
            }
            match self.perform(effects).await {
                Ok(()) => self.run().await,
                Err(fault) => self.broken(&fault),
            }
        }));
        launched
    }

    /// Runs a kept exchange to its end.
    pub(in crate::hub) async fn run(mut self) {
        while self.task.finished().is_none() {
            let stopping = self.hub.supervisor.stopping().clone();
            let advanced = tokio::select! {
                biased;
                () = stopping.cancelled() => break,
                advanced = self.advance() => advanced,
            };
            if let Err(fault) = advanced {
                return self.broken(&fault);
            }
        }
        self.ended();
    }

    /// Counts an exchange that is over.
    pub(in crate::hub) fn ended(&mut self) {
        self.meter.ended(&self.hub.meters, &self.task);
    }

    /// The store failed. What is in the journal stands, and goes on after a restart.
    fn broken(self, fault: &Fault) {
        tracing::error!(task = %self.task.id, error = %fault, cause = ?fault.source, "a kept exchange could not go on");
    }

    pub(in crate::hub) fn unkept_is_too_long(&self) -> bool {
        self.kept.is_none() && self.too_long()
    }

    pub(in crate::hub) fn restart(&mut self) -> Result<VecDeque<Effect>, Fault> {
        self.decide(Happening::Restarted)
    }

    /// Commits what `restart` decided, performs it, and runs on. Resolves once it is committed.
    pub(in crate::hub) fn carry_on(mut self, effects: VecDeque<Effect>) -> oneshot::Receiver<()> {
        let (told, committed) = oneshot::channel();
        let supervisor = self.hub.supervisor.clone();
        supervisor.run(async move {
            let performed = async {
                self.commit().await?;
                self.perform(effects).await
            };
            let performed = performed.await;
            let _ = told.send(());
            match performed {
                Ok(()) => self.run().await,
                Err(fault) => self.broken(&fault),
            }
        });
        committed
    }
}

/// Resolves once the exchange is in the journal.
pub(in crate::hub) type Launch = oneshot::Receiver<Result<Launched, Fault>>;

pub(in crate::hub) enum Launched {
    Kept(Reader),
    Exists { task: TaskId, body: Digest },
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
