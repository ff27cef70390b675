//! A member that is an agent of this hub: a round of the team is a run of the agent, with the team's tools as its decisions.
//!
//! What passes between the two machines, either way:
//!
//! | team | agent |
//! |---|---|
//! | `Effect::Start` | a run begun with [`seated`] |
//! | `What::Wants`, answered by `Permit` or `Deny` | `Effect::Call` |
//! | `What::Returned`, answered by `Tell` | before `Happening::Returned`, so that news is read with the result |
//! | `What::Ended` with [`Turn::of`] | `Effect::Decided` |
//! | `Effect::Again` | `Happening::SentBack` |
//! | `Effect::Tell` | `Happening::Told` |
//! | `Effect::Stop` | `Happening::Released`, or a cancellation where it has not decided |

use super::tools::WORKFLOW;
use super::{Brief, Called, Evaluation, Presentation, Tool, Turn, Workflow, offered_tools};
use crate::agent::{Plan, messages};
use crate::llm::{Arguments, Message, Offered, ToolCall};
use interlingua_model::content::{Part, Trust, Turn as Said};
use interlingua_model::id::Text;
use interlingua_model::json::Json;

/// The run of a round: the agent with its own skills and budget, the team's rules and tools.
pub fn seated(agent: &Plan, brief: &Brief) -> (Plan, Vec<Message>) {
    let (mut plan, messages) = begin(agent, &brief.rules, (&brief.history, &brief.parts), offered_tools(brief));
    let withheld = WORKFLOW.into_iter().filter(|name| !plan.decisions.iter().any(|tool| &*tool.name == *name));
    plan.withheld = withheld.map(Text::from).collect();
    (plan, messages)
}

/// The run in which the winner presents. None of its decisions are judged: its text is the answer.
pub fn presenting(agent: &Plan, presentation: &Presentation) -> (Plan, Vec<Message>) {
    begin(agent, &presentation.rules, (&presentation.history, &presentation.parts), Vec::new())
}

/// The run in which the winner judges what was presented.
pub fn evaluating(agent: &Plan, presentation: &Presentation) -> (Plan, Vec<Message>) {
    begin(agent, &presentation.rules, (&presentation.history, &presentation.parts), Tool::evaluation().to_vec())
}

fn begin(agent: &Plan, rules: &Text, (history, parts): (&[Said], &[Part]), tools: Vec<Tool>) -> (Plan, Vec<Message>) {
    let mut plan = agent.clone();
    plan.instructions = format!("{}\n\n{rules}", agent.instructions).trim_start().into();
    plan.decisions = tools.into_iter().map(Tool::offered).collect();
    // The form of the answer is the team's affair while it is judged.
    if !plan.decisions.is_empty() {
        plan.output = None;
    }
    let mut shown = messages(history);
    shown.push(Message::User(parts.to_vec()));
    (plan, shown)
}

impl Tool {
    fn offered(self) -> Offered {
        Offered { name: self.name.into(), description: self.description.into(), input: self.input }
    }
}

impl Turn {
    /// What an agent decided. Arguments that cannot be read are none: the rules of the round say what is missing.
    pub fn of(calls: &[ToolCall], text: &Text, trust: Trust) -> Turn {
        let calls = calls.iter().map(|call| Called { id: call.id.clone(), what: workflow(call) });
        Turn { calls: calls.collect(), text: text.clone(), trust }
    }
}

impl Evaluation {
    /// What an agent decided of what was presented; without a decision it is submitted.
    pub fn of(calls: &[ToolCall]) -> Evaluation {
        match calls.last() {
            None => Evaluation::Submit,
            Some(call) => Evaluation::read(&call.name, &arguments(call)),
        }
    }
}

fn workflow(call: &ToolCall) -> Workflow {
    Workflow::read(&call.name, &arguments(call))
}

fn arguments(call: &ToolCall) -> Json {
    match &call.args {
        Arguments::Object(args) => args.clone(),
        Arguments::Unreadable { .. } => Json::empty_object(),
    }
}
