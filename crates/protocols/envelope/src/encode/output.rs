//! Encodes the output of a call as one JSON value.
//!
//! Structured output goes as it is; whatever stands beside it and does not repeat it is told in `metadata`. Text alone is a string, blocks
//! joined by newlines. Anything else, and text that has a name, is an object with the text as `output` and every piece in
//! `blocks`.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use interlingua_model::json::write_string;
use interlingua_model::percent::encoded;
use interlingua_model::{
    ArtifactId, Blob, Body, Chunk, Json, Loss, LossKind, MessageId, Output, Part, Piece, Route, Usage, Way, is_written,
};

use interlingua_wire::object::Object;

/// More streamed output than this is not repeated in the final response.
const MOST_COLLECTED: usize = 16 * 1024 * 1024;
/// More artifacts than this are not listed.
const MOST_ARTIFACTS: usize = 1024;

/// What was said and made before the end. Which of it is the answer, the end says.
#[derive(Debug, Default)]
pub(super) struct Collected {
    pieces: Vec<(Source, Block)>,
    /// What was made, and whether it has a name.
    artifacts: BTreeMap<ArtifactId, bool>,
    size: usize,
    cut: bool,
}

/// Where a block came from.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Source {
    Said(MessageId),
    Made(ArtifactId),
}

#[derive(Debug)]
enum Block {
    Text(String),
    /// Text with a name or a label, and the block that has both.
    Named(String, Vec<u8>),
    /// Data, and the block of it.
    Data(Json, Vec<u8>),
    Other(Vec<u8>),
}

/// The answer of a call, in order.
#[derive(Debug)]
pub(super) struct Answer {
    structured: Option<Json>,
    blocks: Vec<Block>,
}

impl Collected {
    pub(super) fn say(&mut self, message: &MessageId, piece: Piece, parts: &[Part]) {
        let source = Source::Said(message.clone());
        parts.iter().for_each(|part| self.take(&source, piece, part));
    }

    /// The first chunk of an artifact begins it anew.
    pub(super) fn keep(&mut self, chunk: &Chunk) {
        if self.artifacts.len() < MOST_ARTIFACTS {
            let is_named = chunk.header.as_ref().is_some_and(|header| header.name.is_some());
            *self.artifacts.entry(chunk.artifact.clone()).or_default() |= is_named;
        }
        let source = Source::Made(chunk.artifact.clone());
        if chunk.index == 0 {
            self.pieces.retain(|(of, _)| *of != source);
        }
        chunk.parts.iter().for_each(|part| self.take(&source, Piece::Delta, part));
    }

    fn take(&mut self, source: &Source, piece: Piece, part: &Part) {
        let block = Block::of(part);
        if !self.fits(block.len()) {
            return;
        }
        match (self.pieces.last_mut(), block) {
            (Some((of, Block::Text(all))), Block::Text(more)) if piece == Piece::Delta && of == source => {
                all.push_str(&more);
            }
            (_, block) => self.pieces.push((source.clone(), block)),
        }
    }

    /// Room for this many bytes?
    fn fits(&mut self, bytes: usize) -> bool {
        self.size = self.size.saturating_add(bytes);
        if self.size > MOST_COLLECTED {
            self.cut = true;
        }
        !self.cut
    }

    /// What the final response does not have, where nothing can be fetched: what artifacts hold is told, that they have names is not.
    pub(super) fn lost(&self, output: &Output, can_fetch: bool) -> Vec<Loss> {
        let made = |artifact| self.artifacts.get(artifact).copied();
        let is_missing = !can_fetch && output.artifacts.iter().any(|artifact| made(artifact).is_none());
        let is_unnamed = !can_fetch && output.artifacts.iter().any(|artifact| made(artifact) == Some(true));
        let cut = self.cut.then(|| Loss::new("output.parts", LossKind::Dropped));
        let missing = is_missing.then(|| Loss::new("output.artifacts", LossKind::Dropped));
        let name = is_unnamed.then(|| Way::Output.part("name", LossKind::Dropped));
        [cut, missing, name].into_iter().flatten().collect()
    }

    /// Where the artifacts can be fetched.
    pub(super) fn addresses(&self, output: &Output, begin: &str) -> Vec<String> {
        let mut all: BTreeSet<ArtifactId> = self.artifacts.keys().cloned().collect();
        all.extend(output.artifacts.iter().take(MOST_ARTIFACTS).cloned());
        all.iter().map(|id| format!("{begin}{}/content", encoded(id.as_str()))).collect()
    }

    /// The answer, as [`interlingua_model::Transcript::whole`] has it: what was said under the output's id, its own parts, the artifacts
    /// that it names. Other artifacts were made on the way (the answers that a team did not choose). An output that names
    /// nothing at all is that of a call which failed, or of a peer that only speaks: then all that was said counts.
    pub(super) fn answer(self, output: &Output) -> Answer {
        let is_bare = output.said.is_none() && output.parts.is_empty() && output.artifacts.is_empty();
        let (mut blocks, mut made) = (Vec::new(), Vec::new());
        for (source, block) in self.pieces {
            match source {
                Source::Said(message) if is_bare || output.said.as_ref() == Some(&message) => blocks.push(block),
                Source::Made(artifact) if output.artifacts.contains(&artifact) => made.push(block),
                Source::Said(_) | Source::Made(_) => {}
            }
        }
        blocks.extend(output.parts.iter().map(Block::of));
        blocks.append(&mut made);
        Answer { structured: output.structured.clone(), blocks }
    }
}

impl Answer {
    /// The value of the final response, if there is one.
    pub(super) fn value(&self) -> Option<Json> {
        if self.structured.is_some() || self.blocks.is_empty() {
            return self.structured.clone();
        }
        let only_text = self.blocks.iter().all(|block| matches!(block, Block::Text(_)));
        let words = self.words();
        Some(if only_text { string(&words) } else { blocks(&words, &self.blocks) })
    }

    /// What a person would read.
    pub(super) fn words(&self) -> String {
        let texts = self.blocks.iter().filter_map(|block| match block {
            Block::Text(text) | Block::Named(text, _) => Some(text.as_str()),
            Block::Data(..) | Block::Other(_) => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }

    /// What the value does not hold: beside structured output all that does not repeat it.
    pub(super) fn beside(&self, meta: &mut Object<'_>) {
        let Some(structured) = &self.structured else { return };
        let beside: Vec<&Block> = self.blocks.iter().filter(|block| !block.repeats(structured)).collect();
        if !beside.is_empty() {
            meta.array("blocks", beside, Block::write);
        }
    }
}

impl Block {
    fn of(part: &Part) -> Block {
        let block = || {
            let mut block = Vec::new();
            write_block(part, &mut block);
            block
        };
        let is_named = part.name.is_some() || part.label.is_some() || part.uri.is_some();
        match &part.body {
            Body::Text { text, .. } if is_named => Block::Named(text.to_string(), block()),
            Body::Text { text, .. } => Block::Text(text.to_string()),
            Body::Data(data) => Block::Data(data.clone(), block()),
            Body::Blob(_) | Body::Link | Body::Code { .. } | Body::Place { .. } | Body::Other { .. } => {
                Block::Other(block())
            }
        }
    }

    fn repeats(&self, structured: &Json) -> bool {
        match self {
            Block::Text(text) | Block::Named(text, _) => is_written(structured, text),
            Block::Data(data, _) => data == structured,
            Block::Other(_) => false,
        }
    }

    fn len(&self) -> usize {
        match self {
            Block::Text(text) => text.len(),
            Block::Named(_, json) | Block::Data(_, json) | Block::Other(json) => json.len(),
        }
    }

    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Block::Text(text) => {
                let mut block = Object::open(out);
                block.text("type", "text");
                block.text("text", text);
                block.finish();
            }
            Block::Named(_, json) | Block::Data(_, json) | Block::Other(json) => out.extend_from_slice(json),
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

fn blocks(words: &str, blocks: &[Block]) -> Json {
    Object::json(|object| {
        object.text("output", words);
        object.array("blocks", blocks, Block::write);
    })
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
pub(super) fn provenance(meta: &mut Object<'_>, route: Option<&Route>, artifacts: &[String], usage: &Usage) {
    if let Some(route) = route {
        meta.object("route", |out| {
            out.text("skill", &route.skill.to_string());
            out.text("why", route.why.as_str());
            if let Some(args) = &route.args {
                out.value("arguments", args);
            }
        });
    }
    if !artifacts.is_empty() {
        meta.array("artifacts", artifacts, |address, out| write_string(address, out));
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
