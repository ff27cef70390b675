//! Output validation: checks a result against the skill's output schema. A result that does not fit is not passed on, neither as values nor
//! as bytes.

use interlingua_model::{Event, Finished, Outcome, Raw};

use super::Driver;

impl Driver {
    pub(super) fn held_to_promise(&self, event: Event, raw: Option<Raw>) -> (Event, Option<Raw>) {
        let (Event::Finished(finished), Some(ready)) = (&event, &self.ready) else { return (event, raw) };
        if finished.outcome != Outcome::Completed {
            return (event, raw);
        }
        match self.hub.schemas.check_output(&ready.skill, finished.output.structured.as_ref()) {
            Ok(()) => (event, raw),
            Err(fault) => (Event::Finished(Finished { usage: finished.usage, ..Finished::failed(fault) }), None),
        }
    }
}
