//! One submessage as a part of the model, and back.
//!
//! | format/subformat | body |
//! |---|---|
//! | text/language | Text |
//! | structured/json, or any subformat that ends in `json` | Data |
//! | structured/uri | Link |
//! | structured/xml, html, a programming language | Code: source is passed on unread |
//! | binary/kind/encoding | Blob; `generic/x` is media `application/x`, `generic/x/y` is `x/y` |
//! | location/text, GPS | Place |
//! | generic/name | Other |
//! | error/code, text (first draft) | Text |

use interlingua_model::{
    ArtifactId, Blob, Body, Digest, Json, Loss, LossKind, Media, Part, Provenance, Text, Uri, Way,
};

use super::draft::BinaryKind;
use super::labels;
use super::wire::{Content, ENGLISH, Format, Submessage};

/// Where large content can be fetched.
pub trait Addresses {
    fn artifact(&self, id: &ArtifactId) -> Option<Uri>;
    fn blob(&self, digest: &Digest) -> Option<Uri>;
}

/// For messages that can hold nothing large.
#[derive(Debug, Clone, Copy)]
pub struct NoAddresses;

impl Addresses for NoAddresses {
    fn artifact(&self, _: &ArtifactId) -> Option<Uri> {
        None
    }

    fn blob(&self, _: &Digest) -> Option<Uri> {
        None
    }
}

/// `None` for a token: those are split off before, and are never parts.
pub(super) fn decode(
    submessage: Submessage,
    provenance: &Provenance,
    depth: usize,
    way: Way,
    losses: &mut Vec<Loss>,
) -> Option<Part> {
    let Submessage { format, subformat, content, label, .. } = submessage;
    let mut part = match format {
        Format::Token => return None,
        Format::Text => Part::new(Body::Text { text: text(&content), language: Some(subformat) }, provenance.clone()),
        Format::Structured => structured(&subformat, content, provenance, depth),
        Format::Binary => binary(&subformat, content, provenance),
        Format::Location => location(&subformat, &content, provenance, way, losses),
        Format::Generic => {
            let value = content.as_json(depth).unwrap_or_else(Json::null);
            Part::new(Body::Other { namespace: subformat, value }, provenance.clone())
        }
        Format::Error => {
            losses.push(way.part("error", LossKind::Approximated));
            Part::text(report_text(&subformat, &content), provenance.clone())
        }
    };
    part.label = label;
    Some(part)
}

fn text(content: &Content) -> Text {
    content.as_text().unwrap_or_default()
}

/// What the first draft's `error` says, as a sentence.
pub(super) fn report_text(subformat: &str, content: &Content) -> Text {
    let said = text(content);
    if subformat.eq_ignore_ascii_case("code") { format!("error code {said}").into() } else { said }
}

fn structured(subformat: &Text, content: Content, provenance: &Provenance, depth: usize) -> Part {
    let lower = subformat.to_ascii_lowercase();
    if lower == "json" || lower.ends_with("/json") || lower.ends_with("+json") {
        let mut part = Part::new(Body::Data(content.as_json(depth).unwrap_or_else(Json::null)), provenance.clone());
        part.media = (lower != "json").then(|| subformat.clone());
        return part;
    }
    if lower == "uri" {
        let mut part = Part::new(Body::Link, provenance.clone());
        part.uri = Some(text(&content));
        return part;
    }
    let mut part = Part::new(Body::Code { source: text(&content), language: subformat.clone() }, provenance.clone());
    part.media = match lower.as_str() {
        "xml" => Some("application/xml".into()),
        "html" => Some("text/html".into()),
        _ => None,
    };
    part
}

fn binary(subformat: &str, content: Content, provenance: &Provenance) -> Part {
    let bytes = match content {
        Content::Bytes(bytes) => bytes,
        Content::Text(_) | Content::Json(_) => bytes::Bytes::new(),
    };
    let mut part = Part::new(Body::Blob(Blob::Inline(bytes)), provenance.clone());
    part.media = BinaryKind::of(subformat).map(|(kind, encoding)| media(kind, encoding));
    part
}

fn media(kind: BinaryKind, encoding: &str) -> Media {
    match kind {
        BinaryKind::Generic if encoding.contains('/') => encoding.into(),
        BinaryKind::Generic => format!("application/{encoding}").into(),
        BinaryKind::Audio | BinaryKind::Image | BinaryKind::Video | BinaryKind::Sensor => {
            format!("{}/{encoding}", kind.as_str()).into()
        }
    }
}

/// The subformat of some media type; what no kind has is generic.
fn binary_subformat(media: Option<&str>) -> Text {
    let media = media.unwrap_or("application/octet-stream");
    match BinaryKind::of(media) {
        Some((BinaryKind::Generic, _)) | None => {
            format!("generic/{}", media.strip_prefix("application/").unwrap_or(media)).into()
        }
        Some((BinaryKind::Audio | BinaryKind::Image | BinaryKind::Video | BinaryKind::Sensor, _)) => media.into(),
    }
}

fn location(subformat: &str, content: &Content, provenance: &Provenance, way: Way, losses: &mut Vec<Loss>) -> Part {
    let said = Some(text(content));
    if subformat.eq_ignore_ascii_case("gps") {
        return Part::new(Body::Place { text: None, gps: said }, provenance.clone());
    }
    if !subformat.eq_ignore_ascii_case("text") {
        losses.push(way.part("place", LossKind::Approximated));
    }
    Part::new(Body::Place { text: said, gps: None }, provenance.clone())
}

/// Appends a part. Most are one submessage; a place with both a description and a position is two.
pub(super) fn encode(
    part: &Part,
    way: Way,
    addresses: &dyn Addresses,
    losses: &mut Vec<Loss>,
    out: &mut Vec<Submessage>,
) {
    let from = out.len();
    match &part.body {
        Body::Text { text, language } => {
            out.push(Submessage::new(Format::Text, language_of(language.as_ref()), Content::Text(text.clone())));
        }
        Body::Data(json) => out.push(data(part.media.as_ref(), json)),
        Body::Link => match &part.uri {
            Some(uri) => out.push(Submessage::uri(uri.clone())),
            None => losses.push(way.part("link", LossKind::Dropped)),
        },
        Body::Code { source, language } => {
            out.push(Submessage::new(Format::Structured, language.clone(), Content::Text(source.clone())));
        }
        Body::Blob(Blob::Inline(bytes)) => {
            let subformat = binary_subformat(part.media.as_deref());
            out.push(Submessage::new(Format::Binary, subformat, Content::Bytes(bytes.clone())));
        }
        Body::Blob(Blob::Stored { digest, .. }) => match addresses.blob(digest) {
            Some(uri) => out.push(Submessage::uri(uri)),
            None => losses.push(way.part("blob", LossKind::Dropped)),
        },
        Body::Place { text, gps } => {
            let fields = [("text", text), ("gps", gps)];
            out.extend(fields.into_iter().filter_map(|(subformat, said)| {
                Some(Submessage::new(Format::Location, subformat, Content::Text(said.clone()?)))
            }));
        }
        Body::Other { namespace, value } => {
            out.push(Submessage::new(Format::Generic, namespace.clone(), Content::of(value)));
        }
    }
    // What a peer labelled in the hub's own words would be taken for the hub's.
    // A name has no other place, nor has the address of what is not a link.
    let address = part.uri.as_ref().filter(|_| part.body != Body::Link);
    let said = part.label.as_ref().or(part.name.as_ref()).or(address);
    let label = said.filter(|label| !labels::is_ours(label));
    if said.is_some() && label.is_none() {
        losses.push(way.part("label", LossKind::Dropped));
    }
    out[from..].iter_mut().for_each(|submessage| submessage.label = label.cloned());
}

fn language_of(language: Option<&Text>) -> Text {
    language.cloned().unwrap_or_else(|| ENGLISH.into())
}

fn data(media: Option<&Media>, json: &Json) -> Submessage {
    let subformat = media.filter(|media| media.ends_with("json")).cloned().unwrap_or_else(|| "json".into());
    Submessage::new(Format::Structured, subformat, Content::of(json))
}
