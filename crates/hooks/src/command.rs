//! Command hook: a program that is started for each call, with JSON on standard input and output.

use bytes::Bytes;
use interlingua_model::{Fault, FaultKind};
use interlingua_tools::custom::Aide;

use super::message;
use super::settings::Hook as Configured;
use interlingua_hub::hooks::{Hook, HookCall, HookNote, PendingVerdict, When};

pub(super) struct Program(Aide);

impl Program {
    pub(super) fn new(hook: &Configured, command: &[String], environment: &[String]) -> Result<Program, Fault> {
        let aide = Aide::named(&hook.home, command, environment, hook.timeout.0);
        aide.map(Program).map_err(|reason| Fault::hub(FaultKind::Internal, format!("the program of a hook: {reason}")))
    }
}

impl Hook for Program {
    fn ask(&self, told: HookCall) -> PendingVerdict<'_> {
        Box::pin(async move { message::decode(self.asked(message::encode(&told)).await?, told.when) })
    }

    fn inform(&self, told: HookNote) -> PendingVerdict<'_> {
        Box::pin(async move { message::decode(self.asked(message::encode_note(&told)).await?, When::Notification) })
    }
}

impl Program {
    async fn asked(&self, question: Bytes) -> Result<Bytes, Fault> {
        let unhelpful = |cause| Fault::hub(FaultKind::PeerFailed, "the program of a hook failed").because(cause);
        self.0.ask(question).await.map_err(unhelpful)
    }
}
