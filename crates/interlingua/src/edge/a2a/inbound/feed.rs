//! A task's events in their order, each with a number by which a client can go on after a lost connection.
//!
//! A number is that of the journal's entry, and which of the entry's events it is: `41.1`. A snapshot has the number of the last
//! entry in it: `41`.

use std::collections::VecDeque;
use std::sync::Arc;

use interlingua_core::task::Task;
use interlingua_core::{Entry, Fault};
use interlingua_protocols::a2a::encode::{Telling, View};
use interlingua_protocols::a2a::wire::{TaskState, Update};
use tokio_util::sync::CancellationToken;

use super::links::Links;
use crate::hub::Running;
use crate::hub::live::Reader;

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
pub(super) struct Told {
    pub(super) id: String,
    pub(super) update: Update,
}

enum Source {
    /// The caller's own exchange.
    Own(Running),
    Reader(Reader),
}

pub(super) struct Feed {
    source: Source,
    task: interlingua_core::TaskId,
    telling: Option<Telling>,
    after: Option<Seen>,
    view: View,
    links: Links,
    ready: VecDeque<Told>,
    over: bool,
    stopping: CancellationToken,
}

impl Feed {
    /// A call's own events: first the task as it was accepted.
    pub(super) fn own(running: Running, view: View, links: Links, stopping: CancellationToken) -> Feed {
        let task = running.id();
        Feed::new(Source::Own(running), task, view, links, stopping)
    }

    /// The task as it stands, then what comes after: `reader` goes on where the fold ends, so nothing is lost between.
    pub(super) fn joined(task: Task, reader: Reader, view: View, links: Links, stopping: CancellationToken) -> Feed {
        let (seq, over) = (task.seq, task.finished().is_some());
        let telling = Telling::from(task);
        let snapshot = Told { id: seq.to_string(), update: Update::Task(telling.snapshot(view, &links)) };
        let id = reader.task();
        let mut feed = Feed::new(Source::Reader(reader), id, view, links, stopping);
        feed.ready.push_back(snapshot);
        Feed { telling: Some(telling), over, ..feed }
    }

    /// From the beginning, without what was seen.
    pub(super) fn resumed(reader: Reader, after: Seen, links: Links, stopping: CancellationToken) -> Feed {
        let id = reader.task();
        Feed { after: Some(after), ..Feed::new(Source::Reader(reader), id, View::WHOLE, links, stopping) }
    }

    fn new(
        source: Source,
        task: interlingua_core::TaskId,
        view: View,
        links: Links,
        stopping: CancellationToken,
    ) -> Feed {
        Feed { source, task, telling: None, after: None, view, links, ready: VecDeque::new(), over: false, stopping }
    }

    /// The next event; `None` when the stream is over. Cancel safe.
    pub(super) async fn next(&mut self) -> Result<Option<Told>, Fault> {
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
            () = self.stopping.cancelled() => Ok(None),
        }
    }

    fn take(&mut self, entry: &Entry) {
        let Some(telling) = &mut self.telling else {
            self.telling = Telling::begin(self.task, entry);
            if let (Some(telling), None) = (&self.telling, self.after) {
                let snapshot = telling.snapshot(self.view, &self.links);
                self.ready.push_back(Told { id: entry.seq.to_string(), update: Update::Task(snapshot) });
            }
            return;
        };
        let updates = telling.next(entry, &self.links);
        for (number, update) in (0_u32..).zip(updates) {
            let shown = self.after.is_none_or(|after| Seen(entry.seq, number) > after);
            let ends = ends(&update);
            if shown {
                self.over |= ends;
                self.ready.push_back(Told { id: format!("{}.{number}", entry.seq), update });
            }
        }
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
