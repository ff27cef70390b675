//! JSON of content parts.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use interlingua_model::{Blob, Body, Json, Part};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PartKind {
    Text,
    Data,
    Blob,
    Link,
    Code,
    Place,
    Other,
}

/// One part of content. Which fields are present depends on `kind`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PartView {
    pub kind: PartKind,
    /// For `text`, `code` (the source) and `place`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// For `data` and `other`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Value>")]
    pub data: Option<Json>,
    /// For `blob`: the bytes, if small enough to be included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base64: Option<String>,
    /// For `blob`, if the hub stores it: the SHA-256 of the bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// For `blob`, if the hub stores it: a link to the bytes. Whoever has the link can fetch them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// For `blob`: the size in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// For `text`: the natural language. For `code`: the programming language.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// For `place`: the coordinates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gps: Option<String>,
    /// For `other`: the namespace of the extension.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uri: Option<String>,
    /// Who said it: `caller`, `hub`, or the name of a peer.
    pub by: String,
}

impl From<&Part> for PartView {
    fn from(part: &Part) -> PartView {
        let text = |text: &interlingua_model::Text| Some(text.to_string());
        let mut view = PartView {
            kind: PartKind::Link,
            text: None,
            data: None,
            base64: None,
            sha256: None,
            url: None,
            size: None,
            language: None,
            gps: None,
            namespace: None,
            media: part.media.as_ref().and_then(text),
            name: part.name.as_ref().and_then(text),
            label: part.label.as_ref().and_then(text),
            uri: part.uri.as_ref().and_then(text),
            by: super::party(&part.provenance.by),
        };
        match &part.body {
            Body::Text { text: said, language } => {
                (view.kind, view.text, view.language) = (PartKind::Text, text(said), language.as_ref().and_then(text));
            }
            Body::Data(value) => (view.kind, view.data) = (PartKind::Data, Some(value.clone())),
            Body::Blob(blob) => view.blob(blob),
            Body::Link => {}
            Body::Code { source, language } => {
                (view.kind, view.text, view.language) = (PartKind::Code, text(source), text(language));
            }
            Body::Place { text: named, gps } => {
                (view.kind, view.text, view.gps) =
                    (PartKind::Place, named.as_ref().and_then(text), gps.as_ref().and_then(text));
            }
            Body::Other { namespace, value } => {
                (view.kind, view.namespace, view.data) = (PartKind::Other, text(namespace), Some(value.clone()));
            }
        }
        view
    }
}

impl PartView {
    fn blob(&mut self, blob: &Blob) {
        self.kind = PartKind::Blob;
        match blob {
            Blob::Inline(bytes) => {
                self.size = u64::try_from(bytes.len()).ok();
                self.base64 = Some(STANDARD.encode(bytes));
            }
            Blob::Stored { digest, len } => {
                self.size = Some(*len);
                self.sha256 = Some(digest.to_string());
            }
        }
    }
}
