//! The section `limits`: sizes, memory budgets, concurrency and timeouts.

use schemars::JsonSchema;
use serde::Deserialize;

use super::limit_rules::LimitRule;
use interlingua_settings::{Rate, Size, Span};

#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// The largest request body or WebSocket message, and the largest message of a peer.
    pub body: Size,
    /// The largest request body of a caller without a credential. Its WebSocket messages may have 64 KiB.
    pub anonymous_body: Size,
    /// Memory budget for request bodies of all callers together. Bodies of up to 64 KiB do not count.
    pub bodies: Size,
    /// Memory budget for responses of all peers together, until they are processed. Responses of up to
    /// 64 KiB do not count.
    pub answers: Size,
    /// Memory budget for running exchanges, all together; each caller may use a quarter. It covers their arguments, what their
    /// peers have sent, and the state of the task. For an exchange that is not stored the first 64 KiB do not count.
    pub exchanges: Size,
    /// Memory budget for pending messages in inboxes of agents and for remembered answers, all together; each sender may use a
    /// quarter.
    pub inboxes: Size,
    /// Memory budget for sessions of the routing envelope that are not persisted, and one of the same size for MCP sessions;
    /// each caller may use a quarter.
    pub sessions: Size,
    /// The largest journal of one task: its arguments, the messages of its peer and its result. A task that needs more fails.
    pub task: Size,
    /// How long a message of a WebSocket or of a peer may take from its first byte to its last, plus one second for
    /// every 64 KiB received.
    pub message_time: Span,
    /// The deepest nesting of a message.
    pub depth: u16,
    /// The maximum number of JSON values in a message: each takes memory, however small it is.
    pub values: u32,
    /// Deadline of an exchange whose caller sets none.
    pub deadline: Span,
    /// How long a question to a person stays open: an approval, or a missing value.
    pub question: Span,
    /// Maximum exchanges of one caller that wait for an answer or an approval; one more is refused as busy. The Owner's
    /// are not counted.
    pub waiting: u32,
    /// Maximum exchanges that run at the same time.
    pub in_flight: u32,
    /// Maximum exchanges in the queue; one more is refused as busy.
    pub queue: u32,
    /// Rate limit of one caller. Without it only anonymous callers are limited, all together to 200/s.
    pub rate: Option<Rate>,
    /// How long a repeated message id returns the first result instead of a second run (idempotency); 0: never.
    pub replay: Span,
    /// Maximum open connections.
    pub connections: u32,
    /// Maximum open connections from one address (IPv6: one /64 network); more are closed. Default: three quarters of
    /// `connections`.
    pub connections_per_address: Option<u32>,
    /// Maximum unauthenticated WebSockets from one address; four times as many in total.
    pub anonymous_sockets: u32,
    /// Limits by caller, protocol, peer and skill. All that match a call apply.
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
