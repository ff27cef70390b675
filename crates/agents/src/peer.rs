//! An agent as a peer of the hub.

use std::sync::{Arc, Weak};
use std::time::Duration;

use interlingua_model::peer::{Calling, Dispatch, Peer, Reply};
use interlingua_model::{
    Blob, Body, Call, ClientTool, Fault, Input, Loss, LossKind, Maker, Part, Principal, Skill, Way,
};
use tokio::sync::mpsc;

use super::agent::Agent;
use super::engine::Engine;
use super::run_context::RunContext;
use super::run_duplex::{MAX_SIGNALS, RunDuplex};
use super::tool_calls::ToolCalls;
use interlingua_hub::Hub;

/// Holds the hub weakly: the hub holds it.
#[derive(Debug)]
pub(super) struct AgentPeer {
    hub: Weak<Hub>,
    agent: Arc<Agent>,
}

impl AgentPeer {
    pub(super) fn new(hub: &Arc<Hub>, agent: Arc<Agent>) -> AgentPeer {
        AgentPeer { hub: Arc::downgrade(hub), agent }
    }
}

impl Peer for AgentPeer {
    fn call(self: Arc<Self>, dispatch: Dispatch) -> Calling {
        Box::pin(async move {
            let hub = self.hub.upgrade().ok_or_else(Fault::shutting_down)?;
            self.agent.check_loop(&dispatch.by)?;
            let line = RunContext::new(hub, self.agent.link(), (self.agent.name.clone(), Maker::Agent), dispatch);
            let offered = &line.call.caller.tools;
            // At every attempt: after a restart the agent may have other skills.
            if !offered.is_empty() {
                self.agent.plan(&line.hub, &line.through, true).takes(offered)?;
            }
            let outbox = line.outbox.clone();
            let errands = ToolCalls { line, agent: self.agent.clone(), routes: false, at_own_files: false };
            let (signals, incoming) = mpsc::channel(MAX_SIGNALS);
            let work = Some(Box::pin(Engine::work(errands, incoming)) as _);
            Ok(Reply::Live(Box::new(RunDuplex { work, outbox, signals })))
        })
    }

    fn loses(&self, call: &Call) -> Vec<Loss> {
        call.input().map(lost_to_models).unwrap_or_default()
    }

    fn takes_tools(&self) -> bool {
        true
    }

    fn check_tools(&self, by: &Principal, offered: &[ClientTool]) -> Result<(), Fault> {
        let hub = self.hub.upgrade().ok_or_else(Fault::shutting_down)?;
        self.agent.plan(&hub, &by.through(self.agent.link()), true).takes(offered)
    }

    /// A call under a key that is known finds its run.
    fn resumes(&self, _skill: &Skill) -> bool {
        true
    }

    fn patience(&self) -> Option<Duration> {
        self.agent.patience()
    }
}

/// A model is shown words and pictures; of anything else it is told that it is there.
pub(super) fn lost_to_models(input: &Input) -> Vec<Loss> {
    let mut losses = input.lost_marks();
    if input.parts.iter().any(|part| matches!(part.body, Body::Other { .. })) {
        losses.push(Way::Input.part("other", LossKind::Dropped));
    }
    let is_file = |part: &Part| match &part.body {
        Body::Blob(Blob::Inline(_)) => !part.media.as_deref().unwrap_or_default().starts_with("image/"),
        Body::Blob(Blob::Stored { .. }) => true,
        Body::Text { .. }
        | Body::Data(_)
        | Body::Link
        | Body::Code { .. }
        | Body::Place { .. }
        | Body::Other { .. } => false,
    };
    if input.parts.iter().any(is_file) {
        losses.push(Way::Input.part("blob", LossKind::Dropped));
    }
    losses
}
