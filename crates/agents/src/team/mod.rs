//! Teams: several agents that work on one question, see each other's answers without names, improve and vote.
//!
//! The pure machine in `interlingua_machines::team` decides how a team comes to its answer. This module starts its members and collects
//! their output: each round of a member is an exchange of its own, a child of the team's ([`round`]), so that it is stored, cancelled and
//! resumed after a restart like any other. The decisions of an agent of this hub are checked while it works ([`super::rounds`]). Any other
//! peer with a chat skill answers in words, which are read as a decision. Members that use files have a workspace each ([`workspaces`]).

mod engine;
mod round;
mod workspaces;

use std::collections::HashSet;
use std::sync::{Arc, Weak};
use std::time::Duration;

use interlingua_machines::team::TeamPlan;
use interlingua_model::peer::{Calling, Dispatch, Peer, Reply};
use interlingua_model::{
    Call, CardFrom, Effects, Fault, Input, Link, Loss, Maker, PeerId, Proof, Schema, Skill, SkillId, SkillKind,
    Subject, Text,
};
use serde_json::json;
use tokio::sync::mpsc;

use super::agent::CHAT;
use super::rounds::Rounds;
use super::run_context::RunContext;
use super::run_duplex::{MAX_SIGNALS, RunDuplex};
use engine::Engine;
use interlingua_hub::Hub;
pub(super) use workspaces::Grounds;
pub use workspaces::tidy;

/// How long the hub waits for a team beyond its own limit of time: it ends by itself.
const GRACE: Duration = Duration::from_secs(120);

#[derive(Debug)]
pub(super) struct Team {
    pub(super) name: PeerId,
    pub(super) title: String,
    pub(super) description: String,
    pub(super) public: bool,
    /// Do calls of members travel as routed messages?
    pub(super) routed: Option<bool>,
    /// Without the task, which comes with a call.
    pub(super) plan: TeamPlan,
    /// Members that are agents of this hub.
    pub(super) agents: HashSet<PeerId>,
    /// Its members, and patterns of the skills that they may use.
    pub(super) scopes: Vec<Text>,
    /// Where they work, if not all in one place.
    pub(super) grounds: Option<Grounds>,
}

impl Team {
    /// What a team does its members do, under their own rules of consent.
    pub(super) fn skill(&self) -> Skill {
        let effects = Effects::calls(CardFrom::Configuration);
        let input = Schema(json!({"type": "object"}).into());
        let id = SkillId::new(self.name.clone(), CHAT);
        let mut skill = Skill::new(id, SkillKind::Agent, self.description.as_str(), input, effects);
        skill.always_kept = true;
        skill.public = self.public;
        skill.sealed()
    }

    /// What the team adds to the chain of whoever asked: it may talk to its members, and lets each do what that one may.
    fn link(&self) -> Link {
        let scopes = self.scopes.clone();
        Link { subject: Subject::Agent(self.name.clone()), proof: Proof::InProcess, scopes, until: None }
    }
}

/// Holds the hub weakly: the hub holds it.
#[derive(Debug)]
pub(super) struct TeamPeer {
    hub: Weak<Hub>,
    team: Arc<Team>,
    seats: Arc<Rounds>,
}

impl TeamPeer {
    pub(super) fn new(hub: &Arc<Hub>, team: Arc<Team>, seats: Arc<Rounds>) -> TeamPeer {
        TeamPeer { hub: Arc::downgrade(hub), team, seats }
    }
}

impl Peer for TeamPeer {
    /// Members are asked in words.
    fn loses(&self, call: &Call) -> Vec<Loss> {
        call.input().map(Input::lost_beside_words).unwrap_or_default()
    }

    fn call(self: Arc<Self>, dispatch: Dispatch) -> Calling {
        Box::pin(async move {
            let hub = self.hub.upgrade().ok_or_else(Fault::shutting_down)?;
            let line = RunContext::new(hub, self.team.link(), (self.team.name.clone(), Maker::Team), dispatch);
            let outbox = line.outbox.clone();
            let (signals, incoming) = mpsc::channel(MAX_SIGNALS);
            let work = Engine::work(self.team.clone(), Arc::new(line), self.seats.clone(), incoming);
            Ok(Reply::Live(Box::new(RunDuplex { work: Some(Box::pin(work)), outbox, signals })))
        })
    }

    /// A call under a key that is known finds its run.
    fn resumes(&self, _skill: &Skill) -> bool {
        true
    }

    fn patience(&self) -> Option<Duration> {
        Some(self.team.plan.rules.times.whole + GRACE)
    }
}
