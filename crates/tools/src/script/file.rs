//! Script format: scenes, each selected by the beginning of a message, and the steps that are played in each.

use std::time::Duration;

use serde::Deserialize;

use interlingua_settings::Span;

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Script {
    pub(super) title: Option<String>,
    #[serde(default = "no_description")]
    pub(super) description: String,
    /// Anyone may call it.
    #[serde(default)]
    pub(super) public: bool,
    /// Media types it takes.
    #[serde(default)]
    pub(super) takes: Vec<String>,
    pub(super) scenes: Vec<Scene>,
}

fn no_description() -> String {
    "Says what its script says".to_owned()
}

/// Played for a message that all conditions fit. Of several scenes the most particular one is taken, then the first.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Scene {
    /// The message's id begins so.
    #[serde(default)]
    id: String,
    /// What it says begins so.
    #[serde(default)]
    text: String,
    /// It came by this wire, such as `a2a/0.3`.
    wire: Option<String>,
    pub(super) play: Vec<Step>,
}

/// One thing an agent does.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Step {
    /// Shows that it is at work.
    Work(String),
    Pause(Span),
    /// A message of its own.
    Say(String),
    /// A piece of an artifact; the next one of the same id goes on with it unless this was the last.
    Artifact(Artifact),
    /// Waits for an answer. Without further steps the answer's own scene is played.
    Ask(String),
    /// Ends with this.
    Answer(Content),
    Reject(String),
    Fail(String),
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Artifact {
    pub(super) id: String,
    #[serde(default = "yes")]
    pub(super) last: bool,
    pub(super) part: Content,
}

fn yes() -> bool {
    true
}

/// A part: exactly one of the first four.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Content {
    pub(super) text: Option<String>,
    pub(super) data: Option<serde_json::Value>,
    pub(super) url: Option<String>,
    /// As text; sent as bytes.
    pub(super) bytes: Option<String>,
    pub(super) name: Option<String>,
    pub(super) media: Option<String>,
}

impl Script {
    /// What is played for a message; nothing where no scene fits.
    pub(super) fn scene(&self, id: &str, text: &str, wire: Option<&str>) -> Vec<Step> {
        let fits = |scene: &&Scene| {
            id.starts_with(&scene.id)
                && text.starts_with(&scene.text)
                && (scene.wire.is_none() || scene.wire.as_deref() == wire)
        };
        let particular = |scene: &&Scene| (scene.id.len() + scene.text.len(), scene.wire.is_some());
        let mut best: Option<&Scene> = None;
        for scene in self.scenes.iter().filter(fits) {
            if best.is_none_or(|best| particular(&scene) > particular(&best)) {
                best = Some(scene);
            }
        }
        best.map(|scene| scene.play.clone()).unwrap_or_default()
    }
}

impl Step {
    pub(super) fn pause(&self) -> Option<Duration> {
        match self {
            Step::Pause(span) => Some(span.0),
            Step::Work(_)
            | Step::Say(_)
            | Step::Artifact(_)
            | Step::Ask(_)
            | Step::Answer(_)
            | Step::Reject(_)
            | Step::Fail(_) => None,
        }
    }
}
