//! Conversion of the rules of MassGen's orchestrator to those of a team.

use serde_json::{Map, Value, json};

use super::{Convert, TEAM};

/// Keys that have a counterpart of the same meaning.
const SAME: [(&str, &str); 4] = [
    ("max_new_answers_per_agent", "answers_each"),
    ("max_new_answers_global", "answers_all"),
    ("defer_voting_until_all_answered", "defer_voting"),
    ("skip_voting", "skip_voting"),
];

pub(super) fn team(convert: &mut Convert, file: &Value) {
    let rules = &file["orchestrator"];
    let mut team = json!({ "agents": convert.names });
    let mut taken = vec![];
    for (old, new) in SAME {
        taken.push(old);
        if !rules[old].is_null() {
            team[new] = rules[old].clone();
        }
    }
    taken.extend([
        "answer_novelty_requirement",
        "fairness_enabled",
        "fairness_lead_cap_answers",
        "final_answer_strategy",
    ]);
    taken.extend(["coordination_mode", "presenter_agent", "coordination", "enable_nlip", "context_paths"]);
    taken.extend(["defer_peer_updates_until_restart", "disable_injection"]);
    words(&mut team, rules);
    if rules["fairness_enabled"] == false {
        team["lead"] = 0.into();
    } else if !rules["fairness_lead_cap_answers"].is_null() {
        team["lead"] = rules["fairness_lead_cap_answers"].clone();
    }
    if let Some(restarts) = rules["coordination"]["max_orchestration_restarts"].as_u64() {
        team["restarts"] = restarts.into();
    }
    if let Some(nlip) = rules["enable_nlip"].as_bool() {
        team["nlip"] = nlip.into();
    }
    times(&mut team, &file["timeout_settings"]);
    roots(convert, rules);
    for key in rules.as_object().into_iter().flat_map(Map::keys).filter(|key| !taken.contains(&key.as_str())) {
        let why = match key.as_str() {
            "voting_sensitivity" | "voting_threshold" => "say it in the instructions of the agents",
            "snapshot_storage" | "agent_temporary_workspace" => {
                "the hub keeps workspaces and snapshots in its data directory"
            }
            "session_storage" => "the hub keeps runs in its store",
            _ => "a team of a hub has no such rule",
        };
        convert.notes.push((format!("orchestrator.{key}"), format!("not taken over: {why}")));
    }
    convert.put("teams", TEAM, team);
}

/// Rules that are one of several words.
fn words(team: &mut Value, rules: &Value) {
    if let Some(novelty) = rules["answer_novelty_requirement"].as_str() {
        team["novelty"] = novelty.into();
    }
    match rules["final_answer_strategy"].as_str() {
        Some("winner_reuse") => team["ending"] = "reuse".into(),
        Some("synthesize") => team["ending"] = "synthesize".into(),
        Some(_) | None => {}
    }
    if rules["coordination_mode"] == "decomposition" {
        team["strategy"] = "decompose".into();
        if let Some(presenter) = rules["presenter_agent"].as_str() {
            team["presenter"] = super::named(presenter).into();
        }
    }
    if rules["disable_injection"] == true {
        team["updates"] = "never".into();
    } else if rules["defer_peer_updates_until_restart"] == true {
        team["updates"] = "restart".into();
    }
}

fn times(team: &mut Value, settings: &Value) {
    let mut times = Map::new();
    for (old, new) in [
        ("orchestrator_timeout_seconds", "whole"),
        ("initial_round_timeout_seconds", "first_round"),
        ("subsequent_round_timeout_seconds", "later_round"),
        ("round_timeout_grace_seconds", "grace"),
    ] {
        if let Some(seconds) = settings[old].as_u64() {
            times.insert(new.into(), format!("{seconds}s").into());
        }
    }
    if !times.is_empty() {
        team["times"] = times.into();
    }
}

/// Paths that agents may reach besides their workspace.
fn roots(convert: &mut Convert, rules: &Value) {
    let roots: Vec<Value> = (rules["context_paths"].as_array().into_iter().flatten())
        .map(|root| {
            let path = root["path"].as_str().unwrap_or(".");
            let permission = if root["permission"] == "write" { "write" } else { "read" };
            let mut new = json!({ "path": path, "permission": permission });
            if let Some(protected) = root["protected_paths"].as_array() {
                // Ours are below the root.
                let below = |inner: &Value| {
                    let inner = inner.as_str().unwrap_or_default();
                    inner.strip_prefix(path).unwrap_or(inner).trim_start_matches('/').to_owned()
                };
                new["protected"] = protected.iter().map(below).collect();
            }
            new
        })
        .collect();
    if !roots.is_empty() {
        convert.put("tools", "roots", roots.into());
    }
}
