//! Content blocks and resource contents (schema: `ContentBlock`, `ResourceContents`) as parts, and back.
//!
//! Reading never fails: a block this hub does not know is carried whole as [`Body::Other`] and written back as it came. Writing
//! says what could not be carried. Annotations travel in the part's `meta` under a key of ours.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use interlingua_model::json::write_string;
use interlingua_model::{Blob, Body, Digest, Json, Loss, LossKind, Meta, Part, Party, Provenance, Text, Uri, Way};

use super::meta::{self, ANNOTATIONS, META};
use super::version::Version;
use interlingua_wire::members::{Members, elements};
use interlingua_wire::object::Object;

/// Names a block that is carried whole.
pub const BLOCK: &str = "mcp/content";

/// How addresses look from the other side.
pub trait Addresses {
    /// An address that this party gave, as the other side can use it.
    fn outward(&self, by: &Party, uri: &str) -> Uri;
    /// Where stored bytes can be read; `media` is what they will be said to be.
    fn blob(&self, digest: &Digest, media: Option<&str>) -> Option<Uri>;

    /// Is any address other than it was given?
    fn rewrites(&self) -> bool {
        false
    }
}

/// Addresses as they are, and nothing stored.
#[derive(Debug, Clone, Copy)]
pub struct Verbatim;

impl Addresses for Verbatim {
    fn outward(&self, _: &Party, uri: &str) -> Uri {
        uri.into()
    }

    fn blob(&self, _: &Digest, _: Option<&str>) -> Option<Uri> {
        None
    }
}

/// A list of blocks, or a single one, as older sampling messages have it.
pub fn decode_all(json: &Json, by: &Provenance) -> Vec<Part> {
    match elements(json) {
        Some(blocks) => blocks.iter().map(|block| decode(block, by)).collect(),
        None => vec![decode(json, by)],
    }
}

/// One content block.
pub fn decode(block: &Json, by: &Provenance) -> Part {
    let members = Members::of(block);
    let kind = members.text("type");
    let known = match kind.as_deref() {
        Some("text") => members.text("text").map(|text| Part::text(&*text, by.clone())),
        Some("image" | "audio") => blob(&members, "data", by),
        Some("resource") => members.object("resource").and_then(|resource| contents(&resource, by)),
        Some("resource_link") => link(&members, by),
        Some(_) | None => None,
    };
    let mut part =
        known.unwrap_or_else(|| Part::new(Body::Other { namespace: BLOCK.into(), value: block.clone() }, by.clone()));
    if !matches!(part.body, Body::Other { .. }) {
        add_meta(&mut part, &members);
    }
    part
}

/// One of the `contents` of a resource; `None` when it is neither text nor bytes.
pub fn decode_contents(json: &Json, by: &Provenance) -> Option<Part> {
    let members = Members::of(json);
    let mut part = contents(&members, by)?;
    part.meta = Meta(members.get(META).filter(Json::is_object));
    Some(part)
}

fn owned(text: Option<std::borrow::Cow<'_, str>>) -> Option<Text> {
    text.map(|text| (&*text).into())
}

fn contents(members: &Members, by: &Provenance) -> Option<Part> {
    let mut part = match members.text("text") {
        Some(text) => Part::text(&*text, by.clone()),
        None => blob(members, "blob", by)?,
    };
    part.uri = Some(owned(members.text("uri"))?);
    part.media = owned(members.text("mimeType"));
    part.provenance.source.clone_from(&part.uri);
    Some(part)
}

fn blob(members: &Members, key: &str, by: &Provenance) -> Option<Part> {
    let bytes = STANDARD.decode(members.text(key)?.as_bytes()).ok()?;
    let mut part = Part::new(Body::Blob(Blob::Inline(Bytes::from(bytes))), by.clone());
    part.media = owned(members.text("mimeType"));
    Some(part)
}

fn link(members: &Members, by: &Provenance) -> Option<Part> {
    let mut part = Part::new(Body::Link, by.clone());
    part.uri = Some(owned(members.text("uri"))?);
    part.name = owned(members.text("name"));
    part.media = owned(members.text("mimeType"));
    Some(part)
}

/// The block's own free metadata, with its annotations beside it.
fn add_meta(part: &mut Part, block: &Members) {
    let free = block.object(META);
    let annotations = block.get("annotations");
    if free.is_none() && annotations.is_none() {
        return;
    }
    part.meta = Meta(Some(Object::json(|object| {
        for (key, value) in free.iter().flat_map(Members::iter).filter(|(key, _)| !key.starts_with(meta::OURS)) {
            object.value(key, &value);
        }
        if let Some(annotations) = &annotations {
            object.value(ANNOTATIONS, annotations);
        }
    })));
}

/// Writes parts as blocks of one version.
#[derive(Clone, Copy)]
pub struct Writer<'a> {
    pub version: Version,
    /// Which way the content goes.
    pub way: Way,
    pub addresses: &'a dyn Addresses,
}

impl std::fmt::Debug for Writer<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Writer").field("version", &self.version).finish_non_exhaustive()
    }
}

impl Writer<'_> {
    /// One content block for one part. What it could not carry is added to `losses`.
    pub fn block(&self, part: &Part, losses: &mut Vec<Loss>, out: &mut Vec<u8>) {
        match &part.body {
            Body::Text { text, .. } if part.uri.is_none() => self.text(text, part, out),
            Body::Text { .. } => self.embedded(part, losses, out),
            Body::Data(json) => self.text(json.as_str(), part, out),
            Body::Blob(blob) => self.blob(blob, part, losses, out),
            Body::Link => self.link(part, part.uri.as_deref().unwrap_or_default(), None, losses, out),
            Body::Code { source, .. } => {
                losses.push(self.way.part("code", LossKind::Flattened));
                self.text(source, part, out);
            }
            Body::Place { text, gps } => {
                losses.push(self.way.part("place", LossKind::Flattened));
                let both: Vec<&str> = [text, gps].into_iter().filter_map(Option::as_deref).collect();
                self.text(&both.join(" "), part, out);
            }
            Body::Other { namespace, value } if &**namespace == BLOCK && value.is_object() => {
                out.extend_from_slice(value.as_bytes());
            }
            Body::Other { value, .. } => {
                losses.push(self.way.part("other", LossKind::Flattened));
                self.text(value.as_str(), part, out);
            }
        }
    }

    fn text(&self, text: &str, part: &Part, out: &mut Vec<u8>) {
        let mut block = Object::open(out);
        block.text("type", "text");
        block.text("text", text);
        self.free(part, &mut block);
        block.finish();
    }

    fn blob(&self, blob: &Blob, part: &Part, losses: &mut Vec<Loss>, out: &mut Vec<u8>) {
        let bytes = match blob {
            Blob::Inline(bytes) => bytes,
            Blob::Stored { digest, len } => {
                match self.addresses.blob(digest, part.media.as_deref()) {
                    Some(uri) => self.link(part, &uri, Some(*len), losses, out),
                    None => {
                        losses.push(self.way.part("blob", LossKind::Dropped));
                        self.text("(content that is too large to be shown here)", part, out);
                    }
                }
                return;
            }
        };
        let media = part.media.as_deref().unwrap_or("application/octet-stream");
        let kind = match media.split('/').next() {
            Some("image") if part.uri.is_none() => "image",
            Some("audio") if part.uri.is_none() && self.version.has_audio() => "audio",
            _ => return self.embedded(part, losses, out),
        };
        let mut block = Object::open(out);
        block.text("type", kind);
        block.text("data", &STANDARD.encode(bytes));
        block.text("mimeType", media);
        self.free(part, &mut block);
        block.finish();
    }

    /// A resource with its content in it.
    fn embedded(&self, part: &Part, losses: &mut Vec<Loss>, out: &mut Vec<u8>) {
        let mut block = Object::open(out);
        block.text("type", "resource");
        self.contents(part, losses, block.key("resource"));
        self.annotations(part, &mut block);
        block.finish();
    }

    fn link(&self, part: &Part, uri: &str, size: Option<u64>, losses: &mut Vec<Loss>, out: &mut Vec<u8>) {
        let uri = match &part.body {
            Body::Link => self.addresses.outward(&part.provenance.by, uri),
            _ => uri.into(),
        };
        if !self.version.has_structured() {
            losses.push(self.way.part("link", LossKind::Flattened));
            return self.text(&uri, part, out);
        }
        let mut block = Object::open(out);
        block.text("type", "resource_link");
        block.text("uri", &uri);
        // The address of what the hub holds says nothing to people.
        let unnamed = if size.is_some() { "content" } else { &*uri };
        block.text("name", part.name.as_deref().unwrap_or(unnamed));
        if let Some(media) = &part.media {
            block.text("mimeType", media);
        }
        if let Some(size) = size {
            block.number("size", size);
        }
        self.free(part, &mut block);
        block.finish();
    }

    /// One of the `contents` of a resource. Only text and bytes have a form there; anything else is said as text, and what
    /// that does not say is added to `losses`.
    pub fn contents(&self, part: &Part, losses: &mut Vec<Loss>, out: &mut Vec<u8>) {
        let mut object = Object::open(out);
        let uri = part.uri.as_deref().map(|uri| self.addresses.outward(&part.provenance.by, uri));
        object.text("uri", uri.as_deref().unwrap_or("interlingua://content"));
        let media = part.media.as_deref().or(match &part.body {
            Body::Data(_) => Some("application/json"),
            _ => None,
        });
        if let Some(media) = media {
            object.text("mimeType", media);
        }
        match &part.body {
            Body::Text { text, .. } => object.text("text", text),
            Body::Blob(Blob::Inline(bytes)) => object.text("blob", &STANDARD.encode(bytes)),
            Body::Code { source, .. } => {
                losses.push(self.way.part("code", LossKind::Flattened));
                object.text("text", source);
            }
            Body::Data(json) => object.text("text", json.as_str()),
            Body::Other { value, .. } => {
                losses.push(self.way.part("other", LossKind::Flattened));
                object.text("text", value.as_str());
            }
            Body::Blob(Blob::Stored { .. }) => {
                losses.push(self.way.part("blob", LossKind::Dropped));
                object.text("text", "");
            }
            // Its address is the whole of it, and stands above.
            Body::Link => object.text("text", ""),
            Body::Place { text, gps } => {
                losses.push(self.way.part("place", LossKind::Flattened));
                let both: Vec<&str> = [text, gps].into_iter().filter_map(Option::as_deref).collect();
                object.text("text", &both.join(" "));
            }
        }
        let free = part.meta.0.as_ref().map(Members::of);
        write_meta(free.as_ref(), part.name.as_deref(), &mut object);
        object.finish();
    }

    /// What stands beside the content: annotations, and what has no member of its own.
    fn free(&self, part: &Part, block: &mut Object<'_>) {
        self.annotations(part, block);
        let free = part.meta.0.as_ref().map(Members::of);
        // A link says its name itself. A label is a name, too.
        let name = part.name.as_deref().or(part.label.as_deref()).filter(|_| part.body != Body::Link);
        write_meta(free.as_ref(), name, block);
    }

    fn annotations(&self, part: &Part, block: &mut Object<'_>) {
        let free = part.meta.0.as_ref().map(Members::of);
        if let Some(annotations) = free.and_then(|free| free.get(ANNOTATIONS)) {
            block.value("annotations", &annotations);
        }
    }
}

/// All of it but what is the hub's own, and the name, for which content has no member.
fn write_meta(free: Option<&Members>, name: Option<&str>, object: &mut Object<'_>) {
    let is_free = |key: &str| !key.starts_with(meta::OURS);
    let kept: Vec<_> = free.into_iter().flat_map(Members::iter).filter(|(key, _)| is_free(key)).collect();
    if kept.is_empty() && name.is_none() {
        return;
    }
    object.object(META, |object| {
        for (key, value) in &kept {
            object.value(key, value);
        }
        if let Some(name) = name {
            object.text(meta::NAME, name);
        }
    });
}

/// A text block alone, for what the hub itself has to say.
pub fn write_text(text: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(br#"{"type":"text","text":"#);
    write_string(text, out);
    out.push(b'}');
}

#[cfg(test)]
mod tests {
    use interlingua_model::PeerId;

    use super::*;

    struct Prefixed;

    impl Addresses for Prefixed {
        fn outward(&self, by: &Party, uri: &str) -> Uri {
            match by {
                Party::Peer(peer) => format!("hub://{peer}/{uri}").into(),
                Party::Caller | Party::Hub => uri.into(),
            }
        }

        fn blob(&self, digest: &Digest, _: Option<&str>) -> Option<Uri> {
            Some(format!("hub://blobs/{digest}").into())
        }
    }

    fn by() -> Provenance {
        Provenance::peer(PeerId::from("p"))
    }

    fn through(text: &str, version: Version, addresses: &dyn Addresses) -> (String, Vec<Loss>) {
        let part = decode(&Json::parse(Bytes::copy_from_slice(text.as_bytes())).expect("JSON"), &by());
        let (mut out, mut losses) = (Vec::new(), Vec::new());
        Writer { version, way: Way::Output, addresses }.block(&part, &mut losses, &mut out);
        (String::from_utf8(out).expect("UTF-8"), losses)
    }

    #[test]
    fn every_kind_of_block_comes_back_as_it_was() {
        for block in [
            r#"{"type":"text","text":"a\nb"}"#,
            r#"{"type":"text","text":"a","annotations":{"audience":["user"],"priority":0.90},"_meta":{"x/y":12345678901234567890}}"#,
            r#"{"type":"image","data":"AAEC","mimeType":"image/png"}"#,
            r#"{"type":"audio","data":"AAEC","mimeType":"audio/wav"}"#,
            r#"{"type":"resource","resource":{"uri":"test://a","mimeType":"text/plain","text":"t"}}"#,
            r#"{"type":"resource","resource":{"uri":"test://a","mimeType":"image/png","blob":"AAEC"}}"#,
            r#"{"type":"resource_link","uri":"test://a","name":"a","mimeType":"text/plain"}"#,
            r#"{"type":"tool_use","id":"1","name":"n","input":{"a":1.0}}"#,
            r#"{"type":"hologram","depth":3}"#,
        ] {
            assert_eq!(through(block, Version::LATEST, &Verbatim), (block.to_owned(), Vec::new()));
        }
    }

    #[test]
    fn m_23_addresses_in_links_and_embedded_resources_are_ours() {
        let (link, _) = through(r#"{"type":"resource_link","uri":"urn:x:1","name":"a"}"#, Version::LATEST, &Prefixed);
        assert!(link.contains(r#""uri":"hub://p/urn:x:1""#), "{link}");
        let embedded = r#"{"type":"resource","resource":{"uri":"mem:a","text":"t"}}"#;
        assert!(through(embedded, Version::LATEST, &Prefixed).0.contains(r#""uri":"hub://p/mem:a""#));
    }

    #[test]
    fn what_is_stored_is_a_link_where_it_can_be_read_and_a_loss_where_not() {
        let mut part = Part::new(Body::Blob(Blob::Stored { digest: Digest([7; 32]), len: 300_000 }), by());
        part.media = Some("image/png".into());
        let write = |addresses: &dyn Addresses| {
            let (mut out, mut losses) = (Vec::new(), Vec::new());
            Writer { version: Version::LATEST, way: Way::Output, addresses }.block(&part, &mut losses, &mut out);
            (String::from_utf8(out).expect("UTF-8"), losses)
        };
        let uri = format!("hub://blobs/{}", Digest([7; 32]));
        let link = format!(
            r#"{{"type":"resource_link","uri":"{uri}","name":"content","mimeType":"image/png","size":300000}}"#
        );
        assert_eq!(write(&Prefixed), (link, Vec::new()));
        assert_eq!(write(&Verbatim).1, [Loss::new("output.parts.blob", LossKind::Dropped)]);
    }

    #[test]
    fn an_older_version_gets_what_it_knows_and_the_rest_is_named() {
        let link = r#"{"type":"resource_link","uri":"test://a","name":"a"}"#;
        let (block, losses) = through(link, Version::V2025_03_26, &Verbatim);
        assert_eq!(block, r#"{"type":"text","text":"test://a"}"#);
        assert_eq!(losses, [Loss::new("output.parts.link", LossKind::Flattened)]);
        let audio = r#"{"type":"audio","data":"AAEC","mimeType":"audio/wav"}"#;
        assert!(through(audio, Version::V2024_11_05, &Verbatim).0.contains(r#""type":"resource""#));
    }

    #[test]
    fn ours_is_not_believed_of_a_peer() {
        let block = r#"{"type":"text","text":"a","_meta":{"interlingua/fault":"x","other/key":1}}"#;
        assert_eq!(
            through(block, Version::LATEST, &Verbatim).0,
            r#"{"type":"text","text":"a","_meta":{"other/key":1}}"#
        );
    }
}
