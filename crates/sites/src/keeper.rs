//! Implements the host port of driven sites for this hub.

use std::sync::{Arc, Weak};

use crate::browser::{Advice, BrowserHost};
use interlingua_machines::llm::Prompt;
use interlingua_model::ports::Records;
use interlingua_model::{Principal, Text, Time};

use interlingua_hub::Hub;
use interlingua_hub::clock::Clock;

/// What is sealed for a site opens as nothing else.
pub const SEALED: &str = "site session";

/// Holds the hub weakly: the hub holds the site.
#[derive(Debug)]
pub(super) struct HubKeeper {
    hub: Weak<Hub>,
    clock: Clock,
    /// The language model that may be shown pages.
    model: Option<Text>,
}

impl HubKeeper {
    pub(super) fn new(hub: &Arc<Hub>, model: Option<Text>) -> HubKeeper {
        HubKeeper { hub: Arc::downgrade(hub), clock: hub.clock(), model }
    }
}

impl BrowserHost for HubKeeper {
    fn now(&self) -> Time {
        self.clock.now()
    }

    fn approves(&self, by: &Principal) -> bool {
        self.hub.upgrade().is_some_and(|hub| hub.may_approve(by))
    }

    fn records(&self) -> Option<Arc<dyn Records>> {
        self.hub.upgrade().map(|hub| hub.store_records().clone())
    }

    fn seal(&self, associated: &[u8], plain: &[u8]) -> Option<Vec<u8>> {
        self.hub.upgrade()?.keys().seal(SEALED, associated, plain).ok()
    }

    fn unseal(&self, associated: &[u8], sealed: &[u8]) -> Option<Vec<u8>> {
        self.hub.upgrade()?.keys().open(SEALED, associated, sealed).ok().map(|plain| plain.to_vec())
    }

    fn advise(&self, prompt: Prompt) -> Advice<'_> {
        Box::pin(async move {
            let hub = self.hub.upgrade()?;
            hub.ask_model(self.model.as_ref()?, prompt, "repair of a page").await
        })
    }
}
