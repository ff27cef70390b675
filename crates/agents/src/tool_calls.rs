//! Tool call of an agent: a child call through the hub, and its result as the model reads it.

use std::sync::Arc;

use interlingua_machines::agent::{Calling, ToolResult, child};
use interlingua_model::{
    Ask, Call, Entry, Fault, FaultKind, Finished, Input, Outcome, Part, Party, Provenance, Request, SkillKind, Target,
    Time, Trust,
};

use super::agent::{Agent, MESSAGE};
use super::run_context::{Line, Reading};
use interlingua_hub::call_router::Routed;

/// How much of a result a model is shown.
const MAX_RESULT: usize = 256 * 1024;

/// What all calls of one run share.
#[derive(Debug)]
pub(super) struct ToolCalls {
    pub(super) line: Line,
    pub(super) agent: Arc<Agent>,
    /// Do its calls travel as routed messages?
    pub(super) routes: bool,
    /// Do its file tools work in a workspace of its own?
    pub(super) at_own_files: bool,
}

impl ToolCalls {
    /// A word for whoever watches that this call is being made.
    pub(super) fn announce(&self, calling: &Calling) {
        self.line.note(format!("calls {}", calling.skill));
    }

    /// Makes the call and says what came of it; whatever happens is something the model can be told.
    pub(super) async fn run(self: Arc<Self>, calling: Calling) -> ToolResult {
        let peer = calling.skill.peer.clone();
        match self.made(calling).await {
            Ok((finished, said)) => ToolResult::of(&finished, bounded(said), &peer),
            Err(fault) => ToolResult::refused(&fault),
        }
    }

    async fn made(&self, calling: Calling) -> Result<(Finished, Vec<Part>), Fault> {
        let (line, by) = (&self.line, &self.line.through);
        let (call, mut routed) = self.routed(self.child(calling))?;
        let call = self.spoken(call);
        let call = Box::new(call);
        let running = line.hub.open(Request { by: by.clone(), connection: 0, call }).await?;
        let hear = |entry: &Entry| {
            if let Some(routed) = &mut routed {
                routed.hear(entry, &line.hub);
            }
        };
        let (mut finished, said) = Reading::new(line, running).hearing(Time(0), hear).await?;
        if let Some(failed) = routed.and_then(|routed| routed.failed())
            && failed == (finished.outcome == Outcome::Completed)
        {
            let text = "the routed response does not say what became of the call";
            return Err(Fault::hub(FaultKind::Internal, text));
        }
        finished.output.parts = bounded(finished.output.parts);
        Ok((finished, said))
    }

    /// The call as it comes out of the router, where this run's calls go through it.
    fn routed(&self, call: Call) -> Result<Routed, Fault> {
        let routes = &self.agent.routes;
        if !self.routes {
            return Ok((call, None));
        }
        routes.router.route(&self.line.hub, &self.line.through, call, routes.timeout)
    }

    /// The call as it goes through the door. Its id is the same whenever the run comes to it.
    fn child(&self, calling: Calling) -> Call {
        let ask = Ask::Invoke { target: Target::Skill(calling.skill, None), input: calling.input };
        let mut call = self.line.child(child(self.line.task, calling.turn, calling.index), ask);
        call.limits.confirm = calling.confirm;
        call.origin.bound_by(self.agent.rules());
        // Whatever it leads to works in the workspace of the run, where it has one.
        if self.at_own_files {
            call.origin.works_in(self.line.task);
        }
        call
    }

    /// Another agent is talked to, in a conversation of its own.
    fn spoken(&self, mut call: Call) -> Call {
        let Ask::Invoke { target: Target::Skill(skill, _), input } = &mut call.ask else { return call };
        let catalogue = self.line.hub.catalogue();
        if catalogue.skill(skill, None).map(|skill| skill.kind) == Some(SkillKind::Agent) {
            call.conversation = Some(self.line.conversation_with(skill.peer.as_str()));
            *input = self.words(input.clone());
        }
        call
    }

    /// What is said to another agent, in the words of this one.
    fn words(&self, input: Input) -> Input {
        let said = input.args.as_ref().and_then(|args| args.get(MESSAGE)?.as_str()).map(str::to_owned);
        match said {
            None => input,
            Some(text) => {
                let by = Party::Peer(self.agent.name.clone());
                let part = Part::text(text, Provenance { by, source: None, trust: input.trust });
                Input { trust: input.trust, ..Input::parts(vec![part]) }
            }
        }
    }
}

/// As much of a result as a model is shown, with a word about the rest.
fn bounded(parts: Vec<Part>) -> Vec<Part> {
    let mut left = MAX_RESULT;
    let mut shown = Vec::new();
    for part in parts {
        let weight = part.weight();
        if weight > left {
            let cut = part.as_text().map(|text| head(text, left)).unwrap_or_default();
            let provenance = part.provenance.clone();
            shown.push(Part { body: Part::text(cut, provenance).body, ..part });
            let note = "The result is longer than this; the rest is left out.";
            shown.push(Part::text(note, Provenance { by: Party::Hub, source: None, trust: Trust::Peer }));
            break;
        }
        left -= weight;
        shown.push(part);
    }
    shown
}

fn head(text: &str, bytes: usize) -> &str {
    let end = (0..=bytes.min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_that_is_too_long_is_cut_between_letters_and_says_so() {
        let long = Part::text("\u{e9}".repeat(MAX_RESULT), Provenance::peer("web".into()));
        let shown = bounded(vec![Part::text("first", Provenance::hub()), long]);
        assert_eq!(shown.len(), 3);
        let cut = shown[1].as_text().expect("text");
        assert!(cut.len() <= MAX_RESULT && cut.chars().all(|letter| letter == '\u{e9}'));
        assert!(shown[2].as_text().is_some_and(|text| text.contains("left out")));
        assert_eq!(bounded(vec![Part::text("short", Provenance::hub())]).len(), 1);
    }
}
