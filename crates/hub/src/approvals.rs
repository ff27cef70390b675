//! Pending approvals as approvers see them: the pending calls with what is known of each, and why a question can no longer be decided.
//!
//! A caller that neither owns a task nor may approve its question learns nothing of the task: it is reported as not found.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use interlingua_machines::task::Task;
use interlingua_machines::words::{Language, say};
use interlingua_model::ports::is_last;
use interlingua_model::{
    Addressee, Decided, Event, Fault, FaultKind, How, Log, Noun, Owner, Party, Principal, Question, QuestionId,
    QuestionKind, Record, Skill, TaskId, Time,
};

use super::Hub;
use super::granted::{Granted, relayed};
use super::live::decoded;

/// How many records of a task are read to learn what became of a question, a page at a time.
const PAGE: usize = 256;
const PAGES: usize = 64;

/// What is inside the hub is called in no protocol.
const LOCAL: &str = "local";

/// An open question, the task that waits for it, and what the hub knows of the skill it is about.
#[derive(Debug)]
pub struct Pending {
    /// The open question.
    pub question: Question,
    /// The task that waits for it, at least as it was accepted.
    pub task: Task,
    /// The skill that would be called, where it is still in the catalogue.
    pub skill: Option<Arc<Skill>>,
    /// What the peer that offers the skill speaks.
    pub protocol: Option<&'static str>,
    /// Another question about the same call, which is settled by the same answer: of the run that passes it on, or of the call itself.
    pub twin: Option<QuestionId>,
    /// The last call of this skill by this caller that was approved.
    pub last: Option<Granted>,
}

/// Questions of a list that are about one and the same call.
#[derive(Debug, Default)]
pub struct Twins(HashMap<QuestionId, QuestionId>);

impl Twins {
    /// Only questions of the list are named: a principal that may not answer a question learns nothing of it.
    pub fn among<'a>(questions: impl Iterator<Item = &'a Question> + Clone) -> Twins {
        let listed: HashSet<QuestionId> = questions.clone().map(|question| question.id).collect();
        let mut twins = HashMap::new();
        for question in questions {
            let Some(below) = relayed(question).filter(|below| listed.contains(below)) else { continue };
            twins.insert(question.id, below);
            twins.entry(below).or_insert(question.id);
        }
        Twins(twins)
    }
}

/// The position of a question in the list of approvers: its number among those of its caller, then its age.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Turn {
    /// How many questions of the same caller are before it.
    pub rank: u64,
    /// When the question expires: the order of two with the same rank.
    pub expires: Time,
    /// The question itself: no two places are equal.
    pub question: QuestionId,
}

impl std::fmt::Display for Turn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}.{}", self.rank, self.expires.0, self.question)
    }
}

/// A text that is not a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoTurn;

impl std::str::FromStr for Turn {
    type Err = NoTurn;

    fn from_str(text: &str) -> Result<Turn, NoTurn> {
        let mut pieces = text.splitn(3, '.');
        let mut piece = || pieces.next().ok_or(NoTurn);
        let rank = piece()?.parse().map_err(|_| NoTurn)?;
        let expires = Time(piece()?.parse().map_err(|_| NoTurn)?);
        Ok(Turn { rank, expires, question: piece()?.parse().map_err(|_| NoTurn)? })
    }
}

/// A question that is answered, expired or withdrawn.
#[derive(Debug)]
pub struct ClosedQuestion {
    pub(super) question: Question,
    /// Who ended the wait.
    pub by: Party,
    /// How it ended.
    pub how: How,
    /// Who decided, and what; absent if nobody did.
    pub decided: Option<Box<Decided>>,
    /// When it ended.
    pub at: Time,
}

impl ClosedQuestion {
    /// The id that the question had.
    pub fn id(&self) -> QuestionId {
        self.question.id
    }
}

impl Hub {
    /// For the caller of a task that is pending approval. If agents call for a person, that person reads it.
    pub(super) fn where_to_approve(&self, language: Language, task: TaskId, by: &Principal, skill: &Skill) -> String {
        let hub = self.reached();
        let person = by.links().first().map(|link| Principal::new(link.clone()));
        let approves = |who: &Principal| self.policy.load().approves(who, Some(skill), self.now());
        if approves(by) || person.is_some_and(|person| approves(&person)) {
            say::approve_there(language, task, hub.as_ref().map(|base| base.as_str()))
        } else {
            say::approver_has_to(language, task, hub.as_ref().map(|base| base.as_str()))
        }
    }

    /// An open question with what is known of its call.
    pub async fn pending(&self, question: Question, twins: &Twins) -> Result<Pending, Fault> {
        let outline = self.outline(question, twins).await?;
        let last = self.last_granted(&outline.question).await?;
        Ok(Pending { last, ..outline })
    }

    /// The same without the last approval, which is read from a journal: for lists that are read often.
    pub async fn outline(&self, question: Question, twins: &Twins) -> Result<Pending, Fault> {
        let folded = self.live.get(question.id.0).and_then(|live| live.folded());
        let task = match folded {
            Some(task) => task,
            None => self.accepted(question.id.0).await?,
        };
        let question = for_approver(question, &task);
        let catalogue = self.registry.catalogue();
        let (skill, protocol) = match &question.kind {
            QuestionKind::Confirm(confirm) => {
                let peer = catalogue.peers.get(&confirm.skill.peer);
                let protocol = peer.map(|registered| registered.peer.speaks().unwrap_or(LOCAL));
                (catalogue.skill(&confirm.skill, None).cloned(), protocol)
            }
            QuestionKind::Input { .. }
            | QuestionKind::Credential { .. }
            | QuestionKind::Visit { .. }
            | QuestionKind::Model(_)
            | QuestionKind::Roots
            | QuestionKind::Tool { .. } => (None, None),
        };
        let twin = twins.0.get(&question.id).copied();
        Ok(Pending { question, task, skill, protocol, twin, last: None })
    }

    /// Why this principal cannot decide a question. Each reason is reported only to those whom it concerns.
    pub async fn not_to_decide(&self, by: &Principal, id: QuestionId) -> Fault {
        match self.why_not(by, id).await {
            Ok(Some(fault)) | Err(fault) => fault,
            Ok(None) => no_such_question(),
        }
    }

    async fn why_not(&self, by: &Principal, id: QuestionId) -> Result<Option<Fault>, Fault> {
        if let Some((owner, question)) = self.open_question(id) {
            return Ok(self.may_see(by, &owner, &question).then(|| still_open(&question)));
        }
        Ok(self.closed_for(by, id).await?.map(|closed| already(&closed)))
    }

    /// What became of a question that is not open, for its caller and for those who could have decided it.
    pub async fn closed(&self, by: &Principal, id: QuestionId) -> Result<ClosedQuestion, Fault> {
        if let Some((owner, question)) = self.open_question(id) {
            return Err(match self.may_see(by, &owner, &question) {
                true => Fault::caller(FaultKind::Conflict, "this question is still open"),
                false => no_such_question(),
            });
        }
        self.closed_for(by, id).await?.ok_or_else(no_such_question)
    }

    /// An open question, and whose task asks it.
    fn open_question(&self, id: QuestionId) -> Option<(Owner, Question)> {
        let live = self.live.get(id.0)?;
        let question = live.questions().into_iter().find(|question| question.id == id)?;
        Some((live.owner.clone(), question))
    }

    /// Does this principal know that the question is there? Its caller does, and so do those who may decide it.
    fn may_see(&self, by: &Principal, owner: &Owner, question: &Question) -> bool {
        by.is_hub_owner() || by.owner() == *owner || self.approves(by, question)
    }

    async fn closed_for(&self, by: &Principal, id: QuestionId) -> Result<Option<ClosedQuestion>, Fault> {
        let owns = self.row(by, id.0).await.is_ok();
        let closed = self.ended(id).await?;
        Ok(closed.filter(|closed| owns || self.approves(by, &closed.question)))
    }

    /// What the task's journal says of a question that is not open.
    pub(super) async fn ended(&self, id: QuestionId) -> Result<Option<ClosedQuestion>, Fault> {
        let (mut after, mut asked) = (0, None);
        for _ in 0..PAGES {
            let page = self.store.journal.read(Log::Task(id.0), after, PAGE).await?;
            let last = is_last(&page, PAGE);
            for stored in page {
                let entry = decoded(stored)?;
                after = entry.seq;
                match entry.record {
                    Record::Emitted { event: Event::Asked(question), .. } if question.id == id => {
                        asked = Some(question)
                    }
                    Record::Emitted { event: Event::Settled { question, by, how, decided }, .. } if question == id => {
                        return Ok(asked.map(|question| ClosedQuestion { question, by, how, decided, at: entry.at }));
                    }
                    Record::Emitted { .. }
                    | Record::Accepted { .. }
                    | Record::Sent(_)
                    | Record::Selected(_)
                    | Record::Received { .. } => {}
                }
            }
            if last {
                break;
            }
        }
        Ok(None)
    }
}

/// The text for an approver: without the hint for the caller where and by whom its call is approved. The question alone is left.
fn for_approver(question: Question, task: &Task) -> Question {
    let text = match (&question.kind, &question.asked_by, question.to) {
        (QuestionKind::Confirm(confirm), Party::Hub, Addressee::Approvers) => {
            let (language, owner) = (super::words::language_of(&task.call), task.by.owner());
            say::confirm(language, &owner, &confirm.skill, confirm.args.as_ref(), &confirm.parts).into()
        }
        _ => return question,
    };
    Question { text, ..question }
}

/// The fault for a question that is not open, or not visible to this caller.
pub fn no_such_question() -> Fault {
    Fault::caller(FaultKind::NotFound(Noun::Resource), "no such question is open")
}

fn still_open(question: &Question) -> Fault {
    match &question.kind {
        QuestionKind::Confirm(_) => {
            Fault::caller(FaultKind::Denied, "you may not approve this: an approver of this hub has to")
        }
        QuestionKind::Input { .. }
        | QuestionKind::Credential { .. }
        | QuestionKind::Visit { .. }
        | QuestionKind::Model(_)
        | QuestionKind::Roots
        | QuestionKind::Tool { .. } => {
            Fault::caller(FaultKind::InvalidInput, "this question wants an answer from its caller, not an approval")
        }
    }
}

fn already(ended: &ClosedQuestion) -> Fault {
    let at = ended.at;
    let text = match (ended.how, &ended.decided) {
        (How::Expired, _) => format!("this question expired at {at}"),
        (How::Withdrawn, _) => format!("this question was withdrawn at {at}"),
        (How::Answered | How::Declined, None) => format!("this was already decided at {at}"),
        (How::Answered | How::Declined, Some(decided)) => {
            let word = match (&ended.question.kind, decided.granted) {
                (QuestionKind::Confirm(_), true) => "approved",
                (_, true) => "answered",
                (_, false) => "denied",
            };
            format!("this was already decided: {} {word} it at {at}", decided.by)
        }
    };
    Fault::caller(FaultKind::AlreadyFinished, text)
}
