//! Conversion of the rules of MassGen's orchestrator to those of a team.

use serde_json::{Map, Value, json};

use super::{Member, TEAM};
use crate::cli::import::values::literal;
use crate::cli::import::{Conversion, named};

/// Keys that have a counterpart of the same meaning.
const SAME: [(&str, &str); 4] = [
    ("max_new_answers_per_agent", "answers_each"),
    ("max_new_answers_global", "answers_all"),
    ("defer_voting_until_all_answered", "defer_voting"),
    ("skip_voting", "skip_voting"),
];

/// Rules that are one of several words, or need more than another name.
const TAKEN: [&str; 13] = [
    "answer_novelty_requirement",
    "fairness_enabled",
    "fairness_lead_cap_answers",
    "final_answer_strategy",
    "coordination_mode",
    "presenter_agent",
    "coordination",
    "enable_nlip",
    "nlip",
    "nlip_config",
    "context_paths",
    "defer_peer_updates_until_restart",
    "disable_injection",
];

pub(super) fn team(conversion: &mut Conversion, file: &Value, members: &[Member]) {
    let rules = &file["orchestrator"];
    let names: Vec<&str> = members.iter().map(|member| member.name.as_str()).collect();
    let mut team = json!({ "agents": names });
    let shares: Map<String, Value> =
        members.iter().filter_map(|member| Some((member.name.clone(), member.share.clone()?.into()))).collect();
    if !shares.is_empty() {
        team["shares"] = shares.into();
    }
    for (old, new) in SAME {
        if rules[old].is_boolean() || rules[old].is_u64() {
            set(conversion, &mut team, old, new, rules[old].clone());
        }
    }
    words(conversion, &mut team, rules);
    if rules["fairness_enabled"] == false {
        set(conversion, &mut team, "fairness_enabled", "lead", 0.into());
    } else if let Some(lead) = rules["fairness_lead_cap_answers"].as_u64() {
        set(conversion, &mut team, "fairness_lead_cap_answers", "lead", lead.into());
    }
    if rules["fairness_enabled"] == true {
        conversion.kept("orchestrator.fairness_enabled", format!("teams.{TEAM}.lead"));
    }
    if let Some(restarts) = rules["coordination"]["max_orchestration_restarts"].as_u64() {
        set(conversion, &mut team, "coordination.max_orchestration_restarts", "restarts", restarts.into());
    }
    nlip(conversion, &mut team, rules);
    times(conversion, &mut team, &file["timeout_settings"]);
    roots(conversion, rules);
    let same = |key: &str| SAME.iter().any(|(old, _)| *old == key);
    let unknown = |key: &&String| !TAKEN.contains(&key.as_str()) && !same(key);
    for key in rules.as_object().into_iter().flat_map(Map::keys).filter(unknown) {
        let why = match key.as_str() {
            "voting_sensitivity" | "voting_threshold" => "say it in the instructions of the agents",
            "snapshot_storage" | "agent_temporary_workspace" => {
                "the hub keeps workspaces and snapshots in its data directory"
            }
            "session_storage" => "the hub keeps runs in its store",
            _ => "a team of a hub has no such rule",
        };
        conversion.left(format!("orchestrator.{key}"), why);
    }
    conversion.put("teams", TEAM, team);
}

/// A rule of the orchestrator that is one of the team.
fn set(conversion: &mut Conversion, team: &mut Value, old: &str, new: &str, value: Value) {
    team[new] = value;
    conversion.kept(format!("orchestrator.{old}"), format!("teams.{TEAM}.{new}"));
}

/// Members' calls as routed messages, and members elsewhere that decide by messages.
fn nlip(conversion: &mut Conversion, team: &mut Value, rules: &Value) {
    for (key, value) in [
        ("enable_nlip", &rules["enable_nlip"]),
        ("nlip.enabled", &rules["nlip"]["enabled"]),
        ("nlip_config.enabled", &rules["nlip_config"]["enabled"]),
    ] {
        if value.is_boolean() {
            set(conversion, team, key, "nlip", value.clone());
        }
    }
    for block in ["nlip", "nlip_config"] {
        if let Some(structured) = rules[block]["coordinate_via_nlip"].as_bool() {
            let verbs = if structured { "structured" } else { "words" };
            set(conversion, team, &format!("{block}.coordinate_via_nlip"), "verbs", verbs.into());
        }
    }
}

/// Rules that are one of several words.
fn words(conversion: &mut Conversion, team: &mut Value, rules: &Value) {
    let one_of = |key: &str, words: &[(&str, &'static str)]| -> Option<&'static str> {
        let said = rules[key].as_str()?;
        words.iter().find(|(old, _)| *old == said).map(|(_, new)| *new)
    };
    let novelty = [("lenient", "lenient"), ("balanced", "balanced"), ("strict", "strict")];
    let endings = [("winner_reuse", "reuse"), ("winner_present", "present"), ("synthesize", "synthesize")];
    let modes = [("decomposition", "decompose"), ("voting", "vote")];
    for (key, new, words) in [
        ("answer_novelty_requirement", "novelty", &novelty[..]),
        ("final_answer_strategy", "ending", &endings),
        ("coordination_mode", "strategy", &modes),
    ] {
        if let Some(word) = one_of(key, words) {
            set(conversion, team, key, new, word.into());
        }
    }
    if let (Some(presenter), "decompose") =
        (rules["presenter_agent"].as_str(), team["strategy"].as_str().unwrap_or_default())
    {
        set(conversion, team, "presenter_agent", "presenter", named(presenter, "agent").into());
    }
    for (key, word) in [("defer_peer_updates_until_restart", "restart"), ("disable_injection", "never")] {
        match rules[key].as_bool() {
            Some(true) => set(conversion, team, key, "updates", word.into()),
            Some(false) => {
                conversion.kept(format!("orchestrator.{key}"), format!("teams.{TEAM}.updates, by its default"))
            }
            None => {}
        }
    }
}

fn times(conversion: &mut Conversion, team: &mut Value, settings: &Value) {
    let mut times = Map::new();
    for (old, new) in [
        ("orchestrator_timeout_seconds", "whole"),
        ("initial_round_timeout_seconds", "first_round"),
        ("subsequent_round_timeout_seconds", "later_round"),
        ("round_timeout_grace_seconds", "grace"),
    ] {
        if let Some(seconds) = settings[old].as_u64().filter(|seconds| *seconds > 0) {
            times.insert(new.into(), format!("{seconds}s").into());
            conversion.kept(format!("timeout_settings.{old}"), format!("teams.{TEAM}.times.{new}"));
        }
    }
    if !times.is_empty() {
        team["times"] = times.into();
    }
}

/// Paths that agents may reach besides their workspace.
fn roots(conversion: &mut Conversion, rules: &Value) {
    let mut roots = Vec::new();
    for (index, root) in rules["context_paths"].as_array().into_iter().flatten().enumerate() {
        let Some(path) = root["path"].as_str().and_then(literal) else { continue };
        conversion.kept(format!("orchestrator.context_paths.{index}"), "tools.roots");
        let permission = if root["permission"] == "write" { "write" } else { "read" };
        let mut new = json!({ "path": path, "permission": permission });
        if let Some(protected) = root["protected_paths"].as_array() {
            // Ours are below the root.
            let below = |inner: &Value| {
                let inner = inner.as_str()?;
                literal(inner.strip_prefix(path.as_str()).unwrap_or(inner).trim_start_matches('/'))
            };
            new["protected"] = protected.iter().filter_map(below).collect();
        }
        roots.push(new);
    }
    if !roots.is_empty() {
        conversion.put("tools", "roots", roots.into());
    }
}
