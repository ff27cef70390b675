//! Connection state machine of the server: the identity of a connection, the frames it may send, and its liveness.
//!
//! A frame that needs only the connection (heartbeats, refusals, echoes) is answered here; the rest is passed to the [`super::server`].
//! Identity is pinned at REGISTER. Time is passed in, nothing waits here.

use std::time::Duration;

use interlingua_model::{Text, Time};

use super::invalid::Invalid;
use super::profile;
use super::say::{self, Stamp};
use super::wire::{ClientKind, ClientMessage, ClientType, ServerMessage};

/// The code of a close that says the other side broke the rules.
pub const POLICY: u16 = 1008;
/// An ordinary close.
pub const NORMAL: u16 = 1000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pulse {
    /// How long a connection may take to say who it is.
    pub register: Duration,
    /// After this much silence it is pinged.
    pub ping: Duration,
    /// A ping that stays without an answer for this long: it is dead.
    pub timeout: Duration,
}

impl Default for Pulse {
    fn default() -> Self {
        Pulse { register: Duration::from_secs(10), ping: Duration::from_secs(20), timeout: Duration::from_secs(20) }
    }
}

/// Which frames a client speaks: as the Python implementation does, or the wider profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tongue {
    Plain,
    Profile,
}

/// Who a connection said it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    pub id: Text,
    pub role: ClientType,
    pub tongue: Tongue,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Link {
    pulse: Pulse,
    opened: Time,
    heard: Time,
    pinged: Option<Time>,
    /// Once the server let it in.
    who: Option<Identity>,
    /// It said who it is, and the server has not answered yet.
    asked: bool,
}

/// What comes of a frame.
#[derive(Debug, Clone, PartialEq)]
pub enum Heard {
    Reply(ServerMessage),
    /// This is the last frame.
    Refuse(ServerMessage, u16),
    /// For the server, with the sender's id filled in.
    Pass(ClientMessage),
    Nothing,
}

/// What time brings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Due {
    Ping,
    /// It never said who it is, or no longer answers.
    Close(u16),
    Nothing,
}

impl Link {
    pub fn open(pulse: Pulse, now: Time) -> Link {
        Link { pulse, opened: now, heard: now, pinged: None, who: None, asked: false }
    }

    /// The server let it in.
    pub fn admit(&mut self, who: Identity) {
        self.who = Some(who);
    }

    pub fn who(&self) -> Option<&Identity> {
        self.who.as_ref()
    }

    /// It said who it is, and the server has not answered yet.
    pub fn is_pending(&self) -> bool {
        self.who.is_none() && self.asked
    }

    /// It gave a sign of life: a frame, a ping, a pong.
    pub fn alive(&mut self, now: Time) {
        self.heard = self.heard.max(now);
    }

    /// A text frame, read or not.
    pub fn hear(&mut self, frame: Result<ClientMessage, Invalid>, stamp: &mut Stamp<'_>) -> Heard {
        self.alive(stamp.now);
        match (&self.who, frame) {
            (None, frame) => self.first(frame, stamp),
            (Some(_), Err(invalid)) => Heard::Reply(say::error(invalid.to_string(), stamp)),
            (Some(who), Ok(message)) => known(who, message, stamp),
        }
    }

    /// A binary frame, which this wire has no use for. The connection stays usable.
    pub fn binary(&mut self, stamp: &mut Stamp<'_>) -> Heard {
        self.alive(stamp.now);
        let refusal = say::error("binary frames are not understood here", stamp);
        if self.who.is_none() { Heard::Refuse(refusal, POLICY) } else { Heard::Reply(refusal) }
    }

    fn first(&mut self, frame: Result<ClientMessage, Invalid>, stamp: &mut Stamp<'_>) -> Heard {
        let problem = match frame {
            Err(invalid) => invalid.to_string(),
            Ok(message) if message.kind != ClientKind::Register => "the first frame must be a register".to_owned(),
            Ok(message) => match message.check() {
                Err(invalid) => invalid.to_string(),
                Ok(()) if self.asked => "one register is enough".to_owned(),
                Ok(()) => {
                    self.asked = true;
                    return Heard::Pass(message);
                }
            },
        };
        Heard::Refuse(say::error(problem, stamp), POLICY)
    }

    pub fn tick(&mut self, now: Time) -> Due {
        if self.who.is_none() && !self.asked && self.opened.after(self.pulse.register) <= now {
            return Due::Close(POLICY);
        }
        match self.pinged.filter(|pinged| *pinged > self.heard) {
            Some(pinged) if pinged.after(self.pulse.timeout) <= now => Due::Close(NORMAL),
            Some(_) => Due::Nothing,
            None if self.heard.after(self.pulse.ping) <= now => {
                self.pinged = Some(now);
                Due::Ping
            }
            None => Due::Nothing,
        }
    }

    /// When to call [`Link::tick`], if nothing happens before.
    pub fn next_timer(&self) -> Time {
        let pulse = match self.pinged.filter(|pinged| *pinged > self.heard) {
            Some(pinged) => pinged.after(self.pulse.timeout),
            None => self.heard.after(self.pulse.ping),
        };
        match self.who {
            None if !self.asked => pulse.min(self.opened.after(self.pulse.register)),
            None | Some(_) => pulse,
        }
    }
}

fn known(who: &Identity, mut message: ClientMessage, stamp: &mut Stamp<'_>) -> Heard {
    let id = message.client_id.get_or_insert_with(|| who.id.clone());
    if *id != who.id {
        return Heard::Reply(say::error("client_id does not match the registered connection", stamp));
    }
    // A constellation's real heartbeat leaves its type out, and what is left out means a device.
    let leaks = message.kind == ClientKind::Heartbeat && message.client_type == ClientType::Device;
    if message.client_type != who.role && !leaks {
        return Heard::Reply(say::error("client_type does not match the registered connection", stamp));
    }
    let wide_device = who.tongue == Tongue::Profile && who.role == ClientType::Device;
    match message.kind {
        // The server answers one with log lines.
        ClientKind::Heartbeat if wide_device && profile::has_lines(&message) => Heard::Pass(message),
        ClientKind::Heartbeat => Heard::Reply(say::ack(None, stamp)),
        ClientKind::Error => {
            let text = message.error.filter(|text| !text.is_empty());
            Heard::Reply(say::error(text.unwrap_or_else(|| "Unknown error".into()), stamp))
        }
        ClientKind::Register => Heard::Reply(say::error(unknown("REGISTER"), stamp)),
        ClientKind::TaskEnd if who.tongue == Tongue::Plain => Heard::Reply(say::error(unknown("TASK_END"), stamp)),
        ClientKind::TaskCancel if who.tongue == Tongue::Plain => {
            Heard::Reply(say::error(unknown("TASK_CANCEL"), stamp))
        }
        ClientKind::DeviceInfoResponse if !wide_device => Heard::Nothing,
        ClientKind::Task
        | ClientKind::CommandResults
        | ClientKind::TaskEnd
        | ClientKind::TaskCancel
        | ClientKind::DeviceInfoRequest
        | ClientKind::DeviceInfoResponse => Heard::Pass(message),
    }
}

fn unknown(kind: &str) -> String {
    format!("Unknown message type: ClientMessageType.{kind}")
}

impl Tongue {
    /// What a REGISTER asks for.
    pub fn of(register: &ClientMessage) -> Tongue {
        if profile::is_asked(register) { Tongue::Profile } else { Tongue::Plain }
    }
}
