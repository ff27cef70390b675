//! Converts the commands of a device to calls of its skills.

use interlingua_model::{Ask, Call, Deadline, DeadlineBy, Input, Json, MessageId, SkillId, Target, Time, Wire};

use crate::wire::{Command, CommandResult, ResultStatus, ServerMessage};
use crate::{WIRE, profile};

/// The actions of a COMMAND, in order. `skill` maps the name of a tool to one of our skills. A tool that we do not have gets its
/// result here, so that every action has one.
pub fn calls(
    frame: &ServerMessage,
    message: impl Fn(usize) -> MessageId,
    skill: impl Fn(&str) -> Option<SkillId>,
    now: Time,
) -> Vec<Result<Call, CommandResult>> {
    let actions = frame.actions.as_deref().unwrap_or_default();
    let timeout = profile::timeout(frame.metadata.as_ref());
    let each = |(index, action): (usize, &Command)| {
        let Some(skill) = skill(&action.tool_name) else {
            return Err(CommandResult {
                status: ResultStatus::Failure,
                error: Some(format!("there is no tool {} here", action.tool_name).into()),
                result: None,
                namespace: None,
                call_id: action.call_id.clone(),
            });
        };
        let input = Input::args(action.parameters.clone().unwrap_or_else(Json::empty_object));
        let mut call =
            Call::new(message(index), Wire(WIRE.into()), Ask::Invoke { target: Target::Skill(skill, None), input });
        call.limits.deadline = timeout.map(|span| Deadline { at: now.after(span), set_by: DeadlineBy::Caller });
        Ok(call)
    };
    actions.iter().enumerate().map(each).collect()
}
