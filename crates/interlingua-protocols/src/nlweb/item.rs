//! Results as items: rows of what a skill gave, each with the few members every client of this protocol looks for.

use interlingua_core::json::Tree;
use interlingua_core::{Output, Part};
use serde_json::{Map, json};

/// One result. `object` is the row itself.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Item {
    pub(super) url: String,
    pub(super) name: String,
    pub(super) site: String,
    pub(super) score: f64,
    pub(super) description: String,
    pub(super) object: Map<String, Tree>,
}

/// No item that is made from a row is larger.
const MAX_NAME: usize = 200;

/// Rows of the structured output (it, or its first list of objects) as items, best first.
pub(super) fn items(output: &Output, site: &str) -> Vec<Item> {
    let Some(structured) = &output.structured else { return data_items(output, site) };
    let tree = structured.tree();
    let source = tree.get("source_url").and_then(Tree::as_str).unwrap_or_default();
    let rows = match tree {
        Tree::Array(rows) => rows.as_slice(),
        Tree::Object(members) => {
            let lists = members.values().filter_map(Tree::as_array).filter(|list| list.iter().any(Tree::is_object));
            match lists.map(Vec::as_slice).next() {
                Some(rows) => rows,
                None => std::slice::from_ref(tree),
            }
        }
        Tree::Null | Tree::Bool(_) | Tree::Number(_) | Tree::String(_) => &[],
    };
    from_rows(rows, site, source)
}

/// Pieces of data, where there is no structured output.
fn data_items(output: &Output, site: &str) -> Vec<Item> {
    let rows: Vec<Tree> = output.parts.iter().filter_map(Part::as_data).map(|json| json.tree().clone()).collect();
    from_rows(&rows, site, "")
}

fn from_rows(rows: &[Tree], site: &str, source: &str) -> Vec<Item> {
    let total = rows.len().max(1);
    let place = |index: usize| {
        // Without a score of its own a row has the one its place gives it: all of them pass the usual threshold.
        #[expect(clippy::cast_precision_loss, reason = "a thousand rows at most")]
        let down = 40.0 * index as f64 / total as f64;
        (100.0 - down).round()
    };
    rows.iter()
        .enumerate()
        .filter_map(|(index, row)| Some(item(row.as_object()?, site, source, place(index))))
        .collect()
}

fn item(row: &Map<String, Tree>, site: &str, source: &str, place: f64) -> Item {
    let text = |keys: &[&str]| keys.iter().find_map(|key| row.get(*key).and_then(Tree::as_str)).map(str::to_owned);
    let any = || row.values().find_map(Tree::as_str).map(str::to_owned);
    let short = |text: String| text.chars().take(MAX_NAME).collect::<String>();
    Item {
        url: text(&["url", "link", "href", "@id"]).unwrap_or_else(|| source.to_owned()),
        name: short(text(&["name", "title", "headline"]).or_else(any).unwrap_or_default()),
        site: text(&["site"]).unwrap_or_else(|| site.to_owned()),
        score: row.get("score").and_then(Tree::as_f64).unwrap_or(place),
        description: text(&["description", "summary", "text"]).unwrap_or_else(|| sentence(row)),
        object: row.clone(),
    }
}

/// `airline: Air France, price: $650`: what a row says, for people.
fn sentence(row: &Map<String, Tree>) -> String {
    let said = row.iter().filter_map(|(key, value)| match value {
        Tree::String(text) => Some(format!("{key}: {text}")),
        Tree::Number(number) => Some(format!("{key}: {number}")),
        Tree::Null | Tree::Bool(_) | Tree::Array(_) | Tree::Object(_) => None,
    });
    said.take(8).collect::<Vec<_>>().join(", ").chars().take(500).collect()
}

impl Item {
    /// Of the first generation: the row beside its description.
    pub(super) fn flat(&self) -> Tree {
        json!({
            "url": self.url, "name": self.name, "site": self.site, "siteUrl": self.site, "score": self.score,
            "description": self.description, "schema_object": self.object,
        })
    }

    /// Of the later ones: members of the row, and what every item has.
    pub(super) fn nested(&self) -> Tree {
        let mut object = self.object.clone();
        object.entry("@type").or_insert_with(|| "Thing".into());
        object.entry("@context").or_insert_with(|| "https://schema.org".into());
        for (key, value) in
            [("url", &self.url), ("name", &self.name), ("site", &self.site), ("description", &self.description)]
        {
            object.entry(key).or_insert_with(|| value.as_str().into());
        }
        object.insert("score".into(), self.score.into());
        if !self.url.is_empty() {
            object.entry("grounding").or_insert_with(|| json!({"source_urls": [self.url]}));
        }
        Tree::Object(object)
    }
}
