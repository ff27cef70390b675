//! One listener: reads events, starts runs, and follows them to their end.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt};
use interlingua_hub::{Hub, Running};
use interlingua_machines::bus::{Message, Sender, said};
use interlingua_machines::limit::{Buckets, Pace};
use interlingua_model::{
    Ask, Call, Fault, FaultKind, Finished, OnDisconnect, Outcome, Owner, Principal, Request, Retry, SkillId, Target,
    TaskId, Transcript,
};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::progress::{Begun, Progress};
use super::{TopicStart, answer};
use crate::agent::CHAT;

/// How many runs one event may start where its work may be done twice.
const MOST_ATTEMPTS: u8 = 3;
/// The pause before the next one; it doubles.
const PAUSE: Duration = Duration::from_secs(1);
/// The longest pause after the store failed.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// Publishers whose rates are counted at once.
const MOST_PUBLISHERS: usize = 1_024;
/// Dropped events are reported as often as this.
const REPORT_EVERY: Duration = Duration::from_secs(60);

/// Why an event starts nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Dropped {
    /// It is from an earlier release, which did not store the rights of its publisher.
    WithoutSender,
    /// Too many runs led to it.
    Loop,
    /// It waited too long.
    Late,
    /// Its publisher sends too many.
    Rate,
    /// The hub stopped while its run was about to start.
    Interrupted,
}

impl Dropped {
    fn as_str(self) -> &'static str {
        match self {
            Dropped::WithoutSender => "no_sender",
            Dropped::Loop => "loop",
            Dropped::Late => "late",
            Dropped::Rate => "rate",
            Dropped::Interrupted => "interrupted",
        }
    }
}

/// What follows when a run has ended.
struct FollowedRun {
    seq: u64,
    next: Next,
}

enum Next {
    Nothing,
    /// Another run of the same event.
    Again {
        message: Box<Message>,
        attempt: u8,
    },
    /// The hub stops: whoever starts next goes on.
    Later,
}

type Runs = FuturesUnordered<BoxFuture<'static, FollowedRun>>;

pub(super) struct Listener {
    hub: Arc<Hub>,
    start: Arc<TopicStart>,
    stop: CancellationToken,
    rates: Buckets<Owner>,
    pace: Pace,
    /// Events that were dropped since the last report.
    dropped: u64,
    reported: Option<Instant>,
}

impl Listener {
    pub(super) fn new(hub: Arc<Hub>, start: TopicStart, stop: CancellationToken) -> Listener {
        let rate = start.on.rate;
        let pace = Pace::new(rate.count.into(), rate.per, None);
        let rates = Buckets::new(MOST_PUBLISHERS);
        Listener { hub, start: Arc::new(start), stop, rates, pace, dropped: 0, reported: None }
    }

    /// Until it is stopped. A failure of the store is waited for.
    pub(super) async fn run(mut self) {
        let mut pause = PAUSE;
        loop {
            match self.listen().await {
                Ok(()) => return,
                Err(fault) => {
                    tracing::warn!(event = "topic_listener_stalled", agent = %self.start.peer, error = %fault, "events do not start the agent; the hub tries again");
                }
            }
            if self.stop.run_until_cancelled(tokio::time::sleep(pause)).await.is_none() {
                return;
            }
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    async fn listen(&mut self) -> Result<(), Fault> {
        let mut progress = Progress::load(&self.hub, &self.start.peer, &self.start.on.topic).await?;
        let mut runs = Runs::new();
        for begun in progress.runs().to_vec() {
            self.resume(begun, &mut progress, &mut runs).await?;
        }
        let reader = Principal::new(self.start.link.clone());
        let events = self.hub.subscribe(reader, self.start.wanted.clone(), Some(progress.after)).await?;
        let mut events = events.few_at_once();
        loop {
            let free = runs.len() < usize::from(self.start.on.runs);
            tokio::select! {
                () = self.stop.cancelled() => return Ok(()),
                Some(ended) = runs.next() => self.ended(ended, &mut progress, &mut runs).await?,
                event = events.next(), if free => match event? {
                    None => return Ok(()),
                    Some((seq, message)) => self.take(seq, message, &mut progress, &mut runs).await?,
                },
            }
        }
    }

    /// A run that was in progress when the hub stopped. The hub resumes the run itself; here it is followed again.
    async fn resume(&mut self, begun: Begun, progress: &mut Progress, runs: &mut Runs) -> Result<(), Fault> {
        let message = self.hub.event(begun.seq).await?;
        match (message, begun.task) {
            (Some(message), Some(task)) => {
                let follows = self.follow(begun.seq, begun.attempt, message, None, task);
                runs.push(follows);
            }
            (Some(message), None) if self.start.on.idempotent => {
                self.begin(begun.seq, begun.attempt, message, progress, runs).await?;
            }
            (message, _) => {
                if let Some(message) = message {
                    self.drop_event(begun.seq, &message, Dropped::Interrupted);
                }
                progress.end(begun.seq);
                progress.save(&self.hub, &self.start.peer).await?;
            }
        }
        Ok(())
    }

    async fn take(
        &mut self,
        seq: u64,
        message: Message,
        progress: &mut Progress,
        runs: &mut Runs,
    ) -> Result<(), Fault> {
        match self.admit(&message) {
            Ok(()) => self.begin(seq, 1, message, progress, runs).await,
            Err(why) => {
                progress.after = seq;
                self.drop_event(seq, &message, why);
                Ok(())
            }
        }
    }

    fn admit(&mut self, message: &Message) -> Result<(), Dropped> {
        let sender = message.sender.as_ref().ok_or(Dropped::WithoutSender)?;
        if sender.is_exhausted() {
            return Err(Dropped::Loop);
        }
        let now = self.hub.now();
        if message.at.after(self.start.on.within.0) < now {
            return Err(Dropped::Late);
        }
        let since_epoch = Duration::from_millis(now.0);
        self.rates.take(&sender.by.owner(), 1, self.pace, since_epoch).map_err(|_| Dropped::Rate)
    }

    /// Reports many dropped events in one line, so that a flood of events does not flood the log.
    fn drop_event(&mut self, seq: u64, message: &Message, why: Dropped) {
        self.dropped += 1;
        if self.reported.is_some_and(|at| at.elapsed() < REPORT_EVERY) {
            return;
        }
        let topic = message.topic.as_ref().map(ToString::to_string).unwrap_or_default();
        tracing::warn!(event = "topic_event_dropped", agent = %self.start.peer, %topic, seq, publisher = %message.by, reason = why.as_str(), dropped = self.dropped, "an event starts no run");
        (self.dropped, self.reported) = (0, Some(Instant::now()));
    }

    /// Starts a run. From the first save on the event is never read again: after a crash it starts another run only if its work may be
    /// done twice.
    async fn begin(
        &mut self,
        seq: u64,
        attempt: u8,
        message: Message,
        progress: &mut Progress,
        runs: &mut Runs,
    ) -> Result<(), Fault> {
        progress.begin(seq, attempt);
        progress.save(&self.hub, &self.start.peer).await?;
        let opened = tokio::select! {
            biased;
            opened = open(&self.hub, &self.start, seq, attempt, &message) => opened,
            () = self.stop.cancelled() => Err(Fault::shutting_down()),
        };
        match opened {
            Ok(running) => {
                let task = running.id();
                progress.stored_as(seq, task);
                progress.save(&self.hub, &self.start.peer).await?;
                runs.push(self.follow(seq, attempt, message, Some(running), task));
                Ok(())
            }
            // The next listener reads the event again. If the run has begun after all, its id leads to the same run.
            Err(_) if self.stop.is_cancelled() => {
                progress.take_back(seq);
                progress.save(&self.hub, &self.start.peer).await
            }
            Err(fault) => {
                tracing::info!(event = "topic_run_refused", agent = %self.start.peer, seq, publisher = %message.by, error = %fault, "an event may not start a run");
                let again = again(&self.start, message, attempt, &fault);
                if let Next::Again { attempt, .. } = &again {
                    let pause = PAUSE * 2_u32.pow(u32::from(*attempt));
                    runs.push(Box::pin(async move {
                        tokio::time::sleep(pause).await;
                        FollowedRun { seq, next: again }
                    }));
                    return Ok(());
                }
                progress.end(seq);
                progress.save(&self.hub, &self.start.peer).await
            }
        }
    }

    fn follow(
        &self,
        seq: u64,
        attempt: u8,
        message: Message,
        running: Option<Running>,
        task: TaskId,
    ) -> BoxFuture<'static, FollowedRun> {
        let (hub, start) = (self.hub.clone(), self.start.clone());
        Box::pin(async move {
            let next = match followed(&hub, &message, running, task).await {
                Ok((sender, finished)) => settled(&hub, &start, (seq, message, sender), attempt, task, finished).await,
                Err(_) if hub.stopping().is_cancelled() => Next::Later,
                Err(fault) => {
                    tracing::warn!(event = "topic_run_lost", agent = %start.peer, seq, %task, error = %fault, "the end of a run is not known; no answer is published");
                    Next::Nothing
                }
            };
            FollowedRun { seq, next }
        })
    }

    async fn ended(&mut self, ended: FollowedRun, progress: &mut Progress, runs: &mut Runs) -> Result<(), Fault> {
        match ended.next {
            Next::Later => Ok(()),
            Next::Again { message, attempt } => self.begin(ended.seq, attempt, *message, progress, runs).await,
            Next::Nothing => {
                progress.end(ended.seq);
                progress.save(&self.hub, &self.start.peer).await
            }
        }
    }
}

/// The publisher calls the agent.
async fn open(hub: &Arc<Hub>, start: &TopicStart, seq: u64, attempt: u8, message: &Message) -> Result<Running, Fault> {
    let sender = sender(message)?;
    let mut input = said::input(&message.content);
    input.trust = input.trust.min(sender.origin.trust());
    let target = Target::Skill(SkillId::new(start.peer.clone(), CHAT), None);
    let id = format!("topic/{}/{seq}/{attempt}", start.peer);
    let mut call = Call::new(id, sender.origin.clone(), Ask::Invoke { target, input });
    call.id_given = true;
    call.via.clone_from(&sender.via);
    call.limits.priority = message.priority;
    (call.limits.on_disconnect, call.limits.keep) = (OnDisconnect::Detach, true);
    said::mark(&mut call, message);
    let request = Request { by: sender.by.clone(), connection: 0, call: Box::new(call) };
    let mut running = hub.open(request).await?;
    running.keep().await?;
    running.told();
    Ok(running)
}

fn sender(message: &Message) -> Result<&Sender, Fault> {
    let missing = || Fault::hub(FaultKind::Internal, "the event does not say who published it");
    message.sender.as_deref().ok_or_else(missing)
}

/// Its end, whatever is asked on the way: approvals are given elsewhere.
async fn followed(
    hub: &Arc<Hub>,
    message: &Message,
    running: Option<Running>,
    task: TaskId,
) -> Result<(Sender, Finished), Fault> {
    let sender = sender(message)?.clone();
    let mut running = match running {
        Some(running) => running,
        None => hub.follow(&sender.by, task, 0).await?,
    };
    running.told();
    let finished = running.finish(&mut Transcript::default(), |_| ()).await?;
    Ok((sender, finished))
}

/// The answer is published before the event counts as done.
async fn settled(
    hub: &Hub,
    start: &TopicStart,
    event: (u64, Message, Sender),
    attempt: u8,
    task: TaskId,
    finished: Finished,
) -> Next {
    let (seq, message, sender) = event;
    if let Outcome::Failed(fault) = &finished.outcome {
        let next = again(start, message.clone(), attempt, fault);
        if let Next::Again { attempt, .. } = &next {
            tokio::time::sleep(PAUSE * 2_u32.pow(u32::from(*attempt))).await;
            return next;
        }
    }
    if let Some(reply) = start.reply.clone() {
        let published = answer::publish(hub, start, reply, (seq, &message, &sender), task, finished).await;
        if let Err(fault) = published {
            tracing::warn!(event = "topic_answer_failed", agent = %start.peer, seq, %task, error = %fault, "the answer to an event is not published; it is in the task");
        }
    }
    Next::Nothing
}

/// Another run, where the work may be done twice and the fault may pass.
fn again(start: &TopicStart, message: Message, attempt: u8, fault: &Fault) -> Next {
    let passes = fault.retry != Retry::No || fault.kind == FaultKind::OutcomeUnknown;
    if start.on.idempotent && passes && attempt < MOST_ATTEMPTS {
        return Next::Again { message: Box::new(message), attempt: attempt + 1 };
    }
    Next::Nothing
}
