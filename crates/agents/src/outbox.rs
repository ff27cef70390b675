//! The outbox of a run: events for its caller, in order, and questions with their answers.
//!
//! A run is polled only after all its output was taken, so the outbox holds at most the output of one poll.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use interlingua_machines::task::MAX_OPEN_QUESTIONS;
use interlingua_model::{Answer, Event, Finished, How, Loss, Party, Question, QuestionId, Record, TaskId};
use tokio::sync::{Notify, oneshot};

/// How many questions of calls may be open at once; the others wait. A task with more than it may have is refused.
const MAX_PASSED_ON: usize = MAX_OPEN_QUESTIONS - 4;

#[derive(Debug)]
pub(super) struct RunOutbox {
    task: TaskId,
    inner: Mutex<Inner>,
    /// A question was settled.
    settled: Notify,
}

#[derive(Debug)]
struct Inner {
    out: VecDeque<Record>,
    /// The number that the task gives to the next question.
    next: u32,
    open: BTreeMap<u32, oneshot::Sender<Answer>>,
}

/// A question that was put, and where its answer will come.
#[derive(Debug)]
pub(super) struct OpenQuestion {
    pub(super) number: u32,
    pub(super) answer: oneshot::Receiver<Answer>,
}

impl RunOutbox {
    /// `asked`: how many questions the task has had.
    pub(super) fn new(task: TaskId, asked: u32) -> RunOutbox {
        let inner = Inner { out: VecDeque::new(), next: asked, open: BTreeMap::new() };
        RunOutbox { task, inner: Mutex::new(inner), settled: Notify::new() }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn emit(&self, event: Event) {
        self.inner().out.push_back(Record::emitted(event));
    }

    /// How it ended, and what was lost on the way.
    pub(super) fn finish(&self, finished: Finished, losses: Vec<Loss>) {
        self.inner().out.push_back(Record::Emitted { event: Event::Finished(finished), losses, raw: None });
    }

    /// Puts a question to the caller.
    pub(super) fn ask(&self, question: Question) -> OpenQuestion {
        let mut inner = self.inner();
        let number = inner.next;
        inner.next += 1;
        let (sender, answer) = oneshot::channel();
        inner.open.insert(number, sender);
        let question = Question { id: QuestionId(self.task, number), ..question };
        inner.out.push_back(Record::emitted(Event::Asked(question)));
        OpenQuestion { number, answer }
    }

    /// May a question of a call be passed on now?
    pub(super) fn has_room(&self) -> bool {
        self.inner().open.len() < MAX_PASSED_ON
    }

    /// Waits until one may.
    pub(super) async fn room(&self) {
        loop {
            let settled = self.settled.notified();
            tokio::pin!(settled);
            settled.as_mut().enable();
            if self.has_room() {
                return;
            }
            settled.await;
        }
    }

    /// The question needs no answer any more.
    pub(super) fn withdraw(&self, number: u32) {
        let question = QuestionId(self.task, number);
        self.emit(Event::Settled { question, by: Party::Hub, how: How::Withdrawn, decided: None });
    }

    /// The caller answered.
    pub(super) fn answered(&self, question: QuestionId, answer: Answer) {
        let asked = self.inner().open.remove(&question.1);
        if let Some(sender) = asked {
            // Whoever asked may be gone meanwhile; then nobody needs the answer.
            let _ = sender.send(answer);
            self.settled.notify_waiters();
        }
    }

    /// The next thing to be told. That a question is withdrawn is told only while it is open: the caller may have answered
    /// since it was written down here.
    pub(super) fn next(&self) -> Option<Record> {
        let mut inner = self.inner();
        loop {
            let record = inner.out.pop_front()?;
            match record.event() {
                Some(Event::Settled { question, .. }) => {
                    if inner.open.remove(&question.1).is_some() {
                        self.settled.notify_waiters();
                        return Some(record);
                    }
                }
                Some(_) | None => return Some(record),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;
    use interlingua_model::{Addressee, QuestionKind, Time};

    use super::*;

    fn question() -> Question {
        Question {
            id: QuestionId(TaskId(0), 0),
            to: Addressee::Caller,
            kind: QuestionKind::Roots,
            text: "where?".into(),
            asked_by: Party::Hub,
            expires: Time(0),
            resume: None,
            name: None,
        }
    }

    #[test]
    fn a_question_has_the_number_the_task_will_give_it_and_its_answer_arrives() {
        let outbox = RunOutbox::new(TaskId(7), 3);
        let mut asked = outbox.ask(question());
        assert_eq!(asked.number, 3);
        assert!(matches!(outbox.next().as_ref().and_then(Record::event), Some(Event::Asked(_))));
        outbox.answered(QuestionId(TaskId(7), 3), Answer::Declined);
        assert_eq!(asked.answer.try_recv(), Ok(Answer::Declined));
    }

    #[tokio::test]
    async fn no_more_questions_are_passed_on_than_a_task_may_have_open() {
        let outbox = RunOutbox::new(TaskId(7), 0);
        let asked: Vec<OpenQuestion> = (0..MAX_PASSED_ON).map(|_| outbox.ask(question())).collect();
        assert!(!outbox.has_room());
        assert_eq!(outbox.room().now_or_never(), None);
        outbox.answered(QuestionId(TaskId(7), asked[3].number), Answer::Declined);
        outbox.room().await;
        assert!(outbox.has_room());
        outbox.ask(question());
        while outbox.next().is_some() {}
        assert!(!outbox.has_room());
        outbox.withdraw(asked[4].number);
        outbox.next();
        assert!(outbox.has_room(), "also one that is withdrawn");
    }

    #[test]
    fn a_question_that_was_answered_meanwhile_is_not_withdrawn() {
        let outbox = RunOutbox::new(TaskId(7), 0);
        let asked = outbox.ask(question());
        outbox.next();
        outbox.withdraw(asked.number);
        outbox.answered(QuestionId(TaskId(7), 0), Answer::Declined);
        assert_eq!(outbox.next(), None);
        let asked = outbox.ask(question());
        outbox.next();
        outbox.withdraw(asked.number);
        assert!(matches!(outbox.next().as_ref().and_then(Record::event), Some(Event::Settled { .. })));
    }
}
