//! The result of a call as the model reads it: what happened, never the internal cause.

use super::record::ToolResult;
use interlingua_model::content::{Part, Party, Provenance, Trust};
use interlingua_model::event::{Finished, Outcome, Usage};
use interlingua_model::fault::{Fault, FaultKind};
use interlingua_model::id::{PeerId, Text};

impl ToolResult {
    /// The result of a skill of this peer; `said` is what it streamed before it finished.
    pub fn of(finished: &Finished, said: Vec<Part>, peer: &PeerId) -> ToolResult {
        let mut parts = said;
        parts.extend(finished.output.parts.iter().cloned());
        if let Some(structured) = finished.output.structured.as_ref().filter(|_| parts.is_empty()) {
            parts.push(Part::text(structured.as_str(), Provenance::peer(peer.clone())));
        }
        let failed = match &finished.outcome {
            Outcome::Completed => false,
            Outcome::Failed(fault) => {
                parts.push(told(explain(fault)));
                true
            }
            Outcome::Cancelled { why, .. } => {
                parts.push(told(format!("The call was cancelled: {}.", why.as_str())));
                true
            }
        };
        ToolResult { parts, failed, usage: finished.usage }
    }

    /// A call that was refused at the door.
    pub fn refused(fault: &Fault) -> ToolResult {
        ToolResult { parts: vec![told(explain(fault))], failed: true, usage: Usage::default() }
    }

    /// What a tool returns is data of a peer at most, whatever it claims to be; an answer of the caller is the caller's.
    pub(super) fn capped(mut self, at: Trust) -> ToolResult {
        for part in &mut self.parts {
            part.provenance.trust = part.provenance.trust.min(at);
        }
        self
    }
}

fn explain(fault: &Fault) -> String {
    match fault.kind {
        FaultKind::OutcomeUnknown => {
            format!("It is not known whether this happened: {}. Do not simply do it again.", fault.public)
        }
        FaultKind::Denied => format!("This was denied: {}.", fault.public),
        _ => format!("This failed: {}.", fault.public),
    }
}

/// Words about a call, of the trust of its result: a public text may repeat what a peer said.
fn told(text: impl Into<Text>) -> Part {
    Part::text(text, Provenance { by: Party::Hub, source: None, trust: Trust::Peer })
}
