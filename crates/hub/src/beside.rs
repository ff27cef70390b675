//! Batch commands: a device call that contains a list of commands, each a skill of its own that is authorized separately.

use interlingua_model::{Call, Fault, FaultKind, Json, Principal, SkillId, TaskId, Why};

use super::Hub;
use super::prepare::acting;
use super::prepared::ready;

impl Hub {
    /// May this call also do that, as it is? Policy and the rules of agents are evaluated as for a call of its own; a command that needs
    /// approval must be called by its own name. A skill that is not known here has no rules.
    pub fn lets_also(
        &self,
        by: &Principal,
        call: &Call,
        task: TaskId,
        id: &SkillId,
        args: Option<&Json>,
    ) -> Result<(), Fault> {
        let catalogue = self.registry.catalogue();
        let known = catalogue.skill(id, None);
        let Some(ready) = known.and_then(|skill| ready(&catalogue, skill, Why::Named, args.cloned())) else {
            return Ok(());
        };
        self.authorize(&acting(by, call), call, task, &ready)?;
        if ready.skill.effects.destroys || ready.skill.effects.spends {
            let text = format!("'{id}' needs a human yes: call it by its name, not in a list");
            return Err(Fault::caller(FaultKind::Denied, text));
        }
        Ok(())
    }
}
