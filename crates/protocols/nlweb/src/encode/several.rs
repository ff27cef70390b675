//! Fan-out and merge: one answer from several sites, with the rows of all of them, and the first failure if none has rows. A question of
//! one site among several cannot be attributed and is ignored.

use interlingua_model::json::{Tree, object};
use interlingua_model::{Carried, Fault, Finished, Json, Loss, Outcome, Output, Part};

use super::rows;

/// What was said by those that have ended.
#[derive(Debug, Default)]
pub struct Several {
    rows: Vec<Tree>,
    parts: Vec<Part>,
    losses: Vec<Loss>,
    failure: Option<Fault>,
}

impl Several {
    /// One of them has ended. The rows that it adds.
    pub fn take(&mut self, site: &str, finished: &Finished, losses: Vec<Loss>) -> &[Tree] {
        let before = self.rows.len();
        self.losses.extend(losses);
        match &finished.outcome {
            Outcome::Completed => {
                self.rows.extend(rows(&finished.output, site));
                // A document with an address is among the rows.
                let is_said = |part: &&Part| part.as_text().is_some() && part.uri.is_none();
                self.parts.extend(finished.output.parts.iter().filter(is_said).cloned());
            }
            Outcome::Failed(fault) => self.fail(fault.clone()),
            Outcome::Cancelled { .. } => {}
        }
        &self.rows[before..]
    }

    /// One of them could not be asked.
    pub fn fail(&mut self, fault: Fault) {
        self.failure.get_or_insert(fault);
    }

    /// The first one.
    pub fn failure(&self) -> Option<Fault> {
        self.failure.clone()
    }

    pub fn whole(self) -> Result<Carried<Finished>, Fault> {
        match (self.rows.is_empty() && self.parts.is_empty(), self.failure) {
            (true, Some(fault)) => Err(fault),
            _ => {
                let structured = Some(Json::from_tree(object([("results", Tree::Array(self.rows))])));
                let output = Output { parts: self.parts, structured, ..Output::default() };
                Ok(Carried { value: Finished::completed(output), losses: self.losses })
            }
        }
    }
}
