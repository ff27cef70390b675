//! Entry points of the fuzz targets into decoders that are private to this crate. Nothing else calls them.

use std::path::Path;

use bytes::Bytes;

use crate::custom::{CustomTool, catalogue, manifest, reply};
use crate::files::glob::Glob;

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
