//! Authorization port: the question, the answer, and the trait behind which an operator's rules are evaluated.
//!
//! There are two steps. [`Judge::could`] is called when a skill is looked up or listed, before its arguments are known; its answers can be
//! cached. [`Judge::decide`] is called when the call is complete. A judge sees one link of a chain at a time: the rights of the chain are
//! the intersection, and the hub applies that rule, not the judge.
//!
//! Deliberately absent: a rule language, and the rule that the hub's own Owner may do everything.

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
    /// Call a skill.
    Call,
    /// Read a resource, an artifact or a conversation.
    Read,
    /// Change an artifact or a conversation.
    Write,
    /// Bring a peer that others then find.
    Register,
    /// Approve a call of another principal.
    Approve,
}

impl Action {
    /// All of them.
    pub const ALL: [Action; 6] =
        [Action::List, Action::Call, Action::Read, Action::Write, Action::Register, Action::Approve];

    /// The name of the action in rules.
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

    /// The reverse of [`Action::as_str`].
    pub fn parse(text: &str) -> Option<Action> {
        Action::ALL.into_iter().find(|action| action.as_str() == text)
    }
}

/// What it is done to.
#[derive(Debug, Clone, Copy)]
pub enum Object<'a> {
    /// A peer as a whole.
    Peer(&'a PeerId),
    /// A skill.
    Skill(&'a Skill),
    /// An artifact.
    Artifact {
        /// Its id.
        id: &'a str,
        /// The owner of it.
        owner: &'a Owner,
    },
    /// A conversation.
    Conversation {
        /// Its id.
        id: &'a str,
        /// The owner of it.
        owner: &'a Owner,
    },
}

/// One link of a chain asks.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// The link that is judged.
    pub by: &'a Link,
    /// What it wants to do.
    pub action: Action,
    /// To what.
    pub on: Object<'a>,
    /// The wire of the call; `None` if that is not known yet, as in a list.
    pub wire: Option<&'a str>,
    /// The lowest trust of what led to it; `None` where that is not known yet.
    pub trust: Option<Trust>,
    /// The time, for rules about hours and days.
    pub now: Time,
}

/// The decision before arguments are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Could {
    /// Whatever the arguments.
    Yes,
    /// With some arguments.
    Depends,
    /// Whatever the arguments, it is refused.
    No,
}

/// Allowed or refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// A rule allows it and none forbids it.
    Allowed,
    /// A rule says no.
    Forbidden,
    /// No rule says yes.
    Silent,
}

/// A decision and the rules it rests on, by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// Allowed, forbidden, or not mentioned.
    pub effect: Effect,
    /// The names of the rules that decided; empty where no rule did.
    pub because: Arc<[Text]>,
}

impl Decision {
    /// Is it allowed?
    pub fn allows(&self) -> bool {
        self.effect == Effect::Allowed
    }
}

/// Operator rules, ready to be evaluated. It never panics and never waits; what it cannot decide it refuses.
pub trait Judge: Send + Sync + fmt::Debug {
    /// Digest of the rules: an approval is for one version.
    fn version(&self) -> Digest;
    /// The decision before the arguments are known. It must agree with [`Judge::decide`]: `No` only if every decision would be a refusal.
    fn could(&self, asked: &Asked<'_>) -> Could;
    /// The decision about one link and these arguments.
    fn decide(&self, asked: &Asked<'_>, args: Option<&Json>) -> Decision;
}

/// A file of rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// What people know it by.
    pub name: Text,
    /// The rules, as they are written.
    pub text: Text,
}

/// Role members, besides those by credential: members are written as [`crate::Subject`] is shown, or `role:NAME` for all members of another
/// role.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Roles(pub Vec<(Text, Vec<Text>)>);

/// The prefix of a scope that makes its bearer a member of a role.
pub const ROLE_SCOPE: &str = "role:";

/// A problem in rules, with its position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flaw {
    /// The name of the file.
    pub source: Text,
    /// Counted from 1; `None` when it belongs to no place.
    pub at: Option<(usize, usize)>,
    /// What is wrong, in words.
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
    /// Decides by these rules.
    pub judge: Arc<dyn Judge>,
    /// Problems that are legal and probably not intended.
    pub warnings: Vec<Flaw>,
    /// Peers and roles the rules speak of, with their places, to be compared with those there are.
    pub names: Vec<Named>,
}

/// A name in the rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// What the name is of.
    pub what: Noticed,
    /// The name.
    pub name: Text,
    /// Where the rule that speaks of it begins.
    pub source: Text,
    /// Counted from 1.
    pub line: usize,
}

/// What a name in the rules is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Noticed {
    /// A peer.
    Peer,
    /// A role.
    Role,
    /// The acting subject: an agent or a team.
    Agent,
}

/// Makes a judge of rules, or says all that is wrong with them. The program brings one along; a hub without knows only the
/// built-in rules.
pub trait Legislator: Send + Sync {
    /// Reads rules. `Err` lists all flaws, and no rule is used.
    fn read(&self, sources: &[Source], roles: &Roles) -> Result<Ruling, Vec<Flaw>>;
}
