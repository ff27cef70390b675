//! Long-running outbound call: follows the stream of a task at the agent. A broken stream is resumed; if that is not possible, the task is
//! polled until it has ended (section 3.6).
//!
//! If the call is dropped before the task has ended, the agent is sent a cancel, unless the hub itself is stopping: a task with an id at
//! the agent is found again after the next start.

use std::time::Duration;

use crate::client::encode::{self, Answered};
use crate::client::fault::Why;
use crate::client::{Ask, Told};
use crate::wire::{Send, Update};
use interlingua_model::peer::Reply;
use interlingua_model::{
    Answer, CancelWhy, Event, Fault, FaultKind, Finished, How, Input, MessageId, Outcome, Party, Question, QuestionId,
    Record, Sent, Signal,
};
use tokio::sync::mpsc;

use super::call::OutboundCall;
use super::events::Events;
use super::interface::{Heard, Trouble};
use interlingua_net::client::live::{self, late};

/// How long to wait before an agent is asked again how a task stands: at first, and at most.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);
/// How often an agent may fail to tell of a task before it is given up on.
const MAX_SILENT: u32 = 10;

pub(super) fn live(talk: OutboundCall, told: Vec<Told>, events: Option<Box<Events>>) -> Reply {
    live::live(
        |_| Ok(()),
        |out, signals| {
            let work = TaskFollower {
                talk: Some(talk),
                out,
                signals,
                open: None,
                asked: 0,
                cancelling: None,
                pause: FIRST_PAUSE,
            };
            work.run(told, events)
        },
    )
}

struct TaskFollower {
    /// Gone once the agent need not be told of the end.
    talk: Option<OutboundCall>,
    out: mpsc::Sender<Record>,
    signals: mpsc::Receiver<Signal>,
    /// What the agent asked while it goes on.
    open: Option<Question>,
    /// How many such questions there were.
    asked: u32,
    cancelling: Option<CancelWhy>,
    pause: Duration,
}

/// How the agent is heard: what comes of a message is told by the stream, where there is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hears {
    Stream,
    Answers,
}

/// Is there more to come?
#[derive(Debug, PartialEq, Eq)]
enum Flow {
    On,
    Over,
}

impl Drop for TaskFollower {
    fn drop(&mut self) {
        let Some(talk) = self.talk.take() else { return };
        let supervisor = talk.hub.supervisor().clone();
        if !supervisor.stopping().is_cancelled() && talk.following.remote().is_some() {
            supervisor.run_until_stop(async move { talk.let_go().await });
        }
    }
}

impl TaskFollower {
    async fn run(mut self, told: Vec<Told>, events: Option<Box<Events>>) {
        if self.tell(told).await == Flow::Over {
            return;
        }
        if let Some(events) = events
            && self.follow(*events).await == Flow::Over
        {
            return;
        }
        self.attach().await;
    }

    /// Waits while whoever reads is slow. Nobody reads any more when the call is being dropped.
    async fn emit(&self, record: Record) {
        let _ = self.out.send(record).await;
    }

    async fn finish(&mut self, mut finished: Finished) -> Flow {
        let Some(talk) = &mut self.talk else { return Flow::Over };
        let kept = talk.context_kept().await;
        let stored = talk.hub.store_large_answer(&mut finished.output.parts).await;
        if let Err(fault) = kept.and(stored) {
            finished = Finished { outcome: Outcome::Failed(fault), ..finished };
        }
        if let (Some(why), Outcome::Cancelled { .. }) = (self.cancelling, &finished.outcome) {
            finished.outcome = Outcome::Cancelled { by: Party::Caller, why };
        }
        let losses = std::mem::take(&mut talk.losses);
        self.emit(Record::Emitted { event: Event::Finished(finished), losses, raw: None }).await;
        Flow::Over
    }

    async fn fail(&mut self, fault: Fault) -> Flow {
        self.finish(Finished::failed(fault)).await
    }

    /// The agent has ended it, or waits for an answer: it need not be told anything.
    async fn finish_there(&mut self, finished: Finished) -> Flow {
        let flow = self.finish(finished).await;
        self.talk = None;
        flow
    }

    async fn take(&mut self, update: Update) -> Flow {
        let Some(talk) = &mut self.talk else { return Flow::Over };
        match talk.hear(update) {
            Ok(told) => self.tell(told).await,
            Err(fault) => self.fail(fault).await,
        }
    }

    async fn tell(&mut self, told: Vec<Told>) -> Flow {
        for one in told {
            if self.tell_one(one).await == Flow::Over {
                return Flow::Over;
            }
        }
        Flow::On
    }

    async fn tell_one(&mut self, told: Told) -> Flow {
        let Some(talk) = &mut self.talk else { return Flow::Over };
        let key = talk.dispatch.key.clone();
        match told {
            Told::Known(remote) => {
                talk.keep_context();
                self.emit(Record::Sent(Sent::learnt(key, Some(remote.seal()), true))).await;
            }
            Told::Event(mut event) => {
                if let Event::Artifact(chunk) = &mut event
                    && let Err(fault) = talk.hub.store_large_answer(&mut chunk.parts).await
                {
                    return self.fail(fault).await;
                }
                self.pause = FIRST_PAUSE;
                self.emit(Record::emitted(event)).await;
            }
            Told::Asks(question) => self.ask_beside(question).await,
            Told::GoesOn => self.goes_on().await,
            Told::Ends(question) => return self.ask(question).await,
            Told::Finished(finished, losses) => {
                talk.losses.extend(losses);
                return self.finish_there(*finished).await;
            }
        }
        Flow::On
    }

    /// The agent waits for the answer, which comes as a call of its own.
    async fn ask(&mut self, question: Question) -> Flow {
        let Some(talk) = &mut self.talk else { return Flow::Over };
        if !talk.dispatch.call.caller.is_answered_for(&question.kind) {
            let fault = talk.unanswered(&question.text);
            return self.fail(fault).await;
        }
        if let Err(fault) = talk.context_kept().await {
            return self.fail(fault).await;
        }
        let losses = std::mem::take(&mut talk.losses);
        let remote = talk.following.remote().map(|remote| remote.seal());
        let sent = Sent::learnt(talk.dispatch.key.clone(), remote, false);
        self.emit(Record::Sent(sent)).await;
        self.emit(Record::Emitted { event: Event::Asked(question), losses, raw: None }).await;
        self.talk = None;
        Flow::Over
    }

    /// It may go on without an answer, when somebody gives it what it wants in another way.
    async fn ask_beside(&mut self, question: Question) {
        let can_answer = self.talk.as_ref().map(|talk| talk.dispatch.call.caller.can_answer);
        if can_answer.is_some_and(|can_answer| can_answer.has(question.kind.set())) {
            self.open = Some(question.clone());
            self.asked += 1;
            self.emit(Record::emitted(Event::Asked(question))).await;
        } else {
            let note = Some(format!("waits for authorization: {}", question.text).into());
            self.emit(Record::emitted(Event::Progress { done: None, total: None, note })).await;
        }
    }

    async fn goes_on(&mut self) {
        let (Some(_), Some(talk)) = (self.open.take(), &self.talk) else { return };
        let number = talk.dispatch.asked + self.asked - 1;
        let question = QuestionId(talk.dispatch.task, number);
        let by = Party::Peer(talk.peer.name.clone());
        self.emit(Record::emitted(Event::Settled { question, by, how: How::Withdrawn, decided: None })).await;
    }

    /// On when the stream ended before the task did.
    async fn follow(&mut self, mut events: Events) -> Flow {
        loop {
            let until = self.talk.as_ref().and_then(|talk| talk.until);
            let flow = tokio::select! {
                biased;
                Some(signal) = self.signals.recv() => self.told(signal, Hears::Stream).await,
                () = late(until) => self.too_late().await,
                update = events.next() => match update {
                    Ok(Some(update)) => self.take(update).await,
                    Ok(None) | Err(Trouble::Lost(_)) => return Flow::On,
                    Err(trouble) => self.trouble(trouble).await,
                },
            };
            if flow == Flow::Over {
                return Flow::Over;
            }
        }
    }

    async fn too_late(&mut self) -> Flow {
        let Some(talk) = &self.talk else { return Flow::Over };
        let fault = talk.too_late();
        self.fail(fault).await
    }

    async fn trouble(&mut self, trouble: Trouble) -> Flow {
        let Some(talk) = &self.talk else { return Flow::Over };
        let fault = talk.ended(trouble).fault();
        self.fail(fault).await
    }

    /// Takes the task up where it stands, by a stream where the agent has one, else by asking.
    async fn attach(&mut self) {
        let mut silent = 0;
        loop {
            if self.subscribe().await == Flow::Over {
                return;
            }
            if self.stands(&mut silent).await == Flow::Over {
                return;
            }
            let pause = self.pause;
            self.pause = (self.pause * 2).min(LONGEST_PAUSE);
            let until = self.talk.as_ref().and_then(|talk| talk.until);
            let flow = tokio::select! {
                biased;
                Some(signal) = self.signals.recv() => self.told(signal, Hears::Answers).await,
                () = late(until) => self.too_late().await,
                () = tokio::time::sleep(pause) => Flow::On,
            };
            if flow == Flow::Over {
                return;
            }
        }
    }

    /// What the agent does not do is not an error: it is asked instead.
    async fn subscribe(&mut self) -> Flow {
        let Some(talk) = &self.talk else { return Flow::Over };
        let Some(remote) = talk.following.remote().filter(|_| talk.known.card.streaming) else { return Flow::On };
        let task = remote.task.clone();
        match tokio::time::timeout(super::call::PATIENCE, talk.ask(&Ask::Subscribe { task: &task })).await {
            Ok(Ok(Heard::Stream(events))) => self.follow(*events).await,
            Ok(Ok(Heard::Update(update))) => self.take(*update).await,
            Ok(Err(_)) | Err(_) => Flow::On,
        }
    }

    /// Asks how the task stands.
    async fn stands(&mut self, silent: &mut u32) -> Flow {
        let Some(talk) = &self.talk else { return Flow::Over };
        let Some(remote) = talk.following.remote() else {
            let fault = talk.unknown();
            return self.fail(fault).await;
        };
        match talk.ask_soon(&Ask::Get { task: &remote.task }).await {
            Ok(update) => {
                *silent = 0;
                self.take(update).await
            }
            Err(Trouble::Refused(refusal)) if matches!(refusal.why, Why::TaskNotFound | Why::Method) => {
                let fault = talk.peer.fault(FaultKind::OutcomeUnknown, "does not know the task any more");
                self.finish_there(Finished::failed(fault)).await
            }
            Err(_) => {
                *silent += 1;
                if *silent < MAX_SILENT {
                    return Flow::On;
                }
                let fault = talk.peer.fault(FaultKind::OutcomeUnknown, "tells nothing more of its task");
                self.fail(fault).await
            }
        }
    }

    async fn told(&mut self, signal: Signal, hears: Hears) -> Flow {
        match signal {
            Signal::Cancel(why) => self.cancel(why).await,
            Signal::Said { message, input } => self.say_more(&message, input, hears).await,
            Signal::Answered { message, answer, .. } => self.answer(&message, answer, hears).await,
        }
    }

    async fn say_more(&mut self, message: &MessageId, mut input: Input, hears: Hears) -> Flow {
        let Some(talk) = &mut self.talk else { return Flow::Over };
        if let Err(fault) = talk.bring(&mut input.parts).await {
            tracing::debug!(peer = %talk.peer.name, error = %fault, "more input was not passed on");
            return Flow::On;
        }
        let said = encode::more(&input, message, &talk.leg());
        talk.losses.extend(said.losses);
        self.say(&said.value, hears).await
    }

    async fn answer(&mut self, message: &MessageId, answer: Answer, hears: Hears) -> Flow {
        let (Some(question), Some(talk)) = (self.open.take(), &mut self.talk) else { return Flow::On };
        let said = encode::answer(&question, &answer, message, &talk.leg());
        talk.losses.extend(said.losses);
        match said.value {
            Answered::Say(send, credential) => {
                talk.shows(credential);
                self.say(&send, hears).await
            }
            Answered::Decline => {
                let fault = talk.unanswered(&question.text);
                self.fail(fault).await
            }
        }
    }

    async fn say(&mut self, send: &Send, hears: Hears) -> Flow {
        let Some(talk) = &self.talk else { return Flow::Over };
        match talk.ask_soon(&Ask::Send(send)).await {
            Ok(update) => match hears {
                Hears::Stream => Flow::On,
                Hears::Answers => self.take(update).await,
            },
            Err(trouble) => {
                tracing::warn!(event = "peer_message_not_delivered", peer = %talk.peer.name, cause = ?trouble, "the peer did not accept a message for a task");
                Flow::On
            }
        }
    }

    /// The agent has a moment to say how it ended; one that goes on regardless is let go of.
    async fn cancel(&mut self, why: CancelWhy) -> Flow {
        self.cancelling = Some(why);
        let Some(talk) = &self.talk else { return Flow::Over };
        let Some(remote) = talk.following.remote() else {
            return self.finish(Finished::cancelled(Party::Caller, why)).await;
        };
        let task = remote.task.clone();
        let answered = match talk.ask_soon(&Ask::Cancel { task: &task }).await {
            // It was over before.
            Err(Trouble::Refused(_)) => talk.ask_soon(&Ask::Get { task: &task }).await,
            answered => answered,
        };
        if let Ok(update) = answered
            && self.take(update).await == Flow::Over
        {
            return Flow::Over;
        }
        self.finish_there(Finished::cancelled(Party::Caller, why)).await
    }
}
