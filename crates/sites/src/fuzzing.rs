//! Entry points of the fuzz targets into decoders that are private to this crate. Nothing else calls them.

use interlingua_model::json::Tree;

use crate::browser::file;
use crate::browser::proxy::head;
use crate::definition::{self, Site};

/// A definition of a website, as JSON or as YAML.
pub fn site(bytes: &[u8], json: bool) -> Option<(Tree, Site)> {
    let tree = file::tree(bytes.to_vec(), json).ok()?;
    Some((tree.clone(), definition::read(tree).ok()?))
}

/// Whom the head of a request to the browser's proxy asks for, and what is passed on.
pub fn proxied(bytes: &[u8]) -> Option<(String, u16, Vec<u8>)> {
    let (asked, forwarded) = head::request(bytes)?;
    Some((asked.host, asked.port, forwarded))
}

/// YAML as the files of an operator are read.
pub fn yaml(text: &str) -> Option<Tree> {
    file::tree(text.as_bytes().to_vec(), false).ok()
}
