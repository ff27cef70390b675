//! The caller's handle of an exchange.

use std::sync::Arc;

use interlingua_machines::task::Task;
use interlingua_model::{Entry, Event, Fault, Finished, OnDisconnect, Question, TaskId, Trace, Transcript};

use super::Hub;
use super::audit::losses::Named;
use super::driver::{Driver, Launch, Launched};
use super::live::Reader;
use super::reauthorize::{self, Reauthorization};

/// Read events with [`Running::next`]. Dropping it before the end counts as a disconnect of the caller; the call's `on_disconnect` decides
/// what follows.
pub struct Running {
    hub: Arc<Hub>,
    id: TaskId,
    /// The trace of the caller that opened it.
    pub(super) trace: Option<Trace>,
    seen: u64,
    way: Way,
    over: bool,
    /// The last thing its reader saw is a question.
    asked: bool,
    /// Its caller's, until a reader has it.
    claim: Option<Reauthorization>,
}

enum Way {
    /// Polled here, in the caller's task.
    Inline(Box<Driver>),
    /// On its way into the journal.
    Keeping(Launch),
    Kept(Reader),
    /// Handed over.
    Gone,
}

impl std::fmt::Debug for Running {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Running").field("id", &self.id).field("kept", &self.is_kept()).finish_non_exhaustive()
    }
}

impl Running {
    pub(super) fn inline(hub: Arc<Hub>, driver: Driver, claim: Reauthorization) -> Running {
        let (id, way) = (driver.task.id, Way::Inline(Box::new(driver)));
        Running { hub, id, trace: None, seen: 1, way, over: false, asked: false, claim: Some(claim) }
    }

    pub(super) fn kept(hub: Arc<Hub>, reader: Reader) -> Running {
        if let Some(live) = reader.live() {
            live.caller_came();
        }
        let (id, way) = (reader.task(), Way::Kept(reader));
        Running { hub, id, trace: None, seen: 0, way, over: false, asked: false, claim: None }
    }

    /// The task id. A caller receives it only if the exchange is stored.
    pub fn id(&self) -> TaskId {
        self.id
    }

    /// The name of the exchange in audit lines about its losses.
    pub fn named(&self) -> Named {
        Named { task: self.id, trace: self.trace.clone() }
    }

    /// The sequence of the last entry that was read.
    pub fn seq(&self) -> u64 {
        self.seen
    }

    /// Is it a task: stored in the journal?
    pub fn is_kept(&self) -> bool {
        matches!(self.way, Way::Kept(_))
    }

    /// The next entry; `None` after the last. Cancel safe.
    pub async fn next(&mut self) -> Result<Option<Arc<Entry>>, Fault> {
        loop {
            match &mut self.way {
                Way::Gone => return Ok(None),
                Way::Keeping(_) => self.launched().await?,
                Way::Kept(reader) => {
                    let entry = reader.next().await?;
                    self.note(entry.as_deref());
                    return Ok(entry);
                }
                Way::Inline(driver) => {
                    if let Some(claim) = self.claim.as_mut().filter(|claim| claim.is_due()) {
                        claim.settle(&driver.task)?;
                    }
                    if let Some(entry) = driver.shown.pop_front() {
                        self.note(Some(&entry));
                        return Ok(Some(entry));
                    }
                    if driver.task.finished().is_some() {
                        return Ok(None);
                    }
                    tokio::select! {
                        biased;
                        advanced = driver.advance() => advanced?,
                        () = reauthorize::due(&mut self.claim) => continue,
                    }
                    if driver.must_be_kept() {
                        self.launch();
                    } else {
                        driver.show();
                    }
                }
            }
        }
    }

    /// Is this question still open? A reader that starts at the beginning of an exchange also meets answered ones.
    pub fn awaits(&self, question: &Question) -> bool {
        match &self.way {
            Way::Kept(reader) => reader.live().is_some_and(|live| live.awaits(question)),
            Way::Inline(_) | Way::Keeping(_) | Way::Gone => true,
        }
    }

    fn note(&mut self, entry: Option<&Entry>) {
        match entry {
            None => self.over = true,
            Some(entry) => {
                self.seen = entry.seq;
                if let Some(event) = entry.record.event() {
                    self.over |= matches!(event, Event::Finished(_));
                    self.asked = matches!(event, Event::Asked(_));
                }
            }
        }
    }

    fn launch(&mut self) {
        match std::mem::replace(&mut self.way, Way::Gone) {
            Way::Inline(driver) => self.way = Way::Keeping(driver.launch_later(self.seen)),
            other => self.way = other,
        }
    }

    async fn launched(&mut self) -> Result<(), Fault> {
        let Way::Keeping(launch) = &mut self.way else { return Ok(()) };
        let launched = launch.await;
        let claimed = |reader: Reader, claim: Option<Reauthorization>| match claim {
            Some(claim) => reader.claimed(claim),
            None => reader,
        };
        self.way = match launched {
            Ok(Launched::Kept(reader)) => {
                let reader = claimed(reader, self.claim.take());
                if let Some(live) = reader.live() {
                    live.caller_came();
                }
                Way::Kept(reader)
            }
            // The same message was sent before and became a task; it is that one's caller from now on.
            Ok(Launched::Exists(task)) => {
                (self.id, self.seen) = (task, 0);
                let reader = claimed(self.hub.replay(task), self.claim.take());
                if let Some(live) = reader.live() {
                    live.caller_came();
                }
                Way::Kept(reader)
            }
            Err(fault) => {
                self.way = Way::Gone;
                return Err(fault);
            }
        };
        Ok(())
    }

    /// Makes it a task, if it is not one: its id may be sent to the caller now. Cancel safe.
    pub async fn keep(&mut self) -> Result<TaskId, Fault> {
        self.launch();
        self.launched().await?;
        Ok(self.id)
    }

    /// The whole current state: from memory if it is short, so that its own caller causes no read.
    pub async fn task(&mut self) -> Result<Task, Fault> {
        let live = match &self.way {
            Way::Kept(reader) => reader.live(),
            Way::Inline(_) | Way::Keeping(_) | Way::Gone => None,
        };
        match live.and_then(|live| live.folded()) {
            Some(task) => Ok(task),
            None => self.hub.fold(self.id).await,
        }
    }

    /// The caller has received its id and continues with it: dropping this is not a disconnect.
    pub fn told(&mut self) {
        self.over |= self.is_kept();
    }

    /// Makes it a task that its caller continues by its id, and that outlives the caller, here and after a restart.
    pub async fn hand_out(&mut self) -> Result<TaskId, Fault> {
        if let Way::Inline(driver) = &mut self.way {
            driver.task.call.limits.on_disconnect = OnDisconnect::Detach;
        }
        let task = self.keep().await?;
        self.told();
        Ok(task)
    }

    /// Reads to the end, or to the first open question: for a protocol with one answer. The transcript holds everything before it, also
    /// when this fails.
    pub async fn settle(&mut self, transcript: &mut Transcript) -> Result<Settled, Fault> {
        while let Some(entry) = self.next().await? {
            transcript.push(&entry.record)?;
            match entry.record.event() {
                Some(Event::Finished(finished)) => {
                    return Ok(Settled::Finished(Box::new(transcript.whole(finished))));
                }
                Some(Event::Asked(question)) if self.awaits(question) => {
                    return Ok(Settled::Asked(Box::new(question.clone())));
                }
                Some(_) | None => {}
            }
        }
        Err(Fault::shutting_down_kept())
    }

    /// Reads to the end, past all questions: for a caller that cannot be asked, or lets others answer. Events on the way go to `each`.
    pub async fn finish(
        &mut self,
        transcript: &mut Transcript,
        mut each: impl FnMut(&Event),
    ) -> Result<Finished, Fault> {
        while let Some(entry) = self.next().await? {
            transcript.push(&entry.record)?;
            match entry.record.event() {
                Some(Event::Finished(finished)) => return Ok(transcript.whole(finished)),
                Some(event) => each(event),
                None => {}
            }
        }
        Err(Fault::shutting_down_kept())
    }
}

/// The state of an exchange at which its caller gets an answer; the end has the whole answer as its parts.
#[derive(Debug)]
pub enum Settled {
    /// It is over.
    Finished(Box<Finished>),
    /// It waits for an answer, which is given by [`Hub::signal`].
    Asked(Box<Question>),
}

impl Drop for Running {
    fn drop(&mut self) {
        match std::mem::replace(&mut self.way, Way::Gone) {
            Way::Inline(mut driver) if self.over => driver.ended(),
            Way::Inline(driver) => self.hub.supervisor.run(driver.abandoned()),
            Way::Kept(reader) => {
                let Some(live) = reader.live() else { return };
                // To stop reading at a question is how most wires put it, not leaving; the answer comes by another way.
                // Telling the driver would cancel the exchange if somebody else's answer came first.
                if self.over || self.asked { live.caller_let_go() } else { live.caller_left() }
            }
            // To drop the launch is to leave.
            Way::Keeping(_) | Way::Gone => {}
        }
    }
}
