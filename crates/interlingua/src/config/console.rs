//! The section `console`: the web console and its sessions.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use super::Span;
use interlingua_access::sessions::SessionRules;

#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Console {
    /// Serve the web console at `/console/` and take its sessions.
    pub enabled: bool,
    /// Refuse every change that a session asks for, except signing out.
    pub read_only: bool,
    pub session: ConsoleSession,
}

impl Default for Console {
    fn default() -> Console {
        Console { enabled: true, read_only: false, session: ConsoleSession::default() }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ConsoleSession {
    /// A session ends after this time without a request.
    pub idle: Span,
    /// A session ends after this time at the latest.
    pub longest: Span,
}

impl Default for ConsoleSession {
    fn default() -> ConsoleSession {
        ConsoleSession { idle: Span(Duration::from_secs(30 * 60)), longest: Span(Duration::from_secs(12 * 3600)) }
    }
}

impl Console {
    pub(crate) fn rules(&self) -> SessionRules {
        SessionRules {
            enabled: self.enabled && cfg!(feature = "console"),
            read_only: self.read_only,
            idle: self.session.idle.0,
            longest: self.session.longest.0,
        }
    }
}
