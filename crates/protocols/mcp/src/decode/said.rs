//! Metadata of a request: the client, its capabilities, and the priority.
//!
//! A request of the modern era has them in its `_meta`; in the legacy era most of them were sent when the session began.

use interlingua_model::{Deadline, DeadlineBy, Json, Level, MessageId, Priority, Time, Trace, Via};

use crate::Version;
use crate::fault::{Refused, UNSUPPORTED_VERSION};
use crate::wire::capabilities::Client;
use crate::wire::meta;
use interlingua_wire::hub_headers;
use interlingua_wire::members::Members;
use interlingua_wire::object::Object;
use interlingua_wire::rpc::{self, Id};

/// What a request says beside what it asks.
#[derive(Debug, Clone, PartialEq)]
pub struct Said {
    pub version: Version,
    pub client: Client,
    /// Progress is told under it.
    pub progress: Option<Id>,
    /// Log lines from this level up; without it none.
    pub log: Option<Level>,
    pub trace: Option<Trace>,
    pub via: Option<Via>,
    /// What the hub before says led to it, as it came.
    pub origin: Option<String>,
    pub deadline: Option<Deadline>,
    pub priority: Priority,
    /// An idempotency key.
    pub message: Option<MessageId>,
    /// What of `_meta` is neither the protocol's nor ours: a peer of the same protocol may know it.
    pub free: Option<Json>,
}

impl Said {
    fn new(version: Version, client: Client, meta: &Members, now: Time) -> Result<Said, Refused> {
        let (via, deadline, priority) = (meta::via(meta), meta.text(meta::DEADLINE), meta.text(meta::PRIORITY));
        let hop = hub_headers::Headers {
            via: via.as_deref(),
            deadline: deadline.as_deref(),
            priority: priority.as_deref(),
            ..hub_headers::Headers::default()
        };
        let hop = hop.decode(now).map_err(|bad| Refused::params(bad.to_string()))?;
        let priority = match meta.number(meta::PRIORITY).map(Priority::new) {
            Some(Some(priority)) => priority,
            Some(None) => return Err(Refused::params("interlingua/priority must be 0 to 9")),
            None => hop.priority,
        };
        Ok(Said {
            version,
            client,
            progress: meta.get(meta::PROGRESS_TOKEN).as_ref().and_then(Id::of).filter(|token| !token.is_null()),
            log: None,
            trace: meta::trace(meta),
            via: hop.via,
            origin: meta.text(meta::ORIGIN).map(|text| text.into_owned()),
            deadline: hop.deadline.map(|deadline| Deadline { set_by: DeadlineBy::Caller, ..deadline }),
            priority,
            message: meta.text(meta::MESSAGE_ID).map(|id| MessageId::from(&*id)),
            free: meta::free(meta),
        })
    }

    /// A modern request, by its `_meta`: version and capabilities are required (2026-07-28, basic, `_meta`).
    pub fn modern(meta: Option<&Members>, now: Time) -> Result<Said, Refused> {
        let meta = meta.ok_or_else(|| Refused::malformed("`_meta` is missing"))?;
        let named = |key: &str| Refused::malformed(format!("`_meta` has no {key}"));
        let version = meta.text(meta::PROTOCOL_VERSION).ok_or_else(|| named(meta::PROTOCOL_VERSION))?;
        let version = match Version::parse(&version) {
            Some(version) if version.is_modern() => version,
            Some(_) | None => return Err(unsupported(&version)),
        };
        let client = meta.object(meta::CLIENT_CAPABILITIES).ok_or_else(|| named(meta::CLIENT_CAPABILITIES))?;
        let log = match meta.text(meta::LOG_LEVEL) {
            None => None,
            Some(level) => Some(self::level(&level).ok_or_else(|| Refused::malformed("no such log level"))?),
        };
        Ok(Said { log, ..Said::new(version, Client::decode(&client, version), meta, now)? })
    }

    /// A request of a session.
    pub fn legacy(params: &Members, version: Version, client: Client, now: Time) -> Result<Said, Refused> {
        let meta = params.object(meta::META).unwrap_or(Members::absent());
        Said::new(version, client, &meta, now)
    }
}

/// A version this hub does not answer in.
fn unsupported(asked: &str) -> Refused {
    let data = Object::json(|data| {
        data.array("supported", Version::SERVED, |version, out| {
            interlingua_model::json::write_string(version.as_str(), out);
        });
        data.text("requested", &asked.chars().take(64).collect::<String>());
    });
    Refused { error: rpc::Error::new(UNSUPPORTED_VERSION, "Unsupported protocol version").with(data), status: 400 }
}

/// The protocol's eight levels as the model's four.
pub(super) fn level(text: &str) -> Option<Level> {
    Some(match text {
        "debug" => Level::Debug,
        "info" | "notice" => Level::Info,
        "warning" => Level::Warning,
        "error" | "critical" | "alert" | "emergency" => Level::Error,
        _ => return None,
    })
}

/// The level as the protocol spells it.
pub fn level_name(level: Level) -> &'static str {
    match level {
        Level::Debug => "debug",
        Level::Info => "info",
        Level::Warning => "warning",
        Level::Error => "error",
    }
}
