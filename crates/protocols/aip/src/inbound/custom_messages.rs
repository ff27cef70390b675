//! Custom messages from an authenticated client: files, types that configuration maps to skills, and types of a program that embeds the
//! hub. Any other type is refused.

use std::sync::Arc;

use crate::custom::Custom;
use crate::link::{Identity, Tongue};
use crate::say::Stamp;
use crate::server::Connection;
use crate::wire::{Limits, Status};
use crate::{WIRE, decode, encode};
use bytes::Bytes;
use interlingua_model::{Fault, FaultKind, Finished, Principal, Request, SkillId, Transcript, Wire};
use tokio_util::sync::CancellationToken;

use crate::extensions::{Extensions, Foreign};
use crate::queue::Out;
use crate::server_runtime::ServerRuntime;
use interlingua_hub::audit::losses::{LossContext, Named};
use interlingua_hub::{Hub, Settled, entropy};

/// Somebody who was let in.
#[derive(Clone)]
pub(super) struct Sender {
    pub(super) hub: Arc<Hub>,
    pub(super) runtime: Arc<ServerRuntime>,
    pub(super) connection: Connection,
    pub(super) by: Principal,
    pub(super) who: Identity,
    /// Cancelled when the connection is gone.
    pub(super) gone: CancellationToken,
}

/// What becomes of a frame of another kind.
pub(super) enum Beside {
    /// Part of a file, or a wish for one.
    File(Custom),
    /// It is answered now, or will be, or needs no answer.
    Answer(Option<Bytes>),
    /// Nobody has agreed on it.
    Unknown,
}

impl Sender {
    pub(super) fn is_wide(&self) -> bool {
        self.who.tongue == Tongue::Profile
    }

    pub(super) fn hear(&self, frame: &Bytes, limits: &Limits, extensions: &Extensions) -> Beside {
        let Ok(custom) = Custom::decode(frame, limits) else { return Beside::Unknown };
        if self.is_wide() && super::files::is_about_files(&custom.kind) {
            return Beside::File(custom);
        }
        if let Some(skill) = self.runtime.settings().message(&custom.kind) {
            self.hub.spawn(self.clone().call(skill.clone(), custom));
            return Beside::Answer(None);
        }
        let foreign = Foreign { from: self.who.clone(), frame: custom };
        let Some(answers) = extensions.kinds.dispatch(&foreign.frame.kind, &foreign) else { return Beside::Unknown };
        let mut mint = entropy::bits;
        let mut stamp = Stamp { now: self.hub.now(), mint: &mut mint };
        // The first that has something to say; one that fails leaves it to the others.
        let said = answers.iter().find_map(|answer| answer.as_ref().ok().and_then(Option::as_ref));
        let failed = answers.iter().find_map(|answer| answer.as_ref().err());
        Beside::Answer(match (said, failed) {
            (Some(result), _) => Some(foreign.frame.answer(Status::Completed, None, Some(result), &mut stamp)),
            (None, Some(fault)) => Some(foreign.frame.answer(Status::Failed, Some(&fault.public), None, &mut stamp)),
            (None, None) => None,
        })
    }

    /// Calls the skill that the kind stands for, in the sender's name, and tells what came of it.
    async fn call(self, skill: SkillId, custom: Custom) {
        let finished = tokio::select! {
            finished = self.finished(skill.clone(), &custom) => finished,
            () = self.gone.cancelled() => return,
        };
        let end = match finished {
            Ok((of, finished)) => {
                let end = encode::end(&finished, &[], Tongue::Plain);
                let leg = LossContext { by: &self.by, of, wire: Wire(WIRE.into()), skill: Some(&skill) };
                self.hub.lost(&leg, &end.losses);
                end.value
            }
            Err(fault) => encode::end(&Finished::failed(fault), &[], Tongue::Plain).value,
        };
        let mut mint = entropy::bits;
        let mut stamp = Stamp { now: self.hub.now(), mint: &mut mint };
        let answer = custom.answer(end.status, end.error.as_deref(), end.result.as_ref(), &mut stamp);
        self.runtime.tell(self.connection, Out::Foreign(answer));
    }

    async fn finished(&self, skill: SkillId, custom: &Custom) -> Result<(Named, Finished), Fault> {
        let call = Box::new(decode::custom(custom, skill, entropy::message_id()));
        let request = Request { by: self.by.clone(), connection: self.connection.0, call };
        let mut running = self.hub.open(request).await?;
        match running.settle(&mut Transcript::default()).await? {
            Settled::Finished(finished) => Ok((running.named(), *finished)),
            Settled::Asked(question) => {
                let text = format!("this cannot be answered here: {}", question.text);
                Err(Fault::hub(FaultKind::Unanswered, text))
            }
        }
    }
}
