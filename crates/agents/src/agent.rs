//! A configured agent: its definition, and its permissions in every run.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use interlingua_machines::agent::{Budget, Fold, Layers, Plan, Tool, Window, offer};
use interlingua_model::{
    CardFrom, Consent, Consents, Effects, Fault, FaultKind, Input, Json, Link, PeerId, Principal, Proof, Schema, Skill,
    SkillId, SkillKind, Subject, Text,
};
use serde_json::json;

use super::configured_model::ConfiguredModel;
use super::planner::{self, Planner};
use super::rounds::Rounds;
use super::settings::{self, micro};
use interlingua_hub::Hub;
use interlingua_hub::call_router::CallRouter;
use interlingua_hub::policy::matches;

/// The skill of every agent.
pub(super) const CHAT: &str = "chat";
/// The argument in which an agent's tool for another agent takes what is to be said.
pub(super) const MESSAGE: &str = "message";
/// More tools than this no model is shown.
const MAX_TOOLS: usize = 128;
/// Reach skills that an agent's rules of consent would not see.
const INDIRECT: [(&str, &str); 2] = [("hub", "call_skill"), ("hub", "ask")];
/// How long the hub waits for a run beyond its own limit of time: it ends by itself.
const GRACE: Duration = Duration::from_secs(60);

#[derive(Debug)]
pub(super) struct Agent {
    pub(super) name: PeerId,
    pub(super) title: String,
    pub(super) description: String,
    pub(super) voice: Arc<ConfiguredModel>,
    /// Patterns of the skills it may use.
    scopes: Vec<Text>,
    /// Without tools, which are looked up when a run begins.
    plan: Plan,
    /// It has plans carried out, and calls nothing itself.
    planner: Option<Planner>,
    public: bool,
    /// Where teams have it sit.
    pub(super) seats: Arc<Rounds>,
    pub(super) routes: Routes,
}

/// Whether and how calls travel as routed messages.
#[derive(Debug)]
pub(super) struct Routes {
    pub(super) router: Arc<dyn CallRouter>,
    pub(super) agent: Option<bool>,
    pub(super) hub: bool,
    pub(super) timeout: Option<Duration>,
}

impl Routes {
    /// What the nearest of these says: the request, the agent, its team, the hub.
    pub(super) fn wanted(&self, request: Option<bool>, team: Option<bool>) -> bool {
        Layers { request, agent: self.agent, team, hub: Some(self.hub) }.nearest().0
    }
}

impl Agent {
    pub(super) fn new(
        name: &str,
        config: &settings::Agent,
        unknown: settings::Consent,
        voice: Arc<ConfiguredModel>,
        seats: Arc<Rounds>,
        routes: Routes,
    ) -> Result<Agent, Fault> {
        let planner = Planner::of(config);
        let instructions = match &planner {
            None => config.instructions.clone(),
            Some(_) => planner::instructions(&config.instructions),
        };
        let mut plan = Plan::new(name, instructions.as_str());
        plan.budget = Budget {
            tokens: config.budget.tokens,
            micro_money: config.budget.money.map(micro),
            time: Some(config.budget.time.0),
            calls: config.budget.calls.or(planner.as_ref().map(|_| planner::MAX_PLANS)),
            turns: Some(config.budget.turns),
        };
        plan.price = voice.price;
        plan.consent = Consents {
            unknown: consent(config.confirm.unknown.unwrap_or(unknown)),
            writes: consent(config.confirm.writes),
            destroys: consent(config.confirm.destroys),
            spends: consent(config.confirm.spends),
        };
        plan.window = Window {
            tokens: config.context.tokens,
            keep: usize::from(config.context.keep),
            fold: match config.context.fold {
                settings::Fold::Leave => Fold::LeaveOut,
                settings::Fold::Summarise => Fold::Summarise,
            },
        };
        plan.parallel = usize::from(config.router.max_parallel_calls.unwrap_or(config.parallel));
        plan.output = config.output.as_deref().map(|file| schema(name, file)).transpose()?;
        Ok(Agent {
            name: PeerId::from(name),
            title: config.title.clone().unwrap_or_else(|| name.to_owned()),
            description: config.description.clone().unwrap_or_else(|| "An agent to talk to.".to_owned()),
            voice,
            scopes: config.skills.iter().map(|pattern| pattern.as_str().into()).collect(),
            plan,
            planner,
            public: config.public,
            seats,
            routes,
        })
    }

    /// It reads, and changes something only where its rules let it without a human yes; a yes belongs to its own call.
    pub(super) fn skill(&self) -> Skill {
        let consent = self.plan.consent;
        let free = [consent.unknown, consent.writes, consent.destroys, consent.spends].contains(&Consent::Allow);
        let effects = Effects { writes: free, ..Effects::calls(CardFrom::Configuration) };
        let input = Schema(json!({"type": "object"}).into());
        let id = SkillId::new(self.name.clone(), CHAT);
        let mut skill = Skill::new(id, SkillKind::Agent, self.description.as_str(), input, effects);
        skill.output.clone_from(&self.plan.output);
        skill.always_kept = true;
        skill.public = self.public;
        skill.sealed()
    }

    /// What the agent adds to the chain of whoever asked: no right that its patterns do not name.
    pub(super) fn link(&self) -> Link {
        let mut scopes = self.scopes.clone();
        scopes.extend(self.planner.as_ref().map(|_| planner::skill().to_string().into()));
        Link { subject: Subject::Agent(self.name.clone()), proof: Proof::InProcess, scopes, until: None }
    }

    /// A planner whose plan asks the planner would never come to an end.
    pub(super) fn check_loop(&self, by: &Principal) -> Result<(), Fault> {
        let own = Subject::Agent(self.name.clone());
        match self.planner.is_some() && by.links().iter().any(|link| link.subject == own) {
            true => Err(Fault::caller(FaultKind::Loop, format!("'{}' is already at work on this", self.name))),
            false => Ok(()),
        }
    }

    /// The input of a call of its model, within the limits that the configuration sets.
    pub(super) fn bounded(&self, skill: &SkillId, input: Input) -> Input {
        match &self.planner {
            Some(planner) if *skill == planner::skill() => planner.bounded(input),
            Some(_) | None => input,
        }
    }

    /// What it may do without a human yes, and what not at all: also by whatever it calls.
    pub(super) fn rules(&self) -> Consents {
        self.plan.consent
    }

    /// How long a run may take when its caller does not say.
    pub(super) fn patience(&self) -> Option<Duration> {
        self.plan.budget.time.map(|time| time + GRACE)
    }

    /// What whoever watches a run is shown of a call before it is made: the plan of a planner.
    pub(super) fn outline(&self, skill: &SkillId, input: &Input) -> Option<String> {
        let plans = self.planner.is_some() && *skill == planner::skill();
        plans.then(|| planner::outline(input.args.as_ref())).flatten()
    }

    /// What it is and may do in a run for this principal, as the hub is now. What the principal may not call is not there.
    pub(crate) fn plan(&self, hub: &Hub, through: &Principal, may_ask: bool) -> Plan {
        let visible = hub.visible(through);
        let wanted = |id: &SkillId| {
            let own = id.peer == self.name;
            let indirect = INDIRECT.contains(&(id.peer.as_str(), id.skill.as_str()));
            !own && !indirect && self.scopes.iter().any(|pattern| matches(pattern, id))
        };
        let mine: Vec<&Skill> =
            visible.callable().map(|skill| &**skill).filter(|skill| skill.kind != SkillKind::Prompt).collect();
        if let Some(planner) = &self.planner {
            let usable: Vec<&Skill> = mine.iter().copied().filter(|skill| wanted(&skill.id)).collect();
            let devices = visible.callable_peers().map(|registered| &*registered.card);
            let tools = planner.tools(&mine, &usable, devices, |card| hub.device_load(card));
            return Plan { tools, may_ask, ..self.plan.clone() };
        }
        let mut tools = offer(mine.iter().copied(), wanted);
        if tools.len() > MAX_TOOLS {
            tracing::warn!(event = "agent_skills_truncated", agent = %self.name, skills = tools.len(), shown = MAX_TOOLS, "the agent has more skills than a model is shown; the rest is left out");
            tools.truncate(MAX_TOOLS);
        }
        for tool in &mut tools {
            if mine.iter().any(|skill| skill.id == tool.skill && skill.kind == SkillKind::Agent) {
                tool.input = message_only(tool);
            }
        }
        Plan { tools, may_ask, ..self.plan.clone() }
    }
}

/// Another agent is told something in words.
fn message_only(tool: &Tool) -> Schema {
    let about = format!("What to say to {}.", tool.skill.peer);
    let input = json!({
        "type": "object",
        "properties": {MESSAGE: {"type": "string", "description": about}},
        "required": [MESSAGE],
        "additionalProperties": false
    });
    Schema(input.into())
}

fn consent(consent: settings::Consent) -> Consent {
    match consent {
        settings::Consent::Allow => Consent::Allow,
        settings::Consent::Ask => Consent::Ask,
        settings::Consent::Deny => Consent::Deny,
    }
}

fn schema(agent: &str, file: &Path) -> Result<Schema, Fault> {
    let wrong = |text: String| {
        Fault::hub(FaultKind::InvalidInput, format!("agents.{agent}.output: {}: {text}", file.display()))
    };
    let bytes = std::fs::read(file).map_err(|error| wrong(error.kind().to_string()))?;
    Json::parse(Bytes::from(bytes)).map(Schema).map_err(|error| wrong(error.to_string()))
}
