//! Decision rules of a task: the records and effects of a happening, given the state. They change nothing.

use super::{
    Asking, Decision, Effect, Happening, MAX_ARTIFACTS_HELD, MAX_OPEN_QUESTIONS, MAX_QUESTION, Standing, Task,
};
use interlingua_model::call::OnDisconnect;
use interlingua_model::content::{Input, Party};
use interlingua_model::event::{CancelWhy, Chunk, Decided, Event, Finished, How, Route, Signal};
use interlingua_model::fault::{Fault, FaultKind, Noun};
use interlingua_model::id::{MessageId, QuestionId, SkillId, Time};
use interlingua_model::journal::{Record, Selected, Sent};
use interlingua_model::json::Json;
use interlingua_model::loss::Loss;
use interlingua_model::principal::Principal;
use interlingua_model::question::Answer;
use interlingua_model::question::{Addressee, Question, QuestionKind};
use interlingua_model::secret::Secret;
use interlingua_model::visible::visible;
use interlingua_model::wire::Raw;

impl Decision {
    fn record(mut self, record: Record) -> Self {
        self.records.push(record);
        self
    }

    fn emit(self, event: Event) -> Self {
        self.record(Record::emitted(event))
    }

    fn effect(mut self, effect: Effect) -> Self {
        self.effects.push(effect);
        self
    }
}

impl Task {
    /// What this leads to: records to append as one, and effects once they are safe. The only place that refuses.
    pub fn decide(&self, what: Happening, now: Time) -> Result<Decision, Fault> {
        if self.finished().is_some() {
            return Err(Fault::caller(FaultKind::AlreadyFinished, "this task has already finished"));
        }
        match what {
            Happening::Dispatch { route, repeatable, args } => self.dispatch(route, repeatable, args),
            Happening::Select { skill, others, fault } => self.select(skill, others, fault),
            Happening::Ask(asking) => self.ask(asking),
            Happening::Peer { event, losses, raw } => self.peer(event, losses, raw),
            Happening::Learnt { remote, open } => self.learnt(remote, open),
            Happening::PeerLost => Ok(self.peer_lost()),
            Happening::Signal { by, standing, signal } => self.signal(by, standing, signal, now),
            Happening::QuestionExpired(id) => self.expire(id),
            Happening::DeadlineReached => Ok(self.deadline_reached()),
            Happening::CancelGraceOver => Ok(self.cancel_grace_over()),
            Happening::CallerGone => Ok(self.caller_gone()),
            Happening::CallerStayedAway => Ok(self.caller_stayed_away()),
            Happening::Refused(fault) => Ok(self.refused(fault)),
            Happening::Restarted => Ok(self.restarted()),
        }
    }

    fn dispatch(&self, route: Route, repeatable: bool, args: Option<Json>) -> Result<Decision, Fault> {
        if !self.open.is_empty() {
            return Err(broken("a task was dispatched while a question was open"));
        }
        let called = self.call.input().and_then(|input| input.args.as_ref());
        let as_called = called.zip(args.as_ref()).is_some_and(|(called, args)| called.as_bytes() == args.as_bytes());
        let sent = Sent {
            attempt: self.attempts() + 1,
            key: self.call_key(),
            remote: None,
            open: true,
            repeatable,
            args: args.filter(|_| !as_called),
            as_called,
        };
        Ok(Decision::default()
            .record(Record::Sent(sent.clone()))
            .emit(Event::Started(route))
            .effect(Effect::Dispatch(sent)))
    }

    /// How often it was sent.
    fn attempts(&self) -> u32 {
        let before = self.selected.as_ref().map_or(0, |selected| selected.attempt);
        self.sent.as_ref().map_or(before, |sent| sent.attempt)
    }

    /// What was sent goes to another only where the first cannot have begun it.
    fn select(&self, skill: SkillId, others: Vec<SkillId>, fault: Option<Fault>) -> Result<Decision, Fault> {
        if !self.open.is_empty() {
            return Err(broken("a task was given to another skill while a question was open"));
        }
        if self.sent.is_some() && !(fault.is_some() && self.is_only_dispatched()) {
            return Err(broken("a task that a peer may have begun was given to another"));
        }
        let selected = Selected { skill, others, attempt: self.attempts(), fault };
        Ok(Decision::default().record(Record::Selected(selected)))
    }

    /// The peer's idempotency key for the call: the same on every attempt, also after an answer went out under its own.
    pub(super) fn call_key(&self) -> MessageId {
        MessageId::from(self.id.to_string())
    }

    /// A request that the peer ended with a question is not lost; one that was to be cancelled has ended as it should.
    fn peer_lost(&self) -> Decision {
        let asked = self.sent.as_ref().is_some_and(|sent| !sent.open) && !self.open.is_empty();
        match self.cancelling {
            Some(cancelling) => self.finish(Finished::cancelled(Party::Caller, cancelling.why)),
            None if asked => Decision::default(),
            None => self.finish(Finished::failed(self.lost_fault())),
        }
    }

    fn ask(&self, asking: Asking) -> Result<Decision, Fault> {
        let question = Question {
            id: self.next_question()?,
            to: asking.to,
            kind: asking.kind,
            text: asking.text,
            asked_by: Party::Hub,
            expires: asking.expires,
            resume: None,
            name: None,
        };
        Ok(Decision::default().emit(Event::Asked(question)))
    }

    fn next_question(&self) -> Result<QuestionId, Fault> {
        if self.open.len() >= MAX_OPEN_QUESTIONS {
            return Err(Fault::hub(FaultKind::Busy, "too many questions are open in this task"));
        }
        Ok(QuestionId(self.id, self.asked))
    }

    fn peer(&self, event: Event, losses: Vec<Loss>, raw: Option<Raw>) -> Result<Decision, Fault> {
        if self.sent.is_none() {
            return Err(self.bad_reply("an event before anything was sent"));
        }
        let event = match event {
            Event::Asked(question) if question.weight() > MAX_QUESTION => {
                return Err(self.bad_reply("a question that is too long to be read"));
            }
            Event::Asked(question) => {
                // A person reads it and decides: nothing is hidden in it.
                let text = visible(&question.text).into_owned().into();
                Event::Asked(Question { id: self.next_question()?, text, ..question })
            }
            Event::Artifact(chunk) => Event::Artifact(self.admit(chunk)?),
            // A peer may say that its question is settled, and never that somebody here decided it.
            Event::Settled { question, by, how, .. } if self.open.contains_key(&question) => {
                Event::Settled { question, by, how, decided: None }
            }
            Event::Settled { .. } => return Err(self.bad_reply("it settled a question that is not open")),
            Event::Finished(finished) => {
                return Ok(self.finish_with(finished, losses, raw));
            }
            // Of one that is over, and of one that stands as it stood, there is nothing to tell.
            Event::Step(step) if !self.steps.admit(&step) => return Ok(Decision::default()),
            Event::Started(_) | Event::Said { .. } | Event::Progress { .. } | Event::Step(_) => event,
        };
        Ok(Decision::default().record(Record::Emitted { event, losses, raw }))
    }

    /// Index 0 opens or replaces: a peer that is taken up again tells what it has made from the beginning. The rest follow
    /// without a gap.
    fn admit(&self, chunk: Chunk) -> Result<Chunk, Fault> {
        let so_far = self.artifacts.get(&chunk.artifact).map(Vec::as_slice).unwrap_or_default();
        let closed = so_far.last().is_some_and(|last| last.last);
        let fits = match chunk.index {
            0 => true,
            next => !closed && so_far.last().is_some_and(|last| last.index + 1 == next),
        };
        if !fits {
            return Err(self.bad_reply("an artifact chunk out of order"));
        }
        let replaced: usize = if chunk.index == 0 { so_far.iter().map(Chunk::weight).sum() } else { 0 };
        if self.weight.artifacts - replaced + chunk.weight() > MAX_ARTIFACTS_HELD {
            let text = "the peer's artifacts are larger than one task may hold";
            return Err(Fault::new(FaultKind::TooLarge, self.peer_party(), text));
        }
        Ok(chunk)
    }

    fn learnt(&self, remote: Option<Secret>, open: bool) -> Result<Decision, Fault> {
        let Some(sent) = &self.sent else { return Err(self.bad_reply("an id before anything was sent")) };
        let remote = remote.or_else(|| sent.remote.clone());
        Ok(Decision::default().record(Record::Sent(Sent { remote, open, ..sent.clone() })))
    }

    fn signal(&self, by: Principal, standing: Standing, signal: Signal, now: Time) -> Result<Decision, Fault> {
        match signal {
            Signal::Answered { question, message, answer } => {
                let asked = self.answered_question(question, standing, &answer, now)?;
                Ok(self.answer(by, asked, message, answer))
            }
            Signal::Said { message, input } => self.said(by, standing, message, input, now),
            Signal::Cancel(why) if standing.owns => Ok(self.cancel(Some(by), why)),
            Signal::Cancel(_) => Err(not_found()),
        }
    }

    fn answered_question(
        &self,
        id: QuestionId,
        standing: Standing,
        answer: &Answer,
        now: Time,
    ) -> Result<&Question, Fault> {
        let question = self.open.get(&id).filter(|_| standing.owns || standing.approves).ok_or_else(not_found)?;
        // The right to approve may have been taken back since the caller was asked.
        let approval = matches!(question.kind, QuestionKind::Confirm(_)) && *answer == Answer::Granted;
        if !standing.approves && (approval || question.to == Addressee::Approvers) {
            return Err(Fault::caller(FaultKind::Denied, NOT_YOURS));
        }
        if !may_answer(question, standing) {
            return Err(Fault::caller(FaultKind::Denied, "this question is not yours to answer"));
        }
        if question.expires <= now {
            return Err(Fault::caller(FaultKind::Denied, "the question has expired"));
        }
        if !question.kind.accepts(answer) {
            return Err(Fault::caller(FaultKind::InvalidInput, "that answer does not fit the question; it stays open"));
        }
        Ok(question)
    }

    fn answer(&self, by: Principal, question: &Question, message: MessageId, answer: Answer) -> Decision {
        let how = match answer {
            Answer::Given(_) | Answer::Granted | Answer::Token(_) | Answer::Visited => How::Answered,
            Answer::Declined | Answer::Dismissed => How::Declined,
        };
        let party = if question.to == Addressee::Caller { Party::Caller } else { Party::Hub };
        let signal = Signal::Answered { question: question.id, message: message.clone(), answer };
        let decided = Some(Box::new(Decided { by: by.owner(), granted: how == How::Answered }));
        let decision = Decision::default()
            .record(Record::Received { by, signal: signal.clone() })
            .emit(Event::Settled { question: question.id, by: party, how, decided });
        self.after_settled(decision, question, how, message, signal)
    }

    /// A hub's question ends or frees the task; a peer's answer is a dispatch of its own.
    fn after_settled(
        &self,
        mut decision: Decision,
        question: &Question,
        how: How,
        message: MessageId,
        signal: Signal,
    ) -> Decision {
        match (&question.asked_by, &self.sent) {
            // It ended its request with several: it is called again once, when all are settled.
            (Party::Peer(_), Some(sent)) if !sent.open && self.open.len() > 1 => decision,
            (Party::Peer(_), Some(sent)) => {
                let sent = Sent { key: message, open: true, ..sent.clone() };
                decision.record(Record::Sent(sent)).effect(Effect::Forward(signal))
            }
            (Party::Hub | Party::Caller | Party::Peer(_), _) if how == How::Answered => {
                let last = self.open.len() == 1;
                if last && self.sent.is_none() { decision.effect(Effect::Proceed) } else { decision }
            }
            (Party::Hub | Party::Caller | Party::Peer(_), _) => {
                let mut rest = self.finish_without(Finished::failed(unanswered(&question.kind, how)), question.id);
                decision.records.append(&mut rest.records);
                decision.effects.append(&mut rest.effects);
                decision
            }
        }
    }

    /// More input. While questions are open it is offered to the oldest one this speaker may answer with it.
    fn said(
        &self,
        by: Principal,
        standing: Standing,
        message: MessageId,
        input: Input,
        now: Time,
    ) -> Result<Decision, Fault> {
        if !standing.owns {
            return Err(not_found());
        }
        let answer = Answer::Given(input);
        if let Some(question) = self.answerable(standing).filter(|question| question.kind.accepts(&answer)) {
            let question = self.answered_question(question.id, standing, &answer, now)?;
            return Ok(self.answer(by, question, message, answer));
        }
        let Answer::Given(input) = answer else { return Err(broken("an answer changed its kind")) };
        if !self.open.is_empty() && !self.open.values().any(|question| may_answer(question, standing)) {
            return Err(Fault::caller(FaultKind::Denied, NOT_YOURS));
        }
        if self.sent.is_none() || !self.open.is_empty() {
            return Err(Fault::caller(FaultKind::InvalidInput, "the open question wants another kind of answer"));
        }
        let signal = Signal::Said { message, input };
        Ok(Decision::default().record(Record::Received { by, signal: signal.clone() }).effect(Effect::Forward(signal)))
    }

    /// Nothing sent yet: it ends here. Otherwise the peer is told, and has a grace.
    fn cancel(&self, by: Option<Principal>, why: CancelWhy) -> Decision {
        let signal = Signal::Cancel(why);
        let received = Record::Received { by: by.unwrap_or_else(|| self.by.clone()), signal: signal.clone() };
        let decision = Decision::default().record(received);
        if self.cancelling.is_some() {
            return Decision::default();
        }
        match &self.sent {
            Some(_) => decision.effect(Effect::Forward(signal)),
            None => {
                let mut rest = self.finish(Finished::cancelled(Party::Caller, why));
                let mut decision = decision;
                decision.records.append(&mut rest.records);
                decision.effects.append(&mut rest.effects);
                decision
            }
        }
    }

    fn expire(&self, id: QuestionId) -> Result<Decision, Fault> {
        let question = self.open.get(&id).ok_or_else(not_found)?;
        let decision =
            Decision::default().emit(Event::Settled { question: id, by: Party::Hub, how: How::Expired, decided: None });
        let message = MessageId::from(format!("{id}-expired"));
        let signal = Signal::Answered { question: id, message: message.clone(), answer: Answer::Declined };
        Ok(self.after_settled(decision, question, How::Expired, message, signal))
    }

    fn deadline_reached(&self) -> Decision {
        let origin = self.call.limits.deadline.map_or(Party::Hub, |deadline| deadline.set_by.party());
        let fault = Fault::new(FaultKind::Deadline, origin, "the deadline passed before there was an answer");
        let mut decision = self.finish(Finished::failed(fault));
        if self.sent.is_some() {
            decision.effects.insert(0, Effect::Forward(Signal::Cancel(CancelWhy::Superseded)));
        }
        decision
    }

    fn cancel_grace_over(&self) -> Decision {
        let why = self.cancelling.map_or(CancelWhy::Asked, |cancelling| cancelling.why);
        self.finish(Finished::cancelled(Party::Caller, why))
    }

    fn caller_gone(&self) -> Decision {
        match self.call.limits.on_disconnect {
            OnDisconnect::Cancel => self.caller_stayed_away(),
            OnDisconnect::CancelAfter(patience) => Decision::default().effect(Effect::AwaitCaller(patience)),
            OnDisconnect::Detach => Decision::default(),
        }
    }

    /// An open question keeps it: the answer may come by another way.
    fn caller_stayed_away(&self) -> Decision {
        if self.open.is_empty() { self.cancel(None, CancelWhy::Disconnected) } else { Decision::default() }
    }

    /// A peer that is not there to be told of a cancel has nothing more to say either.
    fn refused(&self, fault: Fault) -> Decision {
        match self.cancelling {
            Some(cancelling) => self.finish(Finished::cancelled(Party::Caller, cancelling.why)),
            None => self.finish(Finished::failed(fault)),
        }
    }

    /// The crash rule.
    fn restarted(&self) -> Decision {
        if let Some(cancelling) = self.cancelling {
            return self.cancel_again(cancelling.why);
        }
        let caller_lost = self.call.parent.is_none();
        match self.call.limits.on_disconnect {
            OnDisconnect::Cancel if caller_lost && self.open.is_empty() => self.cancel_again(CancelWhy::Disconnected),
            OnDisconnect::CancelAfter(patience) if caller_lost => self.taken_up().effect(Effect::AwaitCaller(patience)),
            OnDisconnect::Cancel | OnDisconnect::CancelAfter(_) | OnDisconnect::Detach => self.taken_up(),
        }
    }

    fn taken_up(&self) -> Decision {
        let Some(sent) = &self.sent else {
            return if self.open.is_empty() {
                Decision::default().effect(Effect::Proceed)
            } else {
                Decision::default()
            };
        };
        // Its request ended, but the question it ended with may not have been written down: then the peer is asked again.
        if !sent.open && !self.open.is_empty() {
            return Decision::default();
        }
        if sent.remote.is_some() {
            return Decision::default().effect(Effect::Reattach(sent.clone()));
        }
        if sent.repeatable {
            let again = Sent { attempt: sent.attempt + 1, key: self.call_key(), open: true, ..sent.clone() };
            // A peer's question lived on a connection which died with the hub; one of the hub's own stands.
            let carried = self.withdraw(|question| matches!(question.asked_by, Party::Peer(_)));
            return carried.record(Record::Sent(again.clone())).effect(Effect::Dispatch(again));
        }
        self.finish(Finished::failed(self.lost_fault()))
    }

    /// A cancel that a restart leads to, or that was under way before it, is told where the peer can hear it; nothing is begun
    /// anew. It is written down once more, because the peer's grace begins now.
    fn cancel_again(&self, why: CancelWhy) -> Decision {
        match self.sent.as_ref().filter(|sent| sent.remote.is_some()) {
            Some(sent) => Decision::default()
                .record(Record::Received { by: self.by.clone(), signal: Signal::Cancel(why) })
                .effect(Effect::Reattach(sent.clone()))
                .effect(Effect::Forward(Signal::Cancel(why))),
            None => self.finish(Finished::cancelled(Party::Caller, why)),
        }
    }

    /// Every reader must see the wait end.
    fn withdraw(&self, which: impl Fn(&Question) -> bool) -> Decision {
        let withdrawn = self.open.values().filter(|question| which(question));
        withdrawn.fold(Decision::default(), |decision, question| {
            decision.emit(Event::Settled { question: question.id, by: Party::Hub, how: How::Withdrawn, decided: None })
        })
    }

    fn finish(&self, finished: Finished) -> Decision {
        self.finish_with(finished, Vec::new(), None)
    }

    fn finish_with(&self, finished: Finished, losses: Vec<Loss>, raw: Option<Raw>) -> Decision {
        let finished = Record::Emitted { event: Event::Finished(finished), losses, raw };
        let ended = self.steps.cancelled().fold(self.withdraw(|_| true), |decision, step| decision.emit(step));
        ended.record(finished).effect(Effect::Stop)
    }

    /// As [`Task::finish`], for a task whose question `settled` was settled in the same decision.
    fn finish_without(&self, finished: Finished, settled: QuestionId) -> Decision {
        let mut decision = self.finish(finished);
        decision
            .records
            .retain(|record| !matches!(record.event(), Some(Event::Settled { question, .. }) if *question == settled));
        decision
    }

    fn lost_fault(&self) -> Fault {
        let (kind, public) = match &self.sent {
            Some(sent) if sent.repeatable => (FaultKind::BadReply, "the peer ended without an answer".to_owned()),
            _ => {
                let what = self.route.as_ref().map_or_else(|| "the call".to_owned(), |route| route.skill.to_string());
                let text =
                    format!("{what} was sent at {} and may have happened: look before trying again", self.updated);
                (FaultKind::OutcomeUnknown, text)
            }
        };
        Fault::new(kind, self.peer_party(), public)
    }

    fn peer_party(&self) -> Party {
        self.route.as_ref().map_or(Party::Hub, |route| Party::Peer(route.skill.peer.clone()))
    }

    fn bad_reply(&self, what: &str) -> Fault {
        Fault::new(FaultKind::BadReply, self.peer_party(), format!("the peer broke its protocol: {what}"))
    }
}

/// What whoever answers for an approver is told; the question stays open.
const NOT_YOURS: &str = "this call waits for an approver, and it is not yours to approve; it stays pending";

pub(super) fn may_answer(question: &Question, standing: Standing) -> bool {
    match question.to {
        Addressee::Caller => standing.owns,
        Addressee::Approvers => standing.approves,
    }
}

/// What a declined or expired question of the hub leads to.
fn unanswered(kind: &QuestionKind, how: How) -> Fault {
    match kind {
        QuestionKind::Confirm(_) => {
            let text = if how == How::Expired { "nobody said yes in time" } else { "a person said no" };
            Fault::caller(FaultKind::Denied, text)
        }
        QuestionKind::Input { .. }
        | QuestionKind::Credential { .. }
        | QuestionKind::Visit { .. }
        | QuestionKind::Model(_)
        | QuestionKind::Roots
        | QuestionKind::Tool { .. } => Fault::caller(FaultKind::Unanswered, "a question stayed without an answer"),
    }
}

fn not_found() -> Fault {
    Fault::caller(FaultKind::NotFound(Noun::Task), "no such task or question")
}

fn broken(what: &'static str) -> Fault {
    Fault::hub(FaultKind::Internal, what)
}

/// Arguments with the answer's laid over them. What is not an object on either side is replaced.
pub fn merge_args(args: Option<&Json>, answer: &Json) -> Json {
    match (args.map(Json::tree), answer.tree()) {
        (Some(serde_json::Value::Object(old)), serde_json::Value::Object(new)) => {
            let mut merged = old.clone();
            merged.extend(new.clone());
            Json::from_tree(merged.into())
        }
        _ => answer.clone(),
    }
}
