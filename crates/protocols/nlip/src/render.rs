//! Text rendering of structured content: one `key: value` a line, one line for each row of a list, up to a readable length. The complete
//! structured content is sent beside it.

use interlingua_model::Json;
use interlingua_model::json::Tree;

const LINES: usize = 40;
const WIDTH: usize = 400;

pub(super) fn for_people(json: &Json) -> String {
    match json.tree() {
        Tree::Object(members) if members.is_empty() => "Done.".to_owned(),
        Tree::Object(members) => {
            lines(members.len(), members.iter().map(|(key, value)| format!("{key}: {}", inline(value))))
        }
        Tree::Array(items) if items.is_empty() => "Nothing found.".to_owned(),
        Tree::Array(items) => lines(items.len(), items.iter().map(row)),
        scalar => inline(scalar),
    }
}

fn lines(count: usize, each: impl Iterator<Item = String>) -> String {
    let mut text = each.take(LINES).collect::<Vec<_>>().join("\n");
    if count > LINES {
        text.push_str(&format!("\n… and {} more", count - LINES));
    }
    text
}

fn row(item: &Tree) -> String {
    match item {
        Tree::Object(members) => {
            let fields: Vec<String> = members.iter().map(|(key, value)| format!("{key}: {}", inline(value))).collect();
            cut(format!("- {}", fields.join(", ")))
        }
        Tree::Null | Tree::Bool(_) | Tree::Number(_) | Tree::String(_) | Tree::Array(_) => {
            format!("- {}", inline(item))
        }
    }
}

/// A value inside a line: text bare, anything nested as JSON.
fn inline(value: &Tree) -> String {
    cut(match value {
        Tree::String(text) => text.clone(),
        Tree::Null => "none".to_owned(),
        Tree::Bool(_) | Tree::Number(_) | Tree::Array(_) | Tree::Object(_) => value.to_string(),
    })
}

fn cut(mut text: String) -> String {
    if let Some((at, _)) = text.char_indices().nth(WIDTH) {
        text.truncate(at);
        text.push('…');
    }
    text
}
