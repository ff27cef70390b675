//! Lists of sites that a request can name, and the address of a site's `ask` endpoint in its `llms.txt`, a Markdown file with links that
//! sites provide for models.

use interlingua_model::json::Tree;
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

/// What the hub says of itself in that file.
pub fn about(name: &str) -> String {
    format!(
        "# {name}\n\n> Agents, tools, devices and websites that work together. Ask it in plain words.\n\n## Doors\n\n\
        - [ask](/ask): a question in plain words; `POST` with `{{\"query\": {{\"text\": \"…\"}}}}`, or `GET` with `?query=…`\n\
        - [sites](/sites): who can be asked\n- [mcp](/mcp): the same as tools\n\
        - [agent card](/.well-known/agent-card.json): the same as an agent\n\n## Who may ask\n\n\
        A token of this hub, sent as `Authorization: Bearer …`. Without one only what its owner made public is answered.\n"
    )
}

/// The links of such a file that lead to a door of this protocol: their targets, as they are written.
pub fn ask_links(text: &str) -> impl Iterator<Item = &str> {
    let linked = text.split("](").skip(1).filter_map(|part| Some(part.split_once(')')?.0));
    let bare = text.split(|c: char| c.is_whitespace() || matches!(c, '<' | '>' | '`'));
    let bare = bare.filter(|word| word.starts_with("https://") || word.starts_with("http://") || word.starts_with('/'));
    linked.chain(bare).map(|target| target.trim_end_matches('.')).filter(|target| {
        let path = target.split(['?', '#']).next().unwrap_or_default();
        path.trim_end_matches('/').ends_with("/ask") && target.len() <= 2_000
    })
}

/// The names in an answer of `/sites` of anyone's.
pub fn read_sites(tree: &Tree) -> Vec<String> {
    let list = tree.get("sites").and_then(Tree::as_array).map(Vec::as_slice).unwrap_or_default();
    list.iter().filter_map(Tree::as_str).take(1_000).map(str::to_owned).collect()
}
