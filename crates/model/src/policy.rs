//! Who may do what: the question, the answer, and the port behind which rules that somebody wrote are judged.
//!
//! There are two steps. [`Judge::could`] is asked when a skill is looked for or listed, before its arguments are known; its
//! answers can be kept. [`Judge::decide`] is asked once the call is whole. A judge sees one link of a chain at a time: the
//! chain's rights are the intersection, and that rule is the hub's, not the judge's.
//!
//! Deliberately absent: any language of rules, and the rule that the hub's own Owner may everything.

use std::fmt;
use std::sync::Arc;

use crate::card::Skill;
use crate::content::Trust;
use crate::digest::Digest;
use crate::id::{PeerId, Text, Time};
use crate::json::Json;
use crate::principal::{Link, Owner};

/// What someone wants to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    /// See it in lists and search.
    List,
    Call,
    Read,
    Write,
    /// Bring a peer that others then find.
    Register,
    /// Say yes to somebody's call.
    Approve,
}

impl Action {
    pub const ALL: [Action; 6] =
        [Action::List, Action::Call, Action::Read, Action::Write, Action::Register, Action::Approve];

    pub fn as_str(self) -> &'static str {
        match self {
            Action::List => "list",
            Action::Call => "call",
            Action::Read => "read",
            Action::Write => "write",
            Action::Register => "register",
            Action::Approve => "approve",
        }
    }

    pub fn parse(text: &str) -> Option<Action> {
        Action::ALL.into_iter().find(|action| action.as_str() == text)
    }
}

/// What it is done to.
#[derive(Debug, Clone, Copy)]
pub enum Object<'a> {
    Peer(&'a PeerId),
    Skill(&'a Skill),
    Artifact { id: &'a str, owner: &'a Owner },
    Conversation { id: &'a str, owner: &'a Owner },
}

/// One link of a chain asks.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    pub by: &'a Link,
    pub action: Action,
    pub on: Object<'a>,
    /// What it came in by; `None` where that is not known yet, as in a list.
    pub wire: Option<&'a str>,
    /// The lowest trust of what led to it; `None` where that is not known yet.
    pub trust: Option<Trust>,
    pub now: Time,
}

/// What can be said before arguments are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Could {
    /// Whatever the arguments.
    Yes,
    /// With some arguments.
    Depends,
    No,
}

/// Which way it went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    Allowed,
    /// A rule says no.
    Forbidden,
    /// No rule says yes.
    Silent,
}

/// A decision and the rules it rests on, by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    pub effect: Effect,
    pub because: Arc<[Text]>,
}

impl Decision {
    pub fn allows(&self) -> bool {
        self.effect == Effect::Allowed
    }
}

/// Rules that somebody wrote, ready to be asked. It never panics and never waits; what it cannot decide it refuses.
pub trait Judge: Send + Sync + fmt::Debug {
    /// Of the rules: a yes is for one version.
    fn version(&self) -> Digest;
    fn could(&self, asked: &Asked<'_>) -> Could;
    fn decide(&self, asked: &Asked<'_>, args: Option<&Json>) -> Decision;
}

/// A file of rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// What people know it by.
    pub name: Text,
    pub text: Text,
}

/// Who is in which role, besides those whose credential says so: members are written as [`crate::Subject`] is shown, or
/// `role:NAME` for all members of another role.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Roles(pub Vec<(Text, Vec<Text>)>);

/// The prefix of a scope that makes whoever bears it a member of a role.
pub const ROLE_SCOPE: &str = "role:";

/// What is wrong with rules, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flaw {
    pub source: Text,
    /// Counted from 1; `None` when it belongs to no place.
    pub at: Option<(usize, usize)>,
    pub text: String,
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.at {
            Some((line, column)) => write!(f, "{}:{line}:{column}: {}", self.source, self.text),
            None => write!(f, "{}: {}", self.source, self.text),
        }
    }
}

/// Rules that were read, and what may not be as meant in them.
#[derive(Debug, Clone)]
pub struct Ruling {
    pub judge: Arc<dyn Judge>,
    pub warnings: Vec<Flaw>,
    /// Peers and roles the rules speak of, with their places, to be compared with those there are.
    pub names: Vec<Named>,
}

/// A name in the rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    pub what: Noticed,
    pub name: Text,
    /// Where the rule that speaks of it begins.
    pub source: Text,
    pub line: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Noticed {
    Peer,
    Role,
    /// Who acts: an agent or a team.
    Agent,
}

/// Makes a judge of rules, or says all that is wrong with them. The program brings one along; a hub without knows only the
/// built-in rules.
pub trait Legislator: Send + Sync {
    fn read(&self, sources: &[Source], roles: &Roles) -> Result<Ruling, Vec<Flaw>>;
}
