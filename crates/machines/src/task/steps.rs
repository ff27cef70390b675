//! The steps of a task: each by its id as it stands now, in the order they began.
//!
//! A step ends once. Whoever takes up a run again may tell of a step that was over; it stays as it was.

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
