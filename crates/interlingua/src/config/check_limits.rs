//! What types cannot say of the audit and of limits by rule.

use super::Config;
use super::check::Found;

/// What a pattern over skills looks like.
pub(super) const PATTERN: &str = "a pattern is `peer/skill`, where `*` stands for any letters, or `*`";

pub(super) fn audit(config: &Config, found: &mut Found) {
    for (place, rule) in config.audit.arguments.iter().enumerate() {
        let path = format!("audit.arguments[{place}].skills");
        found.require(rule.skills.iter().all(|pattern| is_pattern(pattern)), &path, PATTERN);
    }
}

pub(super) fn is_pattern(text: &str) -> bool {
    text == "*" || text.split_once('/').is_some_and(|(peer, skill)| !peer.is_empty() && !skill.is_empty())
}
