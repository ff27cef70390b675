//! Enumerations by name. ProtoJSON readers take numbers, too.

use super::Dialect;
use crate::wire::{Role, TaskState};

/// The names of a state: of 1.0, and of JSON-RPC in 0.3.
fn spellings(state: TaskState) -> (&'static str, &'static str) {
    match state {
        TaskState::Submitted => ("TASK_STATE_SUBMITTED", "submitted"),
        TaskState::Working => ("TASK_STATE_WORKING", "working"),
        TaskState::Completed => ("TASK_STATE_COMPLETED", "completed"),
        TaskState::Failed => ("TASK_STATE_FAILED", "failed"),
        TaskState::Canceled => ("TASK_STATE_CANCELED", "canceled"),
        TaskState::InputRequired => ("TASK_STATE_INPUT_REQUIRED", "input-required"),
        TaskState::Rejected => ("TASK_STATE_REJECTED", "rejected"),
        TaskState::AuthRequired => ("TASK_STATE_AUTH_REQUIRED", "auth-required"),
    }
}

/// The older proto wrote one state with two l.
const OLD_CANCELLED: &str = "TASK_STATE_CANCELLED";

pub fn state_name(state: TaskState, dialect: Dialect) -> &'static str {
    match (dialect, state) {
        (Dialect::V03Proto, TaskState::Canceled) => OLD_CANCELLED,
        (Dialect::V1 | Dialect::V03Proto, state) => spellings(state).0,
        (Dialect::V03, state) => spellings(state).1,
    }
}

/// Both spellings of a cancelled task are understood in either generation's proto names.
pub fn state(name: &str, dialect: Dialect) -> Option<TaskState> {
    let found = TaskState::ALL.into_iter().find(|state| state_name(*state, dialect) == name);
    match dialect {
        Dialect::V03 => found,
        Dialect::V1 | Dialect::V03Proto if name == OLD_CANCELLED || name == "TASK_STATE_CANCELED" => {
            Some(TaskState::Canceled)
        }
        Dialect::V1 | Dialect::V03Proto => found,
    }
}

pub(super) fn state_number(number: u32) -> Option<TaskState> {
    match number {
        1 => Some(TaskState::Submitted),
        2 => Some(TaskState::Working),
        3 => Some(TaskState::Completed),
        4 => Some(TaskState::Failed),
        5 => Some(TaskState::Canceled),
        6 => Some(TaskState::InputRequired),
        7 => Some(TaskState::Rejected),
        8 => Some(TaskState::AuthRequired),
        _ => None,
    }
}

pub(super) fn role_name(role: Role, dialect: Dialect) -> &'static str {
    match (dialect, role) {
        (Dialect::V1 | Dialect::V03Proto, Role::User) => "ROLE_USER",
        (Dialect::V1 | Dialect::V03Proto, Role::Agent) => "ROLE_AGENT",
        (Dialect::V03, Role::User) => "user",
        (Dialect::V03, Role::Agent) => "agent",
    }
}

pub(super) fn role(name: &str, dialect: Dialect) -> Option<Role> {
    [Role::User, Role::Agent].into_iter().find(|role| role_name(*role, dialect) == name)
}

pub(super) fn role_number(number: u32) -> Option<Role> {
    match number {
        1 => Some(Role::User),
        2 => Some(Role::Agent),
        _ => None,
    }
}
