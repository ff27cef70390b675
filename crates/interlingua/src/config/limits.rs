//! How much the hub takes at once, and how long it waits.

use schemars::JsonSchema;
use serde::Deserialize;

use super::limit_rules::LimitRule;
use interlingua_settings::{Rate, Size, Span};

#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// The largest request body or WebSocket message, and the largest message of a peer.
    pub body: Size,
    /// The largest request body of a caller who has shown no credential; a WebSocket message of such a one may be 64 KiB.
    pub anonymous_body: Size,
    /// Bodies that are held at the same time, all callers' together; those of up to 64 KiB do not count.
    pub bodies: Size,
    /// Answers of peers that are held at the same time, all together, until what was made of them is done with; those of up to
    /// 64 KiB do not count.
    pub answers: Size,
    /// What exchanges hold of memory while they run, all together, and each caller's a quarter of it: their arguments, what their
    /// peers said so far, and their place among the tasks. Of one that is not kept the first 64 KiB do not count.
    pub exchanges: Size,
    /// Messages that wait in the inboxes of agents, and answers that are remembered there, all together; each sender's a quarter.
    pub inboxes: Size,
    /// Sessions of the routing envelope that are not persisted, all together, and sessions over MCP, all together; each caller's
    /// a quarter.
    pub sessions: Size,
    /// What one task may keep in its journal: its arguments, what its peer says and its result. One that wants more fails.
    pub task: Size,
    /// How long a whole message of a WebSocket or of a peer may take, from its first byte to its last, and a second more for every 64 KiB of it that came.
    pub message_time: Span,
    /// The deepest nesting of a message.
    pub depth: u16,
    /// How many values a message may have: what is made of each takes memory, however small it is.
    pub values: u32,
    /// How long an exchange may take when its caller does not say.
    pub deadline: Span,
    /// How long a question to a person waits for its answer: a yes, or what is missing.
    pub question: Span,
    /// Exchanges of one caller that wait for an answer or an approval at the same time; one more is refused as busy. The Owner's
    /// are not counted.
    pub waiting: u32,
    /// Exchanges that run at the same time.
    pub in_flight: u32,
    /// Exchanges that wait for their turn; one more is refused as busy.
    pub queue: u32,
    /// Calls of one caller. Without it only anonymous callers are limited, all together to 200/s.
    pub rate: Option<Rate>,
    /// How long the same message id replays the result instead of running again; 0 is never.
    pub replay: Span,
    /// Connections open at the same time.
    pub connections: u32,
    /// Of these, from one address (of IPv6, one network of 64 bits); more are turned away. Without it three quarters of them.
    pub connections_per_address: Option<u32>,
    /// WebSockets from one address whose callers have not shown who they are; four times as many in all.
    pub anonymous_sockets: u32,
    /// Limits by who calls, how, and what; all that fit a call count.
    pub rules: Vec<LimitRule>,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            body: Size::mib(64),
            anonymous_body: Size::mib(1),
            bodies: Size::mib(512),
            answers: Size::mib(512),
            exchanges: Size::mib(512),
            inboxes: Size::mib(256),
            sessions: Size::mib(64),
            task: Size::mib(256),
            message_time: Span::seconds(60),
            depth: 128,
            values: 1_000_000,
            deadline: Span::seconds(300),
            question: Span::hours(1),
            waiting: 1_000,
            in_flight: 4096,
            queue: 16_384,
            rate: None,
            replay: Span::hours(24),
            connections: 16_384,
            connections_per_address: None,
            anonymous_sockets: 256,
            rules: Vec::new(),
        }
    }
}

impl Limits {
    /// What anonymous callers may do together when no rate is configured.
    pub const ANONYMOUS: Rate = Rate::per_second(200);

    /// How many connections one address may have.
    pub fn from_one_address(&self) -> u32 {
        self.connections_per_address.unwrap_or(self.connections - self.connections / 4)
    }
}
