//! Encodes one part of the model as a part of a message or artifact.

use interlingua_model::{Blob, Body, Json, Loss, LossKind, Part, Way, is_english};

use super::Addresses;
use crate::ext;
use crate::wire::{self, Content};
use interlingua_wire::members::Members;
use interlingua_wire::object::Object;

/// Media types of what A2A has no part for.
const CODE: &str = "application/vnd.interlingua.code+json";
const PLACE: &str = "application/vnd.interlingua.place+json";
const OTHER: &str = "application/vnd.interlingua.other+json";

pub fn encode(part: &Part, way: Way, addresses: &dyn Addresses, losses: &mut Vec<Loss>) -> wire::Part {
    let (content, media) = match &part.body {
        Body::Text { text, .. } => (Content::Text(text.clone()), None),
        Body::Data(data) => (Content::Data(data.clone()), Some("application/json")),
        Body::Blob(Blob::Inline(bytes)) => (Content::Raw(bytes.clone()), None),
        Body::Blob(Blob::Stored { digest, len }) => match addresses.blob(digest).or_else(|| part.uri.clone()) {
            Some(url) => (Content::Url(url), None),
            None => {
                losses.push(way.part("blob", LossKind::Dropped));
                (Content::Text(format!("{len} bytes that cannot be fetched here").into()), None)
            }
        },
        Body::Link => (Content::Url(part.uri.clone().unwrap_or_else(|| "".into())), None),
        Body::Code { source, language } => {
            losses.push(way.part("code", LossKind::Flattened));
            let code = Object::json(|object| {
                object.text("code", source);
                object.text("language", language);
            });
            (Content::Data(code), Some(CODE))
        }
        Body::Place { text, gps } => {
            losses.push(way.part("place", LossKind::Flattened));
            (Content::Data(place(text.as_deref(), gps.as_deref())), Some(PLACE))
        }
        Body::Other { namespace, value } => {
            losses.push(way.part("other", LossKind::Flattened));
            let other = Object::json(|object| {
                object.text("namespace", namespace);
                object.value("value", value);
            });
            (Content::Data(other), Some(OTHER))
        }
    };
    let media = part.media.clone().or_else(|| media.map(Into::into));
    wire::Part { content, media, filename: part.name.clone(), metadata: metadata(part) }
}

/// What the part says beside its content; under our extension, what A2A has no member for.
fn metadata(part: &Part) -> Option<Json> {
    let language = match &part.body {
        Body::Text { language, .. } => language.as_deref().filter(|language| !is_english(language)),
        _ => None,
    };
    // A link is its address.
    let uri = part.uri.as_deref().filter(|_| part.body != Body::Link);
    let beside = [("language", language), ("label", part.label.as_deref()), ("uri", uri)];
    if beside.iter().all(|(_, said)| said.is_none()) {
        return part.meta.0.clone();
    }
    let others = part.meta.0.as_ref().map_or_else(Members::absent, Members::of);
    Some(Object::json(|object| {
        for (key, value) in others.iter().filter(|(key, _)| *key != ext::URI) {
            object.value(key, &value);
        }
        object.object(ext::URI, |ours| {
            for (key, said) in beside {
                if let Some(said) = said {
                    ours.text(key, said);
                }
            }
        });
    }))
}

fn place(text: Option<&str>, gps: Option<&str>) -> Json {
    Object::json(|object| {
        if let Some(text) = text {
            object.text("text", text);
        }
        if let Some(gps) = gps {
            object.text("gps", gps);
        }
    })
}
