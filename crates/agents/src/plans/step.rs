//! One step of a plan: a call through the hub, in the name of the caller of the plan.

use std::sync::Arc;
use std::time::Duration;

use interlingua_machines::graph::{Ending, Filled, Node};
use interlingua_model::{
    Ask, Fault, Finished, Input, Json, MessageId, OnDisconnect, Origin, Outcome, Part, PeerId, Request, Retry, SkillId,
    Target, Text, Time, Trust,
};

use crate::run_context::{Reading, RunContext};

/// How often it is looked whether a peer is back.
const LOOK: Duration = Duration::from_millis(200);

/// Calls a peer and waits for what comes of it. The call is kept under its key: asked again, it is the same one. Dropped before its end it
/// is cancelled, unless the hub itself stops: then it waits for the next start, as the plan does.
pub(super) async fn call(
    line: Arc<RunContext>,
    key: MessageId,
    target: Target,
    input: Input,
    led: Option<Origin>,
) -> Result<Finished, Fault> {
    let mut call = line.child(key, Ask::Invoke { target, input });
    if let Some(led) = led {
        call.led_by(&led);
    }
    // A plan that ends ends its steps.
    call.limits.deadline = None;
    call.limits.replay = None;
    call.limits.keep = true;
    call.limits.on_disconnect = OnDisconnect::Detach;
    let running = line.hub.open(Request { by: line.by.clone(), connection: 0, call: Box::new(call) }).await?;
    let ended = Reading::new(&line, running, None).hearing(Time(0), |_| {}).await;
    match ended {
        Ok((mut finished, said)) => {
            finished.output.parts.splice(0..0, said);
            Ok(finished)
        }
        // Cut off by the hub's stop it goes on after the next start, and so does the plan: another attempt would be a second call.
        Err(fault) if line.hub.stopping().is_cancelled() => Err(fault.retry(Retry::No)),
        Err(fault) => Err(fault),
    }
}

/// Waits for a peer that may still connect after a restart of the hub, until this time: a call of a peer that is not known fails at once,
/// also where the call was made before.
pub(super) async fn await_peer(line: &RunContext, target: &Target, until: Time) {
    let is_known = || match target {
        Target::Skill(id, version) => line.hub.catalogue().skill(id, version.as_ref()).is_some(),
        Target::Peer(peer) => line.hub.catalogue().peers.contains_key(peer),
        Target::Capability(_) | Target::Words => true,
    };
    while line.hub.now() < until && !is_known() {
        tokio::time::sleep(LOOK).await;
    }
}

/// What a step asks of the peer that was chosen for it.
pub(super) fn asked(node: &Node, filled: Filled, peer: &PeerId) -> (Target, Input) {
    let words = words(node, &filled.words);
    let (target, mut input) = match &node.skill {
        Some(skill) => {
            let mut input = Input::args(filled.args.unwrap_or_else(Json::empty_object));
            if !filled.words.is_empty() {
                input.parts = Input::text(&words).parts;
            }
            (Target::Skill(SkillId { peer: peer.clone(), skill: skill.clone() }, None), input)
        }
        None => (Target::Peer(peer.clone()), Input::text(&words)),
    };
    // A result is what a peer said, whoever passes it on.
    if filled.used {
        input.trust = input.trust.min(Trust::Peer);
        for part in &mut input.parts {
            part.provenance.trust = part.provenance.trust.min(Trust::Peer);
        }
    }
    (target, input)
}

fn words(node: &Node, filled: &str) -> String {
    let said: &str = if filled.is_empty() { &node.name } else { filled };
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
