//! Definitions on disk: JSON, or YAML for those written by hand.

use std::fs;
use std::io::Read;
use std::path::Path;

use crate::definition::{self, Site};
use interlingua_model::Json;
use interlingua_model::json::Tree;

/// No definition is larger.
const MAX_BYTES: u64 = 1024 * 1024;

/// Reads a definition; every problem says where it is in the file.
pub fn read(path: &Path) -> Result<Site, Vec<String>> {
    let named = |reason: String| vec![format!("{}: {reason}", path.display())];
    let mut bytes = Vec::new();
    let file = fs::File::open(path).map_err(|error| named(error.to_string()))?;
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|error| named(error.to_string()))?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(named(format!("is larger than {MAX_BYTES} bytes")));
    }
    let json = path.extension().is_some_and(|ending| ending == "json");
    let tree = tree(bytes, json).map_err(named)?;
    definition::read(tree)
        .map_err(|problems| problems.iter().map(|problem| format!("{}: {problem}", path.display())).collect())
}

pub(crate) fn tree(bytes: Vec<u8>, json: bool) -> Result<Tree, String> {
    if json { from_json(bytes) } else { from_yaml(bytes) }
}

fn from_json(bytes: Vec<u8>) -> Result<Tree, String> {
    Json::parse(bytes.into()).map(|json| json.tree().clone()).map_err(|error| format!("is not JSON: {error}"))
}

fn from_yaml(bytes: Vec<u8>) -> Result<Tree, String> {
    let text = String::from_utf8(bytes).map_err(|_| "is not UTF-8".to_owned())?;
    serde_saphyr::from_str(&text).map_err(|error| format!("is not YAML: {error}"))
}
