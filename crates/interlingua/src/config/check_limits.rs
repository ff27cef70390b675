//! Validation of the audit section and of limits by rule.

use super::Config;
use interlingua_settings::check::{Found, PATTERN, is_pattern};

pub(super) fn audit(config: &Config, found: &mut Found) {
    for (place, rule) in config.audit.arguments.iter().enumerate() {
        let path = format!("audit.arguments[{place}].skills");
        found.require(rule.skills.iter().all(|pattern| is_pattern(pattern)), &path, PATTERN);
    }
}

pub(super) fn limits(config: &Config, found: &mut Found) {
    for (place, rule) in config.limits.rules.iter().enumerate() {
        let path = |key: &str| format!("limits.rules[{place}]{key}");
        let says = rule.rate.is_some() || rule.bytes.is_some() || rule.in_flight.is_some();
        found.require(says, &path(""), "a rule says `rate`, `bytes` or `in_flight`");
        found.require(rule.burst.is_none() || rule.rate.is_some(), &path(".burst"), "`burst` belongs to a `rate`");
        let more = rule.burst != Some(0) && rule.in_flight != Some(0);
        found.require(
            more,
            &path(""),
            "`burst` and `in_flight` are more than 0; rules of `access.policy` refuse calls",
        );
        let fits = rule.when.skill.as_deref().is_none_or(is_pattern);
        found.require(fits, &path(".when.skill"), PATTERN);
    }
}
