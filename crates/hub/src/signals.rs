//! Signals to running exchanges, and reads of stored ones. A task of another owner is reported as not found, after the same work: the row
//! is read and its owner compared, so response times reveal nothing.

use std::collections::HashMap;
use std::sync::Arc;

use interlingua_machines::task::{Standing, Task};
use interlingua_model::ports::{Changed, TaskFilter, TaskRow};
use interlingua_model::{
    Addressee, Answer, Call, ConversationId, Fault, FaultKind, Input, KindSet, MessageId, Owner, Principal, Question,
    QuestionId, QuestionKind, Signal, Subject, TaskId,
};

use super::Hub;
use super::approvals::Turn;
use super::audit::AuditLine;
use super::live::{Live, Reader, no_such_task};
use super::prepare::acting;
use super::reauthorize::Reauthorization;
use super::running::Running;
use super::words::parse_answer;

impl Hub {
    /// An Anonymous caller's tasks are found by their id alone.
    fn owns(by: &Principal, owner: &Owner) -> bool {
        by.is_hub_owner() || by.owner() == *owner
    }

    /// May this principal approve or decline this?
    pub fn approves(&self, by: &Principal, question: &Question) -> bool {
        let catalogue = self.registry.catalogue();
        let skill = match &question.kind {
            QuestionKind::Confirm(confirm) => catalogue.skill(&confirm.skill, None),
            QuestionKind::Input { .. }
            | QuestionKind::Credential { .. }
            | QuestionKind::Visit { .. }
            | QuestionKind::Model(_)
            | QuestionKind::Roots
            | QuestionKind::Tool { .. } => None,
        };
        self.policy.load().approves(by, skill.map(|skill| &**skill), self.now())
    }

    /// The same, for the caller of this call, with the hubs that it passed.
    pub fn approves_in(&self, by: &Principal, call: &Call, question: &Question) -> bool {
        self.approves(&acting(by, call), question)
    }

    /// What policy says of this principal, a task and what is asked there: of the question that is answered, else of any.
    fn standing(&self, by: &Principal, live: &Live, answered: Option<QuestionId>) -> Standing {
        let asked = |question: &Question| answered.is_none_or(|answered| question.id == answered);
        let at_large = self.policy.load().approves(by, None, self.now());
        let approves = at_large
            || live.questions().iter().filter(|question| asked(question)).any(|question| self.approves(by, question));
        Standing { owns: Self::owns(by, &live.owner), approves }
    }

    fn may_answer(&self, by: &Principal, live: &Live, question: &Question) -> bool {
        match question.to {
            Addressee::Caller => Self::owns(by, &live.owner),
            Addressee::Approvers => self.approves(by, question),
        }
    }

    /// Sends a signal to a task: an answer, further input, a cancel. Its owner may; approvers may answer questions to them.
    pub async fn signal(&self, by: Principal, task: TaskId, signal: Signal) -> Result<(), Fault> {
        let Some(live) = self.live.get(task) else {
            let fault = self.finished_or_unknown(&by, task).await;
            self.audit.write(AuditLine::new(action(&signal), by.owner()).task(task).refused(fault.kind));
            return Err(fault);
        };
        let answered = match &signal {
            Signal::Answered { question, .. } => Some(*question),
            Signal::Said { .. } | Signal::Cancel(_) => None,
        };
        let standing = self.standing(&by, &live, answered);
        let line = AuditLine::new(action(&signal), by.owner()).task(task);
        if !standing.owns && !standing.approves {
            let fault = self.finished_or_unknown(&by, task).await;
            self.audit.write(line.refused(fault.kind));
            return Err(fault);
        }
        let taken = live.signal(by, standing, signal).await;
        self.audit.write(match &taken {
            Ok(()) => line,
            Err(fault) => line.refused(fault.kind),
        });
        taken
    }

    async fn finished_or_unknown(&self, by: &Principal, task: TaskId) -> Fault {
        match self.row(by, task).await {
            Ok(_) => Fault::caller(FaultKind::AlreadyFinished, "this task has already finished"),
            Err(fault) => fault,
        }
    }

    /// Answers a question, such as an approval, from any protocol.
    pub async fn answer(&self, by: Principal, question: QuestionId, answer: Answer) -> Result<(), Fault> {
        let message = MessageId::from(format!("{question}-{:08x}", super::entropy::bits() >> 96));
        self.signal(by, question.0, Signal::Answered { question, message, answer }).await
    }

    /// The open question of a conversation that plain words in it may answer.
    pub fn waiting_in(&self, by: &Principal, conversation: &ConversationId) -> Option<(Arc<Live>, Question)> {
        let live = self.live.waiting_in(conversation, &by.owner())?;
        let question = live.questions().into_iter().find(|question| self.may_answer(by, &live, question))?;
        Some((live, question))
    }

    /// Reads words as an answer to this question; `None` if they do not fit.
    pub fn read_answer(&self, question: &Question, input: Input) -> Option<Answer> {
        parse_answer(question, input, self.now())
    }

    /// A reader of a stored exchange from after `after`.
    pub async fn watch(self: &Arc<Self>, by: &Principal, task: TaskId, after: u64) -> Result<Reader, Fault> {
        let claim = Reauthorization::new(self, by);
        let live = match self.live.get(task) {
            Some(live) if Self::owns(by, &live.owner) => Some(live),
            Some(_) | None => {
                self.row(by, task).await?;
                // An exchange is live before it is in the journal: one that has come to be kept since the first look is
                // found by a second, and must not be taken for one that is over.
                self.live.get(task)
            }
        };
        Ok(Reader::new(task, after, live, self.store.journal.clone()).claimed(claim))
    }

    /// As [`Hub::watch`], for the caller itself: dropping it early counts as a disconnect.
    pub async fn follow(self: &Arc<Self>, by: &Principal, task: TaskId, after: u64) -> Result<Running, Fault> {
        let reader = self.watch(by, task, after).await?;
        Ok(Running::kept(self.clone(), reader))
    }

    /// A task's row in the list, if it belongs to this principal.
    pub async fn row(&self, by: &Principal, task: TaskId) -> Result<TaskRow, Fault> {
        let row = self.listed(by, task).await?;
        let theirs = by.is_hub_owner() || self.is_accepted_from(by, task).await?;
        if theirs { Ok(row) } else { Err(no_such_task().told_to(by)) }
    }

    /// The same, as far as the list knows. It says whose a task is in the clear, so what is in the task is for whoever its journal
    /// names, too.
    async fn listed(&self, by: &Principal, task: TaskId) -> Result<TaskRow, Fault> {
        let none = || no_such_task().told_to(by);
        let row = self.store.journal.task(task).await?.ok_or_else(none)?;
        let theirs = by.is_hub_owner() || *row.owner == by.owner().to_string();
        if theirs { Ok(row) } else { Err(none()) }
    }

    /// The tasks of this caller that match the filter; the hub's owner sees all. An anonymous caller sees none.
    pub async fn rows(&self, by: &Principal, mut filter: TaskFilter) -> Result<Vec<TaskRow>, Fault> {
        if !by.is_hub_owner() {
            filter.owner = Some(by.owner().to_string().into());
        }
        if by.is_anonymous() {
            return Ok(Vec::new());
        }
        Ok(self.store.journal.tasks(filter).await?)
    }

    /// A page of this principal's tasks by last change, and the total number.
    pub async fn changed(&self, by: &Principal, mut filter: Changed) -> Result<(Vec<TaskRow>, u64), Fault> {
        if by.is_anonymous() {
            return Ok((Vec::new(), 0));
        }
        if !by.is_hub_owner() {
            filter.owner = Some(by.owner().to_string().into());
        }
        let count = self.store.journal.count(filter.clone()).await?;
        Ok((self.store.journal.changed(filter).await?, count))
    }

    /// The state of a task, folded from its journal; a reader continues after its `seq`.
    pub async fn task(&self, by: &Principal, task: TaskId) -> Result<Task, Fault> {
        if let Some(live) = self.live.get(task).filter(|live| Self::owns(by, &live.owner))
            && let Some(folded) = live.folded()
        {
            return Ok(folded);
        }
        self.listed(by, task).await?;
        let folded = self.fold(task).await?;
        if Self::owns(by, &folded.by.owner()) { Ok(folded) } else { Err(no_such_task()) }
    }

    /// Open questions this principal may answer, oldest task first.
    pub fn open_questions(&self, by: &Principal) -> Vec<Question> {
        let mut open: Vec<Question> = Vec::new();
        for live in self.live.all() {
            open.extend(live.questions().into_iter().filter(|question| self.may_answer(by, &live, question)));
        }
        open.sort_by_key(|question| (question.expires, question.id));
        open
    }

    /// As [`Hub::open_in_turns`], for a list. A task of an anonymous caller is found by its id alone, and so are its questions: others are
    /// anonymous, too.
    pub fn listed_in_turns(&self, by: &Principal, kinds: KindSet) -> Vec<(Turn, Question)> {
        let mut open = self.open_in_turns(by, kinds);
        open.retain(|(_, question)| !by.is_anonymous() || question.to == Addressee::Approvers);
        open
    }

    /// Open questions of these kinds that this principal may answer, in turns: the oldest of every caller, then the second of every
    /// caller. However many one caller has, they hide no other's.
    pub fn open_in_turns(&self, by: &Principal, kinds: KindSet) -> Vec<(Turn, Question)> {
        let mut open = Vec::new();
        for live in self.live.all() {
            let caller = live.owner.0.first().cloned();
            let theirs = live.questions().into_iter().filter(|question| kinds.has(question.kind.set()));
            open.extend(theirs.filter(|question| self.may_answer(by, &live, question)).map(|it| (caller.clone(), it)));
        }
        open.sort_by_key(|(_, question)| (question.expires, question.id));
        let mut ranks: HashMap<Option<Subject>, u64> = HashMap::new();
        let turn = |(caller, question): (Option<Subject>, Question)| {
            let rank = ranks.entry(caller).or_default();
            *rank += 1;
            (Turn { rank: *rank, expires: question.expires, question: question.id }, question)
        };
        let mut turns: Vec<(Turn, Question)> = open.into_iter().map(turn).collect();
        turns.sort_by_key(|(turn, _)| *turn);
        turns
    }
}

/// What the audit calls a signal.
fn action(signal: &Signal) -> &'static str {
    match signal {
        Signal::Answered { .. } => "answer",
        Signal::Said { .. } => "say",
        Signal::Cancel(_) => "cancel",
    }
}
