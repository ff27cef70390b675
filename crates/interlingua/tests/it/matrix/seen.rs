//! What a caller saw of one call, in terms that fit every protocol.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::Value;

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Seen {
    /// `completed`, `failed`, `cancelled`; `left`: the caller went away; `broken`: its own program failed.
    pub(super) outcome: String,
    /// The kind of the fault in the hub's words, where the wire tells it.
    pub(super) fault: Option<String>,
    /// It may have ended otherwise: the line broke, or the program's library raised an error and told no outcome.
    pub(super) unsure: bool,
    /// The hub's own name of the call, where the wire tells it.
    pub(super) task: Option<String>,
    /// The first question that was asked.
    pub(super) question: Option<String>,
    /// What came before the end, each as it was told.
    pub(super) pieces: Vec<String>,
    pub(super) texts: Vec<String>,
    pub(super) data: Vec<Value>,
    /// In base64.
    pub(super) blobs: Vec<String>,
    pub(super) names: Vec<String>,
    /// `what kind`, as the hub declares them.
    pub(super) losses: Vec<String>,
}

impl Seen {
    pub(super) fn new(outcome: &str) -> Seen {
        Seen { outcome: outcome.to_owned(), ..Seen::default() }
    }

    /// All that can be read of it, pieces joined as they came.
    pub(super) fn words(&self) -> String {
        let mut words = self.texts.concat();
        for value in &self.data {
            strings(value, &mut words);
        }
        for blob in self.bytes() {
            if let Ok(text) = String::from_utf8(blob) {
                words.push('\n');
                words.push_str(&text);
            }
        }
        words
    }

    pub(super) fn bytes(&self) -> impl Iterator<Item = Vec<u8>> {
        self.blobs.iter().map(|blob| STANDARD.decode(blob).expect("base64"))
    }

    pub(super) fn lost(&mut self, losses: &Value) {
        for loss in losses.as_array().into_iter().flatten() {
            let text = |key: &str| loss[key].as_str().unwrap_or_default();
            self.losses.push(format!("{} {}", text("what"), text("kind")));
        }
    }

    /// How the hub's own interface says that something ended.
    pub(super) fn finished(&mut self, finished: &Value) {
        self.outcome = finished["outcome"].as_str().unwrap_or_default().to_owned();
        if let Some(kind) = finished["fault"]["kind"].as_str() {
            self.fault = Some(format!("{kind}: {}", finished["fault"]["message"]));
        }
        for part in finished["parts"].as_array().into_iter().flatten() {
            self.part(part);
        }
        for artifact in finished["artifacts"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            self.names.push(artifact.to_owned());
        }
        if !finished["structured"].is_null() {
            self.data.push(finished["structured"].clone());
        }
    }

    /// A part in the hub's own form.
    pub(super) fn part(&mut self, part: &Value) {
        self.texts.extend(part["text"].as_str().map(str::to_owned));
        self.blobs.extend(part["base64"].as_str().map(str::to_owned));
        self.names.extend(["name", "label", "uri"].iter().filter_map(|key| part[*key].as_str()).map(str::to_owned));
        if !part["data"].is_null() {
            self.data.push(part["data"].clone());
        }
    }

    /// For a message that says what went wrong: without what is large.
    pub(super) fn shown(&self) -> String {
        let mut short = format!("{self:?}");
        if short.len() > 1_500 {
            let mut end = 1_500;
            while !short.is_char_boundary(end) {
                end -= 1;
            }
            short.truncate(end);
            short.push('…');
        }
        short
    }
}

/// Every text of a value, each on a line of its own.
fn strings(value: &Value, out: &mut String) {
    match value {
        Value::String(text) => {
            out.push('\n');
            out.push_str(text);
        }
        Value::Array(inner) => inner.iter().for_each(|value| strings(value, out)),
        Value::Object(inner) => inner.values().for_each(|value| strings(value, out)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
