//! Operations that an agent's card offers: any other operation is refused before its content is decoded.

use crate::wire::{Operation, Send};
use crate::{Version, discover, ext};
use interlingua_model::{Fault, FaultKind, Feature};

use super::{Asking, cards};

impl Asking<'_> {
    pub(super) fn check_offered(&self, operation: &Operation) -> Result<(), Fault> {
        match operation {
            Operation::Send(send) => {
                self.needs_extension()?;
                self.takes(send)
            }
            Operation::Stream(send) => {
                self.needs_extension()?;
                self.needs(self.settings.capabilities.streaming)?;
                self.takes(send)
            }
            Operation::Subscribe { .. } => self.needs(self.settings.capabilities.streaming),
            Operation::PushCreate(_)
            | Operation::PushGet { .. }
            | Operation::PushList { .. }
            | Operation::PushDelete { .. } => self.needs_push(),
            Operation::ExtendedCard => self.needs_extended_card(),
            Operation::Get { .. } | Operation::List(_) | Operation::Cancel { .. } => Ok(()),
        }
    }

    fn needs(&self, capability: bool) -> Result<(), Fault> {
        if capability {
            return Ok(());
        }
        Err(Fault::caller(
            FaultKind::Unsupported(Feature::Operation),
            "this agent's card says that it does not do this",
        ))
    }

    /// Off, it is an operation that is not there in 1.0, and a card that is not there in 0.3 (section 8.2 there).
    fn needs_extended_card(&self) -> Result<(), Fault> {
        match (self.settings.capabilities.extended_card, self.version) {
            (true, _) => {}
            (false, Version::V1) => return self.needs(false),
            (false, Version::V03) => {
                let kind = FaultKind::Unsupported(Feature::ExtendedCard);
                return Err(Fault::caller(kind, "this agent has no extended card"));
            }
        }
        if self.by.is_anonymous() {
            let text = "the extended card needs authentication: it is for callers who say who they are";
            return Err(Fault::caller(FaultKind::Unauthenticated, text));
        }
        Ok(())
    }

    /// What our extension says of an answer must be understood, where the card says so (section 3.2.4).
    fn needs_extension(&self) -> Result<(), Fault> {
        if !self.settings.extension_required || self.arrived.activates() {
            return Ok(());
        }
        let text = format!("this agent requires the extension {}: activate it in A2A-Extensions", ext::URI);
        Err(Fault::caller(FaultKind::Unsupported(Feature::Extension), text))
    }

    fn needs_push(&self) -> Result<(), Fault> {
        if self.settings.capabilities.push {
            return Ok(());
        }
        Err(Fault::caller(FaultKind::Unsupported(Feature::Push), "this agent tells no webhooks"))
    }

    /// Every part is of a kind the agent's card names (section 3.1.1), and its webhook is one that may be called. Which kinds these
    /// are is looked for only where a part says of what kind it is.
    fn takes(&self, send: &Send) -> Result<(), Fault> {
        let parts = &send.message.parts;
        if parts.iter().any(|part| part.media.is_some()) {
            let modes = cards::input_modes(self);
            if let Some(part) = parts.iter().find(|part| !discover::takes(&modes, part)) {
                let given = part.media.as_deref().unwrap_or_default();
                let text = format!("'{given}' is not taken by this agent; it takes {}", modes.join(", "));
                return Err(Fault::caller(FaultKind::Unsupported(Feature::Media), text));
            }
        }
        let Some(webhook) = &send.configuration.push else { return Ok(()) };
        self.needs_push()?;
        self.shared().own.push.check(self.shared(), webhook)
    }
}
