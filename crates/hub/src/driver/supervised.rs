//! Runs a stored exchange under the supervisor, from its first append or from a restart to its end.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll};

use interlingua_machines::task::{Effect, Happening};
use interlingua_model::ports::Unique;
use interlingua_model::{Fault, FaultKind, TaskId};
use tokio::sync::oneshot;

use super::Driver;
use super::journal::Keeping;
use crate::live::Reader;
use interlingua_telemetry::trace;

/// Resolves once the exchange is in the journal. If it is dropped before it was read, its caller has left, also if the exchange was
/// launched meanwhile.
pub(crate) struct Launch(oneshot::Receiver<Result<Launched, Fault>>);

impl Future for Launch {
    type Output = Result<Launched, Fault>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let dropped = |_| Fault::shutting_down();
        Pin::new(&mut self.0).poll(cx).map(|told| told.map_err(dropped).flatten())
    }
}

impl Drop for Launch {
    fn drop(&mut self) {
        self.0.close();
        if let Ok(Ok(Launched::Kept(reader))) = self.0.try_recv()
            && let Some(live) = reader.live()
        {
            live.caller_gone();
        }
    }
}

pub(crate) enum Launched {
    Kept(Reader),
    /// The same id and body were sent before: the stored exchange of it.
    Exists(TaskId),
}

impl Driver {
    /// Keeps it and runs it, on the supervisor: a caller that leaves meanwhile loses nothing but its own view.
    pub(crate) fn launch(mut self, effects: VecDeque<Effect>, unique: Option<Unique>, seen: u64) -> Launch {
        let (told, launched) = oneshot::channel();
        let supervisor = self.hub.supervisor.clone();
        let trace = self.task.call.trace.clone().unwrap_or_default();
        supervisor.run(trace::within(trace, async move {
            let live = match self.keep(unique).await {
                Ok(Keeping::Kept(live)) => live,
                Ok(Keeping::Exists { task, body }) => {
                    let same = unique.is_none_or(|unique| unique.body == body);
                    let used =
                        || Fault::caller(FaultKind::Conflict, "this message id was used before for another message");
                    drop(told.send(if same { Ok(Launched::Exists(task)) } else { Err(used()) }));
                    return self.superseded().await;
                }
                Err(fault) => {
                    drop(told.send(Err(fault)));
                    return self.superseded().await;
                }
            };
            let reader = Reader::new(self.task.id, seen, Some(live.clone()), self.hub.store.journal.clone());
            if told.send(Ok(Launched::Kept(reader))).is_err() {
                live.caller_gone();
            }
            match self.perform(effects).await {
                Ok(()) => self.run().await,
                Err(fault) => self.broken(&fault),
            }
        }));
        Launch(launched)
    }

    /// As [`Driver::launch`], for an exchange that was begun without being stored. Its id counts from here on: sent again, the same message
    /// leads to this exchange.
    pub(crate) fn launch_later(mut self, seen: u64) -> Launch {
        let unique = self.hub.replay_key(&self.task.by, self.connection, &self.task.call);
        self.unkept = false;
        let effects = std::mem::take(&mut self.unperformed);
        self.launch(effects, unique, seen)
    }

    /// Runs a stored exchange to its end.
    pub(crate) async fn run(mut self) {
        while self.task.finished().is_none() {
            let stopping = self.hub.supervisor.stopping().clone();
            let advanced = tokio::select! {
                biased;
                () = stopping.cancelled() => break,
                advanced = self.advance() => advanced,
            };
            if let Err(fault) = advanced {
                return self.broken(&fault);
            }
        }
        self.ended();
    }

    /// Counts an exchange that is over.
    pub(crate) fn ended(&mut self) {
        self.meter.ended(&self.hub.meters, &self.task);
    }

    /// The store failed. The journal stays valid, and the task continues after a restart.
    fn broken(self, fault: &Fault) {
        tracing::error!(event = "task_interrupted", task = %self.task.id, error = %fault, cause = ?fault.source, "the store failed; the task continues after a restart");
    }

    pub(crate) fn restart(&mut self) -> Result<VecDeque<Effect>, Fault> {
        self.decide(Happening::Restarted)
    }

    /// Commits what `restart` decided, performs it, and runs on. Resolves once it is committed.
    pub(crate) fn carry_on(mut self, effects: VecDeque<Effect>) -> oneshot::Receiver<()> {
        let (told, committed) = oneshot::channel();
        let supervisor = self.hub.supervisor.clone();
        supervisor.run(async move {
            let performed = async {
                self.commit().await?;
                self.perform(effects).await
            };
            let performed = performed.await;
            let _ = told.send(());
            match performed {
                Ok(()) => self.run().await,
                Err(fault) => self.broken(&fault),
            }
        });
        committed
    }
}
