//! Named sessions: a context that persists between the calls of one owner, so that a login persists. A definition opts in
//! (`session: { keep: 30m }`), a call names its session, and without either every call begins with an empty context.
//!
//! The browser stores sessions and separates their owners; this module only has the settings and their meaning.

use std::time::Duration;

use super::{Site, Trouble};
use interlingua_model::id::Text;
use interlingua_model::json::Tree;

/// The argument by which a call names its session.
pub const ARGUMENT: &str = "session";
/// What a name of a session is, for those who call.
pub(super) const PATTERN: &str = "^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$";
/// No session rests longer.
pub(super) const LONGEST: Duration = Duration::from_secs(24 * 3_600);

/// What a definition says of its sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sessions {
    /// How long one stays that nobody uses.
    pub keep: Duration,
    /// The one of a call that names none; without it such a call has a fresh context.
    pub usual: Option<Text>,
    /// Cookies and storage are written down, sealed, so that a session outlives the browser and the hub.
    pub persist: bool,
}

pub(super) fn is_name(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    (1..=64).contains(&name.len()) && !name.starts_with('.') && name.chars().all(fits)
}

impl Site {
    /// The session a call with these arguments means.
    pub(super) fn session_of(&self, given: &serde_json::Map<String, Tree>) -> Result<Option<Text>, Trouble> {
        let Some(sessions) = &self.sessions else { return Ok(None) };
        match given.get(ARGUMENT) {
            None | Some(Tree::Null) => Ok(sessions.usual.clone()),
            Some(Tree::String(name)) if is_name(name) => Ok(Some(name.as_str().into())),
            Some(_) => Err(Trouble::InvalidParameter {
                name: ARGUMENT.into(),
                problem: "is a name of letters, digits, `_`, `-` and `.`, at most 64".into(),
            }),
        }
    }
}
