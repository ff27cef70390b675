//! What types cannot say of models, agents and teams: that they exist, fit together, and have what their provider needs.

use interlingua_core::SkillId;

use super::check::{Found, is_open, peer_name, url};
use super::check_limits::{PATTERN, is_pattern};
use super::problem::nearest;
use super::{Agent, Config, Model, Provider, Team};
use crate::agents::plan;
use crate::hub::policy::matches;

pub(super) fn check(config: &Config, found: &mut Found) {
    for (name, model) in &config.models {
        self::model(&format!("models.{name}"), model, found);
    }
    for (path, named) in [("hub.model", &config.hub.model), ("browser.model", &config.browser.model)] {
        let known = named.as_ref().is_none_or(|name| config.models.contains_key(name));
        found.require(known, path, "there is no such model");
    }
    for (name, agent) in &config.agents {
        let path = format!("agents.{name}");
        peer_name("agents", name, found);
        let alone = !config.peers.contains_key(name) && !config.scripts.contains_key(name);
        found.require(alone, &path, "there is a peer of this name, too");
        self::agent(&path, agent, config, found);
    }
    for (name, team) in &config.teams {
        let path = format!("teams.{name}");
        peer_name("teams", name, found);
        let others =
            [config.peers.contains_key(name), config.scripts.contains_key(name), config.agents.contains_key(name)];
        found.require(!others.contains(&true), &path, "there is a peer of this name, too");
        self::team(&path, team, config, found);
    }
}

/// Members that can be talked to, whose names are known, and rules that let someone begin.
fn team(path: &str, team: &Team, config: &Config, found: &mut Found) {
    for member in &team.agents {
        let known = config.agents.contains_key(member) || config.peers.contains_key(member);
        if !known && !config.scripts.contains_key(member) {
            let meant = nearest(member, config.agents.keys().chain(config.peers.keys()).map(String::as_str));
            let hint = meant.map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_default();
            found.refuse(format!("{path}.agents"), format!("there is no agent or peer `{member}`{hint}"));
        }
    }
    for name in team.shares.keys().filter(|name| !team.agents.contains(name)) {
        found.refuse(format!("{path}.shares.{name}"), "this is no member of the team");
    }
    if let Err(fault) = plan(team) {
        found.refuse(path, fault.public.to_string());
    }
    found.require(!team.times.whole.0.is_zero(), &format!("{path}.times.whole"), "must be longer than 0");
    let spends = team.budget.money.is_none_or(|money| money.is_finite() && money > 0.0);
    found.require(spends, &format!("{path}.budget.money"), "must be more than 0");
}

fn model(path: &str, model: &Model, found: &mut Found) {
    match (model.provider, &model.file) {
        (Provider::Scripted, None) => found.refuse(path, "a scripted model needs the `file` of its lines"),
        (Provider::Scripted, Some(_)) => {
            let hosted = model.model.is_some() || model.base_url.is_some() || model.api_key.is_some();
            found.require(!hosted, path, "a scripted model has a `file` only: no `model`, `base_url` or `api_key`");
        }
        (Provider::Local, _) => {
            let hosted = model.model.is_some() || model.base_url.is_some() || model.api_key.is_some();
            found.require(!hosted, path, "a local model has a `file` only: no `model`, `base_url` or `api_key`");
        }
        (_, Some(_)) => found.refuse(format!("{path}.file"), "only a scripted or a local model has a file"),
        (_, None) => {
            let named = model.model.as_ref().is_some_and(|name| !name.trim().is_empty());
            found.require(named, path, "which `model` of this provider?");
            base_url(path, model, found);
        }
    }
    for (key, value) in [("at_once", model.at_once), ("attempts", model.attempts)] {
        found.require(value != Some(0), &format!("{path}.{key}"), "must be more than 0");
    }
    let patient = model.timeout.is_none_or(|span| !span.0.is_zero());
    found.require(patient, &format!("{path}.timeout"), "must be longer than 0");
    for (key, price) in [("read", model.price.read), ("written", model.price.written)] {
        found.require(price.is_finite() && price >= 0.0, &format!("{path}.price.{key}"), "a price is 0 or more");
    }
}

fn base_url(path: &str, model: &Model, found: &mut Found) {
    let Some(given) = &model.base_url else { return };
    let at = format!("{path}.base_url");
    match url(given, &["http", "https"]) {
        Err(message) => found.refuse(at, message),
        Ok(uri) => {
            let open = is_open(&uri);
            found.require(!(open && model.api_key.is_some()), &at, "the key would travel unencrypted; use https");
        }
    }
}

fn agent(path: &str, agent: &Agent, config: &Config, found: &mut Found) {
    if !config.models.contains_key(&agent.model) {
        let meant = nearest(&agent.model, config.models.keys().map(String::as_str));
        let hint = meant.map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_default();
        found.refuse(format!("{path}.model"), format!("there is no such model in `models`{hint}"));
    }
    for pattern in &agent.skills {
        found.require(is_pattern(pattern), &format!("{path}.skills"), PATTERN);
    }
    let budget = &agent.budget;
    let spends = budget.money.is_none_or(|money| money.is_finite() && money > 0.0);
    found.require(spends, &format!("{path}.budget.money"), "must be more than 0");
    for (key, fits) in [
        ("budget.tokens", budget.tokens != Some(0)),
        ("budget.turns", budget.turns > 0),
        ("budget.time", !budget.time.0.is_zero()),
        ("context.tokens", agent.context.tokens > 0),
        ("parallel", agent.parallel > 0),
    ] {
        found.require(fits, &format!("{path}.{key}"), "must be more than 0");
    }
    teams(path, agent, config, found);
}

/// A team that works for an agent may do no more than the agent itself: it could ask none of its members.
fn teams(path: &str, agent: &Agent, config: &Config, found: &mut Found) {
    let may = |peer: &str| agent.skills.iter().any(|pattern| matches(pattern, &SkillId::new(peer, "chat")));
    for (name, team) in config.teams.iter().filter(|(name, _)| may(name)) {
        let missing: Vec<String> =
            team.agents.iter().filter(|member| !may(member)).map(|member| format!("`{member}/*`")).collect();
        if !missing.is_empty() {
            let text =
                format!("the team `{name}` may ask for it only whom it may ask itself: add {}", missing.join(", "));
            found.warn(format!("{path}.skills"), text);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::config::{Overrides, load_text};

    fn warnings(skills: &str) -> Vec<String> {
        let yaml = format!(
            "models: {{ m: {{ provider: openai, model: x, base_url: \"http://127.0.0.1:1/v1/\" }} }}\n\
             agents:\n  ann: {{ model: m, skills: [{skills}] }}\n  bob: {{ model: m }}\n  eve: {{ model: m }}\n\
             teams: {{ jury: {{ agents: [bob, eve] }} }}\n"
        );
        let loaded = load_text(&yaml, Path::new("hub.yaml"), &Overrides::default(), &|_| None).expect("valid");
        loaded.warnings.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn an_agent_that_may_ask_a_team_and_not_its_members_is_a_warning() {
        let warned = warnings("\"jury/*\", \"bob/*\"");
        assert_eq!(warned.len(), 1, "{warned:?}");
        assert!(warned[0].contains("agents.ann.skills: the team `jury`"), "{warned:?}");
        assert!(warned[0].ends_with("add `eve/*`"), "{warned:?}");
        assert_eq!(warnings("\"jury/chat\", \"bob/chat\", \"e*/chat\""), [] as [String; 0]);
        assert_eq!(warnings("\"local/*\""), [] as [String; 0], "it asks no team");
    }
}
