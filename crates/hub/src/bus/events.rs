//! Publish and subscribe: the queue of events that belong to no task. It is one log with one numbering, so a subscriber of many topics
//! resumes from the last number it saw.

use std::collections::VecDeque;
use std::sync::Arc;

use interlingua_machines::bus::message::MAX_CONTENT;
use interlingua_machines::bus::{Message, Pattern, Sender};
use interlingua_model::ports::{Append, Appended, Expected};
use interlingua_model::{Fault, FaultKind, Log, Principal, TopicId, journal};
use tokio::sync::watch;

use crate::Hub;
use crate::audit::AuditLine;

/// How many events are read at once.
const PAGE: usize = 256;
/// The same, where each of them may wait in memory: 2 MiB at most.
const FEW: usize = 8;

fn log() -> Log {
    Log::Topic(TopicId::from("events"))
}

impl Hub {
    /// Writes an event and notifies subscribers; returns its number. A run that it starts may do what the sender may.
    pub async fn publish(&self, message: Message, sender: Sender) -> Result<u64, Fault> {
        let message = &Message { sender: Some(Box::new(sender)), ..message };
        let line = AuditLine::new("publish", &message.by);
        self.audit.write(match &message.topic {
            Some(topic) => line.on(topic),
            None => line,
        });
        if message.content.as_str().len() > MAX_CONTENT {
            let text = "an event of this size is shared as an artifact";
            return Err(Fault::caller(FaultKind::TooLarge, text));
        }
        let record = journal::to_bytes(message).map_err(Fault::internal)?;
        let append = Append {
            log: log(),
            expected: Expected::Any,
            at: self.now(),
            records: vec![record],
            unique: None,
            row: None,
            most: None,
            beside: 0,
            share: self.settings.load().share_of(&message.by),
        };
        let seq = match self.store.journal.append(append).await? {
            Appended::At(seq) => seq,
            Appended::Exists { .. } => return Err(Fault::hub(FaultKind::Internal, "an event has no key")),
        };
        self.bus.events.send_if_modified(|head| {
            let later = seq > *head;
            *head = (*head).max(seq);
            later
        });
        Ok(seq)
    }

    /// Events on these topics after a number; without one, new events only.
    pub async fn subscribe(
        self: &Arc<Self>,
        by: Principal,
        wanted: Pattern,
        after: Option<u64>,
    ) -> Result<Subscription, Fault> {
        if by.is_anonymous() {
            let text = "events are for callers who say who they are";
            return Err(Fault::caller(FaultKind::Unauthenticated, text));
        }
        // Listening begins before the end is looked up, so that nothing falls between.
        let head = self.bus.events.subscribe();
        let after = match after {
            Some(after) => after,
            None => self.store.journal.last(log()).await?,
        };
        Ok(Subscription { hub: self.clone(), by, wanted, after, head, ready: VecDeque::new(), page: PAGE })
    }

    /// The event of this number, while the log has it.
    pub async fn event(&self, seq: u64) -> Result<Option<Message>, Fault> {
        let read = self.store.journal.read(log(), seq.saturating_sub(1), 1).await?;
        let found = read.into_iter().find(|stored| stored.seq == seq);
        found.map(|stored| journal::from_bytes(&stored.bytes).map_err(Fault::internal)).transpose()
    }

    /// The number of the last event.
    pub async fn last_event(&self) -> Result<u64, Fault> {
        Ok(self.store.journal.last(log()).await?)
    }
}

/// A subscriber, at its own pace: it reads the log, and delays nobody.
#[derive(Debug)]
pub struct Subscription {
    hub: Arc<Hub>,
    by: Principal,
    wanted: Pattern,
    after: u64,
    head: watch::Receiver<u64>,
    ready: VecDeque<(u64, Message)>,
    /// How many it reads at once.
    page: usize,
}

impl Subscription {
    /// Reads few events at once, for a subscriber that works on each of them for long: the others wait in the log, not in memory.
    #[must_use]
    pub fn few_at_once(mut self) -> Subscription {
        self.page = FEW;
        self
    }

    /// The next matching event that it may see. Cancel safe.
    pub async fn next(&mut self) -> Result<Option<(u64, Message)>, Fault> {
        loop {
            self.head.borrow_and_update();
            if let Some(found) = self.there_is().await? {
                return Ok(Some(found));
            }
            if self.head.changed().await.is_err() {
                return Ok(None);
            }
        }
    }

    /// The next event that is already written.
    pub async fn there_is(&mut self) -> Result<Option<(u64, Message)>, Fault> {
        loop {
            if let Some(found) = self.ready.pop_front() {
                return Ok(Some(found));
            }
            let page = self.hub.store.journal.read(log(), self.after, self.page).await?;
            let Some(last) = page.last() else { return Ok(None) };
            let upto = last.seq;
            for stored in page {
                let message: Message = journal::from_bytes(&stored.bytes).map_err(Fault::internal)?;
                if self.sees(&message) {
                    self.ready.push_back((stored.seq, message));
                }
            }
            self.after = upto;
        }
    }

    /// The number of the last event it has read.
    pub fn after(&self) -> u64 {
        self.after
    }

    fn sees(&self, message: &Message) -> bool {
        let wanted = message.topic.as_ref().is_some_and(|topic| self.wanted.covers(topic));
        wanted && (message.readers.is_empty() || self.hub.bus.reads(&self.by, &message.by, &message.readers))
    }
}
