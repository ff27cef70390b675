//! Command hook: a program that is started for each call, with JSON on standard input and output.

use interlingua_model::{Fault, FaultKind};
use interlingua_tools::custom::Aide;

use super::message;
use super::settings::Hook as Configured;
use interlingua_hub::hooks::{Hook, HookCall, PendingVerdict};

pub(super) struct Program(Aide);

impl Program {
    pub(super) fn new(hook: &Configured, command: &[String], environment: &[String]) -> Result<Program, Fault> {
        let aide = Aide::named(&hook.home, command, environment, hook.timeout.0);
        aide.map(Program).map_err(|reason| Fault::hub(FaultKind::Internal, format!("the program of a hook: {reason}")))
    }
}

impl Hook for Program {
    fn ask(&self, told: HookCall) -> PendingVerdict<'_> {
        Box::pin(async move {
            let answer = self.0.ask(message::encode(&told)).await;
            let unhelpful = |cause| Fault::hub(FaultKind::PeerFailed, "the program of a hook failed").because(cause);
            message::decode(answer.map_err(unhelpful)?, told.when)
        })
    }
}
