//! Approval rules of an agent, by the effects that a skill declares.

use serde::{Deserialize, Serialize};

/// What the agent may do without approval, by the effects a skill declares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Consents {
    /// For a skill whose effects no trusted source has declared.
    #[serde(default = "ask")]
    pub unknown: Consent,
    /// For a skill that changes something.
    pub writes: Consent,
    /// For a skill that deletes or overwrites something.
    pub destroys: Consent,
    /// For a skill that costs money.
    pub spends: Consent,
}

impl Default for Consents {
    fn default() -> Consents {
        Consents { unknown: Consent::Ask, writes: Consent::Ask, destroys: Consent::Ask, spends: Consent::Ask }
    }
}

impl Consents {
    /// No rule at all.
    pub const NONE: Consents =
        Consents { unknown: Consent::Allow, writes: Consent::Allow, destroys: Consent::Allow, spends: Consent::Allow };

    /// The intersection: what both allow.
    #[must_use]
    pub fn stricter(self, other: Consents) -> Consents {
        Consents {
            unknown: self.unknown.max(other.unknown),
            writes: self.writes.max(other.writes),
            destroys: self.destroys.max(other.destroys),
            spends: self.spends.max(other.spends),
        }
    }

    /// The effects with exactly this rule.
    pub fn named(self, consent: Consent) -> Vec<&'static str> {
        let rules =
            [("unknown", self.unknown), ("writes", self.writes), ("destroys", self.destroys), ("spends", self.spends)];
        rules.into_iter().filter(|(_, rule)| *rule == consent).map(|(name, _)| name).collect()
    }

    /// Sets this rule for the effects of these names, unless a stricter one is set already.
    pub fn set<'a>(&mut self, effects: impl Iterator<Item = &'a str>, consent: Consent) {
        for effect in effects {
            match effect {
                "unknown" => self.unknown = self.unknown.max(consent),
                "writes" => self.writes = self.writes.max(consent),
                "destroys" => self.destroys = self.destroys.max(consent),
                "spends" => self.spends = self.spends.max(consent),
                _ => {}
            }
        }
    }
}

fn ask() -> Consent {
    Consent::Ask
}

/// In the order of strictness.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Consent {
    /// Without asking.
    Allow,
    /// Only with an approval of that call.
    Ask,
    /// Never.
    Deny,
}
