//! The section `retention`: how long finished tasks, audit lines and content are stored, by age, count and size.

use schemars::JsonSchema;
use serde::Deserialize;

use interlingua_settings::{Size, Span};

#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Retention {
    /// How long finished tasks are stored.
    pub tasks: Span,
    /// Maximum number of finished tasks; the oldest are removed first.
    pub tasks_count: u64,
    /// Maximum number of tasks of one caller: its oldest finished ones are evicted; if none has finished, one more is
    /// refused. The Owner has no such limit; all anonymous callers share one.
    pub tasks_per_caller: u64,
    /// Storage quota of one caller: its tasks with all that belongs to them, its conversations and sessions, its artifacts and
    /// uploads with their content, its webhooks, its pending messages to agents, its events and notifications. Its oldest
    /// finished tasks are evicted, or more is refused. The Owner has no such limit.
    pub bytes_per_caller: Size,
    /// Storage quota of all anonymous callers together.
    pub anonymous_bytes: Size,
    /// How long conversations are stored after their last turn.
    pub conversations: Span,
    /// Maximum number of conversations of one caller, sessions of the envelope included; one more is refused.
    pub conversations_per_caller: u64,
    /// How long lines of the audit log are stored.
    pub audit: Span,
    /// Maximum number of records of the audit log, each with the lines of a moment; the oldest are removed first.
    pub audit_count: u64,
    /// Maximum size of the audit log; the oldest records are removed first.
    pub audit_bytes: Size,
    /// Maximum size of artifacts and uploads together; the least recently read are removed first.
    pub artifacts: Size,
    /// If the clock at a start is further than this past the newest record, nothing is removed by age for a day: the clock may
    /// be wrong.
    pub clock_leap: Span,
}

impl Default for Retention {
    fn default() -> Self {
        Retention {
            tasks: Span::days(30),
            tasks_count: 1_000_000,
            tasks_per_caller: 100_000,
            bytes_per_caller: Size::gib(4),
            anonymous_bytes: Size::mib(64),
            conversations: Span::hours(24),
            conversations_per_caller: 100_000,
            audit: Span::days(90),
            audit_count: 10_000_000,
            audit_bytes: Size::gib(4),
            artifacts: Size::gib(10),
            clock_leap: Span::days(1),
        }
    }
}
