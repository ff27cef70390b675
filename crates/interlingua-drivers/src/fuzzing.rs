//! Doors of `fuzz` to decoders that are private to this crate. Nothing else calls them.

use std::path::Path;

use bytes::Bytes;
use interlingua_core::json::Tree;
use interlingua_core::site::{self, Site};

use crate::browser::file;
use crate::browser::proxy::head;
use crate::child::Lines;
use crate::files::glob::Glob;
use crate::tools::{CustomTool, catalogue, manifest, reply};

/// A definition of a website, as JSON or as YAML.
pub fn site(bytes: &[u8], json: bool) -> Option<(Tree, Site)> {
    let tree = file::tree(bytes.to_vec(), json).ok()?;
    Some((tree.clone(), site::read(tree).ok()?))
}

/// A manifest of a tool, in this directory.
pub fn manifest(bytes: &[u8], json: bool, home: &Path) -> Option<CustomTool> {
    let tree = catalogue::tree(bytes.to_vec(), json).ok()?;
    manifest::read(tree, home, &"tools".into()).ok().map(|(tool, _)| tool)
}

/// What a tool printed: how many of its lines can be read, and whether all of it is one value.
pub fn tool_reply(bytes: &[u8]) -> (usize, bool) {
    let lines = bytes.split(|byte| *byte == b'\n');
    let read = lines.filter(|line| reply::line(Bytes::copy_from_slice(line)).is_ok()).count();
    (read, reply::value(Bytes::copy_from_slice(bytes)).is_ok())
}

/// Does the pattern match this path, and does it exclude it? `None`: it is no pattern.
pub fn glob(pattern: &str, path: &[String]) -> Option<(bool, bool)> {
    let glob = Glob::compile(pattern).ok()?;
    Some((glob.matches(path), glob.excludes(path)))
}

/// Whom the head of a request to the browser's proxy asks for, and what is passed on.
pub fn proxied(bytes: &[u8]) -> Option<(String, u16, Vec<u8>)> {
    let (asked, forwarded) = head::request(bytes)?;
    Some((asked.host, asked.port, forwarded))
}

/// The lines of a program's output that comes in these pieces.
pub fn lines(pieces: &[&[u8]]) -> Vec<Bytes> {
    let (mut lines, mut read) = (Lines::default(), Vec::new());
    for piece in pieces {
        lines.feed(piece);
        read.extend(std::iter::from_fn(|| lines.next_line()));
    }
    read
}

/// YAML as the files of an operator are read.
pub fn yaml(text: &str) -> Option<Tree> {
    file::tree(text.as_bytes().to_vec(), false).ok()
}
