//! A configured model with its rate limit, timeouts and retries.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::models::{Gate, Scripted, ask};
use futures_util::future::BoxFuture;
use indexmap::IndexMap;
use interlingua_machines::agent::Price;
use interlingua_machines::llm::{Broken, Event, Manners, Model, Pace, Prompt, Reply};
use interlingua_model::{Fault, FaultKind};

use crate::providers::Provider;

use super::local_model::LocalModel;
use super::remote_model::RemoteModel;
use super::settings::{self, micro};
use interlingua_hub::Hub;
use interlingua_hub::advisor::Advisor;

/// Where the weights of a local model are when configuration does not say.
const RESIDENT: &str = "models/smollm2-135m.gguf";

pub struct ConfiguredModel {
    model: Arc<dyn Model>,
    gate: Arc<Gate>,
    manners: Manners,
    pub(super) price: Price,
}

impl std::fmt::Debug for ConfiguredModel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ConfiguredModel").field("manners", &self.manners).finish_non_exhaustive()
    }
}

impl ConfiguredModel {
    /// `data` is the hub's data directory.
    pub(super) fn new(name: &str, config: &settings::Model, data: &Path, hub: &Hub) -> Result<ConfiguredModel, Fault> {
        Ok(ConfiguredModel {
            model: model(name, config, data, hub)?,
            gate: Gate::new(pace(config)),
            manners: manners(config),
            price: Price { read: micro(config.price.read), written: micro(config.price.written) },
        })
    }

    /// A model that nobody configured: it is asked at once, and costs nothing.
    pub(super) fn of(model: Arc<dyn Model>) -> ConfiguredModel {
        ConfiguredModel {
            model,
            gate: Gate::new(Pace::default()),
            manners: Manners::default(),
            price: Price::default(),
        }
    }

    /// Waits for its turn, then asks; `hear` is given what is said as it comes.
    pub async fn ask(&self, prompt: Prompt, hear: impl FnMut(&Event) + Send) -> Result<Reply, Broken> {
        let _pass = self.gate.enter().await;
        ask(self.model.clone(), prompt, self.manners, hear).await
    }
}

impl Advisor for Models {
    fn has(&self, model: &str) -> bool {
        self.named(model).is_some()
    }

    fn ask<'a>(&'a self, model: &'a str, prompt: Prompt) -> BoxFuture<'a, Option<Result<Reply, Broken>>> {
        Box::pin(async move {
            let voice = self.named(model)?.clone();
            Some(voice.ask(prompt, |_| {}).await)
        })
    }
}

/// The models of a configuration, by name.
#[derive(Debug, Default)]
pub struct Models(IndexMap<String, Arc<ConfiguredModel>>);

impl Models {
    pub(super) fn new(sections: &settings::Sections<'_>, hub: &Hub) -> Result<Models, Fault> {
        let made = sections.models.iter().map(|(name, model)| {
            let voice = ConfiguredModel::new(name, model, sections.data, hub)?;
            Ok((name.clone(), Arc::new(voice)))
        });
        made.collect::<Result<_, Fault>>().map(Models)
    }

    pub fn named(&self, name: &str) -> Option<&Arc<ConfiguredModel>> {
        self.0.get(name)
    }
}

fn model(name: &str, config: &settings::Model, data: &Path, hub: &Hub) -> Result<Arc<dyn Model>, Fault> {
    let provider = match config.provider {
        settings::Provider::Local => {
            let file = config.file.clone().unwrap_or_else(|| data.join(RESIDENT));
            return Ok(Arc::new(LocalModel::new(file)));
        }
        settings::Provider::Scripted => return scripted(name, config),
        settings::Provider::Openai => Provider::Openai,
        settings::Provider::Anthropic => Provider::Anthropic,
        settings::Provider::Gemini => Provider::Gemini,
        settings::Provider::Ollama => Provider::Ollama,
    };
    let base = config.base_url.as_deref().or(config.provider.base_url()).unwrap_or_default();
    let model = config.model.as_deref().unwrap_or_default();
    let key = config.api_key.as_ref().map(|key| key.expose().clone());
    Ok(Arc::new(RemoteModel::new(provider, model, base, key, hub)?))
}

fn scripted(name: &str, config: &settings::Model) -> Result<Arc<dyn Model>, Fault> {
    let file = config.file.as_deref().unwrap_or(Path::new(""));
    let wrong = |error| {
        let text = format!("models.{name}.file: {}: {error}", file.display());
        Fault::hub(FaultKind::InvalidInput, text)
    };
    Ok(Arc::new(Scripted::read(file).map_err(wrong)?))
}

fn pace(config: &settings::Model) -> Pace {
    let per_minute = config.rate.map(|rate| {
        let seconds = rate.per.as_secs().max(1);
        u32::try_from(u64::from(rate.count) * 60 / seconds).unwrap_or(u32::MAX).max(1)
    });
    // A processor is not quicker for being asked twice at once.
    let alone = (config.provider == settings::Provider::Local).then_some(1);
    Pace { at_once: config.at_once.or(alone), per_minute }
}

fn manners(config: &settings::Model) -> Manners {
    let mut manners = Manners::default();
    if let Some(span) = config.timeout {
        let patience = &mut manners.patience;
        patience.whole = span.0;
        patience.first = patience.first.min(span.0);
        patience.gap = patience.gap.min(span.0).max(Duration::from_millis(1));
    }
    if let Some(attempts) = config.attempts {
        manners.backoff.attempts = attempts;
    }
    manners
}
