//! Access control settings: which callers may call what. Without this section the Owner may do everything, and anyone else may call what is
//! public.

mod check;
mod issuers;
pub mod policy;
pub mod tokens;

pub use issuers::Issuer;
pub use policy::PolicyFile;

use indexmap::IndexMap;
use interlingua_model::{Digest, Time};
use schemars::JsonSchema;
use serde::Deserialize;

use interlingua_settings::{Secret, nearest};

#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Access {
    /// The list of callers, or `file:PATH` of a YAML file that is such a list.
    pub tokens: Vec<AccessToken>,
    pub anonymous: Anonymous,
    /// Authorization rules in Cedar: a file, or a folder of files that end in `.cedar`. The rules then decide, and tokens only
    /// identify a caller and limit what its credential may do.
    pub policy: Option<PolicyFile>,
    /// Members of the roles of the rules: `user:NAME`, `agent:NAME`, `device:ID`, `orchestrator:ID`, `hub:ID`, or
    /// `role:NAME` for all members of another role.
    pub roles: IndexMap<String, Vec<String>>,
    /// Trusted issuers of tokens, by a name that you choose.
    pub issuers: IndexMap<String, Issuer>,
}

/// What checks of this section need of the rest of a configuration.
#[derive(Debug, Clone, Default)]
pub struct Around<'a> {
    /// Where others reach the hub.
    pub hub_url: Option<&'a str>,
    /// Whoever connects may show a certificate.
    pub asks_certificates: bool,
    /// Names of all peers.
    pub peers: Vec<&'a str>,
    /// Names of agents, then of teams.
    pub agents: Vec<&'a str>,
}

impl Around<'_> {
    /// May somebody act under this name as an agent or a team?
    fn is_agent(&self, name: &str) -> bool {
        self.agents.contains(&name)
    }

    /// Before 0.2 an orchestrator with the key was called an agent.
    fn no_such_agent(&self, name: &str, instead: &str) -> String {
        let meant = nearest(name, self.agents.iter().copied());
        let meant = meant.map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_default();
        format!("no agent or team is called `{name}`, so this is nobody; an orchestrator of AIP is `{instead}`{meant}")
    }
}

/// What a caller without a credential may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Anonymous {
    /// May list and call what is public.
    #[default]
    Public,
    /// May only request health checks: every other request needs a credential.
    Refused,
}

/// A caller with a token or a certificate. Only the digest is stored.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "Written")]
pub struct AccessToken {
    pub name: String,
    pub shows: Shows,
    pub digest: Digest,
    pub skills: Vec<String>,
    pub approve: bool,
    pub register: bool,
    pub roles: Vec<String>,
    pub expires: Option<Time>,
}

/// What a caller is known by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Shows {
    Token,
    Certificate,
}

/// A caller in the list.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "AccessToken")]
struct Written {
    /// Name of the caller, in tasks, keys and the audit log.
    name: String,
    /// The token itself; or, better, its `sha256`; or a `certificate`. Exactly one of them.
    token: Option<Secret>,
    /// The SHA-256 of the token, in hexadecimal (`printf %s TOKEN | sha256sum`). `interlingua token create` writes it.
    sha256: Option<String>,
    /// The SHA-256 of a client's certificate, in hexadecimal (`openssl x509 -in CERT -outform der | sha256sum`); see `tls.clients`.
    certificate: Option<String>,
    /// Skills that it may call, as `peer/skill`; `*` matches any characters. Default: all.
    #[serde(default = "everything")]
    skills: Vec<String>,
    /// It may approve calls.
    #[serde(default)]
    approve: bool,
    /// It may register agents, which others then find and call.
    #[serde(default)]
    register: bool,
    /// Roles of the caller in the rules of `policy`.
    #[serde(default)]
    roles: Vec<String>,
    /// Expiry, such as `2027-01-31T00:00:00Z`.
    expires: Option<String>,
}

fn everything() -> Vec<String> {
    vec!["*".into()]
}

impl TryFrom<Written> for AccessToken {
    type Error = &'static str;

    fn try_from(written: Written) -> Result<AccessToken, Self::Error> {
        let hex = |text: &str| text.trim().to_ascii_lowercase().parse::<Digest>();
        let (shows, digest) = match (&written.token, &written.sha256, &written.certificate) {
            (Some(token), None, None) => (Shows::Token, Digest::of(token.expose().value().unwrap_or_default())),
            (None, Some(digest), None) => (Shows::Token, hex(digest).map_err(|_| "`sha256` is 64 hexadecimal digits")?),
            (None, None, Some(digest)) => {
                (Shows::Certificate, hex(digest).map_err(|_| "`certificate` is 64 hexadecimal digits, its SHA-256")?)
            }
            (None, None, None) => return Err("a caller needs a `token`, its `sha256`, or a `certificate`"),
            _ => return Err("only one of `token`, `sha256` and `certificate`"),
        };
        let expires = written.expires.as_deref().map(expiry).transpose()?;
        let Written { name, skills, approve, register, roles, .. } = written;
        Ok(AccessToken { name, shows, digest, skills, approve, register, roles, expires })
    }
}

/// A time from which something is refused.
pub fn expiry(text: &str) -> Result<Time, &'static str> {
    let stamp: Option<jiff::Timestamp> = text.parse().ok();
    let millis = stamp.and_then(|stamp| u64::try_from(stamp.as_millisecond()).ok());
    millis.map(Time).ok_or("`expires` is a time with its zone, such as `2027-01-31T00:00:00Z`")
}

impl Access {
    /// Of all that a right can rest on: a yes is for one version of it.
    pub fn digest(&self) -> Digest {
        let tokens = self.tokens.iter().map(AccessToken::rights);
        let roles = self.roles.iter().map(|(role, members)| format!("{role}={members:?}"));
        let issuers = self.issuers.iter().map(|(name, issuer)| format!("{name} {issuer:?}"));
        let anonymous = format!("{:?}", self.anonymous);
        let all: Vec<String> = [anonymous].into_iter().chain(tokens).chain(roles).chain(issuers).collect();
        Digest::of_fields(all.iter().map(String::as_bytes))
    }
}

impl AccessToken {
    fn rights(&self) -> String {
        let AccessToken { name, shows, digest, skills, approve, register, roles, expires } = self;
        format!("{name:?} {shows:?} {digest} {skills:?} {approve} {register} {roles:?} {expires:?}")
    }
}

impl JsonSchema for AccessToken {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        Written::schema_name()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        Written::json_schema(generator)
    }
}
