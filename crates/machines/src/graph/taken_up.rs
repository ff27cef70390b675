//! Takes up a plan that has ended: what completed stays done, and all else is done again, as changed.

use std::collections::BTreeSet;

use super::plan::{Ending, Plan};
use super::{Edit, Graph, State};
use interlingua_model::fault::Fault;

impl Graph {
    /// This plan before anything but its completed steps was done: what edits of a plan that is taken up are made to.
    #[must_use]
    pub fn reopened(&self) -> Graph {
        Graph::accepted(self.id, &self.remainder(), self.rules, self.updated)
    }

    /// The plan that continues this one after these edits. A completed step cannot be edited. Whether the result is a plan is for
    /// [`Graph::open`] to decide.
    pub fn taken_up(&self, edits: &[Edit]) -> Result<Plan, Fault> {
        let mut edited = self.reopened();
        let mut touched = BTreeSet::new();
        for (index, edit) in edits.iter().enumerate() {
            edited.edit(edit, &mut touched).map_err(|fault| fault.field(format!("edits[{index}]"), "refused"))?;
        }
        Ok(edited.remainder())
    }

    /// As a plan to begin with. Its deadline has passed or was for the first attempt.
    fn remainder(&self) -> Plan {
        let completed = |step: &super::Step| match &step.state {
            State::Ended(ending @ Ending::Completed(_)) => Some((step.node.id.clone(), ending.clone())),
            State::Ended(Ending::Failed(_) | Ending::Cancelled(_))
            | State::Waiting
            | State::Ready
            | State::Later(_)
            | State::Running(_) => None,
        };
        Plan {
            name: self.name.clone(),
            nodes: self.steps.values().map(|step| step.node.clone()).collect(),
            edges: self.edges.values().cloned().collect(),
            ended: self.steps.values().filter_map(completed).collect(),
            deadline: None,
            meta: self.meta.clone(),
        }
    }
}
