//! Decodes one part of a message or artifact as a part of the model.

use interlingua_model::{Blob, Body, Meta, Part, Provenance, Text};

use crate::ext;
use crate::wire::{self, Content};

pub fn decode(part: wire::Part, provenance: &Provenance) -> Part {
    let said = |key: &str| Some(Text::from(part.metadata.as_ref()?.get(ext::URI)?.get(key)?.as_str()?));
    let (label, told) = (said("label"), said("uri"));
    let (body, uri) = match part.content {
        Content::Text(text) => (Body::Text { text, language: said("language") }, told),
        Content::Raw(bytes) => (Body::Blob(Blob::Inline(bytes)), told),
        Content::Url(url) => (Body::Link, Some(url)),
        Content::Data(data) => (Body::Data(data), told),
    };
    Part {
        media: part.media,
        name: part.filename,
        label,
        uri,
        meta: Meta(part.metadata),
        ..Part::new(body, provenance.clone())
    }
}
