//! Parts, which every dialect spells differently: by the member that is present (1.0), by `kind` (0.3 JSON-RPC), by member with the content
//! one level further in (0.3 HTTP).

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use interlingua_model::Json;
use interlingua_model::json::Reader;

use super::Dialect;
use super::field;
use crate::invalid::{Invalid, Problem};
use crate::wire::{Content, Part};
use interlingua_wire::object::Object;

pub(super) fn read(reader: &mut Reader<'_>, frame: &Bytes, dialect: Dialect) -> Result<Part, Invalid> {
    let mut found = Found { contents: Vec::new(), part: Part::text("") };
    field::object(reader, |key, reader| match dialect {
        Dialect::V1 => found.v1(key, reader, frame),
        Dialect::V03 | Dialect::V03Proto => found.v03(key, reader, frame, dialect),
    })?;
    found.finish()
}

struct Found {
    contents: Vec<Content>,
    part: Part,
}

impl Found {
    fn finish(mut self) -> Result<Part, Invalid> {
        let count = self.contents.len();
        match self.contents.pop() {
            Some(content) if count == 1 => Ok(Part { content, ..self.part }),
            Some(_) | None => Err(Invalid::whole(Problem::OneOf(count))),
        }
    }

    fn v1(&mut self, key: &str, reader: &mut Reader<'_>, frame: &Bytes) -> Result<(), Invalid> {
        match key {
            "text" => self.contents.extend(field::text(reader)?.map(Content::Text)),
            "raw" => {
                if let Some(text) = field::text(reader)? {
                    self.contents.push(Content::Raw(field::base64(&text)?));
                }
            }
            "url" => self.contents.extend(field::text(reader)?.map(Content::Url)),
            // A null is a value here: `google.protobuf.Value` has one.
            "data" => self.contents.push(Content::Data(field::any(reader, frame)?)),
            "metadata" => self.part.metadata = field::metadata(reader, frame)?,
            "filename" => self.part.filename = field::non_empty(reader)?,
            "mediaType" | "media_type" => self.part.media = field::non_empty(reader)?,
            _ => field::skip(reader)?,
        }
        Ok(())
    }

    fn v03(&mut self, key: &str, reader: &mut Reader<'_>, frame: &Bytes, dialect: Dialect) -> Result<(), Invalid> {
        match key {
            "text" => self.contents.extend(field::text(reader)?.map(Content::Text)),
            "file" => {
                if field::present(reader)? {
                    self.file(reader)?;
                }
            }
            "data" if dialect == Dialect::V03 => {
                self.contents.extend(field::metadata(reader, frame)?.map(Content::Data));
            }
            "data" => {
                if field::present(reader)? {
                    field::object(reader, |key, reader| {
                        match key {
                            "data" => self.contents.extend(field::metadata(reader, frame)?.map(Content::Data)),
                            _ => field::skip(reader)?,
                        }
                        Ok(())
                    })?;
                }
            }
            "metadata" => self.part.metadata = field::metadata(reader, frame)?,
            _ => field::skip(reader)?,
        }
        Ok(())
    }

    /// The migration guide and the schema of 0.3 name its members differently; both are taken.
    fn file(&mut self, reader: &mut Reader<'_>) -> Result<(), Invalid> {
        field::object(reader, |key, reader| {
            match key {
                "uri" | "fileWithUri" | "file_with_uri" => {
                    self.contents.extend(field::non_empty(reader)?.map(Content::Url));
                }
                "bytes" | "fileWithBytes" | "file_with_bytes" => {
                    if let Some(text) = field::text(reader)? {
                        self.contents.push(Content::Raw(field::base64(&text)?));
                    }
                }
                "mimeType" | "mime_type" => self.part.media = field::non_empty(reader)?,
                "name" => self.part.filename = field::non_empty(reader)?,
                _ => field::skip(reader)?,
            }
            Ok(())
        })
    }
}

pub(super) fn write(part: &Part, dialect: Dialect, out: &mut Vec<u8>) {
    let mut object = Object::open(out);
    match dialect {
        Dialect::V1 => write_v1(part, &mut object),
        Dialect::V03 => write_v03(part, &mut object),
        Dialect::V03Proto => write_v03_proto(part, &mut object),
    }
    if let Some(metadata) = &part.metadata {
        object.value("metadata", metadata);
    }
    object.finish();
}

fn write_v1(part: &Part, object: &mut Object<'_>) {
    match &part.content {
        Content::Text(text) => object.text("text", text),
        Content::Raw(bytes) => write_base64(bytes, object.key("raw")),
        Content::Url(url) => object.text("url", url),
        Content::Data(data) => object.value("data", data),
    }
    if let Some(name) = &part.filename {
        object.text("filename", name);
    }
    if let Some(media) = &part.media {
        object.text("mediaType", media);
    }
}

fn write_v03(part: &Part, object: &mut Object<'_>) {
    match &part.content {
        Content::Text(text) => {
            object.text("kind", "text");
            object.text("text", text);
        }
        Content::Raw(_) | Content::Url(_) => {
            object.text("kind", "file");
            object.object("file", |file| write_file(part, file, ["uri", "bytes"]));
        }
        Content::Data(data) => {
            object.text("kind", "data");
            write_struct(data, object.key("data"));
        }
    }
}

fn write_v03_proto(part: &Part, object: &mut Object<'_>) {
    match &part.content {
        Content::Text(text) => object.text("text", text),
        Content::Raw(_) | Content::Url(_) => {
            object.object("file", |file| write_file(part, file, ["fileWithUri", "fileWithBytes"]));
        }
        Content::Data(data) => object.object("data", |object| write_struct(data, object.key("data"))),
    }
}

fn write_file(part: &Part, file: &mut Object<'_>, [uri, bytes]: [&str; 2]) {
    match &part.content {
        Content::Url(url) => file.text(uri, url),
        Content::Raw(raw) => write_base64(raw, file.key(bytes)),
        Content::Text(_) | Content::Data(_) => {}
    }
    if let Some(media) = &part.media {
        file.text("mimeType", media);
    }
    if let Some(name) = &part.filename {
        file.text("name", name);
    }
}

/// 0.3 carries objects only: another value is told as the one member of one.
fn write_struct(data: &Json, out: &mut Vec<u8>) {
    if data.is_object() {
        out.extend_from_slice(data.as_bytes());
        return;
    }
    let mut object = Object::open(out);
    object.value("value", data);
    object.finish();
}

/// Straight into the message, so that large content is copied once.
fn write_base64(bytes: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    let start = out.len();
    out.resize(start + bytes.len().div_ceil(3) * 4, 0);
    let written = STANDARD.encode_slice(bytes, &mut out[start..]).unwrap_or(0);
    out.truncate(start + written);
    out.push(b'"');
}
