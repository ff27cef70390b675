//! Run loop of a team: decisions of the machine are journaled, then carried out; events of members are passed to the machine, everything
//! that is ready at once as one batch.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex};

use futures_util::stream::{FuturesUnordered, StreamExt};
use interlingua_machines::team::{self, Effect, Happening, Ready, Record, Seat, TeamPlan, Verdict, What, fold};
use interlingua_model::{Event, Fault, Finished, MessageId, Outcome, Part, Provenance, Signal, Text};
use tokio::sync::mpsc;

use super::Team;
use super::question::{pose, remembered};
use super::round::{Table, evaluate, present, round};
use super::workspaces::Places;
use crate::log::RunLog;
use crate::memory::Memory;
use crate::rounds::{Order, Permission, Role, Rounds, Sitting};
use crate::run_context::RunContext;

/// How much of members may wait to be read.
const MAX_READY: usize = 256;

/// Something under way, and what of it the machine is told.
type Doing = Pin<Box<dyn Future<Output = Done> + Send>>;

enum Done {
    Round,
    Presented(Result<interlingua_model::Text, Fault>, Option<MessageId>),
    Evaluated(team::Evaluation),
}

pub(super) struct Engine {
    table: Arc<Table>,
    log: RunLog,
    state: team::Team,
    doing: FuturesUnordered<Doing>,
    sittings: HashMap<(Seat, u32), Arc<Sitting>>,
    ready: mpsc::Sender<Ready>,
    heard: mpsc::Receiver<Ready>,
    memory: Option<Memory>,
    /// Under which id the final answer was streamed.
    presented: Option<MessageId>,
}

impl Engine {
    /// Runs to the end. Only a store that fails keeps it from saying how it ended.
    pub(super) async fn work(
        team: Arc<Team>,
        line: Arc<RunContext>,
        seats: Arc<Rounds>,
        signals: mpsc::Receiver<Signal>,
    ) {
        let failed = match Engine::open(team, line.clone(), seats).await {
            Ok((mut engine, effects)) => engine.drive(effects, signals).await.err(),
            Err(fault) => Some(fault),
        };
        if let Some(fault) = failed {
            tracing::error!(event = "team_run_failed", task = %line.task, error = %fault, cause = ?fault.source, "the run of a team failed inside the hub");
            line.outbox.emit(Event::Finished(Finished::failed(fault)));
        }
    }

    /// A new run, or one that stands in the journal.
    async fn open(team: Arc<Team>, line: Arc<RunContext>, seats: Arc<Rounds>) -> Result<(Engine, Vec<Effect>), Fault> {
        let now = line.hub.now();
        let (mut log, entries) = RunLog::open::<Record>(line.hub.clone(), line.task, line.attempt).await?;
        let conversation = line.call.remembered_by(&line.by);
        let memory = conversation.map(|id| Memory::of(&team.name, &line.by.owner(), id));
        let (state, effects) = if entries.is_empty() {
            let mut plan = team.plan.clone();
            let earlier = match &memory {
                Some(memory) => memory.recall(&line.hub).await?,
                None => Vec::new(),
            };
            if let Some(input) = line.call.input() {
                pose(&mut plan, input, earlier);
            }
            if let Some(grounds) = &team.grounds {
                grounds.assign(line.task, &mut plan);
            }
            let state = team::Team::begun(plan.clone(), now);
            log.append(&[Record::Begun(Box::new(plan))], now).await?;
            (state, None)
        } else {
            let mut state = fold(entries).map_err(Fault::internal)?;
            seat_as_configured(Arc::make_mut(&mut state.plan), &team);
            let effects = state.resume();
            (state, Some(effects))
        };
        let (ready, heard) = mpsc::channel(MAX_READY);
        let places = Places::open(team.grounds.as_ref(), line.task, &state.plan).await?;
        for seat in state.seats() {
            places.keep(&state, seat).await;
        }
        let plan = state.plan.clone();
        let table = Arc::new(Table { team, plan, line, seats, since: now, places, lost: Mutex::default() });
        let (doing, sittings) = Default::default();
        let mut engine = Engine { table, log, state, doing, sittings, ready, heard, memory, presented: None };
        let effects = match effects {
            Some(effects) => effects,
            None => engine.happen(Happening::Begin).await?,
        };
        Ok((engine, effects))
    }

    async fn drive(&mut self, effects: Vec<Effect>, mut signals: mpsc::Receiver<Signal>) -> Result<(), Fault> {
        self.perform(effects).await;
        while self.state.verdict().is_none() {
            let (happening, batch) = self.next(&mut signals).await;
            let effects = self.happen(happening).await?;
            self.perform(effects).await;
            // Tools that returned may go on now that their members heard the news.
            for key in batch {
                if let Some(sitting) = self.sittings.get(&key) {
                    sitting.heard();
                }
            }
        }
        self.finish().await;
        Ok(())
    }

    /// Waits for something to happen; of members, for all that is ready. Says whose tools have returned.
    async fn next(&mut self, signals: &mut mpsc::Receiver<Signal>) -> (Happening, Vec<(Seat, u32)>) {
        let clock = self.table.line.hub.clock();
        let mut batch = Vec::new();
        loop {
            let timer = self.state.next_timer(self.table.line.hub.now()).map(|at| clock.instant(at));
            let happening = tokio::select! {
                biased;
                Some(signal) = signals.recv() => match signal {
                    Signal::Cancel(why) => Some(Happening::Cancel(why)),
                    // A team works on what it was asked.
                    Signal::Said { .. } | Signal::Answered { .. } => None,
                },
                Some(done) = self.doing.next() => self.done(done),
                _ = self.heard.recv_many(&mut batch, MAX_READY) => {
                    let returned = batch.iter().filter(|ready| matches!(ready.what, What::Returned));
                    let returned = returned.map(|ready| (ready.seat, ready.round)).collect();
                    return (Happening::Ready(batch), returned);
                }
                () = until(timer) => Some(Happening::Timer),
            };
            if let Some(happening) = happening {
                return (happening, Vec::new());
            }
        }
    }

    fn done(&mut self, done: Done) -> Option<Happening> {
        match done {
            Done::Round => None,
            Done::Presented(result, said) => {
                self.presented = said;
                Some(Happening::Presented(result))
            }
            Done::Evaluated(evaluation) => Some(Happening::Evaluated(evaluation)),
        }
    }

    /// Decides, writes down, applies, and shows what the caller may see of it.
    async fn happen(&mut self, happening: Happening) -> Result<Vec<Effect>, Fault> {
        let now = self.table.line.hub.now();
        let decision = self.state.decide(happening, now)?;
        self.log.append(&decision.records, now).await?;
        let owner = self.table.line.by.owner();
        for record in &decision.records {
            self.state.apply(record, now);
            if let Some(event) = self.state.seen_outside(record, &owner) {
                self.table.line.outbox.emit(event);
            }
        }
        Ok(decision.effects)
    }

    /// In their order: the files behind an answer are kept before anyone begins again.
    async fn perform(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Start(brief) => {
                    let (seat, number) = (brief.seat, brief.round);
                    let sitting = self.table.sitting((seat, number), Role::Round(brief), self.ready.clone());
                    self.sittings.insert((seat, number), sitting.clone());
                    let overheard = MessageId::from(format!("{}-{}", self.state.plan.id(seat), number));
                    let work = round(self.table.clone(), sitting, overheard);
                    self.doing.push(Box::pin(async move {
                        work.await;
                        Done::Round
                    }));
                }
                Effect::Again { seat, round, results, say } => self.order(seat, round, Order::Again { results, say }),
                Effect::Tell { seat, round, parts } => self.order(seat, round, Order::Tell(parts)),
                Effect::Permit { seat, round, call } => self.permit(seat, round, &call, Permission::Granted),
                Effect::Deny { seat, round, call, text } => self.permit(seat, round, &call, Permission::Denied(text)),
                Effect::Stop { seat, round } => {
                    self.order(seat, round, Order::Stop);
                    self.sittings.remove(&(seat, round));
                }
                Effect::Present(presentation) => {
                    let work = present(self.table.clone(), *presentation);
                    self.doing.push(Box::pin(async move {
                        let (result, said) = work.await;
                        Done::Presented(result, said)
                    }));
                }
                Effect::Evaluate(presentation) => {
                    let work = evaluate(self.table.clone(), *presentation);
                    self.doing.push(Box::pin(async move { Done::Evaluated(work.await) }));
                }
                Effect::Snapshot(seat) => self.table.places.keep(&self.state, seat).await,
                // Members' words go to the caller as they are heard.
                Effect::Forward { .. } => {}
                // Said once all is written: see `finish`.
                Effect::Finish(_) => {}
            }
        }
    }

    fn order(&self, seat: Seat, round: u32, order: Order) {
        if let Some(sitting) = self.sittings.get(&(seat, round)) {
            sitting.order(order);
        }
    }

    fn permit(&self, seat: Seat, round: u32, call: &interlingua_model::Text, permission: Permission) {
        if let Some(sitting) = self.sittings.get(&(seat, round)) {
            sitting.permit(call, permission);
        }
    }

    /// Remembers the conversation, then says how it ended. An answer that was streamed before a restart is given whole.
    async fn finish(&mut self) {
        let Some(verdict) = self.state.verdict() else { return };
        let mut finished = self.state.finished(verdict);
        if finished.output.said.is_some() {
            finished.output.said.clone_from(&self.presented);
            if let (None, Verdict::Answer { winner, text, .. }) = (&finished.output.said, verdict) {
                let provenance = Provenance::peer(self.state.plan.id(*winner).clone());
                finished.output.parts = vec![Part::text(text.clone(), provenance)];
            }
        }
        if finished.outcome == Outcome::Completed
            && let (Some(memory), Verdict::Answer { text, .. }) = (&self.memory, verdict)
            && let Err(fault) = remember(&self.table, memory, text).await
        {
            tracing::warn!(event = "conversation_not_stored", task = %self.table.line.task, error = %fault, "the conversation of a team could not be stored");
        }
        self.table.line.outbox.finish(finished, self.table.lost());
    }
}

async fn remember(table: &Table, memory: &Memory, answer: &Text) -> Result<(), Fault> {
    let answered = [Part::text(answer.clone(), Provenance::peer(table.team.name.clone()))];
    memory.keep(&table.line.hub, &remembered(&table.plan), &answered).await
}

/// Which members are agents of this hub: a journal of an earlier release does not say it.
fn seat_as_configured(plan: &mut TeamPlan, team: &Team) {
    for member in &mut plan.members {
        let configured = team.plan.members.iter().find(|configured| configured.id == member.id);
        member.outside = configured.map_or(member.outside, |configured| configured.outside);
    }
}

async fn until(timer: Option<tokio::time::Instant>) {
    match timer {
        Some(at) => tokio::time::sleep_until(at).await,
        None => std::future::pending().await,
    }
}
