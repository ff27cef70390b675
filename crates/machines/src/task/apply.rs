//! Folds appended records into the state of a task (event sourcing). This cannot fail.

use std::collections::BTreeMap;
use std::time::Duration;

use super::{Cancelling, Spoken, State, Steps, Task, Weight};
use interlingua_model::call::{Ask, Call};
use interlingua_model::content::{Part, Party, Provenance, Role};
use interlingua_model::event::{Channel, Chunk, Event, How, Piece, Signal};
use interlingua_model::id::{MessageId, QuestionId, TaskId, Time};
use interlingua_model::journal::{Entry, Record, Selected};
use interlingua_model::principal::Principal;
use interlingua_model::question::Answer;
use interlingua_model::question::{Addressee, QuestionKind};

/// How many messages of history a task keeps in memory, and of how many bytes; the journal has them all.
const MAX_MESSAGES: usize = 1_000;
const MAX_MESSAGES_HELD: usize = 16 * 1024 * 1024;

/// A journal that does not begin as a task's must.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a task's journal must begin with the accepted call")]
pub struct Damaged;

/// The state after these entries.
pub fn fold(id: TaskId, entries: impl IntoIterator<Item = Entry>) -> Result<Task, Damaged> {
    let mut entries = entries.into_iter();
    let first = entries.next().ok_or(Damaged)?;
    let Record::Accepted { by, call } = first.record else { return Err(Damaged) };
    let mut task = Task::accepted(id, by, call, first.at);
    task.seq = first.seq;
    for entry in entries {
        task.take(&entry);
    }
    Ok(task)
}

impl Task {
    /// The state after `Accepted`, which is record 1.
    pub fn accepted(id: TaskId, by: Principal, call: Box<Call>, at: Time) -> Task {
        Task {
            id,
            by,
            call,
            state: State::Accepted,
            route: None,
            sent: None,
            selected: None,
            seq: 1,
            cancelling: None,
            open: BTreeMap::new(),
            given: Vec::new(),
            asked: 0,
            granted: None,
            messages: Vec::new(),
            pieces: BTreeMap::new(),
            artifacts: BTreeMap::new(),
            steps: Steps::default(),
            losses: Vec::new(),
            created: at,
            updated: at,
            paused: Duration::ZERO,
            waiting_since: None,
            weight: Weight::default(),
        }
    }

    /// The next entry of its journal.
    pub fn take(&mut self, entry: &Entry) {
        self.apply(&entry.record, entry.at);
        self.seq = entry.seq;
    }

    /// Takes a record that stands in the journal. The caller keeps `seq`, because a record may be numbered later than it
    /// is applied.
    pub fn apply(&mut self, record: &Record, at: Time) {
        self.updated = at;
        match record {
            Record::Accepted { .. } => {}
            Record::Sent(sent) => {
                if sent.open && self.state == State::Accepted {
                    self.state = State::Running;
                }
                self.granted = None;
                if !sent.open {
                    self.given.clear();
                }
                self.sent = Some(sent.clone());
            }
            Record::Selected(selected) => self.turn_to(selected),
            Record::Received { signal, .. } => self.received(signal, at),
            Record::Emitted { event, losses, .. } => {
                let room = interlingua_model::transcript::MAX_LOSSES.saturating_sub(self.losses.len());
                self.losses.extend(losses.iter().take(room).cloned());
                self.emitted(event, at);
            }
        }
    }

    /// Nothing of what was sent counts any more, nor does an approval: it was given for another skill.
    fn turn_to(&mut self, selected: &Selected) {
        self.state = State::Accepted;
        self.route = None;
        self.sent = None;
        self.granted = None;
        self.selected = Some(selected.clone());
    }

    fn received(&mut self, signal: &Signal, at: Time) {
        match signal {
            Signal::Cancel(why) => self.cancelling = Some(Cancelling { why: *why, since: at }),
            Signal::Said { message, input } => self.remember(message, Role::User, input.parts.clone()),
            Signal::Answered { question, message, answer } => self.answered(*question, message, answer),
        }
    }

    fn answered(&mut self, question: QuestionId, message: &MessageId, answer: &Answer) {
        let Some(question) = self.open.get(&question) else { return };
        let ended = self.sent.as_ref().is_some_and(|sent| !sent.open);
        if ended && matches!(question.asked_by, Party::Peer(_)) {
            self.given.push((question.clone(), answer.clone()));
        }
        let asked = (question.to == Addressee::Caller)
            .then(|| (question.id, question.text.clone(), said_by(&question.asked_by)));
        match (answer, &question.kind) {
            // What a peer wants approved is approved there, and counts for nothing here.
            (Answer::Granted, QuestionKind::Confirm(confirm)) if question.asked_by == Party::Hub => {
                self.granted = Some(confirm.call);
            }
            (Answer::Given(input), _) => {
                if question.asked_by == Party::Hub
                    && let Some(answer) = &input.args
                    && let Ask::Invoke { input, .. } = &mut self.call.ask
                {
                    input.args = Some(super::merge_args(input.args.as_ref(), answer));
                }
                // What was asked belongs before what was answered.
                if let Some((id, text, provenance)) = asked {
                    let text = Part::text(text, provenance);
                    self.remember(&MessageId::from(id.to_string()), Role::Agent, vec![text]);
                }
                self.remember(message, Role::User, input.parts.clone());
            }
            (Answer::Granted | Answer::Token(_) | Answer::Visited | Answer::Declined | Answer::Dismissed, _) => {}
        }
    }

    fn emitted(&mut self, event: &Event, at: Time) {
        match event {
            Event::Started(route) => self.route = Some(route.clone()),
            Event::Said { message, channel: Channel::Answer, piece, parts } => match piece {
                Piece::Whole => self.remember(message, Role::Agent, parts.clone()),
                Piece::Delta | Piece::End => self.remember_piece(message, parts),
            },
            Event::Said { channel: Channel::Reasoning | Channel::Note(_), .. } | Event::Progress { .. } => {}
            Event::Step(step) => self.steps.take(step),
            Event::Artifact(chunk) => {
                let chunks = self.artifacts.entry(chunk.artifact.clone()).or_default();
                if chunk.index == 0 {
                    self.weight.artifacts -= chunks.iter().map(Chunk::weight).sum::<usize>();
                    chunks.clear();
                }
                self.weight.artifacts += chunk.weight();
                chunks.push(chunk.clone());
            }
            Event::Asked(question) => {
                self.asked = self.asked.max(question.id.1 + 1);
                self.open.insert(question.id, question.clone());
                self.state = State::Waiting;
                self.waiting_since.get_or_insert(at);
            }
            Event::Settled { question, how, .. } => self.settled(*question, *how, at),
            Event::Finished(finished) => self.state = State::Done(Box::new(finished.clone())),
        }
    }

    fn settled(&mut self, question: QuestionId, how: How, at: Time) {
        self.open.remove(&question);
        if how != How::Answered {
            self.granted = None;
        }
        if !self.open.is_empty() || self.finished().is_some() {
            return;
        }
        self.state = if self.sent.is_some() { State::Running } else { State::Accepted };
        if let Some(since) = self.waiting_since.take() {
            self.paused += at.until(since);
        }
    }

    fn remember_piece(&mut self, message: &MessageId, parts: &[Part]) {
        let heavier = self.weight.pieces + parts.iter().map(Part::weight).sum::<usize>();
        if heavier <= MAX_MESSAGES_HELD {
            self.weight.pieces = heavier;
            self.pieces.entry(message.clone()).or_default().extend(parts.iter().cloned());
        }
    }

    fn remember(&mut self, id: &MessageId, role: Role, parts: Vec<Part>) {
        if parts.is_empty() {
            return;
        }
        let spoken = Spoken { id: id.clone(), role, parts };
        self.weight.messages += spoken.weight();
        self.messages.push(spoken);
        while self.messages.len() > MAX_MESSAGES
            || (self.weight.messages > MAX_MESSAGES_HELD && self.messages.len() > 1)
        {
            self.weight.messages -= self.messages.remove(0).weight();
        }
    }
}

fn said_by(party: &Party) -> Provenance {
    match party {
        Party::Hub => Provenance::hub(),
        Party::Peer(peer) => Provenance::peer(peer.clone()),
        Party::Caller => Provenance::caller(),
    }
}
