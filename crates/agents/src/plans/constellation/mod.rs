//! The plan format of the Python orchestrator (*TaskConstellation*): tasks and the dependencies between them, read and written.
//!
//! Fields that the model does not have are stored with each task, line and plan and written back, so that a round trip loses nothing;
//! unlike in the Python reader, what is read back is enforced again. Enumerations are read in any case, an unknown word is the default.
//! Lists are accepted where the format has maps.
//!
//! A task may call any skill, not only a device in words: `task_data` may have `skill` (with its peer, or of the target),
//! `arguments`, `capability`, `memory_gb` and `idempotent`; a line's `metadata` may have `condition` with `pointer` and `equals`. What is written
//! has `assigned_device_id` and `assignment_reason` for a task that was given to a peer.

mod invalid;
mod read;
#[cfg(test)]
mod tests;
mod write;

pub use invalid::{Invalid, Problem};
pub use read::read;
pub use write::write;

use interlingua_machines::graph::{Dependency, Standing, State};
use interlingua_model::Priority;

/// The four words for how urgent a task is.
const PRIORITIES: [(&str, u64, u8); 4] = [("low", 1, 3), ("medium", 2, 5), ("high", 3, 7), ("critical", 4, 9)];

fn priority(said: u64) -> Priority {
    let level = PRIORITIES.iter().find(|(_, number, _)| *number == said).map(|(_, _, level)| *level);
    level.and_then(Priority::new).unwrap_or(Priority::NORMAL)
}

/// The nearest of four.
fn priority_number(priority: Priority) -> u64 {
    match priority.level() {
        0..=3 => 1,
        4..=6 => 2,
        7..=8 => 3,
        _ => 4,
    }
}

fn dependency_word(kind: &Dependency) -> &'static str {
    match kind {
        Dependency::Unconditional => "unconditional",
        Dependency::CompletionOnly => "completion_only",
        Dependency::SuccessOnly => "success_only",
        Dependency::Conditional(_) => "conditional",
    }
}

fn status_word(state: &State) -> &'static str {
    use interlingua_machines::graph::Ending;
    match state {
        State::Waiting | State::Ready | State::Later(_) => "pending",
        State::Running(_) => "running",
        State::Ended(Ending::Completed(_)) => "completed",
        State::Ended(Ending::Failed(_)) => "failed",
        State::Ended(Ending::Cancelled(_)) => "cancelled",
    }
}

/// How a plan stands as a whole, in the words of the format.
pub fn standing_word(standing: Standing) -> &'static str {
    match standing {
        Standing::Empty => "created",
        Standing::Ready => "ready",
        Standing::Running => "executing",
        Standing::Completed => "completed",
        Standing::Failed => "failed",
        Standing::PartlyFailed => "partially_failed",
        Standing::Cancelled => "cancelled",
    }
}
