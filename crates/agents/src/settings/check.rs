//! Validation of models, agents and teams beyond their types: references resolve, and each has what its provider needs.

use indexmap::IndexMap;
use interlingua_model::SkillId;

use super::{Agent, Kind, Model, Provider, Team, plan};
use interlingua_hub::names::name_problem;
use interlingua_hub::policy::matches;
use interlingua_settings::check::{PATTERN, is_open, is_pattern, url};
use interlingua_settings::{Found, nearest};

/// The sections of agents, and whose names they share a hub with.
#[derive(Debug, Clone)]
pub struct Checked<'a> {
    pub models: &'a IndexMap<String, Model>,
    pub agents: &'a IndexMap<String, Agent>,
    pub teams: &'a IndexMap<String, Team>,
    /// Names of peers that others run.
    pub peers: Vec<&'a str>,
    /// Names of agents that follow a script.
    pub scripts: Vec<&'a str>,
}

pub fn check_models(models: &IndexMap<String, Model>, found: &mut Found) {
    for (name, model) in models {
        self::model(&format!("models.{name}"), model, found);
    }
}

impl Checked<'_> {
    pub fn check(&self, found: &mut Found) {
        for (name, agent) in self.agents {
            let path = format!("agents.{name}");
            found.refuse_for(&path, name_problem(name));
            found.require(!self.is_taken(name), &path, "there is a peer of this name, too");
            self::agent(&path, agent, self, found);
            agent.on.iter().for_each(|on| on.check(&format!("{path}.on"), found));
        }
        for (name, team) in self.teams {
            let path = format!("teams.{name}");
            found.refuse_for(&path, name_problem(name));
            let taken = self.is_taken(name) || self.agents.contains_key(name);
            found.require(!taken, &path, "there is a peer of this name, too");
            self::team(&path, team, self, found);
            team.on.iter().for_each(|on| on.check(&format!("{path}.on"), found));
        }
    }

    /// By somebody who is neither an agent nor a team.
    fn is_taken(&self, name: &str) -> bool {
        self.peers.contains(&name) || self.scripts.contains(&name)
    }
}

/// Members that can be talked to, whose names are known, and rules that let someone begin.
fn team(path: &str, team: &Team, all: &Checked<'_>, found: &mut Found) {
    for member in &team.agents {
        if let Some((peer, skill)) = member.split_once('/') {
            let at = format!("{path}.agents");
            found.require(!skill.is_empty(), &at, "a member at a peer is written `PEER/SKILL`");
            let hint = nearest(peer, all.peers.iter().copied()).map(|meant| format!("; did you mean `{meant}`?"));
            let text = format!("there is no peer `{peer}`{}", hint.unwrap_or_default());
            found.require(all.peers.contains(&peer), &at, &text);
        } else if !all.agents.contains_key(member) && !all.is_taken(member) {
            let known = all.agents.keys().map(String::as_str).chain(all.peers.iter().copied());
            let meant = nearest(member, known);
            let hint = meant.map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_default();
            found.refuse(format!("{path}.agents"), format!("there is no agent or peer `{member}`{hint}"));
        }
    }
    for name in team.shares.keys().filter(|name| !team.agents.contains(name)) {
        found.refuse(format!("{path}.shares.{name}"), "this is no member of the team");
    }
    if let Err(fault) = plan(team, |member| all.agents.contains_key(member)) {
        found.refuse(path, fault.public.to_string());
    }
    for (key, span) in [("whole", team.times.whole), ("reply", team.times.reply)] {
        found.require(!span.0.is_zero(), &format!("{path}.times.{key}"), "must be longer than 0");
    }
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

fn agent(path: &str, agent: &Agent, all: &Checked<'_>, found: &mut Found) {
    if !all.models.contains_key(&agent.model) {
        let meant = nearest(&agent.model, all.models.keys().map(String::as_str));
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
        ("plan.steps", agent.plan.steps > 0),
    ] {
        found.require(fits, &format!("{path}.{key}"), "must be more than 0");
    }
    match agent.kind {
        Kind::Chat => {}
        Kind::Planner => planner(path, agent, all, found),
    }
    teams(path, agent, all, found);
}

/// It needs a model that calls tools, and something to plan with.
fn planner(path: &str, agent: &Agent, all: &Checked<'_>, found: &mut Found) {
    let calls = all.models.get(&agent.model).is_none_or(|model| model.provider != Provider::Local);
    found.require(calls, &format!("{path}.model"), "a local model calls no tools, so it cannot plan");
    let skills = format!("{path}.skills");
    found.require(!agent.skills.is_empty(), &skills, "a planner needs the skills that its steps may use");
}

/// A team that works for an agent may do no more than the agent itself: it could ask none of its members.
fn teams(path: &str, agent: &Agent, all: &Checked<'_>, found: &mut Found) {
    let may = |member: &str| {
        let skill = member.parse().unwrap_or_else(|_| SkillId::new(member, "chat"));
        agent.skills.iter().any(|pattern| matches(pattern, &skill))
    };
    for (name, team) in all.teams.iter().filter(|(name, _)| may(name)) {
        let missing: Vec<String> =
            team.agents.iter().filter(|member| !may(member)).map(|member| pattern(member)).collect();
        if !missing.is_empty() {
            let text =
                format!("the team `{name}` may ask for it only whom it may ask itself: add {}", missing.join(", "));
            found.warn(format!("{path}.skills"), text);
        }
    }
}

/// The skills of a member, as a pattern.
fn pattern(member: &str) -> String {
    if member.contains('/') { format!("`{member}`") } else { format!("`{member}/*`") }
}
