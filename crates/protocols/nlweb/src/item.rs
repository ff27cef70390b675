//! Results as items: the rows of a skill's output, and the files and links beside them, each with the few members that every client of this
//! protocol reads.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use interlingua_model::json::{Tree, object};
use interlingua_model::{Blob, Body, Digest, Output, Part};
use serde_json::{Map, json};

/// One result. `object` is the row itself.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Item {
    pub(super) url: String,
    pub(super) name: String,
    pub(super) site: String,
    pub(super) score: f64,
    /// The score is the row's own, and not that of its place.
    pub(super) is_scored: bool,
    pub(super) description: String,
    pub(super) object: Map<String, Tree>,
    pub(super) kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A row of data; the words beside it say the same.
    Row,
    /// A file or a link; the words beside it are something else.
    File,
}

/// No item that is made from a row is larger.
const MAX_NAME: usize = 200;
/// Between these is the score of a row that has none: all of them pass the usual threshold (51).
pub(super) const PLACED: (f64, f64) = (60.0, 100.0);

/// Rows of the structured output (it, or its first list of objects) as items, best first; then files and links.
pub(super) fn items(output: &Output, site: &str) -> Vec<Item> {
    let mut items = match &output.structured {
        Some(structured) => {
            let tree = structured.tree();
            let source = tree.get("source_url").and_then(Tree::as_str).unwrap_or_default();
            from_rows(rows_of(tree), site, source)
        }
        None => data_items(&output.parts, site),
    };
    items.extend(output.parts.iter().filter_map(|part| file(part, site)));
    items
}

fn rows_of(tree: &Tree) -> &[Tree] {
    match tree {
        Tree::Array(rows) => rows.as_slice(),
        Tree::Object(members) => {
            let lists = members.values().filter_map(Tree::as_array).filter(|list| list.iter().any(Tree::is_object));
            match lists.map(Vec::as_slice).next() {
                Some(rows) => rows,
                // A list without entries and nothing beside it: nothing was found.
                None if !members.is_empty() && members.values().all(is_empty_list) => &[],
                None => std::slice::from_ref(tree),
            }
        }
        Tree::Null | Tree::Bool(_) | Tree::Number(_) | Tree::String(_) => &[],
    }
}

fn is_empty_list(tree: &Tree) -> bool {
    tree.as_array().is_some_and(|list| list.is_empty())
}

/// Rows of pieces of data, where there is no structured output.
fn data_items(parts: &[Part], site: &str) -> Vec<Item> {
    let rows: Vec<Tree> = data_rows(parts).cloned().collect();
    from_rows(&rows, site, "")
}

/// The rows among pieces of data. The same whether they are told on the way or at the end, so that none is told twice.
fn data_rows(parts: &[Part]) -> impl Iterator<Item = &Tree> {
    parts.iter().filter_map(Part::as_data).flat_map(|json| {
        let tree = json.tree();
        // An item may hold lists of its own.
        if ["@type", "name", "url"].iter().any(|key| tree.get(*key).is_some()) {
            std::slice::from_ref(tree)
        } else {
            rows_of(tree)
        }
    })
}

/// Rows among what was said before the end; so many came before them. Files wait for the end, which has them all.
pub(super) fn among(parts: &[Part], site: &str, heard: usize) -> Vec<Item> {
    #[expect(clippy::cast_precision_loss, reason = "a thousand rows at most count")]
    let place = |index: usize| (PLACED.1 - (heard + index) as f64).max(PLACED.0);
    let item = |(index, row): (usize, &Tree)| Some(item(row.as_object()?, site, "", place(index)));
    data_rows(parts).enumerate().filter_map(item).collect()
}

pub(super) fn from_rows(rows: &[Tree], site: &str, source: &str) -> Vec<Item> {
    let total = rows.len().max(1);
    let place = |index: usize| {
        #[expect(clippy::cast_precision_loss, reason = "a thousand rows at most")]
        let down = (PLACED.1 - PLACED.0) * index as f64 / total as f64;
        (PLACED.1 - down).round()
    };
    rows.iter()
        .enumerate()
        .filter_map(|(index, row)| Some(item(row.as_object()?, site, source, place(index))))
        .collect()
}

fn item(row: &Map<String, Tree>, site: &str, source: &str, place: f64) -> Item {
    let text = |keys: &[&str]| keys.iter().find_map(|key| row.get(*key).and_then(Tree::as_str)).map(str::to_owned);
    let any = || row.values().find_map(Tree::as_str).map(str::to_owned);
    let score = row.get("score").and_then(Tree::as_f64);
    Item {
        url: text(&["url", "link", "href", "@id"]).unwrap_or_else(|| source.to_owned()),
        name: short(text(&["name", "title", "headline"]).or_else(any).unwrap_or_default()),
        site: text(&["site"]).unwrap_or_else(|| site.to_owned()),
        score: score.unwrap_or(place),
        is_scored: score.is_some(),
        description: text(&["description", "summary", "text"]).unwrap_or_else(|| sentence(row)),
        object: row.clone(),
        kind: Kind::Row,
    }
}

fn short(text: String) -> String {
    text.chars().take(MAX_NAME).collect()
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

/// The words of an output, without those that are a document of their own.
pub(super) fn words(output: &Output) -> impl Iterator<Item = &str> {
    output.parts.iter().filter(|part| part.uri.is_none()).filter_map(Part::as_text)
}

/// A part that is a file or stands somewhere, in the words of schema.org. An address that is not of the web names it, and is no
/// link. Bytes that travel along are no link either: whoever clicks on an item does not open what a peer sent.
fn file(part: &Part, site: &str) -> Option<Item> {
    let mut object = Map::new();
    let mut of_file = |digest: Digest, len: u64| {
        object.insert("sha256".into(), digest.to_string().into());
        object.insert("contentSize".into(), len.to_string().into());
        "MediaObject"
    };
    let uri = match (&part.body, part.uri.as_deref()) {
        (Body::Blob(Blob::Inline(_)), uri) => uri.unwrap_or_default(),
        (_, uri) => uri?,
    };
    let kind = match &part.body {
        Body::Blob(Blob::Stored { digest, len }) => of_file(*digest, *len),
        Body::Blob(Blob::Inline(bytes)) => {
            let kind = of_file(Digest::of(bytes), bytes.len() as u64);
            let data = format!("data:application/octet-stream;base64,{}", STANDARD.encode(bytes));
            object.insert("contentUrl".into(), data.into());
            kind
        }
        Body::Text { text, .. } => {
            object.insert("text".into(), (**text).into());
            "DigitalDocument"
        }
        Body::Link => "WebPage",
        Body::Data(_) | Body::Code { .. } | Body::Place { .. } | Body::Other { .. } => return None,
    };
    object.insert("@type".into(), kind.into());
    object.extend(part.media.as_ref().map(|media| ("encodingFormat".into(), (**media).into())));
    let is_link = ["http://", "https://"].iter().any(|scheme| uri.starts_with(scheme));
    if !uri.is_empty() {
        object.insert(if is_link { "url" } else { "@id" }.into(), uri.into());
    }
    let called = part.name.as_deref().or(part.label.as_deref());
    let last = || uri.rsplit('/').find(|step| !step.is_empty()).unwrap_or(uri);
    // The last step of an address of this hub says nothing to anybody.
    let name = short(called.unwrap_or_else(|| if kind == "MediaObject" { "file" } else { last() }).to_owned());
    let media = part.media.as_deref().map(|media| format!(", {media}")).unwrap_or_default();
    Some(Item {
        url: if is_link { uri.to_owned() } else { String::new() },
        description: short(part.as_text().map_or_else(|| format!("{name}{media}"), str::to_owned)),
        name,
        site: site.to_owned(),
        score: PLACED.0,
        is_scored: true,
        object,
        kind: Kind::File,
    })
}

impl Item {
    /// Of the first generation: the row beside its description.
    pub(super) fn flat(&self) -> Tree {
        let own = |key: &str| self.object.get(key).and_then(Tree::as_str);
        object([
            ("url", self.url.as_str().into()),
            ("name", self.name.as_str().into()),
            ("site", self.site.as_str().into()),
            ("siteUrl", own("siteUrl").unwrap_or(&self.site).into()),
            ("score", self.score()),
            ("description", self.description.as_str().into()),
            ("ranking_type", own("ranking_type").unwrap_or("REGULAR_TRACK").into()),
            ("schema_object", Tree::Object(self.object.clone())),
        ])
    }

    /// As its site wrote it, where it is the site's.
    fn score(&self) -> Tree {
        let own = self.object.get("score").filter(|own| own.as_f64() == Some(self.score));
        own.cloned().unwrap_or_else(|| self.score.into())
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
        object.insert("score".into(), self.score());
        if !self.url.is_empty() {
            object.entry("grounding").or_insert_with(|| json!({"source_urls": [self.url]}));
        }
        Tree::Object(object)
    }

    /// Its place in the answer, where it says one.
    pub(super) fn index(&self) -> Option<usize> {
        self.object.get("index").and_then(Tree::as_u64).and_then(|index| usize::try_from(index).ok())
    }

    /// What the item is: it says `@type`, or what it is inside.
    pub(super) fn is_a(&self, kind: &str) -> bool {
        let inner = || self.object.get("schema_object").and_then(|object| object.get("@type"));
        match self.object.get("@type").or_else(inner) {
            Some(Tree::Array(kinds)) => kinds.iter().any(|one| one == kind),
            Some(one) => one == kind,
            None => false,
        }
    }

    /// What tells it from another item of the same answer: all that it says, but for its place among the others.
    pub(super) fn key(&self) -> Digest {
        let mut said = self.nested();
        said.as_object_mut().into_iter().for_each(|said| said.retain(|key, _| key != "score" && key != "index"));
        Digest::of(said.to_string().as_bytes())
    }
}
