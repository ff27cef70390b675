//! Content for model providers: text and images. Other parts are described in text, so that the model knows they are there.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use interlingua_model::{Blob, Body, Part};

/// One piece of a message.
pub(super) enum Shown {
    Text(String),
    /// A picture: its media type, and its bytes in base64.
    Image {
        media: String,
        base64: String,
    },
}

pub(super) fn shown(parts: &[Part]) -> Vec<Shown> {
    let mut all: Vec<Shown> = Vec::new();
    for part in parts {
        match (show(part), all.last_mut()) {
            (Shown::Text(more), Some(Shown::Text(text))) => {
                text.push('\n');
                text.push_str(&more);
            }
            (shown, _) => all.push(shown),
        }
    }
    all
}

/// The words alone, for places that take nothing else.
pub(super) fn words(parts: &[Part]) -> String {
    let texts = parts.iter().map(|part| match show(part) {
        Shown::Text(text) => text,
        Shown::Image { media, .. } => format!("[a picture, {media}]"),
    });
    texts.collect::<Vec<_>>().join("\n")
}

fn show(part: &Part) -> Shown {
    let media = part.media.as_deref().unwrap_or("application/octet-stream");
    let text = match &part.body {
        Body::Text { text, .. } => text.to_string(),
        Body::Data(json) => json.to_string(),
        Body::Code { source, language } => format!("```{language}\n{source}\n```"),
        Body::Link => part.uri.as_deref().unwrap_or_default().to_owned(),
        Body::Place { text, gps } => {
            [text, gps].into_iter().flatten().map(|text| &**text).collect::<Vec<_>>().join(" ")
        }
        Body::Blob(Blob::Inline(bytes)) if media.starts_with("image/") => {
            return Shown::Image { media: media.to_owned(), base64: STANDARD.encode(bytes) };
        }
        Body::Blob(Blob::Inline(bytes)) => attachment(part, media, bytes.len() as u64),
        Body::Blob(Blob::Stored { len, .. }) => attachment(part, media, *len),
        Body::Other { namespace, .. } => format!("[something only {namespace} can read]"),
    };
    Shown::Text(text)
}

fn attachment(part: &Part, media: &str, len: u64) -> String {
    let name = part.name.as_deref().unwrap_or("without a name");
    format!("[an attachment, {name}, {media}, {len} bytes]")
}
