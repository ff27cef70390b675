//! The inbox of one agent: messages that are pending until the agent has answered or read them.
//!
//! Messages are ordered by priority, then arrival, and gain one priority step for every two seconds of waiting, as calls in the hub's own
//! queue do. A new connection is shown everything that is still pending: nothing is lost with a connection, and a request may be seen twice
//! but is answered once. The first answer counts.
//!
//! State is a fold of the records; [`Inbox::decide`] alone refuses, [`Inbox::apply`] cannot fail.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::message::Message;
use interlingua_model::call::Priority;
use interlingua_model::fault::{Fault, FaultKind, Noun};
use interlingua_model::id::{MessageId, Time};

/// How many messages may wait for one agent, and how many bytes of them.
pub const MAX_WAITING: usize = 1_000;
pub const MAX_BYTES: usize = 16 * 1024 * 1024;
/// How many answers are remembered for whoever asks again after a restart, and how many bytes of them.
pub const MAX_ANSWERED: usize = 1_000;
pub const MAX_ANSWERED_BYTES: usize = MAX_BYTES;
/// A message that waits gains a step of priority in this time.
const STEP: Duration = Duration::from_secs(2);

#[derive(Debug, Clone, PartialEq)]
pub enum Input {
    /// A message for the agent, which nobody needs after `until`.
    Put { message: Box<Message>, until: Time },
    /// What the agent answers to the message that [`Message::correlation`] names.
    Answer(Box<Message>),
    /// The agent has read a message that wants no answer.
    Read(MessageId),
    /// Its sender has lost interest.
    Withdraw(MessageId),
    /// Time has passed.
    Clock,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Record {
    Put {
        message: Box<Message>,
        until: Time,
    },
    Gone {
        id: MessageId,
        how: Gone,
    },
    /// Stands in place of a record that nobody needs any more, whose bytes were given back.
    Spent,
}

/// Why a message waits no longer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Gone {
    Answered(Box<Message>),
    Read,
    Withdrawn,
    Expired,
    /// It was answered; the answer is remembered no longer.
    Forgotten,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Inbox {
    waiting: BTreeMap<u64, Waiting>,
    answered: VecDeque<Message>,
    /// The places of the records that brought the answers; 0 for those of older folds, which nobody knows.
    #[serde(default)]
    answered_at: VecDeque<u64>,
    bytes: usize,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Waiting {
    message: Message,
    until: Time,
}

/// What became of a message.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fate<'a> {
    Waits,
    Answered(&'a Message),
    Unknown,
}

impl Inbox {
    pub fn decide(&self, input: Input, now: Time) -> Result<Vec<Record>, Fault> {
        match input {
            Input::Put { message, until } => self.put(message, until),
            Input::Answer(answer) => self.answer(answer),
            Input::Read(id) => {
                let message = self.find(&id).ok_or_else(no_such_message)?;
                if message.kind.is_answered() {
                    let text = "a request or a query is answered, not put aside";
                    return Err(Fault::caller(FaultKind::InvalidInput, text));
                }
                Ok(vec![Record::Gone { id, how: Gone::Read }])
            }
            Input::Withdraw(id) => {
                let known = self.find(&id).is_some();
                Ok(known.then(|| Record::Gone { id, how: Gone::Withdrawn }).into_iter().collect())
            }
            Input::Clock => Ok(self.expired(now)),
        }
    }

    /// The same message sent again waits once.
    fn put(&self, message: Box<Message>, until: Time) -> Result<Vec<Record>, Fault> {
        if let Fate::Waits | Fate::Answered(_) = self.fate(&message.id) {
            return Ok(Vec::new());
        }
        if self.waiting.len() >= MAX_WAITING || self.bytes + weight(&message) > MAX_BYTES {
            let text = "as many messages as can wait for this agent";
            return Err(Fault::hub(FaultKind::Busy, text));
        }
        Ok(vec![Record::Put { message, until }])
    }

    fn answer(&self, answer: Box<Message>) -> Result<Vec<Record>, Fault> {
        let missing = || {
            let text = "a response names what it answers";
            Fault::caller(FaultKind::InvalidInput, text).field("/correlation_id", "is missing")
        };
        let id = MessageId(answer.correlation.clone().ok_or_else(missing)?);
        match self.fate(&id) {
            Fate::Waits => Ok(vec![Record::Gone { id, how: Gone::Answered(answer) }]),
            Fate::Answered(_) => Err(Fault::caller(FaultKind::AlreadyFinished, "this was answered already")),
            Fate::Unknown => Err(no_such_message()),
        }
    }

    fn expired(&self, now: Time) -> Vec<Record> {
        let past = self.waiting.values().filter(|waiting| waiting.until <= now);
        past.map(|waiting| Record::Gone { id: waiting.message.id.clone(), how: Gone::Expired }).collect()
    }

    /// `seq`: the record's place in its log. Returns the places of records that are not needed whole any
    /// more, each with what may stand there instead: over any earlier fold the log says the same.
    pub fn apply(&mut self, seq: u64, record: Record) -> Vec<(u64, Record)> {
        let mut spent = Vec::new();
        match record {
            Record::Spent => {}
            Record::Put { message, until } => {
                self.bytes += weight(&message);
                self.waiting.insert(seq, Waiting { message: *message, until });
            }
            Record::Gone { id, how } => {
                let place = self.waiting.iter().find(|(_, waiting)| waiting.message.id == id).map(|(seq, _)| *seq);
                if let Some(gone) = place.and_then(|place| self.waiting.remove(&place)) {
                    self.bytes = self.bytes.saturating_sub(weight(&gone.message));
                    spent.extend(place.map(|place| (place, Record::Spent)));
                }
                match how {
                    Gone::Answered(answer) => spent.extend(self.remember(seq, *answer)),
                    Gone::Read | Gone::Withdrawn | Gone::Expired | Gone::Forgotten => {}
                }
            }
        }
        spent
    }

    /// Keeps an answer, and forgets the oldest above the bounds.
    fn remember(&mut self, seq: u64, answer: Message) -> Vec<(u64, Record)> {
        self.answered_at.resize(self.answered.len(), 0);
        self.answered.push_back(answer);
        self.answered_at.push_back(seq);
        let mut bytes: usize = self.answered.iter().map(weight).sum();
        let mut forgotten = Vec::new();
        while self.answered.len() > MAX_ANSWERED || (self.answered.len() > 1 && bytes > MAX_ANSWERED_BYTES) {
            let Some((oldest, spent)) = self.forget_oldest() else { break };
            bytes -= weight(&oldest);
            forgotten.extend(spent);
        }
        forgotten
    }

    fn forget_oldest(&mut self) -> Option<(Message, Option<(u64, Record)>)> {
        let (oldest, place) = (self.answered.pop_front()?, self.answered_at.pop_front()?);
        let id = MessageId(oldest.correlation.clone().unwrap_or_default());
        Some((oldest, (place > 0).then_some((place, Record::Gone { id, how: Gone::Forgotten }))))
    }

    /// Forgets the oldest answers until so many bytes ([`Message::weight`]) are free, or none is left. Returns what
    /// [`Inbox::apply`] does.
    pub fn forget_answers(&mut self, bytes: usize) -> Vec<(u64, Record)> {
        self.answered_at.resize(self.answered.len(), 0);
        let (mut free, mut forgotten) = (0, Vec::new());
        while free < bytes
            && let Some((oldest, spent)) = self.forget_oldest()
        {
            free += oldest.weight();
            forgotten.extend(spent);
        }
        forgotten
    }

    /// All it holds, each with the place of the record that brought it; 0 where nobody knows it.
    pub fn held(&self) -> impl Iterator<Item = (u64, &Message)> {
        let waiting = self.waiting.iter().map(|(place, waiting)| (*place, &waiting.message));
        let places = self.answered_at.iter().copied().chain(std::iter::repeat(0));
        waiting.chain(places.zip(&self.answered))
    }

    pub fn find(&self, id: &MessageId) -> Option<&Message> {
        self.waiting.values().map(|waiting| &waiting.message).find(|message| message.id == *id)
    }

    pub fn fate(&self, id: &MessageId) -> Fate<'_> {
        if self.find(id).is_some() {
            return Fate::Waits;
        }
        let answer = self.answered.iter().find(|answer| answer.correlation.as_deref() == Some(id.as_str()));
        answer.map_or(Fate::Unknown, Fate::Answered)
    }

    /// What to show next to somebody who has seen `shown`.
    pub fn next(&self, shown: &BTreeSet<u64>, now: Time) -> Option<(u64, &Message)> {
        let unseen = self.waiting.iter().filter(|(seq, _)| !shown.contains(seq));
        // The first of the most urgent: later ones must be more urgent to come before it.
        unseen
            .min_by_key(|(seq, waiting)| (std::cmp::Reverse(urgency(&waiting.message, now)), **seq))
            .map(|(seq, waiting)| (*seq, &waiting.message))
    }

    /// Forgets places of messages that wait no longer.
    pub fn prune(&self, shown: &mut BTreeSet<u64>) {
        shown.retain(|seq| self.waiting.contains_key(seq));
    }

    /// When somebody must look at the clock.
    pub fn next_expiry(&self) -> Option<Time> {
        self.waiting.values().map(|waiting| waiting.until).min()
    }

    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}

fn urgency(message: &Message, now: Time) -> u64 {
    let steps = now.0.saturating_sub(message.at.0) / u64::try_from(STEP.as_millis()).unwrap_or(u64::MAX);
    (u64::from(message.priority.level()) + steps).min(u64::from(Priority::MAX))
}

fn weight(message: &Message) -> usize {
    let meta = message.meta.0.as_ref().map_or(0, |meta| meta.as_str().len());
    size_of::<Message>() + message.content.as_str().len() + meta
}

fn no_such_message() -> Fault {
    Fault::caller(FaultKind::NotFound(Noun::Resource), "no such message waits for this agent")
}
