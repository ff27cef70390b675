//! Disconnects: a caller that left and may come back, and a peer that must be reached again to send it a cancel.

use std::collections::VecDeque;

use interlingua_machines::task::{CANCEL_GRACE, Due, Effect, Happening, Standing};
use interlingua_model::{CancelWhy, Event, Fault, OnDisconnect, Record, Signal, Time};

use super::Driver;
use super::peer_state::{self, News, Side};

/// What is waited for while nothing else happens.
#[derive(Debug, Clone, Copy)]
pub(super) enum Timer {
    Task(Due),
    /// A caller that disconnected has not come back.
    Caller,
}

impl Driver {
    /// The earliest thing that will happen by itself.
    pub(super) fn next_timer(&self) -> Option<(Time, Timer)> {
        let due = self.task.next_due().map(|(at, due)| (at, Timer::Task(due)));
        let stays_away = self.patience.map(|until| (until, Timer::Caller));
        [due, stays_away].into_iter().flatten().min_by_key(|(at, _)| *at)
    }

    pub(super) fn time_came(&mut self, timer: Timer) -> Result<VecDeque<Effect>, Fault> {
        match timer {
            Timer::Task(due) => self.decide(due.into()),
            Timer::Caller => {
                self.patience = None;
                if self.has_caller() {
                    return Ok(VecDeque::new());
                }
                self.decide(Happening::CallerStayedAway)
            }
        }
    }

    /// Unless the caller came back, or another one that sent the same message is still connected.
    pub(super) fn caller_gone(&mut self) -> VecDeque<Effect> {
        if self.has_caller() {
            return VecDeque::new();
        }
        self.decide(Happening::CallerGone).unwrap_or_default()
    }

    fn has_caller(&self) -> bool {
        self.kept.as_ref().is_some_and(|kept| kept.live.has_caller())
    }

    /// Dropping the call would not stop a peer that stores it under an id.
    pub(super) fn peer_knows_it(&self) -> bool {
        self.task.finished().is_none() && self.task.sent.as_ref().is_some_and(|sent| sent.remote.is_some())
    }

    /// Reconnects to the peer by its id of the call, if no attempt is running, and then sends the cancel. The grace period of a cancel
    /// bounds how long that may take.
    pub(super) async fn tell_when_reached(&mut self, signal: Signal) -> Result<VecDeque<Effect>, Fault> {
        self.unsaid = Some(signal);
        if matches!(self.side, Side::Idle)
            && let Some(sent) = self.task.sent.clone()
        {
            self.dispatch(sent, None, true).await?;
        }
        Ok(VecDeque::new())
    }

    /// The peer is reached.
    pub(super) fn say_unsaid(&mut self) -> Result<VecDeque<Effect>, Fault> {
        let (Side::Live(exchange), Some(signal)) = (&mut self.side, self.unsaid.take()) else {
            return Ok(VecDeque::new());
        };
        match peer_state::told(exchange, signal) {
            Ok(()) => Ok(VecDeque::new()),
            Err(_) => self.decide(Happening::CancelGraceOver),
        }
    }

    /// The parent has ended for good, so it is cancelled, also while it waits for an answer.
    pub(crate) fn let_go(&mut self) -> Result<VecDeque<Effect>, Fault> {
        let (by, signal) = (self.task.by.clone(), Signal::Cancel(CancelWhy::Superseded));
        self.decide(Happening::Signal { by, standing: Standing { owns: true, approves: false }, signal })
    }

    /// The caller of an exchange that is not stored has left: `on_disconnect` decides what follows.
    pub(crate) async fn abandoned(mut self) {
        match self.task.call.limits.on_disconnect {
            // Nobody waits to hear of it; the launch tells the driver so, and the caller's manners decide.
            OnDisconnect::Detach | OnDisconnect::CancelAfter(_) => drop(self.launch_later(0)),
            OnDisconnect::Cancel => {
                self.lines.write(&self.hub.audit);
                self.cancel_and_wait(CancelWhy::Disconnected).await;
                self.ended();
            }
        }
    }

    /// It is not stored: another exchange of the same message is, or nothing can be. Its caller was informed.
    pub(super) async fn superseded(mut self) {
        self.cancel_and_wait(CancelWhy::Superseded).await;
        self.meter.rested(&self.hub.meters);
    }

    async fn cancel_and_wait(&mut self, why: CancelWhy) {
        let _grace_over = tokio::time::timeout(CANCEL_GRACE, self.cancelled(why)).await;
    }

    /// Is the peer on the line? One that ended its request to ask is reached again by the id under which it knows the call.
    async fn is_reached(&mut self) -> bool {
        if matches!(self.side, Side::Idle)
            && self.peer_knows_it()
            && let Some(sent) = self.task.sent.clone()
            && self.dispatch(sent.clone(), None, true).await.is_ok()
        {
            loop {
                match self.side.next().await {
                    News::Looked => {
                        self.side = Side::Idle;
                        if self.dispatch(sent.clone(), None, true).await.is_err() {
                            return false;
                        }
                    }
                    News::Entered(permit, calling) => {
                        self.permit = Some(permit);
                        self.side = Side::Calling(calling);
                    }
                    News::Began(exchange) => {
                        self.side = Side::Live(exchange);
                        break;
                    }
                    News::Placed(_)
                    | News::Refused(_)
                    | News::Done(..)
                    | News::Record(_)
                    | News::Checked(..)
                    | News::Ended => return false,
                }
            }
        }
        matches!(self.side, Side::Live(_))
    }

    async fn cancelled(&mut self, why: CancelWhy) {
        if !self.is_reached().await {
            return;
        }
        let Side::Live(exchange) = &mut self.side else { return };
        if peer_state::told(exchange, Signal::Cancel(why)).is_err() {
            return;
        }
        while !matches!(
            self.side.next().await,
            News::Ended | News::Record(Record::Emitted { event: Event::Finished(_), .. })
        ) {}
    }
}
