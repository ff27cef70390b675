//! Tracks which part of a streamed answer was already printed, so that the end does not print it again.
//!
//! An answer may come as several messages: items of a site are one, its text another. The final result often repeats earlier parts, such as
//! a list of all items; only new parts are printed.

use std::collections::BTreeSet;

use interlingua_model::json::Tree;
use interlingua_model::{Digest, Json};

use interlingua_api::view::{FinishedView, PartView, SaidView};

/// How many messages and values are remembered. What is beyond that may be written twice.
const MOST: usize = 10_000;

#[derive(Debug, Default)]
pub(super) struct Shown {
    messages: BTreeSet<String>,
    values: BTreeSet<Digest>,
}

impl Shown {
    /// This was written.
    pub(super) fn note(&mut self, said: &SaidView) {
        if self.messages.len() < MOST {
            self.messages.insert(said.message.clone());
        }
        let values = said.parts.iter().filter_map(|part| part.data.as_ref()).map(Json::digest);
        self.values.extend(values.take(MOST - self.values.len().min(MOST)));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// Was the answer that this end names written?
    pub(super) fn answer(&self, finished: &FinishedView) -> bool {
        finished.said.as_ref().is_some_and(|message| self.messages.contains(message))
    }

    /// Was all of this written, in whichever order?
    pub(super) fn part(&self, part: &PartView) -> bool {
        !self.values.is_empty() && part.data.as_ref().is_some_and(|data| self.value(data.tree()))
    }

    fn value(&self, value: &Tree) -> bool {
        let whole = || self.values.contains(&Json::from_tree(value.clone()).digest());
        match value {
            Tree::Array(items) => whole() || (!items.is_empty() && items.iter().all(|item| self.value(item))),
            // Lists of it say nothing new; of anything else the name of the field matters.
            Tree::Object(fields) => {
                let is_old = |field: &Tree| field.is_array() && self.value(field);
                whole() || (!fields.is_empty() && fields.values().all(is_old))
            }
            Tree::Null | Tree::Bool(_) | Tree::Number(_) | Tree::String(_) => whole(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::Shown;
    use interlingua_api::view::{PartView, SaidView};

    fn part(data: Value) -> PartView {
        let json = json!({"kind": "data", "data": data, "by": "snacks"});
        serde_json::from_value(json).unwrap()
    }

    #[test]
    fn a_list_of_what_was_written_is_not_new_in_any_order_and_one_with_more_is() {
        let mut shown = Shown::default();
        assert!(!shown.part(&part(json!({"results": []}))));
        let parts = vec![part(json!({"name": "B", "index": 2})), part(json!({"name": "A", "index": 1}))];
        shown.note(&SaidView { message: "items".into(), channel: "answer".into(), piece: "whole".into(), parts });
        let (a, b) = (json!({"index": 1, "name": "A"}), json!({"index": 2, "name": "B"}));
        assert!(shown.part(&part(json!({"results": [a, b]}))));
        assert!(shown.part(&part(a.clone())));
        assert!(!shown.part(&part(json!({"results": [a, b, {"name": "C"}]}))));
        assert!(!shown.part(&part(json!({"results": [a, b], "total": 2}))));
        assert!(!shown.part(&part(json!({"results": []}))), "that there are none is an answer of its own");
    }
}
