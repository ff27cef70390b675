//! The section `hooks`: a program or an address that is asked before a call is dispatched, and informed of its outcome or of a pending
//! approval.

use std::path::PathBuf;

use interlingua_tools::custom::Aide;
use schemars::JsonSchema;
use serde::Deserialize;

use interlingua_settings::check::url;
use interlingua_settings::{Found, Span};

/// A hook.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "Written")]
pub struct Hook {
    pub at: Moment,
    pub asks: Asks,
    pub skills: Vec<String>,
    pub timeout: Span,
    pub on_failure: Failure,
    /// The folder of the file: where a program's path starts and where it runs.
    pub home: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    Before(HookPhase),
    After(HookPhase),
    On(Occasion),
}

/// What a hook is informed of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Occasion {
    /// An approval is pending.
    Confirm,
    /// A caller sent a notification to its session of the routing envelope.
    Notification,
}

/// Steps of an exchange at which hooks run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum HookPhase {
    /// The call goes to its peer.
    Dispatch,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asks {
    Program { command: Vec<String>, environment: Vec<String> },
    Address(String),
}

/// What happens to a call, or to its result, if the hook fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Failure {
    Refuse,
    Pass,
}

/// A hook.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Hook")]
struct Written {
    /// Run before this step. The hook may refuse the call or change its arguments. Set one of `before`, `after` and
    /// `on`.
    before: Option<HookPhase>,
    /// Run after this step. The hook is informed of the outcome, and may withhold the result or convert it.
    after: Option<HookPhase>,
    /// Run on this event, for example to page a person: `confirm` is a pending approval, `notification` a notification that
    /// a caller sent to its session of the routing envelope. The hook decides nothing.
    on: Option<Occasion>,
    /// A program and its arguments. It reads one JSON object and writes one, or nothing. Set either `command` or
    /// `url`.
    command: Option<Vec<String>>,
    /// Environment variables of the hub that the program receives.
    #[serde(default)]
    environment: Vec<String>,
    /// An address to which the JSON object is posted (webhook).
    url: Option<String>,
    /// Skills that the hook applies to; `*` matches any characters. Default: all.
    #[serde(default = "everything")]
    skills: Vec<String>,
    /// Timeout. Default: 5s.
    timeout: Option<Span>,
    /// If it fails: `refuse` (the default of `before`) or `pass` (the default of `after`).
    on_failure: Option<Failure>,
}

fn everything() -> Vec<String> {
    vec!["*".into()]
}

impl TryFrom<Written> for Hook {
    type Error = &'static str;

    fn try_from(written: Written) -> Result<Hook, Self::Error> {
        let at = match (written.before, written.after, written.on) {
            (Some(phase), None, None) => Moment::Before(phase),
            (None, Some(phase), None) => Moment::After(phase),
            (None, None, Some(_)) if written.on_failure.is_some() => {
                return Err("`on_failure` is for a hook that decides; one with `on` is only told");
            }
            (None, None, Some(Occasion::Notification)) if written.skills != everything() => {
                return Err("`skills` is for a hook of calls; a notification has none");
            }
            (None, None, Some(occasion)) => Moment::On(occasion),
            _ => return Err("a hook needs one of `before`, `after` and `on`"),
        };
        let asks = match (written.command, written.url) {
            (Some(command), None) => Asks::Program { command, environment: written.environment },
            (None, Some(url)) if written.environment.is_empty() => Asks::Address(url),
            (None, Some(_)) => return Err("`environment` is for a program, not for a `url`"),
            _ => return Err("a hook needs either `command` or `url`"),
        };
        let otherwise = match at {
            Moment::Before(_) => Failure::Refuse,
            Moment::After(_) | Moment::On(_) => Failure::Pass,
        };
        Ok(Hook {
            at,
            asks,
            skills: written.skills,
            timeout: written.timeout.unwrap_or(Span::seconds(5)),
            on_failure: written.on_failure.unwrap_or(otherwise),
            home: PathBuf::new(),
        })
    }
}

impl Hook {
    pub fn check(&self, path: &str, found: &mut Found) {
        found.require(!self.timeout.0.is_zero(), &format!("{path}.timeout"), "must be longer than 0");
        let (key, checked) = match &self.asks {
            Asks::Program { command, environment } => {
                ("command", Aide::named(&self.home, command, environment, self.timeout.0).map(drop))
            }
            Asks::Address(address) => ("url", url(address, &["http", "https"]).map(drop)),
        };
        if let Err(message) = checked {
            found.refuse(format!("{path}.{key}"), message);
        }
    }
}

impl JsonSchema for Hook {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        Written::schema_name()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        Written::json_schema(generator)
    }
}
