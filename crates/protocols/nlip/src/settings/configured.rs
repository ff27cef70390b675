//! The section `nlip`: the NLIP endpoints and the routing envelope. Each key changes what the running router does.

use schemars::JsonSchema;
use serde::Deserialize;

use interlingua_endpoint::sections::Section;
use interlingua_settings::{Key, Span};

#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Nlip {
    /// Off: the NLIP doors are closed, and the routing envelope answers an explicit `disabled` error.
    pub enabled: bool,
    pub schema_version: SchemaVersion,
    /// Calls of agents travel as routed messages, unless a request, an agent or its team says otherwise.
    pub agents: bool,
    pub router: Router,
    pub translation: Translation,
    pub tokens: Tokens,
}

impl Default for Nlip {
    fn default() -> Self {
        Nlip {
            enabled: true,
            schema_version: SchemaVersion::default(),
            agents: false,
            router: Router::default(),
            translation: Translation::default(),
            tokens: Tokens::default(),
        }
    }
}

impl Section for Nlip {
    fn numbers(&self) -> Vec<(&'static str, u64)> {
        let router = &self.router;
        vec![
            ("nlip.router.session_timeout_hours", router.session_timeout_hours.into()),
            ("nlip.router.max_parallel_calls", router.max_parallel_calls.into()),
        ]
    }

    fn spans(&self) -> Vec<(&'static str, Option<Span>)> {
        vec![("nlip.router.default_timeout", self.router.default_timeout)]
    }

    fn routes_agents(&self) -> Option<bool> {
        Some(self.agents)
    }
}

/// The envelope's schema. There is one; any other is refused, in this file as in a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
pub enum SchemaVersion {
    #[default]
    #[serde(rename = "1.0")]
    V1,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Router {
    /// Off: the routing envelope answers an explicit `disabled` error; the NLIP doors stay open.
    pub enabled: bool,
    /// Sessions nobody has spoken in expire after so many hours.
    pub session_timeout_hours: u32,
    /// How long a request may take when its `control.timeout` does not say. Without it `limits.deadline` holds.
    pub default_timeout: Option<Span>,
    /// Remember which messages a session had, and replay a repeated message id.
    pub enable_message_tracking: bool,
    /// Keep sessions and their state between requests. Off: every request stands alone.
    pub enable_state_management: bool,
    /// Offer a stream of events to callers that accept one. Off: always one array of responses.
    pub enable_streaming: bool,
    /// Hold pieces back and send each answer whole, even in a stream.
    pub buffer_partial_responses: bool,
    /// Tool calls of one request that run at the same time.
    pub max_parallel_calls: u16,
}

impl Default for Router {
    fn default() -> Self {
        Router {
            enabled: true,
            session_timeout_hours: 24,
            default_timeout: None,
            enable_message_tracking: true,
            enable_state_management: true,
            enable_streaming: true,
            buffer_partial_responses: false,
            max_parallel_calls: 8,
        }
    }
}

/// A translator that is off answers `translator disabled` to its calls.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Translation {
    /// Tools of other servers, spelled `mcp__server__tool`.
    pub mcp_enabled: bool,
    /// Tools from the tools directory, spelled `custom_tool__name`.
    pub custom_tools_enabled: bool,
    /// The hub's own file tools.
    pub builtin_tools_enabled: bool,
}

impl Default for Translation {
    fn default() -> Self {
        Translation { mcp_enabled: true, custom_tools_enabled: true, builtin_tools_enabled: true }
    }
}

#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Tokens {
    /// Open a session for a request that brings none, or one that has expired. Off: the first stands alone, the second is
    /// refused with `session_expired`; only a notification then makes the session it names.
    pub auto_generate_sessions: bool,
    /// Count turns. Off: a response repeats the turn of its request.
    pub track_conversation_turns: bool,
    /// Keep context tokens over a restart, encrypted. Off: they live in memory.
    pub persist_context_tokens: bool,
    /// What contexts are encrypted with. Without it one is made once in the data directory.
    pub key: Option<Key>,
    /// Earlier keys, still accepted for reading.
    pub old_keys: Vec<Key>,
}

impl Default for Tokens {
    fn default() -> Self {
        Tokens {
            auto_generate_sessions: true,
            track_conversation_turns: true,
            persist_context_tokens: true,
            key: None,
            old_keys: Vec::new(),
        }
    }
}
