//! Who may call what. Without this block: the hub's own user everything, anyone else what is public.

use interlingua_core::{Digest, Time};
use schemars::JsonSchema;
use serde::Deserialize;

use super::secret::Secret;

#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Access {
    /// The list of callers, or `file:PATH` of a YAML file that is such a list.
    pub tokens: Vec<AccessToken>,
    pub anonymous: Anonymous,
}

/// What a caller without a credential may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Anonymous {
    /// Call and see what is public.
    #[default]
    Public,
    /// Nothing but health checks: every other request needs a credential.
    Refused,
}

/// A caller that shows a token. Only its digest is kept.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "Written")]
pub struct AccessToken {
    pub name: String,
    pub digest: Digest,
    pub skills: Vec<String>,
    pub approve: bool,
    pub register: bool,
    pub expires: Option<Time>,
}

/// A caller as it is written in the list.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "AccessToken")]
struct Written {
    /// Who it is: what tasks, keys and the audit know the caller by.
    name: String,
    /// The token itself; or, better, its `sha256`. Exactly one of them.
    token: Option<Secret>,
    /// The SHA-256 of the token, in hexadecimal (`printf %s TOKEN | sha256sum`).
    sha256: Option<String>,
    /// Skills it may call, as `peer/skill`; `*` stands for any letters. Default: all.
    #[serde(default = "everything")]
    skills: Vec<String>,
    /// It may say yes to what waits for a confirmation.
    #[serde(default)]
    approve: bool,
    /// It may register agents, which others then find and call.
    #[serde(default)]
    register: bool,
    /// From then on it is refused, such as `2027-01-31T00:00:00Z`.
    expires: Option<String>,
}

fn everything() -> Vec<String> {
    vec!["*".into()]
}

impl TryFrom<Written> for AccessToken {
    type Error = &'static str;

    fn try_from(written: Written) -> Result<AccessToken, Self::Error> {
        let digest = match (&written.token, &written.sha256) {
            (Some(token), None) => Digest::of(token.expose().value().unwrap_or_default()),
            (None, Some(hex)) => {
                hex.trim().to_ascii_lowercase().parse().map_err(|_| "`sha256` is 64 hexadecimal digits")?
            }
            (Some(_), Some(_)) => return Err("either `token` or `sha256`, not both"),
            (None, None) => return Err("a caller needs a `token` or its `sha256`"),
        };
        let expires = written.expires.as_deref().map(time).transpose()?;
        let Written { name, skills, approve, register, .. } = written;
        Ok(AccessToken { name, digest, skills, approve, register, expires })
    }
}

fn time(text: &str) -> Result<Time, &'static str> {
    let stamp: Option<jiff::Timestamp> = text.parse().ok();
    let millis = stamp.and_then(|stamp| u64::try_from(stamp.as_millisecond()).ok());
    millis.map(Time).ok_or("`expires` is a time with its zone, such as `2027-01-31T00:00:00Z`")
}

impl JsonSchema for AccessToken {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        Written::schema_name()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        Written::json_schema(generator)
    }
}
