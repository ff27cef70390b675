//! Relayed approvals: requests for approval that come from a peer, such as another hub that needs a person to approve its call.
//!
//! The caller does not decide that by itself. The request goes to the caller only if the caller may approve calls of this skill, else to
//! the approvers of this hub, whatever the peer's protocol calls the question. The approval goes to the peer alone, where it is worth as
//! much as this hub's credential; it approves nothing here.

use interlingua_machines::words::say;
use interlingua_model::{Confirm, Event, Party, Question, QuestionKind};

use super::super::prepare::approval_of;
use super::super::words::language_of;
use super::Driver;

impl Driver {
    /// Addresses a request for approval. One from outside names the skill that was called here: the skill in the peer's request could be
    /// the name of any skill of this hub, and rules on approval are rules on what was called.
    pub(super) fn addressed(&self, event: Event) -> Event {
        let Event::Asked(question) = event else { return event };
        let question = match (question.kind, &self.ready) {
            (QuestionKind::Confirm(confirm), Some(ready)) => {
                let outside = ready.peer.speaks().is_some();
                let (text, skill) = match &question.asked_by {
                    Party::Peer(peer) if outside => {
                        let language = language_of(&self.task.call);
                        let text = say::relayed(language, peer, &confirm.skill, confirm.args.as_ref(), &question.text);
                        (text.into(), ready.skill.id.clone())
                    }
                    Party::Peer(_) | Party::Hub | Party::Caller => (question.text, confirm.skill.clone()),
                };
                Question { kind: QuestionKind::Confirm(Box::new(Confirm { skill, ..*confirm })), text, ..question }
            }
            (kind, _) => Question { kind, ..question },
        };
        let to = match question.kind {
            QuestionKind::Confirm(_) => {
                let approves = self.hub.approves_in(&self.task.by, &self.task.call, &question);
                approval_of(approves, &self.task.call)
            }
            QuestionKind::Input { .. }
            | QuestionKind::Credential { .. }
            | QuestionKind::Visit { .. }
            | QuestionKind::Model(_)
            | QuestionKind::Roots
            | QuestionKind::Tool { .. } => question.to,
        };
        Event::Asked(Question { to, ..question })
    }
}
