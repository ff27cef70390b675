//! Pending approval: a call that waits for approvers. Its caller may not approve it and is not asked; the caller is informed where the call
//! is pending, and finds it again by a promise if its generation has promises.

use crate::encode::Stand;
use crate::{Asked, Dialect};
use interlingua_machines::words::say;
use interlingua_model::{Addressee, Fault, FaultKind, Finished, Principal, Question, Text};

use super::promise;
use interlingua_hub::{Hub, Running};

/// What the caller is told instead of a question that is not for it.
pub(super) fn waits(question: &Question) -> Option<Text> {
    match question.to {
        Addressee::Caller => None,
        Addressee::Approvers => Some(say::not_run_yet(&question.text, question.id.0, None).into()),
    }
}

/// Does this generation have a place for a token that finds an answer again?
pub(super) fn promises(dialect: Dialect) -> bool {
    match dialect {
        Dialect::Flat | Dialect::Content => false,
        Dialect::Results | Dialect::Named => true,
    }
}

pub(super) enum Pending {
    Promised { token: String, note: Text },
    Told(Box<Finished>),
    Refused(Fault),
}

impl Pending {
    pub(super) async fn of(hub: &Hub, by: &Principal, running: &mut Running, asked: &Asked, note: Text) -> Pending {
        if !promises(asked.dialect) {
            return Pending::Told(Box::new(Finished::failed(Fault::caller(FaultKind::Unanswered, note))));
        }
        match promise::give(hub, by, running, &asked.manner()).await {
            Ok(token) => {
                let note = format!("{note} So does `/await` with this promise.").into();
                Pending::Promised { token, note }
            }
            Err(fault) => Pending::Refused(fault),
        }
    }

    pub(super) fn stand(&self) -> Stand<'_> {
        match self {
            Pending::Promised { token, note } => Stand::Promised { token, note: Some(note) },
            Pending::Told(finished) => Stand::Finished(finished),
            Pending::Refused(fault) => Stand::Refused(fault),
        }
    }
}
