//! Tool call of an agent: a child call through the hub, and its result as the model reads it.

use std::sync::Arc;

use interlingua_machines::agent::{Calling, Handing, ToolResult, child};
use interlingua_model::{
    Addressee, Answer, Ask, Call, Entry, Fault, FaultKind, Finished, Input, Outcome, Part, Party, Provenance, Question,
    QuestionId, QuestionKind, Request, SkillKind, Step, StepState, Target, Time, Trust, Usage, cut,
};

use super::agent::{Agent, MESSAGE};
use super::run_context::{Reading, RunContext};
use interlingua_hub::call_router::Routed;

/// How much of a result a model is shown.
const MAX_RESULT: usize = 256 * 1024;

/// What all calls of one run share.
#[derive(Debug)]
pub(super) struct ToolCalls {
    pub(super) line: RunContext,
    pub(super) agent: Arc<Agent>,
    /// Do its calls travel as routed messages?
    pub(super) routes: bool,
    /// Do its file tools work in a workspace of its own?
    pub(super) at_own_files: bool,
}

impl ToolCalls {
    /// Makes the call and says what came of it; whatever happens is something the model can be told.
    pub(super) async fn run(self: Arc<Self>, calling: Calling, step: Step) -> ToolResult {
        let peer = calling.skill.peer.clone();
        if let Some(outline) = self.agent.outline(&calling.skill, &calling.input) {
            self.line.note(outline);
        }
        let result = match self.made(calling, step.clone()).await {
            Ok((finished, said)) => ToolResult::of(&finished, cut(said, MAX_RESULT), &peer),
            Err(fault) => ToolResult::refused(&fault),
        };
        self.line.ended(step, ending(&result), result.parts.clone());
        result
    }

    /// Has the caller run a tool of its own, and says what that returned.
    pub(super) async fn hand(self: Arc<Self>, handing: Handing, step: Step) -> ToolResult {
        let asked = self.line.outbox.ask(Question {
            id: QuestionId(self.line.task, 0),
            to: Addressee::Caller,
            text: format!(
                "{} wants you to run your tool {} and to answer with what it returned.",
                self.agent.title, handing.name
            )
            .into(),
            kind: QuestionKind::Tool { name: handing.name, args: handing.args },
            asked_by: Party::Peer(self.agent.name.clone()),
            expires: self.line.hub.question_expires(),
            resume: None,
            name: Some(Box::new(step.id.0.clone())),
        });
        let result = match asked.answer.await.unwrap_or(Answer::Declined) {
            Answer::Given(input) => returned(input),
            Answer::Granted | Answer::Token(_) | Answer::Visited | Answer::Declined | Answer::Dismissed => ToolResult {
                parts: vec![Part::text("The caller did not run this tool.", Provenance::hub())],
                failed: true,
                usage: Usage::default(),
            },
        };
        self.line.ended(step, ending(&result), result.parts.clone());
        result
    }

    async fn made(&self, calling: Calling, step: Step) -> Result<(Finished, Vec<Part>), Fault> {
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
        let (mut finished, said) = Reading::new(line, running, Some(step)).hearing(Time(0), hear).await?;
        if let Some(failed) = routed.and_then(|routed| routed.failed())
            && failed == (finished.outcome == Outcome::Completed)
        {
            let text = "the routed response does not say what became of the call";
            return Err(Fault::hub(FaultKind::Internal, text));
        }
        finished.output.parts = cut(finished.output.parts, MAX_RESULT);
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
        let input = self.agent.bounded(&calling.skill, calling.input);
        let ask = Ask::Invoke { target: Target::Skill(calling.skill, None), input };
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

/// How the step of a call ends.
fn ending(result: &ToolResult) -> StepState {
    if result.failed { StepState::Failed } else { StepState::Done }
}

/// What a tool of the caller's returned, as the model reads it: content of the caller.
fn returned(input: Input) -> ToolResult {
    let by = Provenance { trust: input.trust.min(Trust::Caller), ..Provenance::caller() };
    let written = input.args.as_ref().map(|args| Part::text(args.as_str(), by));
    let parts = written.into_iter().chain(input.parts).collect();
    ToolResult { parts: cut(parts, MAX_RESULT), failed: false, usage: Usage::default() }
}
