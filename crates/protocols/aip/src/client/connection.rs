//! Connection to one server, permanently: connect, register, send heartbeats, detect a lost connection, wait, reconnect.

use std::time::Duration;

use interlingua_model::Time;

use crate::backoff::Backoff;
use crate::wire::ClientMessage;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pulse {
    /// How long the server may take to answer a REGISTER.
    pub register: Duration,
    pub heartbeat: Duration,
    /// How long after a heartbeat nothing may be heard before the server counts as dead.
    pub silence: Duration,
}

impl Default for Pulse {
    fn default() -> Self {
        Pulse {
            register: Duration::from_secs(30),
            heartbeat: Duration::from_secs(25),
            silence: Duration::from_secs(25),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Until then; `None`: for good.
    Waiting(Option<Time>),
    Connecting,
    /// REGISTER was sent, and must be answered until then.
    Registering(Time),
    Ready,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ClientConnection {
    pulse: Pulse,
    backoff: Backoff,
    phase: Phase,
    /// Failures since the last success.
    failures: u32,
    heard: Time,
    beat: Time,
}

/// What the line wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wants {
    Connect,
    Register,
    Heartbeat,
    Close,
    Nothing,
}

/// What whoever stands on a line has to do for it.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    Connect,
    Close,
    Send(Box<ClientMessage>),
}

impl Wants {
    /// Each end has a REGISTER and a HEARTBEAT of its own.
    pub fn step(
        self,
        register: impl FnOnce() -> ClientMessage,
        heartbeat: impl FnOnce() -> ClientMessage,
    ) -> Option<Step> {
        match self {
            Wants::Connect => Some(Step::Connect),
            Wants::Close => Some(Step::Close),
            Wants::Register => Some(Step::Send(Box::new(register()))),
            Wants::Heartbeat => Some(Step::Send(Box::new(heartbeat()))),
            Wants::Nothing => None,
        }
    }
}

impl ClientConnection {
    pub fn new(pulse: Pulse, backoff: Backoff, now: Time) -> ClientConnection {
        ClientConnection { pulse, backoff, phase: Phase::Waiting(Some(now)), failures: 0, heard: now, beat: now }
    }

    pub fn phase(&self) -> Phase {
        self.phase
    }

    pub fn is_ready(&self) -> bool {
        self.phase == Phase::Ready
    }

    pub fn connected(&mut self, now: Time) -> Wants {
        self.phase = Phase::Registering(now.after(self.pulse.register));
        (self.heard, self.beat) = (now, now);
        Wants::Register
    }

    /// The server's answer to REGISTER: the first frame there is. Only its status counts.
    pub fn answered(&mut self, let_in: bool, now: Time) -> Wants {
        self.heard = now;
        if !let_in {
            return Wants::Close;
        }
        (self.phase, self.failures, self.beat) = (Phase::Ready, 0, now);
        Wants::Nothing
    }

    pub fn heard(&mut self, now: Time) {
        self.heard = now;
    }

    /// The connection is gone, or was never made. `chance` spreads the wait, 0 to 99.
    pub fn closed(&mut self, now: Time, chance: u8) {
        let wait = self.backoff.wait(self.failures, chance);
        self.failures = self.failures.saturating_add(1);
        self.phase = Phase::Waiting(wait.map(|wait| now.after(wait)));
    }

    /// No more of it.
    pub fn stop(&mut self) {
        self.phase = Phase::Waiting(None);
    }

    pub fn tick(&mut self, now: Time) -> Wants {
        match self.phase {
            Phase::Waiting(Some(until)) if until <= now => {
                self.phase = Phase::Connecting;
                Wants::Connect
            }
            Phase::Registering(until) if until <= now => Wants::Close,
            Phase::Ready if self.beat > self.heard && self.beat.after(self.pulse.silence) <= now => Wants::Close,
            Phase::Ready if self.beat.after(self.pulse.heartbeat) <= now => {
                self.beat = now;
                Wants::Heartbeat
            }
            Phase::Waiting(_) | Phase::Connecting | Phase::Registering(_) | Phase::Ready => Wants::Nothing,
        }
    }

    /// When to call [`ClientConnection::tick`], if nothing happens before.
    pub fn next_timer(&self) -> Option<Time> {
        match self.phase {
            Phase::Waiting(until) => until,
            Phase::Connecting => None,
            Phase::Registering(until) => Some(until),
            Phase::Ready if self.beat > self.heard => {
                Some(self.beat.after(self.pulse.silence).min(self.beat.after(self.pulse.heartbeat)))
            }
            Phase::Ready => Some(self.beat.after(self.pulse.heartbeat)),
        }
    }
}
