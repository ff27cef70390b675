//! Rate limits, byte limits and concurrency limits by rule (token buckets): each rule names its callers and what it counts by.
//!
//! A rule applies to a call after its peer and skill are resolved, so that a caller without permission learns nothing. The state of a rule
//! is bounded ([`interlingua_machines::limit`]), and survives a reload that does not change the rule. The rate of each caller and the bound
//! on all running calls come first, in [`super::admission`].

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use arc_swap::ArcSwap;
use interlingua_machines::limit::{Buckets, Pace, again_in};
use interlingua_model::policy::ROLE_SCOPE;
use interlingua_model::{
    Call, Digest, Fault, FaultKind, Json, Link, PeerId, Principal, Retry, Skill, SkillId, Subject, Text, glob,
};
use tokio::time::Instant;

use super::policy::matches;

/// How many names one rule remembers.
const MAX_NAMES: usize = 10_000;
/// After this a call that waits for another of the same caller to end is worth another try.
const SOON: Duration = Duration::from_secs(1);

/// One rule of the configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct LimitRule {
    /// Which calls it is about.
    pub when: When,
    /// What is counted separately.
    pub per: Per,
    /// How many calls in which time (token bucket).
    pub calls: Option<Pace>,
    /// Of arguments.
    pub bytes: Option<Pace>,
    /// How many calls may run at once.
    pub in_flight: Option<u32>,
}

/// The calls of a rule: those that match all given fields.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct When {
    /// A pattern over one link of the caller: `user:*`.
    pub principal: Option<Text>,
    /// A role of the caller.
    pub role: Option<Role>,
    /// The protocol by which the call arrived, or that of one of its causes.
    pub protocol: Option<Text>,
    /// A pattern over names of peers.
    pub peer: Option<Text>,
    /// A pattern over `peer/skill`.
    pub skill: Option<Text>,
}

/// Members of a role: by their credential, or by the list of members.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Role {
    /// The role's name.
    pub name: Text,
    /// Its members, written as subjects are.
    pub members: BTreeSet<Text>,
}

/// What a rule counts by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Per {
    /// The principal that a call is for, whoever makes it on its behalf.
    Principal,
    /// The peer that is called.
    Peer,
    /// The skill that is called.
    Skill,
    /// The same caller, skill and arguments.
    Call,
    /// All calls the rule speaks of together.
    Rule,
}

/// What is counted.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Name {
    Subject(Option<Subject>),
    Peer(PeerId),
    Skill(SkillId),
    Call(Digest),
    All,
}

/// A rule, and what it remembers.
#[derive(Debug)]
struct Rule {
    written: LimitRule,
    calls: Mutex<Buckets<Name>>,
    bytes: Mutex<Buckets<Name>>,
    running: Arc<Mutex<HashMap<Name, u32>>>,
}

/// Rate limits by rules of the operator.
#[derive(Debug)]
pub struct Limits {
    rules: ArcSwap<Vec<Arc<Rule>>>,
    started: Instant,
}

/// A call that counts as running until this is dropped.
#[derive(Debug)]
pub(crate) struct RunningSlot {
    running: Arc<Mutex<HashMap<Name, u32>>>,
    name: Name,
}

impl Drop for RunningSlot {
    fn drop(&mut self) {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = running.get_mut(&self.name) {
            *count -= 1;
            if *count == 0 {
                running.remove(&self.name);
            }
        }
    }
}

/// A call whose skill is known.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked<'a> {
    pub(crate) by: &'a Principal,
    pub(crate) call: &'a Call,
    pub(crate) skill: &'a Skill,
    pub(crate) arguments: Option<&'a Json>,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { rules: ArcSwap::default(), started: Instant::now() }
    }
}

impl Limits {
    /// Replaces the rules. An unchanged rule continues with its state.
    pub fn set(&self, rules: Vec<LimitRule>) {
        let old = self.rules.load();
        let kept = |written: &LimitRule| old.iter().find(|rule| rule.written == *written).cloned();
        let new = rules.into_iter().map(|written| kept(&written).unwrap_or_else(|| Arc::new(Rule::new(written))));
        self.rules.store(Arc::new(new.collect()));
    }

    /// Counts a call against every matching rule; the returned value is held while it runs. `first`: it was not counted before it waited
    /// for approval.
    pub(crate) fn admit(&self, asked: Asked<'_>, first: bool) -> Result<Vec<RunningSlot>, Fault> {
        let rules = self.rules.load();
        let mut held = Vec::new();
        for rule in rules.iter().filter(|rule| rule.written.when.fits(&asked)) {
            held.extend(rule.admit(&asked, first, self.started.elapsed())?);
        }
        Ok(held)
    }
}

impl Rule {
    fn new(written: LimitRule) -> Rule {
        let buckets = || Mutex::new(Buckets::new(MAX_NAMES));
        Rule { written, calls: buckets(), bytes: buckets(), running: Arc::default() }
    }

    fn admit(&self, asked: &Asked<'_>, first: bool, now: Duration) -> Result<Option<RunningSlot>, Fault> {
        let (LimitRule { per, calls, bytes, in_flight, .. }, name) = (&self.written, name(self.written.per, asked));
        if let Some(pace) = calls.filter(|_| first) {
            let taken = self.calls.lock().unwrap_or_else(PoisonError::into_inner).take(&name, 1, pace, now);
            taken.map_err(|wait| later(too_often(*per), wait))?;
        }
        if let Some(pace) = bytes.filter(|_| first) {
            let size = asked.arguments.map_or(0, |arguments| arguments.as_bytes().len() as u64);
            let taken = self.bytes.lock().unwrap_or_else(PoisonError::into_inner).take(&name, size, pace, now);
            taken.map_err(|wait| later("more bytes of arguments than a limit lets through", wait))?;
        }
        in_flight.map(|most| self.enter(name, most)).transpose()
    }

    fn enter(&self, name: Name, most: u32) -> Result<RunningSlot, Fault> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        // Bounded by what runs at all.
        let count = running.get(&name).copied().unwrap_or(0);
        if count >= most {
            return Err(later("as many such calls run already as a limit lets", SOON));
        }
        running.insert(name.clone(), count + 1);
        Ok(RunningSlot { running: self.running.clone(), name })
    }
}

/// Refused by the caller's own limit, with the time to retry.
fn later(text: &str, wait: Duration) -> Fault {
    Fault::caller(FaultKind::Busy, format!("{text}; {}", again_in(wait))).retry(Retry::After(Some(wait)))
}

fn too_often(per: Per) -> &'static str {
    match per {
        Per::Principal => "too many calls from you: slow down",
        Per::Peer | Per::Skill | Per::Rule => "too many calls of this kind: slow down",
        Per::Call => "the same call was made too often: it is refused until you stop repeating it",
    }
}

fn name(per: Per, asked: &Asked<'_>) -> Name {
    let whose = || asked.by.links().first().map(|link| link.subject.clone());
    match per {
        Per::Principal => Name::Subject(whose()),
        Per::Peer => Name::Peer(asked.skill.id.peer.clone()),
        Per::Skill => Name::Skill(asked.skill.id.clone()),
        Per::Call => {
            let (owner, skill) = (asked.by.owner().to_string(), asked.skill.id.to_string());
            let arguments = asked.arguments.map(|arguments| arguments.digest().0).unwrap_or_default();
            let parts = asked.call.input().map(|input| serde_json::to_vec(&input.parts).unwrap_or_default());
            let parts = parts.unwrap_or_default();
            Name::Call(Digest::of_fields([owner.as_bytes(), skill.as_bytes(), &arguments, &parts]))
        }
        Per::Rule => Name::All,
    }
}

impl When {
    fn fits(&self, asked: &Asked<'_>) -> bool {
        let id = &asked.skill.id;
        self.peer.as_ref().is_none_or(|pattern| glob::matches(pattern, id.peer.as_str()))
            && self.skill.as_ref().is_none_or(|pattern| matches(pattern, id))
            && self
                .protocol
                .as_ref()
                .is_none_or(|name| asked.call.origin.protocols().any(|protocol| **name == *protocol))
            && self.role.as_ref().is_none_or(|role| asked.by.links().iter().any(|link| role.has(link)))
            && self.principal.as_ref().is_none_or(|pattern| {
                asked.by.links().iter().any(|link| glob::matches(pattern, &link.subject.to_string()))
            })
    }
}

impl Role {
    fn has(&self, link: &Link) -> bool {
        let shown = |scope: &Text| scope.strip_prefix(ROLE_SCOPE).is_some_and(|role| *role == *self.name);
        link.scopes.iter().any(shown) || self.members.contains(link.subject.to_string().as_str())
    }
}
