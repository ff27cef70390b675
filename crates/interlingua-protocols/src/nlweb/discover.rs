//! Lists of sites: what can be named in a request.

use interlingua_core::json::Tree;
use serde_json::json;

/// A site as it is listed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Site {
    pub name: String,
    pub description: String,
}

/// The answer of `/sites`. The first generation writes this one key with a hyphen, and its clients look for it.
pub fn sites(sites: &[Site]) -> Tree {
    let names: Vec<&str> = sites.iter().map(|site| site.name.as_str()).collect();
    json!({"message-type": "sites", "message_type": "sites", "sites": names})
}

/// The answer of `/who`: which sites fit a question, best first.
pub fn who(query_id: &str, found: &[(Site, f64)]) -> Tree {
    let results: Vec<Tree> = found
        .iter()
        .map(|(site, score)| json!({"site": site.name, "name": site.name, "description": site.description, "score": score}))
        .collect();
    json!({"message_type": "result", "query_id": query_id, "results": results})
}

/// The names in an answer of `/sites` of anyone's.
pub fn read_sites(tree: &Tree) -> Vec<String> {
    let list = tree.get("sites").and_then(Tree::as_array).map(Vec::as_slice).unwrap_or_default();
    list.iter().filter_map(Tree::as_str).take(1_000).map(str::to_owned).collect()
}
