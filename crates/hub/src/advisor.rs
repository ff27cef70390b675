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
    /// Replaces the advisor, from the next question on.
    pub fn set_advisor(&self, advisor: Arc<dyn Advisor>) {
        self.advisor.store(Arc::new(Some(advisor)));
    }

    /// Is there a model of this name?
    pub fn has_model(&self, model: &str) -> bool {
        self.advisor.load().as_ref().as_ref().is_some_and(|advisor| advisor.has(model))
    }

    /// The reply of the model of this name; `None` if there is none, or it does not answer. `purpose` is for the log.
    pub async fn ask_model(&self, model: &str, prompt: Prompt, purpose: &'static str) -> Option<Reply> {
        let advisor = self.advisor.load_full();
        let reply = advisor.as_ref().as_ref()?.ask(model, prompt).await?;
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
