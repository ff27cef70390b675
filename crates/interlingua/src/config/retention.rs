//! How long what is finished is kept: by age, by count, by size.

use schemars::JsonSchema;
use serde::Deserialize;

use interlingua_settings::{Size, Span};

#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Retention {
    /// Finished tasks, after they ended.
    pub tasks: Span,
    /// Finished tasks at most; the oldest go first.
    pub tasks_count: u64,
    /// Tasks of one caller at most: its oldest finished ones make room, and while none of those has finished, one more is
    /// refused. The Owner has no such bound; anonymous callers have one together.
    pub tasks_per_caller: u64,
    /// What one caller may keep: its tasks with all that belongs to them, its conversations and sessions, its artifacts and
    /// uploads with their content, its webhooks, its messages that wait for agents, its events and notifications. Its oldest
    /// finished tasks make room, or more is refused. The Owner has no such bound.
    pub bytes_per_caller: Size,
    /// The same of all anonymous callers together.
    pub anonymous_bytes: Size,
    /// Conversations nobody has spoken in.
    pub conversations: Span,
    /// Conversations of one caller at most, and sessions of the envelope with them; one more is refused.
    pub conversations_per_caller: u64,
    /// Lines of the audit.
    pub audit: Span,
    /// Records of the audit at most, each with the lines of a moment; the oldest go first.
    pub audit_count: u64,
    /// Bytes of the audit at most; the oldest records go first.
    pub audit_bytes: Size,
    /// Artifacts and uploads together; what was not read for longest goes first.
    pub artifacts: Size,
    /// When the clock is further than this past the newest record at a start, nothing is removed by age for a day: the clock may
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
