//! One step of a plan: a call through the hub, in the name of the caller of the plan.

use std::sync::Arc;

use interlingua_machines::graph::{Ending, Node};
use interlingua_model::{
    Ask, Call, CancelWhy, Fault, Finished, Input, Json, Maker, MessageId, OnDisconnect, Origin, Outcome, Part, PeerId,
    Principal, Request, Retry, Signal, SkillId, Target, TaskId, Text, Transcript,
};

use interlingua_hub::{Hub, Running};

/// Who asks, and for which plan.
#[derive(Debug, Clone)]
pub(super) struct Caller {
    pub(super) hub: Arc<Hub>,
    pub(super) by: Principal,
    pub(super) task: TaskId,
    /// The call of the plan.
    pub(super) plan: Arc<Call>,
}

impl Caller {
    /// Calls a peer and waits for what comes of it. The call is kept under its key: asked again, it is the same one. Dropped
    /// before its end it is cancelled, unless the hub itself stops: then it waits for the next start, as the plan does.
    pub(super) async fn call(
        self,
        key: MessageId,
        target: Target,
        input: Input,
        led: Option<Origin>,
    ) -> Result<Finished, Fault> {
        let mut call = self.plan.child(self.task, self.hub.id(), Maker::Plan, key, Ask::Invoke { target, input });
        if let Some(led) = led {
            call.led_by(&led);
        }
        // A plan that ends ends its steps.
        call.limits.deadline = None;
        call.limits.keep = true;
        call.limits.on_disconnect = OnDisconnect::Detach;
        let request = Request { by: self.by.clone(), connection: 0, call: Box::new(call) };
        let running = self.hub.open(request).await?;
        let mut held = Held { caller: self, running, over: false };
        let ended = held.running.finish(&mut Transcript::of_messages(), |_| {}).await;
        held.over = ended.is_ok();
        // Cut off by the hub's stop it goes on after the next start, and so does the plan: another attempt would be a second call.
        ended.map_err(|fault| if held.is_stopping() { fault.retry(Retry::No) } else { fault })
    }
}

struct Held {
    caller: Caller,
    running: Running,
    over: bool,
}

impl Held {
    fn is_stopping(&self) -> bool {
        self.caller.hub.stopping().is_cancelled()
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let Caller { hub, by, .. } = &self.caller;
        if self.over || self.is_stopping() {
            return;
        }
        let (hub, by, task) = (hub.clone(), by.clone(), self.running.id());
        self.caller.hub.spawn(async move {
            let _ = hub.signal(by, task, Signal::Cancel(CancelWhy::Superseded)).await;
        });
    }
}

/// What a step asks of the peer that was chosen for it.
pub(super) fn asked(node: &Node, peer: &PeerId) -> (Target, Input) {
    match &node.skill {
        Some(skill) => {
            let mut input = Input::args(node.args.clone().unwrap_or_else(Json::empty_object));
            if !node.words.is_empty() {
                input.parts = Input::text(&words(node)).parts;
            }
            (Target::Skill(SkillId { peer: peer.clone(), skill: skill.clone() }, None), input)
        }
        None => (Target::Peer(peer.clone()), Input::text(&words(node))),
    }
}

fn words(node: &Node) -> String {
    let said: &str = if node.words.is_empty() { &node.name } else { &node.words };
    if node.hints.is_empty() {
        return said.to_owned();
    }
    let tips: Vec<String> = node.hints.iter().map(|hint| format!(" - {hint}")).collect();
    format!("{said}\nTips for Completion:\n{}", tips.join("\n"))
}

/// How a step ended, by what came of its call.
pub(super) fn ending(called: Result<Finished, Fault>) -> Ending {
    match called {
        Err(fault) => Ending::Failed(fault),
        Ok(Finished { outcome: Outcome::Failed(fault), .. }) => Ending::Failed(fault),
        Ok(Finished { outcome: Outcome::Cancelled { why, .. }, .. }) => Ending::Cancelled(why),
        Ok(Finished { outcome: Outcome::Completed, output, .. }) => Ending::Completed(result(output)),
    }
}

/// Structured, else its words.
pub(crate) fn result(output: interlingua_model::Output) -> Option<Json> {
    let words: Vec<&str> = output.parts.iter().filter_map(Part::as_text).collect();
    let text: Option<Text> = (!words.is_empty()).then(|| words.join("\n").into());
    output.structured.or_else(|| text.map(|text| Json::from_tree((&*text).into())))
}
