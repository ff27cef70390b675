//! The steps of a task: the latest state of each by its id, in the order they began.
//!
//! A step ends once. A driver that resumes a run may report a step that had ended; the step stays as it was.

use serde::{Deserialize, Serialize};

use interlingua_model::event::Event;
use interlingua_model::step::{Step, StepState};

/// How many steps a task remembers, and of how many bytes; the journal has them all.
const MAX_STEPS: usize = 1_000;
const MAX_STEPS_HELD: usize = 8 * 1024 * 1024;
/// How many of them may be under way: together they are less than what is held.
const MAX_UNDER_WAY: usize = 128;

#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Steps {
    all: Vec<Step>,
    weight: usize,
}

impl Steps {
    pub fn iter(&self) -> impl Iterator<Item = &Step> {
        self.all.iter()
    }

    pub(super) fn weight(&self) -> usize {
        self.weight
    }

    fn under_way(&self) -> impl Iterator<Item = &Step> {
        self.all.iter().filter(|step| !step.state.is_over())
    }

    /// Does this say anything new?
    pub(super) fn admit(&self, next: &Step) -> bool {
        match self.all.iter().find(|step| step.id == next.id) {
            Some(known) if known.state.is_over() => false,
            // A run that is taken up again begins with what it had begun.
            Some(Step { state: StepState::Running, .. }) if next.state == StepState::Pending => false,
            Some(known) => known != next,
            None => next.state.is_over() || self.under_way().count() < MAX_UNDER_WAY,
        }
    }

    /// The oldest that are over are forgotten first.
    pub(super) fn take(&mut self, next: &Step) {
        self.weight += next.weight();
        match self.all.iter_mut().find(|step| step.id == next.id) {
            Some(known) => {
                self.weight -= known.weight();
                known.clone_from(next);
            }
            None => self.all.push(next.clone()),
        }
        while self.all.len() > MAX_STEPS || self.weight > MAX_STEPS_HELD {
            let Some(oldest) = self.all.iter().position(|step| step.state.is_over()) else { return };
            self.weight -= self.all.remove(oldest).weight();
        }
    }

    /// What ends those under way when their task ends.
    pub(super) fn cancelled(&self) -> impl Iterator<Item = Event> {
        self.under_way().map(|step| Event::Step(Box::new(Step { state: StepState::Cancelled, ..step.clone() })))
    }
}

#[cfg(test)]
mod tests {
    use interlingua_model::content::{Part, Provenance};
    use interlingua_model::step::{MAX_STEP, StepKind};

    use super::*;

    fn step(id: &str, state: StepState) -> Step {
        let (parent, skill, args) = Default::default();
        let parts = vec![Part::text("x".repeat(MAX_STEP / 2), Provenance::hub())];
        Step { id: id.into(), parent, skill, title: id.into(), kind: StepKind::Other, state, args, parts }
    }

    /// Admits and takes.
    fn heard(steps: &mut Steps, next: &Step) -> bool {
        let admitted = steps.admit(next);
        if admitted {
            steps.take(next);
        }
        admitted
    }

    #[test]
    fn a_step_ends_once_and_does_not_go_back() {
        let mut steps = Steps::default();
        assert!(heard(&mut steps, &step("a", StepState::Pending)));
        assert!(heard(&mut steps, &step("a", StepState::Running)));
        assert!(!heard(&mut steps, &step("a", StepState::Running)), "it says nothing new");
        assert!(!heard(&mut steps, &step("a", StepState::Pending)), "a run that was taken up again");
        assert!(heard(&mut steps, &step("a", StepState::Done)));
        for state in [StepState::Pending, StepState::Running, StepState::Failed, StepState::Cancelled] {
            assert!(!heard(&mut steps, &step("a", state)), "{state:?}");
        }
        assert!(heard(&mut steps, &step("b", StepState::Running)));
        let ended: Vec<Event> = steps.cancelled().collect();
        assert_eq!(ended, [Event::Step(Box::new(step("b", StepState::Cancelled)))], "with its task");
    }

    #[test]
    fn what_is_held_of_steps_is_bounded_and_those_under_way_stay() {
        let mut steps = Steps::default();
        for count in 0..2 * MAX_UNDER_WAY {
            heard(&mut steps, &step(&format!("open-{count}"), StepState::Running));
        }
        for count in 0..5_000 {
            heard(&mut steps, &step(&format!("over-{count}"), StepState::Done));
        }
        assert!(steps.weight() <= MAX_STEPS_HELD && steps.iter().count() <= MAX_STEPS);
        assert_eq!(steps.weight(), steps.iter().map(Step::weight).sum::<usize>());
        assert_eq!(steps.under_way().count(), MAX_UNDER_WAY);
        assert!(steps.iter().any(|step| step.id.as_str() == "over-4999"), "the oldest are forgotten first");
    }
}
