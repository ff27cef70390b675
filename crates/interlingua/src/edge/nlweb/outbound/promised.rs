//! A job that a site promised: it is looked after until it has ended, and what it waits for is told.
//!
//! Dropped before that (by a deadline, or a caller that left), the site is told that nobody wants it any more, unless the hub itself is
//! stopping: the token is in the journal, and the job is found again after the next start.

use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use interlingua_core::peer::Reply as Told;
use interlingua_core::site::extract::clean;
use interlingua_core::{
    CancelWhy, Event, Fault, FaultKind, Feature, Finished, Party, Record, Secret, Sent, Signal, Text,
};
use interlingua_protocols::nlweb::client::Promise;
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::http::Received;
use super::stream::Going;
use crate::client::ended;
use crate::client::live::{self, late};
use crate::hub::Hub;

/// How long between two looks at a promise, at least and at most.
const LOOK: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(15));
/// How often a look may bring nothing before the job is given up on.
const MAX_SILENT: u32 = 10;
/// Characters of what a site says of how far it is.
const LONGEST_NOTE: usize = 2_000;

/// What goes with every request of a call.
pub(super) type Headers = [(&'static str, String)];

/// Looks after what a site has just promised.
pub(super) fn live(
    hub: &Arc<Hub>,
    going: Going,
    headers: Vec<(&'static str, String)>,
    promise: Promise,
    until: Option<Instant>,
) -> Told {
    let token = Secret::new(&promise.token);
    begin(Job { hub: hub.clone(), going: Some(going), headers, token }, promise, until)
}

/// Takes up what was promised before.
pub(super) fn taken_up(
    hub: &Arc<Hub>,
    going: Going,
    headers: Vec<(&'static str, String)>,
    token: Secret,
    until: Option<Instant>,
) -> Told {
    let promise = Promise { token: String::new(), seconds: Some(0), note: None };
    begin(Job { hub: hub.clone(), going: Some(going), headers, token }, promise, until)
}

fn begin(job: Job, promise: Promise, until: Option<Instant>) -> Told {
    live::live(takes, |out, signals| Work { job, out, signals, told: None }.run(promise, until))
}

fn takes(signal: &Signal) -> Result<(), Fault> {
    match signal {
        Signal::Cancel(_) => Ok(()),
        Signal::Said { .. } | Signal::Answered { .. } => Err(Fault::caller(
            FaultKind::Unsupported(Feature::Operation),
            "a site takes no more input while it answers",
        )),
    }
}

struct Job {
    hub: Arc<Hub>,
    /// Gone once the site need not be told of the end.
    going: Option<Going>,
    headers: Vec<(&'static str, String)>,
    token: Secret,
}

impl Drop for Job {
    fn drop(&mut self) {
        let Some(going) = self.going.take() else { return };
        if self.hub.supervisor.stopping().is_cancelled() {
            return;
        }
        let (token, headers) = (self.token.clone(), std::mem::take(&mut self.headers));
        self.hub.supervisor.run_until_stop(async move { drop(going.peer.cancel(&token, &headers).await) });
    }
}

struct Work {
    job: Job,
    out: mpsc::Sender<Record>,
    signals: mpsc::Receiver<Signal>,
    /// What was last said of how far it is.
    told: Option<Text>,
}

impl Work {
    async fn run(mut self, mut promise: Promise, until: Option<Instant>) {
        let Some(going) = &self.job.going else { return };
        let sent = Sent::learnt(going.dispatch.key.clone(), Some(self.job.token.clone()), true);
        self.emit(Record::Sent(sent)).await;
        let mut silent = 0;
        loop {
            self.tell(promise.note.as_deref()).await;
            let pause = promise.seconds.map_or(LOOK.0, Duration::from_secs).clamp(LOOK.0, LOOK.1);
            tokio::select! {
                biased;
                Some(signal) = self.signals.recv() => {
                    if let Signal::Cancel(why) = signal {
                        return self.cancel(why).await;
                    }
                    continue;
                }
                () = late(until) => {
                    let Some(going) = &self.job.going else { return };
                    let fault = ended::too_late(going.peer.id());
                    return self.emit(failed(fault)).await;
                }
                () = tokio::time::sleep(pause) => {}
            }
            let Some(going) = &self.job.going else { return };
            match going.peer.look(&self.job.token, &self.job.headers).await {
                Ok(mut received) => match received.reply.promise.take() {
                    Some(again) => (promise, silent) = (again, 0),
                    None => return self.end(received, until).await,
                },
                Err(lost) => {
                    let fault = going.peer.lost(&self.job.hub, &lost);
                    silent += 1;
                    if silent >= MAX_SILENT {
                        return self.emit(failed(fault)).await;
                    }
                }
            }
        }
    }

    /// Waits while whoever reads is slow. Nobody reads any more when the call is being dropped.
    async fn emit(&self, record: Record) {
        let _ = self.out.send(record).await;
    }

    /// What a site says is data: cleaned, cut, and under its name.
    async fn tell(&mut self, note: Option<&str>) {
        let (Some(note), Some(going)) = (note, &self.job.going) else { return };
        let note: String = clean(note).chars().take(LONGEST_NOTE).collect();
        let note: Text = format!("{}: {note}", going.peer.id()).into();
        if self.told.as_ref() != Some(&note) {
            let event = Event::Progress { done: None, total: None, note: Some(note.clone()) };
            self.emit(Record::emitted(event)).await;
            self.told = Some(note);
        }
    }

    /// The answer that was promised, or what came instead of it.
    async fn end(&mut self, received: Received, until: Option<Instant>) {
        let Some(going) = self.job.going.take() else { return };
        let peer = going.peer.clone();
        match peer.arrived(&self.job.hub, going, received, until) {
            Told::Done(finished, _) => self.emit(Record::emitted(Event::Finished(*finished))).await,
            Told::Live(mut rest) => {
                while let Some(record) = poll_fn(|cx| rest.poll_next(cx)).await {
                    self.emit(record).await;
                }
            }
        }
    }

    /// A job that was done before it could be cancelled is told as done.
    async fn cancel(&mut self, why: CancelWhy) {
        let Some(going) = &self.job.going else { return };
        match going.peer.cancel(&self.job.token, &self.job.headers).await {
            Some(received) if received.reply.has_begun() => self.end(received, None).await,
            Some(_) | None => {
                self.job.going = None;
                self.emit(Record::emitted(Event::Finished(Finished::cancelled(Party::Caller, why)))).await;
            }
        }
    }
}

fn failed(fault: Fault) -> Record {
    Record::emitted(Event::Finished(Finished::failed(fault)))
}
