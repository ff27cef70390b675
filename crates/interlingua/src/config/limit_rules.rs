//! Rate limits and concurrency limits by rule: by caller, protocol, peer and skill.

use std::collections::BTreeSet;

use interlingua_machines::limit::Pace;
use interlingua_model::Text;
use schemars::JsonSchema;
use serde::Deserialize;

use interlingua_access::settings::Access;
use interlingua_hub::limits;
use interlingua_settings::{Flow, Rate};

/// One limit. All limits that match a call apply.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LimitRule {
    /// Which calls it applies to. Default: all.
    pub when: LimitWhen,
    /// What is counted separately.
    pub per: LimitPer,
    /// Rate limit of calls.
    pub rate: Option<Rate>,
    /// Burst size (token bucket). Default: the count of `rate`.
    pub burst: Option<u32>,
    /// Rate limit of bytes of arguments.
    pub bytes: Option<Flow>,
    /// Concurrency limit.
    pub in_flight: Option<u32>,
}

/// Calls that match all conditions.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LimitWhen {
    /// The caller, or who acts for it: `user:ann`, `agent:*`, `anonymous`, `owner`.
    pub principal: Option<String>,
    /// A role, from a credential or from `access.roles`.
    pub role: Option<String>,
    /// The protocol of the call: `nlip`, `mcp`, `a2a`, `aip`, `nlweb`, `envelope`, `api`, `local`.
    pub protocol: Option<String>,
    /// A pattern over peers.
    pub peer: Option<String>,
    /// A pattern over `peer/skill`.
    pub skill: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LimitPer {
    /// Each caller; calls of an agent count for the caller that it works for.
    #[default]
    Principal,
    Peer,
    Skill,
    /// Each combination of caller, skill and arguments. Stops loops.
    Call,
    /// All calls together.
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
