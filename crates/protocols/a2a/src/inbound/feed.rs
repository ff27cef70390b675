//! Resumable event feed: a task's events in their order, each with a number from which a client can resume after a lost connection.
//!
//! A number is that of the journal's entry, and which of the entry's events it is: `41.1`. A snapshot has the number of the last
//! entry in it: `41`.

use std::collections::VecDeque;
use std::sync::Arc;

use super::links::Links;
use crate::encode::{self, Telling, View, encode};
use crate::wire::{TaskState, Update};
use interlingua_hub::audit::losses::{LossContext, Named};
use interlingua_hub::live::Reader;
use interlingua_hub::{Hub, Running};
use interlingua_machines::task::Task;
use interlingua_model::{Entry, Fault, Loss, Principal, TaskId, Wire, gather_losses};

/// Up to which event somebody has seen a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Seen(u64, u32);

/// What a client sends as `Last-Event-ID`; `None` when it is none of ours.
pub(super) fn seen(text: &str) -> Option<Seen> {
    match text.trim().split_once('.') {
        Some((entry, event)) => Some(Seen(entry.parse().ok()?, event.parse().ok()?)),
        None => Some(Seen(text.trim().parse().ok()?, u32::MAX)),
    }
}

/// One event, and its number.
#[derive(Debug)]
pub(super) struct FeedUpdate {
    pub(super) id: String,
    pub(super) update: Update,
}

/// Who is told, by whom, how.
pub(super) struct Ear {
    pub(super) hub: Arc<Hub>,
    pub(super) by: Principal,
    pub(super) wire: Wire,
    pub(super) links: Links,
}

enum Source {
    /// The caller's own exchange.
    Own(Running),
    Reader(Reader),
}

pub(super) struct Feed {
    source: Source,
    id: TaskId,
    /// The task as far as it was told.
    told: Option<Task>,
    after: Option<Seen>,
    view: View,
    ear: Ear,
    ready: VecDeque<FeedUpdate>,
    /// What could not be said, all of it together.
    lost: Vec<Loss>,
    over: bool,
}

impl Feed {
    /// A call's own events: first the task as it was accepted.
    pub(super) fn own(running: Running, view: View, ear: Ear) -> Feed {
        let id = running.id();
        Feed::new(Source::Own(running), id, view, ear)
    }

    /// The task as it stands, then what comes after: `reader` goes on where the fold ends, so nothing is lost between.
    pub(super) fn joined(task: Task, reader: Reader, view: View, ear: Ear) -> Feed {
        let (seq, over) = (task.seq, task.finished().is_some());
        let snapshot = encode::task(&task, view, &ear.links);
        let id = reader.task();
        let mut feed = Feed::new(Source::Reader(reader), id, view, ear);
        feed.ready.push_back(FeedUpdate { id: seq.to_string(), update: Update::Task(snapshot.value) });
        (feed.told, feed.lost) = (Some(task), snapshot.losses);
        if over {
            feed.end();
        }
        feed
    }

    /// From the beginning, without what was seen.
    pub(super) fn resumed(reader: Reader, after: Seen, ear: Ear) -> Feed {
        let id = reader.task();
        Feed { after: Some(after), ..Feed::new(Source::Reader(reader), id, View::WHOLE, ear) }
    }

    /// These were lost before, of the message that asked.
    pub(super) fn having_lost(mut self, losses: Vec<Loss>) -> Feed {
        self.lost = losses;
        self
    }

    fn new(source: Source, id: TaskId, view: View, ear: Ear) -> Feed {
        let (ready, lost) = (VecDeque::new(), Vec::new());
        Feed { source, id, told: None, after: None, view, ear, ready, lost, over: false }
    }

    /// The next event; `None` when the stream is over. Cancel safe.
    pub(super) async fn next(&mut self) -> Result<Option<FeedUpdate>, Fault> {
        loop {
            if let Some(told) = self.ready.pop_front() {
                return Ok(Some(told));
            }
            if self.over {
                return Ok(None);
            }
            match self.entry().await? {
                None => self.over = true,
                Some(entry) => self.take(&entry),
            }
        }
    }

    async fn entry(&mut self) -> Result<Option<Arc<Entry>>, Fault> {
        let next = async {
            match &mut self.source {
                Source::Own(running) => running.next().await,
                Source::Reader(reader) => reader.next().await,
            }
        };
        tokio::select! {
            biased;
            entry = next => entry,
            () = self.ear.hub.stopping().cancelled() => Ok(None),
        }
    }

    fn take(&mut self, entry: &Entry) {
        let Some(task) = &mut self.told else {
            self.told = encode::begun(self.id, entry);
            if let (Some(task), None) = (&self.told, self.after) {
                let snapshot = encode::task(task, self.view, &self.ear.links);
                gather_losses(&mut self.lost, &snapshot.losses);
                self.ready.push_back(FeedUpdate { id: entry.seq.to_string(), update: Update::Task(snapshot.value) });
            }
            return;
        };
        let updates = encode(entry, &mut Telling { task, addresses: &self.ear.links });
        let (mut shown, mut ended) = (false, false);
        for (number, update) in (0_u32..).zip(updates.value) {
            if self.after.is_none_or(|after| Seen(entry.seq, number) > after) {
                (shown, ended) = (true, ended || ends(&update));
                self.ready.push_back(FeedUpdate { id: format!("{}.{number}", entry.seq), update });
            }
        }
        if shown {
            gather_losses(&mut self.lost, &updates.losses);
        }
        if ended {
            self.end();
        }
    }

    /// Nothing follows: what could not be said is summed up.
    fn end(&mut self) {
        self.over = true;
        let Some(task) = &self.told else { return };
        let skill = task.route.as_ref().map(|route| &route.skill);
        let Ear { hub, by, wire, .. } = &self.ear;
        hub.lost(&LossContext { by, of: Named::of(task), wire: wire.clone(), skill }, &self.lost);
    }
}

/// A stream closes with the task, and where the client has to say something first (section 3.1.2, 11.7). While a credential is
/// awaited it stays open: the task may go on by itself (section 7.6.1).
fn ends(update: &Update) -> bool {
    match update {
        Update::Status(update) => update.status.state.is_terminal() || update.status.state == TaskState::InputRequired,
        Update::Task(_) | Update::Message(_) | Update::Artifact(_) => false,
    }
}
