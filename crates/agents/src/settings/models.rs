//! The section `models`: for each model a provider, a key, timeouts and rate limits.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;

use interlingua_settings::{Rate, Secret, Span};

#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// The provider.
    pub provider: Provider,
    /// The provider's name for it, such as `gpt-5`.
    pub model: Option<String>,
    /// The address of the provider's API, such as `http://127.0.0.1:8000/v1/`. Default: the provider's own address.
    pub base_url: Option<String>,
    /// The API key. It is sent to the provider and shown nowhere.
    pub api_key: Option<Secret>,
    /// The lines of a `scripted` model, or the weights of a `local` one (GGUF). Default: `models/smollm2-135m.gguf` in the data
    /// directory, for a local one.
    pub file: Option<PathBuf>,
    /// Maximum concurrent requests. Default: no limit.
    pub at_once: Option<u32>,
    /// Rate limit of requests, for each second, minute or hour. Default: no limit.
    pub rate: Option<Rate>,
    /// Timeout of one response in total. Default: 10m.
    pub timeout: Option<Span>,
    /// Maximum attempts for a request that fails temporarily, the first included. Default: 4.
    pub attempts: Option<u32>,
    /// Price of a million tokens, in the currency of the budgets.
    #[serde(default)]
    pub price: Price,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Provider {
    /// OpenAI, or any OpenAI-compatible API at `base_url`.
    Openai,
    Anthropic,
    Gemini,
    Ollama,
    /// A small model that the hub runs itself: no key, no network. It answers and takes part in teams, but does not call tools.
    Local,
    /// Scripted answers from a file, for tests and demonstrations.
    Scripted,
}

impl Provider {
    /// Where the provider is when configuration does not say.
    pub fn base_url(self) -> Option<&'static str> {
        match self {
            Provider::Openai => Some("https://api.openai.com/v1/"),
            Provider::Anthropic => Some("https://api.anthropic.com/v1/"),
            Provider::Gemini => Some("https://generativelanguage.googleapis.com/v1beta/"),
            Provider::Ollama => Some("http://127.0.0.1:11434/"),
            Provider::Local | Provider::Scripted => None,
        }
    }
}

/// Price for a million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Price {
    /// Input tokens.
    pub read: f64,
    /// Output tokens.
    pub written: f64,
}

/// In millionths. A price that is not a number counts as no price.
pub(crate) fn micro(money: f64) -> u64 {
    let scaled = (money * 1_000_000.0).round();
    if scaled.is_finite() && scaled > 0.0 { scaled.min(9.0e18) as u64 } else { 0 }
}
