//! Models that agents speak with: who runs each, under which key, and how hard it is asked.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::Deserialize;

use interlingua_settings::{Rate, Secret, Span};

#[derive(Debug, Clone, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// Who runs it.
    pub provider: Provider,
    /// The provider's name for it, such as `gpt-5`.
    pub model: Option<String>,
    /// Where the provider is, such as `http://127.0.0.1:8000/v1/`. Default: the provider's own address.
    pub base_url: Option<String>,
    /// Sent to the provider, and shown nowhere.
    pub api_key: Option<Secret>,
    /// The lines of a `scripted` model, or the weights of a `local` one (GGUF). Default: `models/smollm2-135m.gguf` in the data
    /// directory, for a local one.
    pub file: Option<PathBuf>,
    /// How many questions it is asked at the same time. Default: no limit.
    pub at_once: Option<u32>,
    /// How many questions in each minute, or second, or hour. Default: no limit.
    pub rate: Option<Rate>,
    /// How long one answer may take in all. Default: 10m.
    pub timeout: Option<Span>,
    /// How often a question that failed in passing is asked, the first time included. Default: 4.
    pub attempts: Option<u32>,
    /// What a million tokens cost, in whatever money budgets are written in.
    #[serde(default)]
    pub price: Price,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Provider {
    /// OpenAI, and everyone who speaks as it does at `base_url`.
    Openai,
    Anthropic,
    Gemini,
    Ollama,
    /// A small one that the hub runs itself: no key, no network. It talks and takes part in teams, and calls no tools.
    Local,
    /// No model at all: lines from a file, for tests and demonstrations.
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

/// For a million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Price {
    /// Of what it is shown.
    pub read: f64,
    /// Of what it says.
    pub written: f64,
}

/// In millionths. A price that is not a number counts as no price.
pub(crate) fn micro(money: f64) -> u64 {
    let scaled = (money * 1_000_000.0).round();
    if scaled.is_finite() && scaled > 0.0 { scaled.min(9.0e18) as u64 } else { 0 }
}
