//! Configured agents and teams: built from their sections of the configuration and registered with the hub.

use std::sync::Arc;

use interlingua_machines::llm::Model;
use interlingua_model::{Fault, FaultKind, PeerId, Text};
use interlingua_tools::files::run_workspaces::RunWorkspaces;

use super::agent::{Agent, Routes};
use super::configured_model::{ConfiguredModel, Models};
use super::peer::AgentPeer;
use super::rounds::Rounds;
use super::settings::{self, Sections};
use super::team::{Grounds, Team, TeamPeer};
use interlingua_hub::call_router::CallRouter;
use interlingua_hub::{Hub, Unknown, in_process};

/// All agents and teams of a configuration, ready to be registered.
#[derive(Debug)]
pub struct ConfiguredAgents {
    agents: Vec<Arc<Agent>>,
    teams: Vec<Arc<Team>>,
    seats: Arc<Rounds>,
    models: Models,
}

/// Makes every agent: all that its configuration can be refused for is refused here.
pub fn prepare(
    hub: &Arc<Hub>,
    lent: &Arc<RunWorkspaces>,
    router: &Arc<dyn CallRouter>,
    sections: &Sections<'_>,
) -> Result<ConfiguredAgents, Fault> {
    let models = Models::new(sections, hub)?;
    let seats = Arc::new(Rounds::new(lent.clone()));
    let agents = sections.agents.iter().map(|(name, agent)| {
        let missing = || Fault::hub(FaultKind::InvalidInput, format!("agents.{name}.model: there is no such model"));
        let voice = models.named(&agent.model).ok_or_else(missing)?;
        let routes = Routes {
            router: router.clone(),
            agent: agent.routed,
            hub: sections.routed,
            timeout: agent.router.default_timeout.map(|span| span.0),
        };
        Agent::new(name, agent, sections.unknown, voice.clone(), seats.clone(), routes).map(Arc::new)
    });
    let agents = agents.collect::<Result<_, Fault>>()?;
    let teams = sections.teams.iter().map(|(name, team)| self::team(name, team, sections).map(Arc::new));
    Ok(ConfiguredAgents { agents, teams: teams.collect::<Result<_, Fault>>()?, seats, models })
}

/// An agent that a program which embeds the hub adds, with a model of the program's own. The configuration does not know it: it
/// sits in no team, and stays when the configuration changes.
#[derive(Debug, Clone)]
pub struct Recruit {
    pub name: String,
    pub instructions: String,
    /// Patterns of the skills it may use, as `peer/skill`.
    pub skills: Vec<String>,
}

/// Adds such an agent to a hub that runs. Its calls go through this router where they are asked to.
pub async fn enlist(
    hub: &Arc<Hub>,
    router: Arc<dyn CallRouter>,
    recruit: Recruit,
    model: Arc<dyn Model>,
) -> Result<(), Fault> {
    let Recruit { name, instructions, skills } = recruit;
    let config = settings::Agent { instructions, skills, ..settings::Agent::of(&name) };
    let routes = Routes { router, agent: None, hub: false, timeout: None };
    let unknown = match hub.settings().unknown {
        Unknown::ByModel | Unknown::Ask => settings::Consent::Ask,
        Unknown::Allow => settings::Consent::Allow,
    };
    let agent = Agent::new(&name, &config, unknown, Arc::new(ConfiguredModel::of(model)), Arc::default(), routes)?;
    enter(hub, Arc::new(agent)).await
}

async fn enter(hub: &Arc<Hub>, agent: Arc<Agent>) -> Result<(), Fault> {
    let skills = vec![agent.skill()];
    let card = in_process::card(agent.name.clone(), &agent.title, agent.description.as_str(), skills, hub.now());
    hub.register(card, Arc::new(AgentPeer::new(hub, agent))).await
}

impl ConfiguredAgents {
    /// Adds every agent, or replaces it whole. Runs under way end by what they began with.
    pub async fn register(self, hub: &Arc<Hub>) -> Result<(), Fault> {
        hub.set_configured_advisor(Arc::new(self.models));
        for agent in self.agents {
            enter(hub, agent).await?;
        }
        for team in self.teams {
            let skills = vec![team.skill()];
            let card = in_process::card(team.name.clone(), &team.title, team.description.as_str(), skills, hub.now());
            hub.register(card, Arc::new(TeamPeer::new(hub, team, self.seats.clone()))).await?;
        }
        Ok(())
    }
}

fn team(name: &str, team: &settings::Team, sections: &Sections<'_>) -> Result<Team, Fault> {
    if team.routed == Some(true) {
        for member in team.agents.iter().filter(|member| !sections.agents.contains_key(*member)) {
            tracing::info!(event = "nlip_skipped", team = name, %member, "the member is not an agent of this hub; it makes its calls itself");
        }
    }
    Ok(Team {
        name: PeerId::from(name),
        title: team.title.clone().unwrap_or_else(|| name.to_owned()),
        description: team.description.clone().unwrap_or_else(|| "A team to ask.".to_owned()),
        public: team.public,
        routed: team.routed,
        plan: settings::plan(team, |member| sections.agents.contains_key(member))?,
        reply: team.times.reply.0,
        verbs: team.verbs,
        scopes: team_scopes(team, sections).collect(),
        grounds: Grounds::of(team, sections),
    })
}

/// What a team may call: its members, and for each of them what that one may.
pub(super) fn team_scopes<'a>(team: &'a settings::Team, sections: &'a Sections<'_>) -> impl Iterator<Item = Text> + 'a {
    let members = team.agents.iter().map(|member| match member.contains('/') {
        true => member.as_str().into(),
        false => format!("{member}/*").into(),
    });
    let skills = team.agents.iter().filter_map(|member| sections.agents.get(member));
    members.chain(skills.flat_map(|agent| &agent.skills).map(|pattern| pattern.as_str().into()))
}
