//! Port to the language model that is asked when the hub cannot resolve plain words. The hub knows it by this port alone.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use interlingua_machines::llm::{Broken, Prompt, Reply};

use super::Hub;

/// Language models, by the names configuration gives them.
pub trait Advisor: Send + Sync + std::fmt::Debug {
    /// Is there a model of this name?
    fn has(&self, model: &str) -> bool;

    /// `None` where there is no model of this name.
    fn ask<'a>(&'a self, model: &'a str, prompt: Prompt) -> BoxFuture<'a, Option<Result<Reply, Broken>>>;
}

impl Hub {
    /// Gives the hub an advisor of the program that embeds it, from the next question on. Its names of models hide configured ones,
    /// and no reload of the configuration replaces it.
    pub fn set_advisor(&self, advisor: Arc<dyn Advisor>) {
        self.own_advisor.store(Arc::new(Some(advisor)));
    }

    /// Replaces the models that are configured, from the next question on.
    pub fn set_configured_advisor(&self, advisor: Arc<dyn Advisor>) {
        self.advisor.store(Arc::new(Some(advisor)));
    }

    /// Is there a model of this name?
    pub fn has_model(&self, model: &str) -> bool {
        self.advisor_with(model).is_some()
    }

    /// Who has the model of this name.
    fn advisor_with(&self, model: &str) -> Option<Arc<dyn Advisor>> {
        let both = [self.own_advisor.load_full(), self.advisor.load_full()];
        both.iter().filter_map(|advisor| advisor.as_ref().clone()).find(|advisor| advisor.has(model))
    }

    /// The reply of the model of this name; `None` if there is none, or it does not answer. `purpose` is for the log.
    pub async fn ask_model(&self, model: &str, prompt: Prompt, purpose: &'static str) -> Option<Reply> {
        let reply = self.advisor_with(model)?.ask(model, prompt).await?;
        reply
            .inspect_err(|error| {
                let error = &error.failure.kind;
                tracing::warn!(
                    event = "model_call_failed",
                    model,
                    purpose,
                    ?error,
                    "the language model did not answer"
                );
            })
            .ok()
    }
}
