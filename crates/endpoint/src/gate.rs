//! Body limit before authentication. Authentication costs work, and a body is read before its credential is checked; so the credential is
//! checked early only if the body is longer than a stranger's may be.

use std::sync::Arc;

use interlingua_model::{Fault, FaultKind};

use super::Shared;
use interlingua_access::Shown;
use interlingua_net::body_budget;

/// The check for a body that is longer than a stranger's may be.
#[derive(Debug)]
pub(super) struct Gate {
    shared: Arc<Shared>,
    shown: Shown,
    most: u64,
}

impl Gate {
    pub(super) fn new(shared: &Arc<Shared>, shown: &Shown) -> Gate {
        Gate { shared: shared.clone(), shown: shown.clone(), most: shared.bounds().anonymous_body }
    }
}

impl body_budget::Gate for Gate {
    fn most(&self) -> u64 {
        self.most
    }

    fn judge(&self) -> Result<(), Fault> {
        let by = self.shared.access.shown(&self.shown, self.shared.hub.now())?;
        if !by.is_anonymous() {
            return Ok(());
        }
        let text = format!(
            "you are anonymous here, and from anonymous callers the hub takes bodies of up to {} bytes; show a token to send more",
            self.most
        );
        Err(Fault::caller(FaultKind::TooLarge, text))
    }
}
