//! An exchange as its caller holds it.

use std::sync::Arc;

use interlingua_core::{Entry, Event, Fault, Finished, TaskId};

use super::Hub;
use super::driver::{Driver, Keeping};
use super::live::Reader;

/// Read events with [`Running::next`]. Dropping it before the end is the caller leaving: its manners say what then.
pub struct Running {
    hub: Arc<Hub>,
    id: TaskId,
    seen: u64,
    way: Way,
    over: bool,
}

enum Way {
    /// Polled here, in the caller's task.
    Inline(Box<Driver>),
    Kept(Reader),
    /// Between the two, or handed over.
    Gone,
}

impl std::fmt::Debug for Running {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Running").field("id", &self.id).field("kept", &self.is_kept()).finish_non_exhaustive()
    }
}

impl Running {
    pub(super) fn inline(hub: Arc<Hub>, driver: Driver) -> Running {
        Running { hub, id: driver.task.id, seen: 1, way: Way::Inline(Box::new(driver)), over: false }
    }

    pub(super) fn kept(hub: Arc<Hub>, reader: Reader) -> Running {
        Running { hub, id: reader.task(), seen: 0, way: Way::Kept(reader), over: false }
    }

    pub fn id(&self) -> TaskId {
        self.id
    }

    pub fn is_kept(&self) -> bool {
        matches!(self.way, Way::Kept(_))
    }

    /// The next entry; `None` after the last. Cancel safe.
    pub async fn next(&mut self) -> Result<Option<Arc<Entry>>, Fault> {
        loop {
            match &mut self.way {
                Way::Gone => return Ok(None),
                Way::Kept(reader) => {
                    let entry = reader.next().await?;
                    self.note(entry.as_deref());
                    return Ok(entry);
                }
                Way::Inline(driver) => {
                    if let Some(entry) = driver.shown.pop_front() {
                        self.note(Some(&entry));
                        return Ok(Some(entry));
                    }
                    if driver.task.finished().is_some() {
                        return Ok(None);
                    }
                    driver.advance().await?;
                    if driver.asks() || driver.unkept_is_too_long() {
                        self.keep().await?;
                    } else {
                        driver.show();
                    }
                }
            }
        }
    }

    fn note(&mut self, entry: Option<&Entry>) {
        match entry {
            None => self.over = true,
            Some(entry) => {
                self.seen = entry.seq;
                self.over |= matches!(entry.record.event(), Some(Event::Finished(_)));
            }
        }
    }

    /// Makes it a task, if it is not one: its id may be told now.
    pub async fn keep(&mut self) -> Result<TaskId, Fault> {
        let Way::Inline(driver) = std::mem::replace(&mut self.way, Way::Gone) else { return Ok(self.id) };
        let mut driver = *driver;
        let Keeping::Kept(live) = driver.keep(None).await? else { return Ok(self.id) };
        self.way = Way::Kept(driver.reader(live, self.seen));
        self.hub.supervisor.run(driver.run());
        Ok(self.id)
    }

    /// Reads to the end, or to the first question. Events on the way go to `each`.
    pub async fn settle(&mut self, mut each: impl FnMut(&Event)) -> Result<Settled, Fault> {
        while let Some(entry) = self.next().await? {
            match entry.record.event() {
                Some(Event::Finished(finished)) => {
                    return Ok(Settled::Finished(Box::new(finished.clone())));
                }
                Some(Event::Asked(question)) => {
                    return Ok(Settled::Asked(Box::new(question.clone())));
                }
                Some(event) => each(event),
                None => {}
            }
        }
        Err(Fault::hub(interlingua_core::FaultKind::Internal, "an exchange ended without an outcome"))
    }
}

/// Where an exchange stands when its caller must be told something.
#[derive(Debug)]
pub enum Settled {
    Finished(Box<Finished>),
    Asked(Box<interlingua_core::Question>),
}

impl Drop for Running {
    fn drop(&mut self) {
        if self.over {
            if let Way::Inline(driver) = &self.way {
                self.hub.ended(&driver.task);
            }
            return;
        }
        match std::mem::replace(&mut self.way, Way::Gone) {
            Way::Inline(driver) => self.hub.supervisor.run(driver.abandoned()),
            Way::Kept(reader) => {
                if let Some(live) = reader.live() {
                    live.caller_gone();
                }
            }
            Way::Gone => {}
        }
    }
}
