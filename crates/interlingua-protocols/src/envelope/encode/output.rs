//! What a call gave, as one JSON value.
//!
//! Structured output goes as it is. Text alone is a string, blocks joined by newlines. Anything else is an object
//! with the text as `output` and every piece in `blocks`.

use std::collections::BTreeSet;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use interlingua_core::json::write_string;
use interlingua_core::{ArtifactId, Blob, Body, Json, MessageId, Output, Part, Piece, Route, Usage};

use crate::object::Object;

/// More streamed output than this is not repeated in the final response.
const MOST_COLLECTED: usize = 16 * 1024 * 1024;
/// More artifacts than this are not listed.
const MOST_ARTIFACTS: usize = 1024;

/// What was said before the end.
#[derive(Debug, Default)]
pub(super) struct Collected {
    blocks: Vec<Block>,
    artifacts: BTreeSet<ArtifactId>,
    size: usize,
    cut: bool,
}

#[derive(Debug)]
enum Block {
    /// The message lets a delta find the text it continues.
    Text(MessageId, String),
    Other(Vec<u8>),
}

impl Collected {
    pub(super) fn say(&mut self, message: &MessageId, piece: Piece, parts: &[Part]) {
        for part in parts {
            match part.as_text() {
                Some(text) if self.take(text.len()) => self.text(message, piece, text),
                Some(_) => {}
                None => self.other(part),
            }
        }
    }

    pub(super) fn keep(&mut self, artifact: &ArtifactId, parts: &[Part]) {
        if self.artifacts.len() < MOST_ARTIFACTS {
            self.artifacts.insert(artifact.clone());
        }
        self.say(&MessageId(artifact.0.clone()), Piece::Delta, parts);
    }

    fn text(&mut self, message: &MessageId, piece: Piece, text: &str) {
        match self.blocks.last_mut() {
            Some(Block::Text(last, all)) if piece == Piece::Delta && last == message => all.push_str(text),
            Some(_) | None => self.blocks.push(Block::Text(message.clone(), text.to_owned())),
        }
    }

    fn other(&mut self, part: &Part) {
        let mut block = Vec::new();
        write_block(part, &mut block);
        if self.take(block.len()) {
            self.blocks.push(Block::Other(block));
        }
    }

    /// Room for this many bytes?
    fn take(&mut self, bytes: usize) -> bool {
        self.size = self.size.saturating_add(bytes);
        if self.size > MOST_COLLECTED {
            self.cut = true;
        }
        !self.cut
    }

    pub(super) fn is_cut(&self) -> bool {
        self.cut
    }

    /// The value of the final response. The output's own parts win over what was streamed: they are the same, or the whole
    /// of it.
    pub(super) fn output(&self, output: &Output) -> Option<Json> {
        if let Some(structured) = &output.structured {
            return Some(structured.clone());
        }
        if !output.parts.is_empty() {
            let only_text = output.parts.iter().all(|part| part.as_text().is_some());
            let words = text_of(&output.parts);
            return Some(if only_text { string(&words) } else { blocks(&words, &output.parts, write_block) });
        }
        if self.blocks.is_empty() {
            return None;
        }
        let only_text = self.blocks.iter().all(|block| matches!(block, Block::Text(..)));
        let words = self.text_blocks();
        Some(if only_text { string(&words) } else { blocks(&words, &self.blocks, Block::write) })
    }

    /// What a person would read.
    pub(super) fn words(&self, output: &Output) -> String {
        let words = text_of(&output.parts);
        if words.is_empty() { self.text_blocks() } else { words }
    }

    fn text_blocks(&self) -> String {
        let texts = self.blocks.iter().filter_map(|block| match block {
            Block::Text(_, text) => Some(text.as_str()),
            Block::Other(_) => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }

    pub(super) fn artifacts(&self, output: &Output) -> Vec<ArtifactId> {
        let mut all = self.artifacts.clone();
        all.extend(output.artifacts.iter().take(MOST_ARTIFACTS).cloned());
        all.into_iter().collect()
    }
}

impl Block {
    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Block::Text(_, text) => write_text_block(text, out),
            Block::Other(json) => out.extend_from_slice(json),
        }
    }
}

/// The text parts, joined by newlines.
pub(super) fn text_of(parts: &[Part]) -> String {
    parts.iter().filter_map(Part::as_text).collect::<Vec<_>>().join("\n")
}

fn string(text: &str) -> Json {
    Json::from_tree(text.into())
}

fn blocks<T>(words: &str, items: &[T], write: impl Fn(&T, &mut Vec<u8>)) -> Json {
    Object::json(|object| {
        object.text("output", words);
        object.array("blocks", items, |item, out| write(item, out));
    })
}

fn write_text_block(text: &str, out: &mut Vec<u8>) {
    let mut block = Object::open(out);
    block.text("type", "text");
    block.text("text", text);
    block.finish();
}

/// One part as a block: base64 for bytes at hand, an address for those that are stored.
fn write_block(part: &Part, out: &mut Vec<u8>) {
    let mut block = Object::open(out);
    match &part.body {
        Body::Text { text, .. } => {
            block.text("type", "text");
            block.text("text", text);
        }
        Body::Data(data) => {
            block.text("type", "data");
            block.value("data", data);
        }
        Body::Blob(Blob::Inline(bytes)) => {
            block.text("type", "blob");
            block.text("data", &STANDARD.encode(bytes));
        }
        Body::Blob(Blob::Stored { digest, len }) => {
            block.text("type", "blob");
            block.text("digest", &digest.to_string());
            block.number("size", *len);
        }
        Body::Link => block.text("type", "link"),
        Body::Code { source, language } => {
            block.text("type", "code");
            block.text("text", source);
            block.text("language", language);
        }
        Body::Place { text, gps } => {
            block.text("type", "place");
            block.text_or_null("text", text.as_deref());
            block.text_or_null("gps", gps.as_deref());
        }
        Body::Other { namespace, value } => {
            block.text("type", "other");
            block.text("namespace", namespace);
            block.value("data", value);
        }
    }
    for (key, value) in [("media", &part.media), ("name", &part.name), ("label", &part.label), ("uri", &part.uri)] {
        if let Some(value) = value {
            block.text(key, value);
        }
    }
    block.finish();
}

pub(super) fn progress(meta: &mut Object<'_>, done: Option<f64>, total: Option<f64>, note: Option<&str>) {
    meta.object("progress", |out| {
        for (key, number) in [("done", done), ("total", total)] {
            // Infinity and NaN have no spelling in JSON.
            if let Some(number) = number.filter(|number| number.is_finite()) {
                out.key(key).extend_from_slice(number.to_string().as_bytes());
            }
        }
        if let Some(note) = note {
            out.text("note", note);
        }
    });
}

/// Which way was taken, what was kept, what it cost.
pub(super) fn provenance(meta: &mut Object<'_>, route: Option<&Route>, artifacts: &[ArtifactId], usage: &Usage) {
    if let Some(route) = route {
        meta.object("route", |out| {
            out.text("skill", &route.skill.to_string());
            out.text("why", route.why.as_str());
        });
    }
    if !artifacts.is_empty() {
        meta.array("artifacts", artifacts, |id, out| write_string(&format!("interlingua://artifacts/{id}"), out));
    }
    if *usage != Usage::default() {
        meta.object("usage", |out| {
            out.number("tokens_in", usage.tokens_in);
            out.number("tokens_out", usage.tokens_out);
            out.number("calls", usage.calls.into());
            out.number("micro_money", usage.micro_money);
        });
    }
}
