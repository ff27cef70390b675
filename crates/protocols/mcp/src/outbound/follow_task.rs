//! Long-running outbound call: progress, notes, questions, a task of the server, and incoming signals.
//!
//! Nothing runs by itself: the work advances when the hub requests the next record, so a slow reader slows this call and no other
//! (backpressure), and dropping the exchange ends it.

use crate::client::decode::TaskState;
use crate::client::encode::{self, Manner, TASK_CANCEL, TASK_GET, TASK_UPDATE};
use crate::client::state::{self, Answers};
use crate::client::{Replied, Task};
use crate::question;
use interlingua_model::peer::Reply;
use interlingua_model::{
    Answer, CancelWhy, Event, Fault, FaultKind, Feature, Finished, How, Loss, Party, Question, QuestionId, Raw, Record,
    Sent, Signal,
};
use interlingua_wire::rpc::{self, Message, Request};
use tokio::sync::mpsc;

use super::call::{OutboundCall, pause};
use super::link::pipe::{cancelled_request, nobody_to_ask};
use super::request::InFlightRequest;
use super::session::Unanswered;
use interlingua_net::client::live::{self, late};

/// How often a server may fail to tell of its task before it is given up on.
const MAX_SILENT: u32 = 10;

/// Where the work stands.
#[derive(Debug)]
pub(super) enum Step {
    /// Sent; this came first.
    Flight(InFlightRequest, Option<Message>),
    /// The server wants the call again, with this.
    Again(Answers),
    /// The server goes on by itself.
    Task(Task),
    /// Answers for a task of the server's.
    Update(String, Answers),
}

pub(super) fn live(talk: OutboundCall, step: Step) -> Reply {
    live::live(takes, |out, signals| TaskFollower { talk, out, signals, asked: Vec::new(), notes: 0 }.run(step))
}

fn takes(signal: &Signal) -> Result<(), Fault> {
    match signal {
        Signal::Answered { .. } | Signal::Cancel(_) => Ok(()),
        Signal::Said { .. } => Err(Fault::caller(
            FaultKind::Unsupported(Feature::Operation),
            "a tool takes its arguments once and nothing after them",
        )),
    }
}

struct TaskFollower {
    talk: OutboundCall,
    out: mpsc::Sender<Record>,
    signals: mpsc::Receiver<Signal>,
    /// Questions asked while the call runs, in their order: the first one has the number that the dispatch names.
    asked: Vec<Option<(rpc::Id, Question)>>,
    notes: u32,
}

/// How a step ended.
enum Ending {
    Replied(Result<Replied, Fault>),
    Finished(Box<Finished>, Vec<Loss>, Option<Raw>),
    /// The server's task waits for answers, which come as a call of their own.
    TaskAsks(Vec<Question>, String),
}

impl TaskFollower {
    async fn run(mut self, mut step: Step) {
        loop {
            let ending = match step {
                Step::Flight(flight, first) => self.follow(flight, first).await,
                Step::Again(answers) => match self.talk.open(Some(&answers)).await {
                    Ok(flight) => {
                        step = Step::Flight(flight, None);
                        continue;
                    }
                    Err(ended) => Ending::Replied(Err(ended.fault())),
                },
                Step::Task(task) => self.follow_task(task).await,
                Step::Update(id, answers) => match self.update(&id, &answers).await {
                    Ok(()) => self.follow_task(Task { id, poll: None }).await,
                    Err(fault) => Ending::Replied(Err(fault)),
                },
            };
            step = match ending {
                Ending::Finished(finished, losses, raw) => return self.finish(*finished, losses, raw).await,
                Ending::TaskAsks(questions, task) => return self.ask(questions, Some(&task)).await,
                Ending::Replied(Err(fault)) => {
                    self.talk.look_again(&fault);
                    return self.finish(Finished::failed(fault), Vec::new(), None).await;
                }
                Ending::Replied(Ok(Replied::Finished(finished, losses, raw))) => {
                    return self.finish(*finished, losses, raw).await;
                }
                Ending::Replied(Ok(Replied::Asked(questions))) => return self.ask(questions, None).await,
                Ending::Replied(Ok(Replied::Again(state))) => Step::Again(Answers::state(state)),
                Ending::Replied(Ok(Replied::Task(task))) => Step::Task(task),
            };
        }
    }

    /// Waits while whoever reads is slow.
    async fn emit(&self, record: Record) {
        // Nobody reads any more: the call is being dropped.
        let _ = self.out.send(record).await;
    }

    /// `lost`: behind the server.
    async fn finish(&mut self, mut finished: Finished, lost: Vec<Loss>, raw: Option<Raw>) {
        if let Err(fault) = self.talk.hub.store_large_answer(&mut finished.output.parts).await {
            finished = Finished::failed(fault);
        }
        let mut losses = std::mem::take(&mut self.talk.losses);
        losses.extend(lost);
        self.emit(Record::Emitted { event: Event::Finished(finished), losses, raw }).await;
    }

    async fn ask(&mut self, questions: Vec<Question>, task: Option<&str>) {
        for record in self.talk.asks(questions, task) {
            self.emit(record).await;
        }
    }

    async fn follow(&mut self, mut flight: InFlightRequest, first: Option<Message>) -> Ending {
        if let Some(message) = first
            && let Some(ending) = self.take(&flight, message).await
        {
            return ending;
        }
        loop {
            let ending = tokio::select! {
                biased;
                Some(signal) = self.signals.recv() => self.told(&flight, signal).await,
                () = late(self.talk.until) => Some(self.failed(self.talk.too_late())),
                message = flight.next() => match message {
                    Ok(message) => self.take(&flight, message).await,
                    Err(lost) => Some(self.failed(self.talk.ended(&lost).fault())),
                },
            };
            if let Some(ending) = ending {
                return ending;
            }
        }
    }

    fn failed(&self, fault: Fault) -> Ending {
        Ending::Finished(Box::new(Finished::failed(fault)), Vec::new(), None)
    }

    async fn take(&mut self, flight: &InFlightRequest, message: Message) -> Option<Ending> {
        match message {
            Message::Response(response) => {
                Some(Ending::Replied(self.talk.leg(flight.session()).response(response.outcome)))
            }
            Message::Request(request) => self.asked_live(flight, request).await,
            Message::Notification(notification) => {
                if &*notification.method == encode::CANCELLED {
                    self.withdrawn(cancelled_request(&notification.params)).await;
                    return None;
                }
                let leg = self.talk.leg(flight.session());
                let key = &self.talk.dispatch.key;
                if let Some(event) = leg.notification(&notification.method, &notification.params, key, self.notes) {
                    self.notes = self.notes.saturating_add(1);
                    self.emit(Record::emitted(event)).await;
                }
                None
            }
        }
    }

    /// A legacy server asks while its call runs. Who cannot be asked declines at once.
    async fn asked_live(&mut self, flight: &InFlightRequest, request: Request) -> Option<Ending> {
        let leg = self.talk.leg(flight.session());
        let asked = match question::decode(&request.method, &request.params, &self.talk.peer.name, leg.expires, None) {
            Ok(asked) => asked,
            Err(bad) => return Some(self.failed(leg.refused(&bad))),
        };
        let caller = &self.talk.dispatch.call.caller;
        match asked.filter(|question| caller.is_answered_for(&question.kind)) {
            Some(question) => {
                self.asked.push(Some((request.id, question.clone())));
                self.emit(Record::emitted(Event::Asked(question))).await;
            }
            None => self.say(flight, &nobody_to_ask(&request)).await,
        }
        None
    }

    async fn say(&self, flight: &InFlightRequest, outgoing: &encode::Outgoing) {
        if let Err(lost) = flight.session().link.send(outgoing).await {
            tracing::warn!(event = "peer_message_not_delivered", peer = %self.talk.peer.name, cause = %lost, "an answer could not be delivered to the peer");
        }
    }

    /// The server does not want to know it any more.
    async fn withdrawn(&mut self, id: Option<rpc::Id>) {
        let index =
            self.asked.iter().position(|asked| asked.as_ref().is_some_and(|(asked, _)| Some(asked) == id.as_ref()));
        let Some(index) = index else { return };
        self.asked[index] = None;
        let number = self.talk.dispatch.asked + u32::try_from(index).unwrap_or(u32::MAX);
        let question = QuestionId(self.talk.dispatch.task, number);
        let by = Party::Peer(self.talk.peer.name.clone());
        self.emit(Record::emitted(Event::Settled { question, by, how: How::Withdrawn, decided: None })).await;
    }

    async fn told(&mut self, flight: &InFlightRequest, signal: Signal) -> Option<Ending> {
        match signal {
            Signal::Answered { question, answer, .. } => {
                self.answer(flight, question, &answer).await;
                None
            }
            // Dropping the flight tells the server.
            Signal::Cancel(why) => Some(cancelled(why)),
            Signal::Said { .. } => None,
        }
    }

    async fn answer(&mut self, flight: &InFlightRequest, question: QuestionId, answer: &Answer) {
        let index = question.1.checked_sub(self.talk.dispatch.asked).and_then(|index| usize::try_from(index).ok());
        let asked = index.and_then(|index| self.asked.get_mut(index)).and_then(Option::take);
        let Some((id, question)) = asked else { return };
        let given = question::encode_answer(&question, answer);
        self.say(flight, &encode::response(&id, given.as_ref())).await;
    }

    /// Asks about the server's task until it has ended.
    async fn follow_task(&mut self, task: Task) -> Ending {
        let (mut poll, mut silent, mut told) = (task.poll, 0, None);
        let remote = Some(state::task(&task.id));
        self.emit(Record::Sent(Sent::learnt(self.talk.dispatch.key.clone(), remote, true))).await;
        loop {
            match self.task_state(&task.id).await {
                Ok(Ok(TaskState::Ended(finished, losses, raw))) => return Ending::Finished(finished, losses, raw),
                Ok(Ok(TaskState::Asked(questions))) => return Ending::TaskAsks(questions, task.id),
                Ok(Ok(TaskState::Working { note, poll: next })) => {
                    (poll, silent) = (next.or(poll), 0);
                    // It says the same each time until that changes.
                    if note.is_some() && note != told {
                        told.clone_from(&note);
                        self.emit(Record::emitted(Event::Progress { done: None, total: None, note })).await;
                    }
                }
                Ok(Err(fault)) => return Ending::Replied(Err(fault)),
                Err(()) => {
                    silent += 1;
                    if silent >= MAX_SILENT {
                        return self
                            .failed(self.talk.fault(FaultKind::OutcomeUnknown, "tells nothing more of its task"));
                    }
                }
            }
            tokio::select! {
                () = tokio::time::sleep(pause(poll)) => {}
                () = late(self.talk.until) => return self.failed(self.talk.too_late()),
                Some(Signal::Cancel(why)) = self.signals.recv() => {
                    self.cancel_task(&task.id).await;
                    return cancelled(why);
                }
            }
        }
    }

    /// `Err`: it could not be asked; perhaps later.
    async fn task_state(&self, id: &str) -> Result<Result<TaskState, Fault>, ()> {
        let session = self.talk.session().await.map_err(drop)?;
        match session.ask(TASK_GET, |params| params.text("taskId", id)).await {
            Ok(task) => Ok(self.talk.leg(&session).task(Ok(task))),
            Err(Unanswered::Error(error)) => Ok(self.talk.leg(&session).task(Err(error))),
            Err(Unanswered::Trouble(_) | Unanswered::Late) => Err(()),
        }
    }

    async fn update(&self, id: &str, answers: &Answers) -> Result<(), Fault> {
        let session = self.talk.session().await.map_err(super::call::OutboundFailure::fault)?;
        let updated = session
            .ask(TASK_UPDATE, |params| {
                params.text("taskId", id);
                answers.write_responses(params);
            })
            .await;
        updated.map(drop).map_err(|why| match why {
            Unanswered::Error(error) => self.talk.leg(&session).error(&error),
            Unanswered::Trouble(_) | Unanswered::Late => self.talk.fault(FaultKind::OutcomeUnknown, "took no answer"),
        })
    }

    async fn cancel_task(&self, id: &str) {
        let Ok(session) = self.talk.session().await else { return };
        let manner = Manner::own(session.version);
        let outgoing = encode::request(session.next_id(), TASK_CANCEL, &manner, |params| params.text("taskId", id));
        if let Err(why) = super::session::ask(&session.link, &outgoing, std::time::Duration::from_secs(5)).await {
            tracing::debug!(peer = %self.talk.peer.name, cause = %why, "a task was not cancelled");
        }
    }
}

fn cancelled(why: CancelWhy) -> Ending {
    Ending::Finished(Box::new(Finished::cancelled(Party::Caller, why)), Vec::new(), None)
}
