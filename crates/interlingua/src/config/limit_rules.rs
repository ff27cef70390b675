//! Limits of calls by who makes them, how, and for what.

use std::collections::BTreeSet;

use interlingua_machines::limit::Pace;
use interlingua_model::Text;
use schemars::JsonSchema;
use serde::Deserialize;

use interlingua_access::settings::Access;
use interlingua_hub::limits;
use interlingua_settings::{Flow, Rate};

/// One limit. All that fit a call count.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LimitRule {
    /// Which calls it speaks of; without it: all.
    pub when: LimitWhen,
    /// For each of what it counts.
    pub per: LimitPer,
    /// Calls.
    pub rate: Option<Rate>,
    /// How many calls may be saved up. Default: those of one span of `rate`.
    pub burst: Option<u32>,
    /// Bytes of arguments.
    pub bytes: Option<Flow>,
    /// Calls that run at the same time.
    pub in_flight: Option<u32>,
}

/// Calls that fit all that is said here.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LimitWhen {
    /// Who asks, or acts for them: `user:ann`, `agent:*`, `anonymous`, `owner`.
    pub principal: Option<String>,
    /// A role, by a credential or by `access.roles`.
    pub role: Option<String>,
    /// What the call came in by: `nlip`, `mcp`, `a2a`, `aip`, `nlweb`, `envelope`, `api`, `local`.
    pub protocol: Option<String>,
    /// A pattern over peers.
    pub peer: Option<String>,
    /// A pattern over `peer/skill`.
    pub skill: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LimitPer {
    /// Each caller; what agents do for somebody is theirs.
    #[default]
    Principal,
    Peer,
    Skill,
    /// Each call: the same caller, skill and arguments. Stops whoever repeats itself.
    Call,
    /// All together.
    All,
}

impl LimitRule {
    pub fn rule(&self, access: &Access) -> limits::LimitRule {
        let text = |text: &Option<String>| text.as_deref().map(Text::from);
        let LimitWhen { principal, role, protocol, peer, skill } = &self.when;
        let role =
            role.as_ref().map(|name| limits::Role { name: name.as_str().into(), members: members(access, name) });
        let when = limits::When {
            principal: text(principal),
            role,
            protocol: text(protocol),
            peer: text(peer),
            skill: text(skill),
        };
        limits::LimitRule {
            when,
            per: self.per.into(),
            calls: self.rate.map(|rate| Pace::new(rate.count.into(), rate.per, self.burst.map(u64::from))),
            bytes: self.bytes.map(|flow| Pace::new(flow.bytes, flow.per, None)),
            in_flight: self.in_flight,
        }
    }
}

/// All who are in a role, also by another role.
fn members(access: &Access, role: &str) -> BTreeSet<Text> {
    let (mut found, mut seen, mut open) = (BTreeSet::new(), BTreeSet::new(), vec![role]);
    while let Some(role) = open.pop() {
        if !seen.insert(role) {
            continue;
        }
        for member in access.roles.get(role).into_iter().flatten() {
            match member.strip_prefix("role:") {
                Some(other) => open.push(other),
                None => drop(found.insert(Text::from(member.as_str()))),
            }
        }
    }
    found
}

impl From<LimitPer> for limits::Per {
    fn from(per: LimitPer) -> limits::Per {
        match per {
            LimitPer::Principal => limits::Per::Principal,
            LimitPer::Peer => limits::Per::Peer,
            LimitPer::Skill => limits::Per::Skill,
            LimitPer::Call => limits::Per::Call,
            LimitPer::All => limits::Per::Rule,
        }
    }
}
