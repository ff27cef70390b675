//! Orders of the hub to devices: a COMMAND, or a TASK that a device does by itself, until there is a result or there will be none.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use interlingua_model::{Loss, LossKind, MessageId, PeerId, Text};
use tokio::sync::oneshot;

use super::{ServerRuntime, State};
use crate::decode;
use crate::profile::Reported;
use crate::server::{Assignment, Happening, Order};
use crate::wire::{Command, CommandResult};
use interlingua_net::client::going::News;

/// What came of an order.
#[derive(Debug)]
pub(crate) struct Given {
    pub(crate) results: Vec<CommandResult>,
    pub(crate) lines: Vec<Text>,
}

/// Why there is no result.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum NoResult {
    /// The device left, or the session ended, before there was one.
    Lost,
    /// Whoever asked for the session left before the order was given: it was not given.
    Unwanted,
    /// The device says that the whole task is over.
    Reported(Box<Reported>),
}

/// Where log lines of an order go while it is carried out, and how many were lost on the way.
#[derive(Debug, Clone)]
pub(crate) struct Hearing {
    news: News,
    message: MessageId,
    peer: PeerId,
    lost: Arc<AtomicU64>,
}

impl Hearing {
    pub(crate) fn new(news: &News, message: &MessageId, peer: &PeerId) -> Hearing {
        Hearing { news: news.clone(), message: message.clone(), peer: peer.clone(), lost: Arc::default() }
    }

    /// Passes lines on. Those for which there is no room are lost, like those that were dropped before.
    pub(crate) fn hear(&self, lines: &[Text], dropped: usize) {
        let told = decode::notes(lines, &self.message, &self.peer).into_iter().map(|event| self.news.try_tell(event));
        let lost = dropped + told.filter(|told| !told).count();
        self.lost.fetch_add(lost as u64, Ordering::Relaxed);
    }

    /// What was lost of them.
    pub(crate) fn loss(&self) -> Option<Loss> {
        let lost = self.lost.load(Ordering::Relaxed);
        (lost > 0).then(|| Loss::new(format!("{lost} notifications"), LossKind::Dropped))
    }
}

/// An order that is under way.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) session: Text,
    pub(super) reply: oneshot::Sender<Result<Given, NoResult>>,
    pub(super) hearing: Option<Hearing>,
}

impl State {
    /// Log lines of the order with this key, or of the one that a session waits for.
    pub(super) fn hear(&self, session: &Text, key: Option<u64>, lines: &[Text], dropped: usize) {
        let waiting = match key {
            Some(key) => self.orders.get(&key),
            None => self.orders.values().find(|waiting| waiting.session == *session),
        };
        if let Some(hearing) = waiting.and_then(|waiting| waiting.hearing.as_ref()) {
            hearing.hear(lines, dropped);
        }
    }

    /// Every order of a session ends with what its device reports.
    pub(super) fn reported(&mut self, session: &Text, report: &Reported) {
        let of: Vec<u64> = self.orders.iter().filter(|(_, it)| it.session == *session).map(|(key, _)| *key).collect();
        for waiting in of.iter().filter_map(|key| self.orders.remove(key)).collect::<Vec<_>>() {
            let _ = waiting.reply.send(Err(NoResult::Reported(Box::new(report.clone()))));
        }
    }
}

impl ServerRuntime {
    /// Tells a device what to do within a session, and waits for what comes of it.
    pub(crate) async fn command(
        self: &Arc<Self>,
        session: &Text,
        agent: Text,
        actions: Vec<Command>,
        timeout: Option<Duration>,
        hearing: Option<Hearing>,
    ) -> Result<Given, NoResult> {
        let order =
            |key| Happening::Command { session: session.clone(), order: Order { key, agent, actions, timeout } };
        self.ordered(session, hearing, order).await
    }

    /// Gives a device a task that it does by itself, and waits until it says that it is over.
    pub(crate) async fn assign(
        self: &Arc<Self>,
        session: &Text,
        to: Assignment,
        hearing: Hearing,
    ) -> Result<Given, NoResult> {
        self.ordered(session, Some(hearing), |_| Happening::Assign { session: session.clone(), to }).await
    }

    async fn ordered(
        self: &Arc<Self>,
        session: &Text,
        hearing: Option<Hearing>,
        order: impl FnOnce(u64) -> Happening,
    ) -> Result<Given, NoResult> {
        let (reply, given) = oneshot::channel();
        let key = {
            let mut state = self.state();
            if state.unwanted.contains(session) {
                return Err(NoResult::Unwanted);
            }
            state.numbered += 1;
            let key = state.numbered;
            state.orders.insert(key, Waiting { session: session.clone(), reply, hearing });
            key
        };
        let _ordered = Ordered { runtime: self, key };
        self.step(order(key));
        given.await.unwrap_or(Err(NoResult::Lost))
    }
}

/// An order that is waited for, until it is not.
struct Ordered<'d> {
    runtime: &'d ServerRuntime,
    key: u64,
}

impl Drop for Ordered<'_> {
    fn drop(&mut self) {
        self.runtime.state().orders.remove(&self.key);
    }
}
