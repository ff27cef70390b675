//! One part of a message or artifact as a part of the model.

use interlingua_core::{Blob, Body, Meta, Part, Provenance};

use crate::a2a::wire::{self, Content};

pub fn decode(part: wire::Part, provenance: &Provenance) -> Part {
    let (body, uri) = match part.content {
        Content::Text(text) => (Body::Text { text, language: None }, None),
        Content::Raw(bytes) => (Body::Blob(Blob::Inline(bytes)), None),
        Content::Url(url) => (Body::Link, Some(url)),
        Content::Data(data) => (Body::Data(data), None),
    };
    Part {
        media: part.media,
        name: part.filename,
        uri,
        meta: Meta(part.metadata),
        ..Part::new(body, provenance.clone())
    }
}
